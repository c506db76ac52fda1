// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions become the x86 instructions that were made for them, at every width, and reductions
// that use them give the right sums.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "ir/constants.h"
#include "ir/language/bits.h"
#include "ir/language/fixed_point.h"
#include "ir/language/math.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

TEST(X86, StoresAroundTheCache) {
    const Expr sum = load(Float(32, 16), "a") + load(Float(32, 16), "b");
    const Stmt store =
        Store::make("out", sum, Ramp::make(0, 1, 16), const_true(16), Alignment(), nullptr, true);
    const Stmt fence = Evaluate::make(Call::make(Int(32), Intrinsic::stream_store_fence, {}));
    LoweredModule module =
        one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("b")},
                     Block::make(store, fence));
    for (const char *target : {"x86-64-linux-avx", "x86-64-linux-avx512_skylake"}) {
        const std::string text = CompiledModule(module, Target(target)).assembly();
        EXPECT_NE(text.find("vmovntps"), std::string::npos) << text;
        EXPECT_NE(text.find("sfence"), std::string::npos) << text;
    }
}

TEST(X86, EstimatesAreTheInstructionAlone) {
    for (int lanes : {1, 4, 8}) {
        const Expr x = load(Float(32, lanes), "a");
        for (const auto &[e, name] :
             {std::pair(fast_inverse(x), "vrcp"), std::pair(fast_inverse_sqrt(x), "vrsqrt")}) {
            const std::string text = assembly("x86-64-linux-avx2-fma", e);
            EXPECT_EQ(count(text, name), 1u) << text;
            EXPECT_EQ(count(text, "vmul") + count(text, "vsqrt") + count(text, "vdiv"), 0u) << text;
        }
    }
}

/// What is rare is asked once, and done elsewhere: the usual values are not chosen from others, but powers of zero.
TEST(X86, UsualExponentsAndLogarithmsChooseNothing) {
    const Expr x = load(Float(32, 8), "a"), y = load(Float(32, 8), "b");
    for (const auto &[e, name] : {std::pair(exp(x), ""), std::pair(log(x), "calotype.log.f32x8:"),
                                  std::pair(pow(x, y), "calotype.pow.f32x8:")}) {
        const std::string text = assembly("x86-64-linux-avx2-fma", e);
        const std::string begin = text.substr(0, text.find("retq")), rare = name;
        EXPECT_LE(count(begin, "vblendv"), rare.find("pow") == std::string::npos ? 0u : 1u) << text;
        EXPECT_TRUE(rare.empty() || count(text, rare) == 1) << text;
    }
}

/// Three channels in the other order, of pixels that lie one after the other in x.
Expr with_channels_turned(const Expr &x) {
    const Expr all = Variable::make(x.type(), "all");
    std::vector<Expr> channels;
    for (int c : {2, 1, 0}) {
        channels.push_back(Shuffle::make_slice(all, c, 3, x.type().lanes() / 3));
    }
    return Let::make("all", x, Shuffle::make_interleave(channels));
}

TEST(X86, ChannelsThatChangePlacesAreNotTakenApart) {
    const std::string text =
        assembly("x86-64-linux-avx2", with_channels_turned(load(UInt(8, 48), "a")));
    EXPECT_EQ(count(text, "vpalignr"), 0u) << text;
    EXPECT_LE(count(text, "vpshufb"), 4u) << text;
    std::vector<uint8_t> bytes(96 * 4);
    std::iota(bytes.begin(), bytes.end(), uint8_t(1));
    for (const char *target : {"x86-64-linux", "x86-64-linux-avx2"}) {
        for (int lanes : {48, 96, 192}) {
            const std::vector<uint8_t> turned =
                map1<uint8_t, uint8_t>(Target(target), lanes, bytes, with_channels_turned);
            for (size_t i = 0; i < bytes.size(); i++) {
                ASSERT_EQ(turned[i], bytes[i + 2 - i % 3 * 2]) << i << " of " << lanes << " lanes";
            }
        }
    }
}

/// The lanes of a strided store lie at constant distances of the first: no vector of indices is made.
TEST(X86, StridedStoresTakeNoIndexOutOfAVector) {
    const Expr first = Load::make(Int(32), "a", 0, const_true(), Alignment());
    const Stmt store = Store::make("out", load(UInt(8, 16), "b"), Ramp::make(first, 4, 16),
                                   const_true(16), Alignment());
    LoweredModule module = one_function(
        {pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, store);
    for (const char *target : {"x86-64-linux-avx-avx2", "x86-64-linux-avx512_skylake"}) {
        const std::string text = CompiledModule(module, Target(target)).assembly();
        EXPECT_NE(text.find("vpextrb\t$15"), std::string::npos) << text;
        for (const char *instruction : {"vpextrd", "vpextrq", "vpaddd", "vpaddq"}) {
            EXPECT_EQ(text.find(instruction), std::string::npos) << text;
        }
    }
}

/// A stride that is not constant is added from lane to lane: its multiples would fill the registers.
TEST(X86, StridedStoresHoldNoMultiplesOfTheStride) {
    const auto load_one = [](int i) {
        return Load::make(Int(32), "a", i, const_true(), Alignment());
    };
    const Stmt store =
        Store::make("out", load(UInt(8, 16), "b"), Ramp::make(load_one(0), load_one(1), 16),
                    const_true(16), Alignment());
    LoweredModule module = one_function(
        {pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, store);
    const std::string text = CompiledModule(module, Target("x86-64-linux-avx2")).assembly();
    EXPECT_EQ(count(text, "imul") + count(text, "vpmulld") + count(text, "movslq"), 2u) << text;
}

/// Nor do loops with several such stores, whose distances LLVM would hoist into more values than there
/// are registers.
TEST(X86, StridedStoresInLoopsSpillNothing) {
    const auto load_one = [](int i) {
        return Load::make(Int(32), "a", i, const_true(), Alignment());
    };
    const Expr stride = Variable::make(Int(32), "stride"), i = Variable::make(Int(32), "i");
    std::vector<Stmt> stores;
    for (const int channel : {0, 1, 2}) {
        const Expr value = Load::make(UInt(8, 16), "b", Ramp::make(i * 16 + channel * 1000, 1, 16),
                                      const_true(16), Alignment());
        stores.push_back(Store::make("out", value,
                                     Ramp::make(i * 16 * stride + channel, stride, 16),
                                     const_true(16), Alignment()));
    }
    const Stmt loop = For::make("i", 0, load_one(0), ForType::Serial, Partition::Auto,
                                DeviceAPI::None, Block::make(stores));
    LoweredModule module =
        one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("b")},
                     LetStmt::make("stride", load_one(1), loop));
    const std::string text = CompiledModule(module, Target("x86-64-linux-avx2")).assembly();
    EXPECT_EQ(count(text, "(%rsp)"), 0u) << text;
}

/// Lane by lane where the processor gathers slowly, which LLVM does not undo; with a mask never.
TEST(X86, GathersAreThoseThatPay) {
    const Expr index =
        max(min(cast(Int(32, 32), load(Float(32, 32), "a")), Broadcast::make(255, 32)),
            Broadcast::make(0, 32));
    const Expr looked_up = Load::make(Float(32, 32), "b", index, const_true(32), {});
    const Expr table = cast(Int(32, 32), looked_up);
    const Expr masked = Load::make(Float(32, 32), "b", load(Int(32, 32), "a"),
                                   load(Int(32, 32), "c") > Broadcast::make(0, 32), {});
    const std::string features = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake";
    for (const auto &[more, is_fast] :
         {std::pair("", true), std::pair("-avx512_cannonlake-avx512_zen4", false),
          std::pair("-avx512_cannonlake-avx512_zen4-avxvnni", true),
          std::pair("-avx512_cannonlake-avx512_zen4-avx512_zen5-avxvnni", false),
          std::pair("-tune_znver4", false)}) {
        const std::string target = features + more;
        EXPECT_EQ(assembly(target.c_str(), table).find("vgather") != std::string::npos, is_fast)
            << assembly(target.c_str(), table);
        EXPECT_NE(assembly(target.c_str(), masked).find("vgather"), std::string::npos)
            << assembly(target.c_str(), masked);
    }
}

/// Channels of bytes are taken out of two registers by one permutation each, where there is one.
TEST(X86, ChannelsOfBytesAreTakenByPermutations) {
    const char *target = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-"
                         "avx512_cannonlake";
    const Expr all = load(UInt(8, 96), "a");
    const auto channel = [&](int c) {
        return Shuffle::make_slice(all, c, 3, 32);
    };
    const std::string of_three = assembly(target, channel(0) + (channel(1) ^ channel(2)));
    EXPECT_EQ(count(of_three, "vpermt2b") + count(of_three, "vpermi2b"), 3u) << of_three;
    EXPECT_EQ(count(of_three, "vpalignr") + count(of_three, "vpshufb"), 0u) << of_three;
    const Expr strided =
        Load::make(UInt(8, 16), "a", Ramp::make(0, 4, 16), const_true(16), Alignment());
    const std::string of_four = assembly(target, strided);
    EXPECT_EQ(count(of_four, "vpermt2b") + count(of_four, "vpermi2b"), 1u) << of_four;
    EXPECT_EQ(count(of_four, "vpblend") + count(of_four, "vpmovdb"), 0u) << of_four;
}

/// The two products of a pair of lanes are computed where the lanes are.
TEST(X86, DividesByConstantsWithoutMovingLanes) {
    const Expr quotient = load(Int(32, 16), "a") / make_const(Int(32, 16), 19);
    const std::string text =
        assembly("x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake", quotient);
    EXPECT_EQ(count(text, "vpmuludq"), 2u) << text;
    EXPECT_EQ(count(text, "vpmovzx") + count(text, "vpmovqd"), 0u) << text;
}

/// Half of a sum has no wider lanes, also where it is chosen from two of them.
TEST(X86, HalvesSumsAsTheyAre) {
    const Type t = Int(16, 16);
    const Expr a = load(t, "a"), b = load(t, "b");
    const Expr chosen = select(a < b, halving_add(a, b), halving_add(a, load(t, "c")));
    const std::string text = assembly("x86-64-linux-sse41-avx-avx2-fma-f16c", chosen);
    EXPECT_EQ(count(text, "vpmovsx") + count(text, "vpack"), 0u) << text;
}

/// A sum over a few rows has neither a loop nor its total in memory; one over many has a loop.
TEST(X86, ShortLoopsAreUnrolled) {
    for (const auto &[rows, is_loop] : {std::pair(5, false), std::pair(100, true)}) {
        const Expr r = Variable::make(Int(32), "r"), at = Ramp::make(0, 1, 8);
        const Expr row = Load::make(Float(32, 8), "a", Ramp::make(r * 8, 1, 8), const_true(8),
                                    Alignment()),
                   sum = Load::make(Float(32, 8), "out", at, const_true(8), Alignment());
        const Stmt store = Store::make("out", sum + row, at, const_true(8), Alignment());
        const Stmt loop =
            For::make("r", 0, rows, ForType::Serial, Partition::Auto, DeviceAPI::None, store);
        const std::string text =
            CompiledModule(one_function({pointer_argument("out"), pointer_argument("a")}, loop),
                           Target("x86-64-linux-sse41-avx-avx2-fma-f16c"))
                .assembly();
        EXPECT_EQ(count(text, "vaddps"), is_loop ? 1u : 5u) << text;
        EXPECT_EQ(text.find("\tjne") != std::string::npos, is_loop) << text;
    }
}

/// A loop of a few instructions must not lie in two lines of a cache.
TEST(X86, LoopsBeginAtMultiplesOf64) {
    const Expr x = Variable::make(Int(32), "x"), n = Load::make(Int(32), "b", 0, const_true(), {});
    const Stmt copy = Store::make("out", Load::make(UInt(16), "a", x, const_true(), {}), x,
                                  const_true(), Alignment());
    const Stmt loop = For::make("x", 0, n, ForType::Serial, Partition::Auto, DeviceAPI::None, copy);
    const LoweredModule module =
        one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, loop);
    const std::string text = CompiledModule(module, Target("x86-64-linux-sse41")).assembly();
    EXPECT_NE(text.find("\t.p2align\t6"), std::string::npos) << text;
}

/// What a loop clamps is compared as its counter is, in 64 bits: no index is extended in the loop.
TEST(X86, ClampsOfIndicesAreWide) {
    const auto value = [](int i) {
        return Load::make(Int(32), "b", i, const_true(), Alignment());
    };
    const Expr x = Variable::make(Int(32), "x"), at = max(min(x * 2 + 3, value(1)), value(2));
    const Stmt copy = Store::make("out", Load::make(Float(32), "a", at, const_true(), Alignment()),
                                  x, const_true(), Alignment());
    const Stmt loop =
        For::make("x", 0, value(0), ForType::Serial, Partition::Auto, DeviceAPI::None, copy);
    const LoweredModule module =
        one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, loop);
    const std::string text = CompiledModule(module, Target("x86-64-linux-sse41")).assembly();
    EXPECT_EQ(count(text, "cltq") + count(text, "movslq\t%"), 0u) << text;
}

/// So are sums with what is read, as the place in a histogram, also where a let names them.
TEST(X86, SumsOfWhatIsReadAreWide) {
    const Expr x = Variable::make(Int(32), "x"), at = Variable::make(Int(32), "at"),
               first = Variable::make(Int(32), "first");
    const Expr read = cast(Int(32), Load::make(UInt(8), "a", x, const_true(), Alignment()));
    const Expr bin = Load::make(Int(32), "out", at, const_true(), Alignment());
    const Stmt count_one = LetStmt::make(
        "at", read - first, Store::make("out", bin + 1, at, const_true(), Alignment()));
    const Stmt loop = LetStmt::make(
        "first", Load::make(Int(32), "b", 0, const_true(), Alignment()),
        For::make("x", 0, 1000, ForType::Serial, Partition::Auto, DeviceAPI::None, count_one));
    const LoweredModule module =
        one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, loop);
    const std::string text = CompiledModule(module, Target("x86-64-linux-sse41")).assembly();
    EXPECT_EQ(count(text, "cltq") + count(text, "movslq\t%"), 0u) << text;
}

/// A register of lanes that only pad others would have an undefined index. LLVM takes any register
/// for it, also that of the result, which is no instruction.
TEST(X86, GathersHaveNoRegisterOfPadding) {
    const struct {
        const char *target;
        int lanes, gathers;
    } cases[] = {{"x86-64-linux-avx512_skylake", 20, 3}, {"x86-64-linux-avx512_skylake", 33, 5}};
    for (const auto &c : cases) {
        const Expr chosen = load(UInt(8, c.lanes), "c") != make_zero(UInt(8, c.lanes));
        const std::string text =
            assembly(c.target, Load::make(UInt(64, c.lanes), "a", load(Int(32, c.lanes), "b"),
                                          chosen, Alignment()));
        int found = 0;
        for (size_t at = text.find("vpgather"); at != std::string::npos;
             at = text.find("vpgather", at + 1)) {
            found++;
        }
        EXPECT_EQ(found, c.gathers) << c.target << ", " << c.lanes << " lanes\n" << text;
    }
}

/// Sums in storage on the stack that later code reads by an index: within a loop they are in
/// registers, however often its body adds to each.
TEST(X86, SumsOfALongBodyStayInRegisters) {
    constexpr int sums = 24, times = 16, lanes = 16;
    const Type t = Float(32, lanes);
    const auto at = [&](const Expr &first) {
        return Ramp::make(first, 1, lanes);
    };
    const auto var = [](const char *name) {
        return Variable::make(Int(32), name);
    };
    const auto value = [&](const char *name, const Expr &first) {
        return Load::make(t, name, at(first), const_true(lanes), Alignment());
    };
    const auto put = [&](const char *name, const Expr &v, const Expr &first) {
        return Store::make(name, v, at(first), const_true(lanes), Alignment());
    };
    const auto loop = [](const char *name, int extent, const Stmt &body) {
        return For::make(name, 0, extent, ForType::Serial, Partition::Never, DeviceAPI::None, body);
    };
    std::vector<Stmt> clear, add;
    for (int i = 0; i < sums * times; i++) {
        const Expr first = i % sums * lanes;
        if (i < sums) {
            clear.push_back(put("sum", make_zero(t), first));
        }
        const Expr step = (var("k") * times + i / sums) * (sums * lanes);
        add.push_back(
            put("sum", value("sum", first) + value("a", step) * value("b", step + i % sums * lanes),
                first));
    }
    const Stmt copy = put("out", value("sum", var("which") * lanes), 0);
    const Stmt body = Block::make({Block::make(clear), loop("k", 100, Block::make(add)), copy});
    const LoweredModule module = one_function(
        {pointer_argument("a"), pointer_argument("b"), pointer_argument("out"),
         scalar_argument("which", Int(32))},
        Allocate::make("sum", Float(32), MemoryType::Stack, {sums * lanes}, const_true(), body));
    const std::string text =
        CompiledModule(module, Target("x86-64-linux-avx512_skylake")).assembly();
    int stores = 0;
    for (size_t end = text.find("(%rsp)\n"); end != std::string::npos;
         end = text.find("(%rsp)\n", end + 1)) {
        const std::string line =
            text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
        stores += line.find("%zmm") != std::string::npos && line.find("vmov") != std::string::npos;
    }
    EXPECT_LE(stores, 2 * sums) << text;
}

struct Row {
    const char *instruction;
    int bits128;  ///< lanes that fill 128 bits of the widest operand
    std::function<Expr(int)> make;
};

const Row rows[] = {
    {"pavgb", 16,
     [](int n) {
         return rounding_halving_add(load(UInt(8, n), "a"), load(UInt(8, n), "b"));
     }},
    {"pavgw", 8,
     [](int n) {
         return rounding_halving_add(load(UInt(16, n), "a"), load(UInt(16, n), "b"));
     }},
    {"paddusb", 16,
     [](int n) {
         return saturating_add(load(UInt(8, n), "a"), load(UInt(8, n), "b"));
     }},
    {"psubusw", 8,
     [](int n) {
         return saturating_sub(load(UInt(16, n), "a"), load(UInt(16, n), "b"));
     }},
    {"paddsw", 8,
     [](int n) {
         return saturating_add(load(Int(16, n), "a"), load(Int(16, n), "b"));
     }},
    {"pmulhw", 8,
     [](int n) {
         return mul_shift_right(load(Int(16, n), "a"), load(Int(16, n), "b"), 16);
     }},
    {"pmulhuw", 8,
     [](int n) {
         return mul_shift_right(load(UInt(16, n), "a"), load(UInt(16, n), "b"), 16);
     }},
    {"pmulhrsw", 8,
     [](int n) {
         return rounding_mul_shift_right(load(Int(16, n), "a"), load(Int(16, n), "b"), 15);
     }},
    {"pmulhuw", 8,
     [](int n) {
         return load(UInt(16, n), "a") / make_const(UInt(16, n), 3);
     }},
    {"packuswb", 16,
     [](int n) {
         return saturating_cast(UInt(8), load(Int(16, n), "a"));
     }},
    {"packssdw", 8,
     [](int n) {
         return saturating_cast(Int(16), load(Int(32, n), "a"));
     }},
    {"pabsw", 8,
     [](int n) {
         return abs(load(Int(16, n), "a"));
     }},
    {"pmaxub", 16,
     [](int n) {
         return max(load(UInt(8, n), "a"), load(UInt(8, n), "b"));
     }},
    {"pminsd", 4,
     [](int n) {
         return min(load(Int(32, n), "a"), load(Int(32, n), "b"));
     }},
    {"sqrtps", 4,
     [](int n) {
         return sqrt(load(Float(32, n), "a"));
     }},
    {"roundps", 4,
     [](int n) {
         return floor(load(Float(32, n), "a"));
     }},
    {"cvttps2dq", 4,
     [](int n) {
         return cast(Int(32), load(Float(32, n), "a"));
     }},
    {"pmaddwd", 4,
     [](int n) {
         return VectorReduce::make(
             VectorReduce::Add, widening_mul(load(Int(16, 2 * n), "a"), load(Int(16, 2 * n), "b")),
             n);
     }},
    {"pmaddwd", 4,
     [](int n) {
         return widening_mul(load(Int(16, n), "a"), load(Int(16, n), "b")) +
                widening_mul(load(Int(16, n), "b"), load(Int(16, n), "b"));
     }},
    {"psadbw", 2,
     [](int n) {
         return VectorReduce::make(
             VectorReduce::Add,
             cast(UInt(32), absd(load(UInt(8, 8 * n), "a"), load(UInt(8, 8 * n), "b"))), n);
     }},
    {"pmaddubsw", 8,
     [](int n) {
         return VectorReduce::make(
             VectorReduce::SaturatingAdd,
             widening_mul(load(UInt(8, 2 * n), "a"), load(Int(8, 2 * n), "b")), n);
     }},
};

TEST(X86, InstructionsAreUsed) {
    struct Width {
        const char *target, *register_name;
        int factor;
    };
    for (const Width &w :
         {Width{"x86-64-linux-sse41", "%xmm", 1}, Width{"x86-64-linux-avx2-fma", "%ymm", 2},
          Width{"x86-64-linux-avx512_skylake", "%zmm", 4}}) {
        for (const Row &row : rows) {
            std::string text = assembly(w.target, row.make(row.bits128 * w.factor));
            std::string name = row.instruction;
            if (name == "roundps" && w.factor == 4) {
                name = "rndscaleps";
            }
            if (w.factor == 4 && name.substr(0, 4) == "pack") {
                name = name == "packssdw" ? "pmovsdw" : "pmovuswb";
            }
            EXPECT_NE(text.find(name), std::string::npos) << name << " on " << w.target << ":\n"
                                                          << text;
            if (name.substr(0, 4) != "pack") {
                EXPECT_NE(text.find(w.register_name), std::string::npos)
                    << name << " on " << w.target << ":\n"
                    << text;
            }
        }
    }
}

TEST(X86, DotProductOfBytesUsesVnni) {
    Expr product =
        Mul::make(cast(Int(32), load(UInt(8, 64), "a")), cast(Int(32), load(Int(8, 64), "b")));
    Expr sum = VectorReduce::make(VectorReduce::Add, product, 16);
    EXPECT_NE(assembly("x86-64-linux-avx512_zen4", sum).find("vpdpbusd"), std::string::npos);
    EXPECT_EQ(assembly("x86-64-linux-avx2-fma", sum).find("vpdpbusd"), std::string::npos);
}

TEST(X86, DotProductsAddToTheirAccumulator) {
    Expr product =
        Mul::make(cast(Int(32), load(UInt(8, 64), "a")), cast(Int(32), load(Int(8, 64), "b")));
    Expr sum = VectorReduce::make(VectorReduce::Add, product, 16) + load(Int(32, 16), "a");
    const std::string text = assembly("x86-64-linux-avx512_zen4", sum);
    EXPECT_NE(text.find("vpdpbusd"), std::string::npos);
    EXPECT_EQ(text.find("vpaddd"), std::string::npos) << text;
}

/// c + the sums of groups of products of a and b in type t.
Expr accumulated(Type t, const Expr &a, const Expr &b, int factor) {
    const int lanes = a.type().lanes();
    const Expr product = Mul::make(cast(t.with_lanes(lanes), a), cast(t.with_lanes(lanes), b));
    return load(t.with_lanes(lanes / factor), "c") +
           VectorReduce::make(VectorReduce::Add, product, lanes / factor);
}

TEST(X86, DotProductsOfWordsAddToTheirAccumulator) {
    const Expr sum = accumulated(Int(32), load(Int(16, 32), "a"), load(Int(16, 32), "b"), 2);
    for (const char *target : {"x86-64-linux-avx512_zen4", "x86-64-linux-avx2-avxvnni"}) {
        const std::string text = assembly(target, sum);
        EXPECT_NE(text.find("vpdpwssd"), std::string::npos) << text;
        EXPECT_EQ(text.find("vpaddd"), std::string::npos) << text;
    }
    EXPECT_NE(assembly("x86-64-linux-avx2", sum).find("vpmaddwd"), std::string::npos);
}

TEST(X86, DotProductsOfBfloat16) {
    const Expr a = load(BFloat(16, 32), "a");
    const Expr one = Broadcast::make(Load::make(BFloat(16), "b", 0, const_true(), Alignment()), 32);
    for (const Expr &b : {load(BFloat(16, 32), "b"), one}) {
        const std::string text =
            assembly("x86-64-linux-avx512_zen4", accumulated(Float(32), a, b, 2));
        EXPECT_NE(text.find("vdpbf16ps"), std::string::npos) << text;
        EXPECT_EQ(text.find("vaddps"), std::string::npos) << text;
    }
    const Expr wide = accumulated(Float(32), a, load(Float(32, 32), "b"), 2);
    EXPECT_EQ(assembly("x86-64-linux-avx512_zen4", wide).find("vdpbf16ps"), std::string::npos);
}

TEST(X86, SaturatingDotProducts) {
    const auto text = [](const Expr &a, const Expr &b) {
        const Type wide = Int(32, a.type().lanes());
        const Expr sums = VectorReduce::make(VectorReduce::SaturatingAdd,
                                             Mul::make(cast(wide, a), cast(wide, b)), 16);
        return assembly("x86-64-linux-avx512_zen4", saturating_add(load(Int(32, 16), "c"), sums));
    };
    EXPECT_NE(text(load(UInt(8, 64), "a"), load(Int(8, 64), "b")).find("vpdpbusds"),
              std::string::npos);
    const Expr words = load(Int(16, 32), "a");
    const std::string weighted = text(words, make_const(Int(16, 32), 300));
    EXPECT_NE(weighted.find("vpdpwssds"), std::string::npos) << weighted;
    EXPECT_EQ(weighted.find("vpaddd"), std::string::npos) << weighted;
    // The sum of two products may be 2^31, which is to saturate before it is added.
    EXPECT_NE(text(words, load(Int(16, 32), "b")).find("vpaddd"), std::string::npos);
}

TEST(X86, Float16IsComputedWithWhereThereAreInstructions) {
    const Expr a = load(Float(16, 32), "a"), b = load(Float(16, 32), "b");
    const std::string native =
        assembly("x86-64-linux-avx512_sapphirerapids", calotype::max(a + b, a * b));
    for (const char *instruction : {"vaddph", "vmulph", "vmaxph"}) {
        EXPECT_NE(native.find(instruction), std::string::npos) << native;
    }
    EXPECT_EQ(native.find("vcvt"), std::string::npos) << native;
    EXPECT_NE(assembly("x86-64-linux-avx512_zen4", a + b).find("vcvtph2ps"), std::string::npos);
}

TEST(X86, SaturatingDotProductsAreExact) {
    std::mt19937 random(9);
    std::vector<int16_t> a(32), b(32);
    std::vector<int32_t> c(16), out(16);
    for (size_t i = 0; i < 32; i++) {
        a[i] = i % 3 == 0 ? INT16_MIN : int16_t(random());
        b[i] = i % 4 < 2 ? INT16_MIN : int16_t(random());
        c[i / 2] = i % 8 == 0 ? -5 : i % 8 == 4 ? INT32_MAX - 7 : int32_t(random());
    }
    const Expr product = Mul::make(cast(Int(32, 32), load(Int(16, 32), "a")),
                                   cast(Int(32, 32), load(Int(16, 32), "b")));
    const Expr sum = saturating_add(load(Int(32, 16), "c"),
                                    VectorReduce::make(VectorReduce::SaturatingAdd, product, 16));
    const Stmt store = Store::make("out", sum, Ramp::make(0, 1, 16), const_true(16), Alignment());
    for (const Target &target : runnable_targets()) {
        auto library = load_module(one_function({pointer_argument("out"), pointer_argument("a"),
                                                 pointer_argument("b"), pointer_argument("c")},
                                                store),
                                   target);
        const auto f =
            library->function<int(int32_t *, const int16_t *, const int16_t *, const int32_t *)>(
                "f");
        ASSERT_EQ(f(out.data(), a.data(), b.data(), c.data()), 0);
        const auto saturated = [](int64_t x) {
            return std::min<int64_t>(std::max<int64_t>(x, INT32_MIN), INT32_MAX);
        };
        for (size_t i = 0; i < 16; i++) {
            const int64_t pair =
                int64_t(a[2 * i]) * b[2 * i] + int64_t(a[2 * i + 1]) * b[2 * i + 1];
            EXPECT_EQ(out[i], saturated(c[i] + saturated(pair)))
                << i << " on " << target.to_string();
        }
    }
}

TEST(X86, SumsOfBfloat16ProductsAreThoseOfFloats) {
    std::vector<uint16_t> a(32), b(32);
    std::vector<float> c(16), out(16);
    for (size_t i = 0; i < 32; i++) {
        a[i] = bfloat16_t(float(i) - 11).to_bits();
        b[i] = bfloat16_t(0.5f * float(i % 7)).to_bits();
        c[i / 2] = float(i) * 3;
    }
    const Expr sum =
        accumulated(Float(32), load(BFloat(16, 32), "a"), load(BFloat(16, 32), "b"), 2);
    const Stmt store = Store::make("out", sum, Ramp::make(0, 1, 16), const_true(16), Alignment());
    for (const Target &target : runnable_targets()) {
        auto library = load_module(one_function({pointer_argument("out"), pointer_argument("a"),
                                                 pointer_argument("b"), pointer_argument("c")},
                                                store),
                                   target);
        const auto f =
            library->function<int(float *, const uint16_t *, const uint16_t *, const float *)>("f");
        ASSERT_EQ(f(out.data(), a.data(), b.data(), c.data()), 0);
        for (size_t i = 0; i < 16; i++) {
            float expected = c[i];
            for (size_t k = 2 * i; k < 2 * i + 2; k++) {
                expected += (float(k) - 11) * 0.5f * float(k % 7);
            }
            EXPECT_EQ(out[i], expected) << i << " on " << target.to_string();
        }
    }
}

/// NaNs of all kinds that rounding to 16 bits could lose: signalling ones with a payload in the lower
/// half alone, and those with all bits set.
std::vector<float> floats_with_odd_nans() {
    std::vector<float> result = {0.0f, -0.0f, 1.0f, -3.0e38f, 3.4e38f, 1e-40f, INFINITY, -INFINITY};
    for (const uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff80ffffu, 0x7fc00000u,
                                0x7fff8000u, 0xffc00001u, 0x7f7fffffu}) {
        result.push_back(std::bit_cast<float>(bits));
    }
    return result;
}

TEST(X86, NansOfFloatsStayNansInBfloat16) {
    const std::vector<float> a = floats_with_odd_nans();
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {1, 4, 16}) {
            const auto copies = map1<bfloat16_t, float>(target, lanes, a, [](const Expr &x) {
                return cast(BFloat(16, x.type().lanes()), x);
            });
            const auto sums = map1<bfloat16_t, float>(target, lanes, a, [](const Expr &x) {
                return cast(BFloat(16, x.type().lanes()), x + x);
            });
            for (size_t i = 0; i < a.size(); i++) {
                EXPECT_EQ(std::isnan(float(copies[i])), std::isnan(a[i])) << i;
                EXPECT_EQ(std::isnan(float(sums[i])), std::isnan(a[i])) << i;
                if (!std::isnan(a[i])) {
                    EXPECT_EQ(float(copies[i]), float(bfloat16_t(a[i]))) << i;
                    EXPECT_EQ(float(sums[i]), float(bfloat16_t(a[i] + a[i]))) << i;
                }
            }
        }
    }
}

TEST(X86, ArithmeticOnBfloat16KeepsNansWithoutAskingForThem) {
    std::vector<bfloat16_t> a, b;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        a.push_back(bfloat16_t::make_from_bits(uint16_t(bits)));
        b.push_back(bfloat16_t::make_from_bits(uint16_t(bits * 40503 + 7)));
    }
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {1, 16}) {
            const auto products = map2<bfloat16_t, bfloat16_t, bfloat16_t>(
                target, lanes, a, b, [](const Expr &x, const Expr &y) { return x * y; });
            for (size_t i = 0; i < a.size(); i++) {
                const float expected = float(bfloat16_t(float(a[i]) * float(b[i])));
                ASSERT_TRUE(std::isnan(expected) ? std::isnan(float(products[i]))
                                                 : expected == float(products[i]))
                    << a[i].to_bits() << " * " << b[i].to_bits();
            }
        }
    }
    const Expr x = load(BFloat(16, 8), "a"), y = load(BFloat(16, 8), "b");
    const std::string text = assembly("x86-64-linux-avx2", calotype::max(x * y - x, y / x));
    EXPECT_EQ(text.find("vpcmpgtd"), std::string::npos) << text;
}

TEST(X86, RoundedProductsThatCannotWrapAreNotMended) {
    auto text = [](const Expr &factor) {
        return assembly("x86-64-linux-avx2-fma",
                        Call::make(Int(16, 16), Intrinsic::rounding_mul_shift_right,
                                   {load(Int(16, 16), "a"), factor, make_const(UInt(16, 16), 15)}));
    };
    EXPECT_NE(text(load(Int(16, 16), "b")).find("pcmpeqw"), std::string::npos);
    EXPECT_EQ(text(make_const(Int(16, 16), 22812)).find("pcmpeqw"), std::string::npos);
}

template<typename A, typename B, typename R>
void check_products(int factor, int result_lanes, bool accumulates = false) {
    std::mt19937 random(3);
    int lanes = factor * result_lanes;
    std::vector<A> a(size_t(lanes) * 8);
    std::vector<B> b(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = i % 11 == 0  ? std::numeric_limits<A>::min()
               : i % 7 == 0 ? std::numeric_limits<A>::max()
                            : A(random());
        // An eighth of the range, so that eight products fit.
        b[i] = B((i % 5 == 0 ? std::numeric_limits<B>::min() : B(random())) / 8);
    }
    for (const Target &target : runnable_targets()) {
        std::vector<R> out(8 * size_t(result_lanes));
        Expr index = Ramp::make(Variable::make(Int(32), "i") * lanes, 1, lanes);
        Expr x =
            Load::make(type_of<A>().with_lanes(lanes), "a", index, const_true(lanes), Alignment());
        Expr y =
            Load::make(type_of<B>().with_lanes(lanes), "b", index, const_true(lanes), Alignment());
        Type wide = type_of<R>().with_lanes(lanes);
        Expr sum = VectorReduce::make(VectorReduce::Add, Mul::make(cast(wide, x), cast(wide, y)),
                                      result_lanes);
        if (accumulates) {
            Expr i = cast(type_of<R>(), Variable::make(Int(32), "i"));
            sum = sum + (result_lanes == 1 ? i : Broadcast::make(i, result_lanes));
        }
        Expr out_index = Variable::make(Int(32), "i") * result_lanes;
        Expr place = result_lanes == 1 ? out_index : Ramp::make(out_index, 1, result_lanes);
        Stmt loop =
            For::make("i", 0, 8, ForType::Serial, Partition::Auto, DeviceAPI::None,
                      Store::make("out", sum, place, const_true(result_lanes), Alignment()));
        auto library = load_module(
            one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("b")},
                         loop),
            target);
        ASSERT_EQ(
            library->function<int(R *, const A *, const B *)>("f")(out.data(), a.data(), b.data()),
            0);
        for (size_t i = 0; i < out.size(); i++) {
            R expected = accumulates ? R(i / size_t(result_lanes)) : 0;
            for (int k = 0; k < factor; k++) {
                size_t at = i * size_t(factor) + size_t(k);
                expected += R(a[at]) * R(b[at]);
            }
            ASSERT_EQ(out[i], expected)
                << "factor " << factor << " lanes " << result_lanes << " at " << i;
        }
    }
}

TEST(X86, SumsOfProductsAreExact) {
    for (int factor : {1, 2, 3, 4, 8}) {
        for (int lanes : {1, 5, 16}) {
            check_products<int16_t, int16_t, int32_t>(factor, lanes);
            check_products<uint8_t, int8_t, int32_t>(factor, lanes);
            check_products<uint8_t, uint8_t, int32_t>(factor, lanes);
            check_products<int16_t, int16_t, double>(factor, lanes);
            check_products<uint8_t, int8_t, int32_t>(factor, lanes, true);
            check_products<int16_t, int16_t, int32_t>(factor, lanes, true);
        }
    }
}

TEST(X86, SumsOfTwoProductsAreExact) {
    std::mt19937 random(5);
    for (const Target &target : runnable_targets()) {
        for (int n : {4, 5, 8, 16, 40}) {
            std::vector<int16_t> a(size_t(n) * 2), b(a.size());
            for (size_t i = 0; i < a.size(); i++) {
                a[i] = i % 3 == 0 ? INT16_MIN : int16_t(random());
                b[i] = i % 4 == 0 ? INT16_MAX : int16_t(random() % 32768);
            }
            auto at = [&](const char *name, int begin) {
                return Load::make(Int(16, n), name, Ramp::make(begin, 1, n), const_true(n),
                                  Alignment());
            };
            Expr sum = widening_mul(at("a", 0), at("b", 0)) + widening_mul(at("a", n), at("b", n));
            Stmt store = Store::make("out", sum, Ramp::make(0, 1, n), const_true(n), Alignment());
            auto library = load_module(
                one_function(
                    {pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, store),
                target);
            std::vector<int32_t> out(static_cast<size_t>(n));
            ASSERT_EQ(library->function<int(int32_t *, const int16_t *, const int16_t *)>("f")(
                          out.data(), a.data(), b.data()),
                      0);
            for (size_t i = 0; i < out.size(); i++) {
                const size_t j = i + out.size();
                EXPECT_EQ(out[i], int64_t(a[i]) * b[i] + int64_t(a[j]) * b[j]);
            }
        }
    }
}

TEST(X86, SumsOfBytesAreExact) {
    std::vector<uint8_t> a(512), b(512);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = uint8_t(i * 97);
        b[i] = uint8_t(i * 31 + 5);
    }
    for (const Target &target : runnable_targets()) {
        for (int factor : {8, 16, 24, 64}) {
            int n = factor * 4;
            auto at = [&](const char *name) {
                return Load::make(UInt(8, n), name, Ramp::make(0, 1, n), const_true(n),
                                  Alignment());
            };
            Expr sum =
                VectorReduce::make(VectorReduce::Add, cast(UInt(32), absd(at("a"), at("b"))), 4);
            Stmt store = Store::make("out", sum, Ramp::make(0, 1, 4), const_true(4), Alignment());
            auto library = load_module(
                one_function(
                    {pointer_argument("out"), pointer_argument("a"), pointer_argument("b")}, store),
                target);
            uint32_t out[4];
            ASSERT_EQ(library->function<int(uint32_t *, const uint8_t *, const uint8_t *)>("f")(
                          out, a.data(), b.data()),
                      0);
            for (int i = 0; i < 4; i++) {
                uint32_t expected = 0;
                for (int k = i * factor; k < (i + 1) * factor; k++) {
                    expected += uint32_t(std::abs(int(a[size_t(k)]) - int(b[size_t(k)])));
                }
                EXPECT_EQ(out[i], expected) << "factor " << factor;
            }
        }
    }
}

}  // namespace
}  // namespace calotype::internal
