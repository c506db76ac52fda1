// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of two vectors in turns, and channels of pixels.
#include <gtest/gtest.h>

#include <numeric>

#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

Expr interleaved(const Expr &a, const Expr &b) {
    return Shuffle::make_interleave({a, b});
}

TEST(Permutations, HalvesOfARegisterTakeOne) {
    const char *target = "x86-64-linux-avx512_cannonlake";
    for (const Type &t : {UInt(8), Int(16), Float(16), UInt(32), Float(32), Int(64), Float(64)}) {
        for (int bits : {256, 512}) {
            const Type half = t.with_lanes(bits / 2 / t.bits());
            const std::string text =
                assembly(target, interleaved(load(half, "a"), load(half, "b")));
            EXPECT_EQ(count(text, "vpermt2") + count(text, "vpermi2"), 1u) << half << text;
            for (const char *step :
                 {"vinsert", "vpunpck", "vunpck", "vbroadcasti", "vbroadcastf"}) {
                EXPECT_EQ(count(text, step), 0u) << half << text;
            }
        }
    }
}

/// A permutation of bytes came later than the others, and one of less than 256 bits gains nothing.
TEST(Permutations, AreOfWhatTheTargetHas) {
    const auto text_of = [](const char *target, const Type &half) {
        return assembly(target, interleaved(load(half, "a"), load(half, "b")));
    };
    EXPECT_EQ(count(text_of("x86-64-linux-avx512_skylake", UInt(8, 16)), "vpermt2b"), 0u);
    EXPECT_EQ(count(text_of("x86-64-linux-avx512", UInt(16, 8)), "vpermt2w"), 0u);
    EXPECT_EQ(count(text_of("x86-64-linux-avx2", Float(32, 8)), "vpermt2"), 0u);
    EXPECT_EQ(count(text_of("x86-64-linux-avx512_skylake", Float(32, 2)), "vperm"), 0u);
}

template<typename T>
void expect_in_turns(const Target &target, int lanes) {
    std::vector<T> a(256), b(256);
    std::iota(a.begin(), a.end(), T(0));
    std::iota(b.begin(), b.end(), T(100));
    const std::vector<T> got =
        map2<T, T, T>(target, lanes, a, b, [&](const Expr &x, const Expr &y) {
            const Expr both = interleaved(x, y);
            return Shuffle::make_slice(both, 0, 1, lanes) -
                   Shuffle::make_slice(both, lanes, 1, lanes);
        });
    for (size_t i = 0; i < got.size(); i++) {
        const size_t lane = i % size_t(lanes), first = i - lane + lane / 2,
                     second = first + size_t(lanes) / 2;
        const T x = lane % 2 ? b[first] : a[first], y = lane % 2 ? b[second] : a[second];
        ASSERT_EQ(got[i], T(x - y)) << i << " of " << lanes << " lanes, " << target.to_string();
    }
}

TEST(Permutations, AreExact) {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {2, 4, 8, 16, 32, 64}) {
            expect_in_turns<uint8_t>(target, lanes);
            expect_in_turns<int16_t>(target, lanes);
            expect_in_turns<int32_t>(target, lanes);
            expect_in_turns<float>(target, lanes);
            expect_in_turns<int64_t>(target, lanes);
            expect_in_turns<double>(target, lanes);
        }
    }
}

/// Every third byte from `channel` on; or every other `channels`th.
Expr channel_of(const Expr &pixels, int channel, int channels = 3) {
    return Shuffle::make_slice(pixels, channel, channels, pixels.type().lanes() / channels);
}

Expr pixels(int count, int channels = 3) {
    return load(UInt(8, channels * count), "a");
}

TEST(Permutations, HalvesOfAChannelAreTakenOutOfTwoRegisters) {
    const std::string text =
        assembly("x86-64-linux-avx512_cannonlake", cast(UInt(16, 64), channel_of(pixels(64), 1)));
    EXPECT_EQ(count(text, "vpermt2b") + count(text, "vpermi2b"), 2u) << text;
    EXPECT_EQ(count(text, "vextract"), 0u) << text;
}

TEST(Permutations, AChannelOfFourIsTakenOutOfTwoRegistersTwice) {
    for (const Type &t : {UInt(8, 64), UInt(16, 64)}) {
        const std::string text =
            assembly("x86-64-linux-avx512_cannonlake", cast(t, channel_of(pixels(64, 4), 1, 4)));
        EXPECT_EQ(count(text, "vpermt2b") + count(text, "vpermi2b"), 2u) << text;
        EXPECT_EQ(count(text, "vpshufb") + count(text, "vextract") + count(text, "vpermd"), 0u)
            << text;
    }
}

/// LLVM's pass for interleaved accesses would take them out of registers of 128 bits.
TEST(Permutations, AChannelOfAFewPixelsIsTakenOutOfTwoRegistersToo) {
    const Expr sum =
        channel_of(pixels(16), 0) + channel_of(pixels(16), 1) + channel_of(pixels(16), 2);
    const std::string text = assembly("x86-64-linux-avx512_cannonlake", sum);
    EXPECT_EQ(count(text, "vpermt2b") + count(text, "vpermi2b"), 3u) << text;
    EXPECT_EQ(count(text, "vpshufb") + count(text, "vpalignr"), 0u) << text;
}

/// Each is the halves of what another one is made of, or of the same.
TEST(Permutations, EveryEighthByteIsHalvesOfNumbersOfTwice) {
    Expr all = channel_of(pixels(16, 8), 0, 8);
    for (int channel = 1; channel < 8; channel++) {
        all = all ^ channel_of(pixels(16, 8), channel, 8);
    }
    const std::string text = assembly("x86-64-linux-avx2", all);
    EXPECT_EQ(count(text, "vpshufb"), 0u) << text;
    EXPECT_LE(count(text, "vpackuswb"), 16u) << text;
}

TEST(Permutations, EveryEighthByteIsExact) {
    std::vector<uint8_t> bytes(512), got(32);
    for (size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = uint8_t(i * 37 + i / 256);
    }
    for (const Target &target : runnable_targets()) {
        for (const int channels : {8, 16}) {
            for (int channel = 0; channel < channels; channel++) {
                const Stmt store =
                    Store::make("out", channel_of(pixels(32, channels), channel, channels),
                                Ramp::make(0, 1, 32), const_true(32), Alignment());
                const auto library = load_module(
                    one_function({pointer_argument("out"), pointer_argument("a")}, store), target);
                ASSERT_EQ((library->function<int(uint8_t *, const uint8_t *)>("f")(got.data(),
                                                                                   bytes.data())),
                          0);
                for (size_t i = 0; i < got.size(); i++) {
                    ASSERT_EQ(bytes[i * size_t(channels) + size_t(channel)], got[i])
                        << target.to_string() << ", channel " << channel << " of " << channels;
                }
            }
        }
    }
}

/// Without such an instruction bytes are put between zeros within lanes of 128 bits, of which the halves change places.
TEST(Permutations, AChannelOfFourIsPutBetweenZeros) {
    for (const int lanes : {16, 32}) {
        const std::string text = assembly(
            "x86-64-linux-avx2", cast(UInt(16, lanes), channel_of(pixels(lanes, 4), 1, 4)));
        EXPECT_EQ(count(text, "vpshufb"), size_t(lanes) / 8) << text;
        EXPECT_EQ(count(text, "vpermq"), size_t(lanes) / 16) << text;
        EXPECT_EQ(count(text, "vpmovzx") + count(text, "vpunpck") + count(text, "vextract"), 0u)
            << text;
    }
}

/// 64 pixels of four channels, each of which is computed in 16 bits.
Expr computed_pixels() {
    std::vector<Expr> channels;
    for (int i = 0; i < 4; i++) {
        const Expr value = cast(UInt(16, 64), channel_of(pixels(64, 4), 3 - i, 4));
        channels.push_back(
            cast(UInt(8, 64), value + Broadcast::make(make_const(UInt(16), i + 1), 64)));
    }
    return Shuffle::make_interleave(channels);
}

TEST(Permutations, FourChannelsInTurnsAreHalvesThatArePermutedOnce) {
    const std::string text = assembly("x86-64-linux-avx512_cannonlake", computed_pixels());
    EXPECT_EQ(count(text, "vpermt2b") + count(text, "vpermi2b"), 12u) << text;
    EXPECT_EQ(count(text, "vpunpck") + count(text, "vpshufb"), 0u) << text;
}

TEST(Permutations, FourChannelsInTurnsAreExact) {
    std::vector<uint8_t> bytes(256), got(256);
    std::iota(bytes.begin(), bytes.end(), uint8_t(60));
    const Stmt store =
        Store::make("out", computed_pixels(), Ramp::make(0, 1, 256), const_true(256), Alignment());
    for (const Target &target : runnable_targets()) {
        const auto library = load_module(
            one_function({pointer_argument("out"), pointer_argument("a")}, store), target);
        ASSERT_EQ(
            (library->function<int(uint8_t *, const uint8_t *)>("f")(got.data(), bytes.data())), 0);
        for (size_t i = 0; i < got.size(); i++) {
            ASSERT_EQ(got[i], uint8_t(bytes[i / 4 * 4 + 3 - i % 4] + i % 4 + 1))
                << i << " " << target.to_string();
        }
    }
}

/// Four bytes that are repeated are put together once, as an integer.
TEST(Permutations, FewScalarsAreRepeatedAsOne) {
    const auto repeated = [](const Type &t, int n, int lanes) {
        std::vector<Expr> scalars;
        std::vector<int> indices;
        for (int i = 0; i < n; i++) {
            scalars.push_back(Load::make(t, "a", Expr(i * 3), const_true(), Alignment()));
        }
        for (int i = 0; i < lanes; i++) {
            indices.push_back(i % n);
        }
        return Shuffle::make(scalars, indices);
    };
    for (const Expr &e :
         {repeated(UInt(8), 4, 32), repeated(Int(8), 2, 16), repeated(UInt(16), 2, 16)}) {
        const std::string text = assembly("x86-64-linux-avx2", e);
        EXPECT_EQ(count(text, "vpinsr"), 0u) << text;
        EXPECT_EQ(count(text, "vpbroadcast"), 1u) << text;
    }
    for (const Target &target : runnable_targets()) {
        const Stmt store = Store::make("out", repeated(UInt(8), 4, 32), Ramp::make(0, 1, 32),
                                       const_true(32), Alignment());
        const auto library = load_module(
            one_function({pointer_argument("out"), pointer_argument("a")}, store), target);
        std::vector<uint8_t> a(32), out(32);
        std::iota(a.begin(), a.end(), uint8_t(200));
        ASSERT_EQ((library->function<int(uint8_t *, const uint8_t *)>("f")(out.data(), a.data())),
                  0);
        for (int i = 0; i < 32; i++) {
            EXPECT_EQ(int(out[size_t(i)]), 200 + i % 4 * 3) << i << " on " << target.to_string();
        }
    }
}

template<typename T>
void expect_channels(const Target &target, int lanes, int channels) {
    std::vector<uint8_t> bytes(size_t(lanes * channels));
    std::iota(bytes.begin(), bytes.end(), uint8_t(60));
    for (int channel = 0; channel < channels; channel++) {
        std::vector<T> got(static_cast<size_t>(lanes));
        const Expr value = cast(type_of<T>().with_lanes(lanes),
                                channel_of(pixels(lanes, channels), channel, channels));
        const Stmt store =
            Store::make("out", value, Ramp::make(0, 1, lanes), const_true(lanes), Alignment());
        const auto library = load_module(
            one_function({pointer_argument("out"), pointer_argument("a")}, store), target);
        ASSERT_EQ((library->function<int(T *, const uint8_t *)>("f")(got.data(), bytes.data())), 0);
        for (size_t i = 0; i < got.size(); i++) {
            ASSERT_EQ(got[i], T(bytes[size_t(channels) * i + size_t(channel)]))
                << i << " of " << lanes << ", channel " << channel << " of " << channels << ", "
                << target.to_string();
        }
    }
}

TEST(Permutations, ChannelsAreExact) {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {16, 32, 64, 128}) {
            for (int channels : {3, 4}) {
                expect_channels<uint8_t>(target, lanes, channels);
                expect_channels<uint16_t>(target, lanes, channels);
                expect_channels<int32_t>(target, lanes, channels);
                expect_channels<float>(target, lanes, channels);
            }
        }
    }
}

}  // namespace
}  // namespace calotype::internal
