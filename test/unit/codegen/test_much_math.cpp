// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies with very many transcendental functions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "ir/constants.h"
#include "ir/intrinsics.h"
#include "ir/operators.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

using Function = std::function<Expr(Expr)>;

constexpr int few = 128, many = 256;
const char *const symbol = "calotype.math.sin.f32x8";

Function of(Intrinsic id) {
    return [id](const Expr &x) {
        const bool is_binary = id == Intrinsic::pow || id == Intrinsic::atan2;
        return Call::make(x.type(), id, is_binary ? std::vector<Expr>{x, x} : std::vector<Expr>{x});
    };
}

/// The bits of f of so many products of x, in one word.
Expr bits_of_calls(const Function &f, const Expr &x, int first, int last) {
    const Type bits = x.type().with_code(Type::UInt);
    Expr all = make_zero(bits);
    for (int i = first; i < last; i++) {
        const Expr v = f(x * make_const(x.type(), i * 0.37));
        all = all ^ Reinterpret::make(bits, v);
    }
    return all;
}

Stmt loop_of(int calls) {
    const Expr index = Variable::make(Int(32), "i") * 8;
    const Expr ramp = Ramp::make(index, make_const(Int(32), 1), 8), one = const_true(8);
    const Expr x = Load::make(Float(32, 8), "a", ramp, one, Alignment());
    return For::make("i", make_const(Int(32), 0), Variable::make(Int(32), "n"), ForType::Serial,
                     Partition::Auto, DeviceAPI::None,
                     Store::make("out", bits_of_calls(of(Intrinsic::sin), x, 1, calls + 1), ramp,
                                 one, Alignment()));
}

std::string code_of(const Stmt &body, const char *features = "") {
    const LoweredModule module = one_function(
        {pointer_argument("out"), pointer_argument("a"), scalar_argument("n", Int(32))}, body);
    return CompiledModule(module, Target(std::string("x86-64-linux-avx-avx2-fma-sse41") + features))
        .llvm_assembly();
}

TEST(MuchMath, StandsInPlaceUpToALimit) {
    EXPECT_EQ(count(code_of(loop_of(few)), symbol), 0u);
    EXPECT_EQ(count(code_of(loop_of(few), "-strict_float"), symbol), 0u);
    EXPECT_EQ(count(code_of(loop_of(few + 1)), symbol), size_t(few) + 2);
}

TEST(MuchMath, IsCountedLoopByLoop) {
    const Stmt in_two = Block::make(loop_of(few), loop_of(few));
    EXPECT_EQ(count(code_of(in_two), symbol), 0u);
    const Stmt one_of_two = Block::make(loop_of(1), loop_of(many));
    EXPECT_EQ(count(code_of(one_of_two), symbol), size_t(many) + 1);
}

TEST(MuchMath, GrowsByLittleMoreThanACall) {
    const size_t two = count(code_of(loop_of(many)), "\n"),
                 four = count(code_of(loop_of(2 * many)), "\n");
    EXPECT_LE(four - two, size_t(many) * 6) << two << " and " << four << " lines";
}

template<typename T, typename Bits>
void expect_same_bits(Intrinsic id, int lanes) {
    const Target &target = runnable_targets().back();
    std::vector<T> x(size_t(lanes) * 8);
    for (size_t i = 0; i < x.size(); i++) {
        x[i] = T(0.01) + T(i) * T(0.13);
    }
    x[1] = T(1e30);
    x[2] = T(-0.5);
    x[3] = std::numeric_limits<T>::quiet_NaN();
    const Function f = of(id);
    const auto bits = [&](int first, int last) {
        return map1<Bits, T>(target, lanes, x,
                             [&](const Expr &v) { return bits_of_calls(f, v, first, last); });
    };
    std::vector<Bits> together = bits(0, many), apart(x.size());
    for (int first = 0; first < many; first += few) {
        const std::vector<Bits> part = bits(first, first + few);
        for (size_t i = 0; i < x.size(); i++) {
            apart[i] ^= part[i];
        }
    }
    EXPECT_EQ(together, apart) << intrinsic_info(id).name << " of " << lanes << " lanes";
}

TEST(MuchMath, GivesTheSameBits) {
    for (Intrinsic id : {Intrinsic::sin, Intrinsic::exp, Intrinsic::log, Intrinsic::pow,
                         Intrinsic::atan2, Intrinsic::erf}) {
        expect_same_bits<float, uint32_t>(id, 8);
    }
    expect_same_bits<float, uint32_t>(Intrinsic::cos, 1);
    expect_same_bits<float, uint32_t>(Intrinsic::tan, 32);
    expect_same_bits<double, uint64_t>(Intrinsic::tanh, 4);
}

}  // namespace
}  // namespace calotype::internal
