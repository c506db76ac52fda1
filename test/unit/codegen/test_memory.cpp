// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of every pattern of indices, element type and length, predicated or not.
#include <gtest/gtest.h>

#include <sstream>

#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

constexpr int size = 512;

/// Runs "out[out_index] = in[in_index]" once over `lanes` lanes.
template<typename T>
void copy(const Target &target, const Expr &in_index, const Expr &out_index, const Expr &predicate,
          const T *in, T *out) {
    int lanes = in_index.type().lanes();
    Expr load = Load::make(type_of<T>().with_lanes(lanes), "in", in_index, predicate, Alignment());
    Stmt store = Store::make("out", load, out_index, predicate, Alignment());
    auto library =
        load_module(one_function({pointer_argument("in"), pointer_argument("out")}, store), target);
    ASSERT_EQ(library->function<int(const T *, T *)>("f")(in, out), 0);
}

template<typename T>
class Memory : public testing::Test {};
using ElementTypes = testing::Types<bool, uint8_t, int16_t, float, double>;
TYPED_TEST_SUITE(Memory, ElementTypes);

template<typename T>
std::vector<std::unique_ptr<T[]>> arrays() {
    std::vector<std::unique_ptr<T[]>> result;
    result.emplace_back(new T[size]());
    result.emplace_back(new T[size]());
    for (int i = 0; i < size; i++) {
        result[0][size_t(i)] = T(std::is_same_v<T, bool> ? (i * i / 3) % 2 : i % 251);
    }
    return result;
}

/// The distances from the pointer `out` at which registers are stored, in order.
std::vector<int> stored_at(const std::string &text) {
    std::vector<int> distances;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t at = line.rfind("(%rdi)"), comma = line.rfind(", ", at);
        if (at != std::string::npos && comma != std::string::npos) {
            distances.push_back(at == comma + 2 ? 0 : std::stoi(line.substr(comma + 2)));
        }
    }
    return distances;
}

/// Out of order, those of a row that is not aligned would write two lines of the cache each.
TEST(X86, RegistersOfAVectorAreStoredInOrder) {
    const auto of = [](const char *target, const Type &t) {
        return stored_at(assembly(target, load(t, "a") + load(t, "b")));
    };
    EXPECT_EQ(of("x86-64-linux-avx512_skylake", Int(64, 16)), (std::vector<int>{0, 64}));
    EXPECT_EQ(of("x86-64-linux-avx512_skylake", Float(32, 64)),
              (std::vector<int>{0, 64, 128, 192}));
    EXPECT_EQ(of("x86-64-linux-avx2", Float(32, 32)), (std::vector<int>{0, 32, 64, 96}));
    EXPECT_EQ(of("x86-64-linux-avx2", UInt(8, 48)), (std::vector<int>{0, 32}));
    EXPECT_EQ(of("x86-64-linux-sse41", Int(32, 16)), (std::vector<int>{0, 16, 32, 48}));
}

/// A table at eight places, stored by one of two branches.
std::string lookups_of_branches(const char *target) {
    const Type t = Float(32, 8);
    const Expr entry = Load::make(t, "t", load(Int(32, 8), "i"), const_true(8), Alignment());
    const auto store = [](const Expr &e) {
        return Store::make("out", e, Ramp::make(0, 1, 8), const_true(8), Alignment());
    };
    const Stmt body =
        IfThenElse::make(Variable::make(Bool(), "c"), store(entry + entry), store(entry * entry));
    return CompiledModule(one_function({pointer_argument("out"), pointer_argument("i"),
                                        pointer_argument("t"), scalar_argument("c", Bool())},
                                       body),
                          Target(target))
        .assembly();
}

/// LLVM makes one lookup of both, which processors of AMD are not to gather.
TEST(X86, LookupsOfTwoBranchesAreLoadsOfLanes) {
    const std::string text = lookups_of_branches("x86-64-linux-avx512_zen4");
    EXPECT_EQ(count(text, "vgather"), 0u) << text;
}

TEST(X86, LookupsAreSeenByTheThreadSanitizer) {
    const std::string text = lookups_of_branches("x86-64-linux-avx2-tsan");
    EXPECT_GE(count(text, "__tsan_read4"), 8u) << text;
}

TYPED_TEST(Memory, Ramps) {
    using T = TypeParam;
    for (const Target &target : runnable_targets()) {
        for (int lanes : {2, 3, 4, 8, 13, 16, 32}) {
            for (int stride : {1, 2, 3, 4, 5, 7, -1, -2, 0}) {
                int base = stride < 0 ? -stride * lanes : 1;
                auto a = arrays<T>();
                copy<T>(target, Ramp::make(base, stride, lanes), Ramp::make(3, 1, lanes),
                        const_true(lanes), a[0].get(), a[1].get());
                for (int i = 0; i < size; i++) {
                    int k = i - 3;
                    T expected = k >= 0 && k < lanes ? a[0][size_t(base + k * stride)] : T(0);
                    ASSERT_EQ(a[1][size_t(i)], expected)
                        << "load stride " << stride << " lanes " << lanes << " at " << i;
                }
                if (stride == 0) {
                    continue;
                }
                a = arrays<T>();
                copy<T>(target, Ramp::make(3, 1, lanes), Ramp::make(base, stride, lanes),
                        const_true(lanes), a[0].get(), a[1].get());
                std::vector<T> expected(size, T(0));
                for (int k = 0; k < lanes; k++) {
                    expected[size_t(base + k * stride)] = a[0][size_t(3 + k)];
                }
                for (int i = 0; i < size; i++) {
                    ASSERT_EQ(a[1][size_t(i)], T(expected[size_t(i)]))
                        << "store stride " << stride << " lanes " << lanes;
                }
            }
        }
    }
}

TYPED_TEST(Memory, Predicated) {
    using T = TypeParam;
    for (const Target &target : runnable_targets()) {
        for (int lanes : {4, 7, 8, 32}) {
            for (int stride : {1, 2, -1, 5}) {
                int base = stride < 0 ? -stride * lanes : 0;
                Expr index = Ramp::make(base, stride, lanes);
                // All but every third lane.
                Expr lane = Ramp::make(0, 1, lanes);
                Expr predicate =
                    NE::make(Mod::make(lane, Broadcast::make(3, lanes)), Broadcast::make(0, lanes));
                auto a = arrays<T>();
                copy<T>(target, index, index, predicate, a[0].get(), a[1].get());
                for (int k = 0; k < lanes; k++) {
                    int i = base + k * stride;
                    ASSERT_EQ(a[1][size_t(i)], k % 3 != 0 ? a[0][size_t(i)] : T(0))
                        << "stride " << stride << " lanes " << lanes;
                }
            }
        }
    }
}

/// The first lanes, none and all among them, as where a vector is longer than a loop.
TYPED_TEST(Memory, LeadingLanes) {
    using T = TypeParam;
    for (const Target &target : runnable_targets()) {
        for (int lanes : {2, 3, 4, 7, 8, 13, 32}) {
            const Expr index = Ramp::make(3, 1, lanes), lane = Ramp::make(0, 1, lanes);
            for (int taken = 0; taken <= lanes; taken++) {
                auto a = arrays<T>();
                copy<T>(target, index, index, LT::make(lane, Broadcast::make(taken, lanes)),
                        a[0].get(), a[1].get());
                for (int i = 0; i < size; i++) {
                    const bool copied = i >= 3 && i < 3 + taken;
                    ASSERT_EQ(a[1][size_t(i)], copied ? a[0][size_t(i)] : T(0))
                        << taken << " of " << lanes << " lanes, at " << i;
                }
            }
        }
    }
}

/// An array of whose vectors the first lanes are taken, and which a loop updates: out = 9 * in, in registers.
TEST(MemoryInFrame, ArraysOfLeadingLanesBecomeRegisters) {
    const Expr index = Ramp::make(0, 1, 8), mask = index < Broadcast::make(5, 8);
    const auto lanes = [&](const char *name) {
        return Load::make(UInt(8, 8), name, index, mask, Alignment());
    };
    const auto store = [&](const char *name, const Expr &value) {
        return Store::make(name, value, index, mask, Alignment());
    };
    Stmt body = Block::make(
        {store("array", lanes("in")),
         For::make("i", 0, Variable::make(Int(32), "n"), ForType::Serial, Partition::Auto,
                   DeviceAPI::None, store("array", lanes("array") + lanes("in"))),
         store("out", lanes("array"))});
    body = Allocate::make("array", UInt(8), MemoryType::Stack, {8}, const_true(), body);
    const LoweredModule module = one_function(
        {pointer_argument("in"), pointer_argument("out"), scalar_argument("n", Int(32))}, body);
    const Target avx2("x86-64-linux-sse41-avx-avx2");
    EXPECT_EQ(count(CompiledModule(module, avx2).assembly(), "(%rsp)"), 0U);
    for (const Target &target : runnable_targets()) {
        const uint8_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        uint8_t out[8] = {};
        auto library = load_module(module, target);
        ASSERT_EQ(library->function<int(const uint8_t *, uint8_t *, int)>("f")(in, out, 8), 0);
        for (int i = 0; i < 8; i++) {
            EXPECT_EQ(out[i], i < 5 ? 9 * in[i] : 0) << i;
        }
    }
}

/// A scalar under a condition that is known as the code runs.
TYPED_TEST(Memory, PredicatedScalars) {
    using T = TypeParam;
    for (const Target &target : runnable_targets()) {
        for (const int wanted : {0, 1}) {
            auto a = arrays<T>();
            a[0][size - 1] = T(wanted);
            const Expr predicate = Load::make(type_of<T>(), "in", size - 1, const_true(),
                                              Alignment()) != make_zero(type_of<T>());
            copy<T>(target, 4, 9, predicate, a[0].get(), a[1].get());
            EXPECT_EQ(a[1][9], wanted ? a[0][4] : T(0));
        }
    }
}

TEST(MemoryGather, ArbitraryIndices) {
    std::vector<int> indices(32);
    for (int i = 0; i < 32; i++) {
        indices[size_t(i)] = (i * 37 + 11) % 100;
    }
    std::vector<float> table(100);
    for (int i = 0; i < 100; i++) {
        table[size_t(i)] = float(i) * 0.5f;
    }
    for (const Target &target : runnable_targets()) {
        for (int lanes : {1, 4, 8, 16, 32}) {
            std::vector<float> out(32);
            map_vectors(
                target, lanes, 32,
                [&](const std::vector<Expr> &x) {
                    return Load::make(Float(32, lanes), "in1", x[0], const_true(lanes),
                                      Alignment());
                },
                {{Int(32), indices.data()}, {Float(32), table.data()}}, out.data());
            for (int i = 0; i < 32; i++) {
                ASSERT_EQ(out[size_t(i)], table[size_t(indices[size_t(i)])]);
            }
        }
    }
}

TEST(MemoryNested, RampOfRampAndBroadcast) {
    std::vector<int> in(100), out(12);
    for (int i = 0; i < 100; i++) {
        in[size_t(i)] = i;
    }
    Expr inner = Ramp::make(2, 1, 4);
    Expr nested = Ramp::make(inner, Broadcast::make(20, 4), 3);
    copy<int>(runnable_targets().back(), nested, Ramp::make(0, 1, 12), const_true(12), in.data(),
              out.data());
    EXPECT_EQ(out, (std::vector<int>{2, 3, 4, 5, 22, 23, 24, 25, 42, 43, 44, 45}));
    Expr repeated = Broadcast::make(inner, 3);
    copy<int>(runnable_targets().back(), repeated, Ramp::make(0, 1, 12), const_true(12), in.data(),
              out.data());
    EXPECT_EQ(out, (std::vector<int>{2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 4, 5}));
}

/// From one address in two the other is a stride away, and the next one two, so that no multiple of it has a register.
TEST(Memory, LanesOfAnUnknownStrideShareAddresses) {
    const auto expect_few = [](const Type &t, const char *scale) {
        const Expr index = Ramp::make(0, load(Int(32), "b"), t.lanes());
        const std::string text = assembly(
            "x86-64-linux-avx2", Load::make(t, "a", index, const_true(t.lanes()), Alignment()));
        EXPECT_LE(count(text, "leaq") + count(text, "addq"), size_t(t.lanes() / 2)) << text;
        EXPECT_GE(count(text, scale), size_t(t.lanes() / 2 - 1)) << text;
        EXPECT_EQ(count(text, "shlq") + count(text, "imul"), 0u) << text;
    };
    expect_few(Float(32, 24), ",8)");
    expect_few(Float(32, 8), ",8)");
    expect_few(UInt(16, 16), ",4)");
    expect_few(UInt(8, 16), ",2)");
}

}  // namespace
}  // namespace calotype::internal
