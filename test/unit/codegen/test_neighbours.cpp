// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Even and odd lanes of a vector: their sums are one instruction on x86, and where they are made wider
// they stay in their places.
#include <gtest/gtest.h>

#include "ir/constants.h"
#include "ir/language/bits.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

Stmt store_of(const Expr &e) {
    const int lanes = e.type().lanes();
    return Store::make("out", e, Ramp::make(0, 1, lanes), const_true(lanes), Alignment());
}

LoweredModule kernel_of(const Expr &e) {
    return one_function({pointer_argument("out"), pointer_argument("a")}, store_of(e));
}

/// Lanes begin, begin + stride, ... of `lanes * stride` elements of a.
Expr lanes_of(const Type &t, int begin, int stride, int lanes) {
    const int all = lanes * stride;
    const Expr v =
        Load::make(t.with_lanes(all), "a", Ramp::make(0, 1, all), const_true(all), Alignment());
    return Shuffle::make_slice(v, begin, stride, lanes);
}

/// out[i] = what `expected` makes of a and i, on all targets that run here.
template<typename In, typename Out, typename F>
void check(const Expr &e, F expected) {
    const auto lanes = size_t(e.type().lanes());
    std::vector<In> a(lanes * 4);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = i % 3 == 0   ? std::numeric_limits<In>::min()
               : i % 5 == 0 ? std::numeric_limits<In>::max()
                            : In(i * 37);
    }
    a[1] = a[0];
    for (const Target &target : runnable_targets()) {
        const auto library = load_module(kernel_of(e), target);
        std::vector<Out> out(lanes);
        ASSERT_EQ(library->function<int(Out *, const In *)>("f")(out.data(), a.data()), 0);
        for (size_t i = 0; i < lanes; i++) {
            ASSERT_EQ(out[i], Out(expected(a, i))) << "lane " << i << " on " << target.to_string();
        }
    }
}

template<typename In, typename Out>
void check_sums(const Type &narrow, const Type &wide) {
    for (int lanes : {8, 16, 24, 32}) {
        const Type t = wide.with_lanes(lanes);
        const Expr even = Cast::make(t, lanes_of(narrow, 0, 2, lanes)),
                   odd = Cast::make(t, lanes_of(narrow, 1, 2, lanes));
        check<In, Out>(even + odd,
                       [](const std::vector<In> &a, size_t i) { return a[2 * i] + a[2 * i + 1]; });
        check<In, Out>(odd + make_const(t, 2) + even, [](const std::vector<In> &a, size_t i) {
            return a[2 * i] + a[2 * i + 1] + 2;
        });
    }
}

TEST(Neighbours, SumsAreExact) {
    check_sums<uint8_t, uint16_t>(UInt(8), UInt(16));
    check_sums<uint8_t, int16_t>(UInt(8), Int(16));
    check_sums<int8_t, int16_t>(Int(8), Int(16));
    check_sums<int16_t, int32_t>(Int(16), Int(32));
    check_sums<uint16_t, uint32_t>(UInt(16), UInt(32));
}

TEST(Neighbours, WidenedLanesAreExact) {
    for (int begin = 0; begin < 4; begin++) {
        const auto lane = [&](const auto &a, size_t i) {
            return a[4 * i + size_t(begin)];
        };
        check<uint8_t, int32_t>(Cast::make(Int(32, 16), lanes_of(UInt(8), begin, 4, 16)), lane);
        check<int8_t, int32_t>(Cast::make(Int(32, 16), lanes_of(Int(8), begin, 4, 16)), lane);
        check<uint8_t, float>(Cast::make(Float(32, 16), lanes_of(UInt(8), begin, 4, 16)), lane);
        check<int8_t, float>(Cast::make(Float(32, 16), lanes_of(Int(8), begin, 4, 16)), lane);
    }
}

std::string assembly(const Expr &e) {
    return CompiledModule(kernel_of(e), Target("x86-64-linux-avx-avx2")).assembly();
}

TEST(Neighbours, SumsAreOneInstruction) {
    const auto sum = [](const Type &narrow, const Type &wide) {
        return Cast::make(wide, lanes_of(narrow, 0, 2, wide.lanes())) +
               Cast::make(wide, lanes_of(narrow, 1, 2, wide.lanes()));
    };
    EXPECT_NE(assembly(sum(UInt(8), UInt(16, 16))).find("vpmaddubsw"), std::string::npos);
    EXPECT_NE(assembly(sum(Int(8), Int(16, 16))).find("vpmaddubsw"), std::string::npos);
    EXPECT_NE(assembly(sum(Int(16), Int(32, 8))).find("vpmaddwd"), std::string::npos);
}

/// But within numbers of four times the bits.
TEST(Neighbours, WidenedLanesDoNotMove) {
    const std::string text = assembly(Cast::make(Float(32, 8), lanes_of(UInt(8), 2, 4, 8)));
    for (const char *instruction : {"vpmovzx", "vpunpck", "vpack", "vperm"}) {
        EXPECT_EQ(text.find(instruction), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace calotype::internal
