// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops LLVM is told to leave as they are.
#include <gtest/gtest.h>

#include <string>

#include "codegen/scattered_bytes.h"
#include "ir/parser.h"

namespace calotype::internal {

namespace {

bool stays_scalar(const std::string &body) {
    const Stmt s = parse_stmt("for (x, 0, n) {\n" + body + "\n}\n");
    return touches_scattered_bytes(s.as<For>());
}

TEST(ScatteredBytes, LoadedAtHalvesAndStrides) {
    EXPECT_TRUE(stays_scalar("f[x] = b[x / 2]:uint8"));
    EXPECT_TRUE(stays_scalar("f[x] = b[x*stride]:uint8"));
    EXPECT_TRUE(stays_scalar("f[x] = s[x / 2]:uint16 + s[x / 3]:uint16"));
    EXPECT_TRUE(stays_scalar("let t = x / 2\nf[x] = b[t + 1]:uint8"));
}

TEST(ScatteredBytes, NotWhereTheyFollowEachOther) {
    EXPECT_FALSE(stays_scalar("f[x] = b[x + y*stride]:uint8"));
    EXPECT_FALSE(stays_scalar("let t = x*3\nf[x] = b[t]:uint8 + b[t + 1]:uint8"));
    EXPECT_FALSE(stays_scalar("let t = y / 2\nf[x] = b[x - t]:uint8"));
}

TEST(ScatteredBytes, NotOfElementsThatMachinesGather) {
    EXPECT_FALSE(stays_scalar("f[x] = g[x / 2]:float32"));
    EXPECT_FALSE(stays_scalar("f[ramp(x, 1, 8)] = b[ramp(x, 1, 8) / broadcast(2, 8)]:uint8"));
}

TEST(ScatteredBytes, NotForAFewLanesNorBesideOtherWork) {
    EXPECT_FALSE(stays_scalar("f[x] = float32(b[x / 2]:uint8)"));
    EXPECT_FALSE(stays_scalar("f[table[x]] = b[x]:uint8"));
    EXPECT_FALSE(
        stays_scalar("f[x] = uint8(exp(float32(b[x / 2]:uint8)) * exp(float32(c[x]:uint8)))"));
}

/// "a(0) + a(1) + ..." of so many elements of rows of `step`.
std::string sum_of_row(int count, int step, const std::string &operation = " + ") {
    std::string sum;
    for (int i = 0; i < count; i++) {
        sum += (i == 0 ? "" : operation) + "b[x*" + std::to_string(step) + " + " +
               std::to_string(i) + "]:int16";
    }
    return sum;
}

TEST(ScatteredBytes, NeighboursOfAnIterationAreItsVectors) {
    const auto packs = [](const std::string &body) {
        const Stmt s = parse_stmt("for (x, 0, n) {\n" + body + "\n}\n");
        return packs_neighbours_of_iteration(s.as<For>());
    };
    EXPECT_TRUE(packs("f[x] = " + sum_of_row(16, 16)));
    EXPECT_TRUE(packs("f[x] = " + sum_of_row(16, 32)));
    std::string row;
    for (int i = 0; i < 16; i++) {
        const std::string place = "[x*16 + " + std::to_string(i) + "]";
        row += "f" + place + " = b" + place + ":uint8\n";
    }
    EXPECT_TRUE(packs(row));
    // LLVM takes eight apart in registers; others are not next to each other, or are no vector within the iteration.
    EXPECT_FALSE(packs("f[x] = " + sum_of_row(8, 8)));
    EXPECT_FALSE(packs("f[x] = " + sum_of_row(8, 64)));
    EXPECT_FALSE(packs("f[x] = " + sum_of_row(16, 16, " - ")));
    EXPECT_FALSE(packs("f[x] = " + sum_of_row(4, 4)));
    // What is computed differently is no vector either.
    std::string mixed;
    for (int i = 0; i < 16; i++) {
        mixed += (i == 0 ? "b[x*16 + " : " + b[x*16 + ") + std::to_string(i * 7 % 16) +
                 "]:int16 / (int16)" + std::to_string(i + 2);
    }
    EXPECT_FALSE(packs("f[x] = " + mixed));
}

bool only_gathers(const std::string &body, int vector_bits = 512) {
    const Stmt s = parse_stmt("for (x, 0, n) {\n" + body + "\n}\n");
    return does_little_but_gather(s.as<For>(), vector_bits);
}

TEST(ScatteredBytes, WiderElementsWhereNothingElseIsComputed) {
    EXPECT_TRUE(only_gathers("f[x] = table[int32(b[x]:uint8) - first]:float32"));
    EXPECT_TRUE(only_gathers("f[x] = table[x / 2]:int64"));
    EXPECT_FALSE(only_gathers("f[x] = table[x / 2]:int64", 256));
    EXPECT_TRUE(only_gathers("f[x] = table[x / 2]:int64 + table[x / 3]:int64", 256));
    EXPECT_FALSE(only_gathers("f[x] = table[x*2]:float32"));
    EXPECT_FALSE(only_gathers("f[x] = table[int32(b[x]:uint8)]:uint16"));
    EXPECT_FALSE(only_gathers("let t = table[int32(b[x]:uint8)]:float32\n"
                              "f[x] = ((t*a + b)*t + c)*t + d"));
}

TEST(ScatteredBytes, ConversionsToLongIntegers) {
    const auto only_converts = [](const std::string &body) {
        const Stmt s = parse_stmt("for (x, 0, n) {\n" + body + "\n}\n");
        return does_little_but_convert_to_long(s.as<For>());
    };
    EXPECT_TRUE(only_converts("f[x] = int64(d[x]:float64)"));
    EXPECT_TRUE(only_converts("f[x] = uint64(d[x]:float32 * a:float32)"));
    EXPECT_FALSE(only_converts("f[x] = int32(d[x]:float64)"));
    EXPECT_FALSE(only_converts("f[x] = float64(d[x]:int64)"));
    EXPECT_FALSE(only_converts("let t = d[x]:float64\n"
                               "f[x] = int64((((t*t + t)*t + t)*t + t)*t + t)"));
}

}  // namespace

}  // namespace calotype::internal
