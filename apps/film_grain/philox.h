// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counter-based generator Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers,
// as easy as 1, 2, 3), and normal numbers of it in the order in which cuRAND draws them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

class Philox {
public:
    using Block = std::array<uint32_t, 4>;

    /// Block `number` of sequence `sequence`.
    static Block block(uint64_t seed, uint64_t sequence, uint64_t number) {
        Block counter = {uint32_t(number), uint32_t(number >> 32), uint32_t(sequence),
                         uint32_t(sequence >> 32)};
        std::array<uint32_t, 2> key = {uint32_t(seed), uint32_t(seed >> 32)};
        for (int round = 0; round < 10; round++) {
            counter = mix(counter, key);
            key[0] += 0x9E3779B9;
            key[1] += 0xBB67AE85;
        }
        return counter;
    }

    /// Normal number `index` of a sequence: Box and Muller's transform makes two of two integers.
    static float normal(uint64_t seed, uint64_t sequence, uint64_t index) {
        const Block bits = block(seed, sequence, index / 4);
        const uint32_t first = bits[index % 4 / 2 * 2], second = bits[index % 4 / 2 * 2 + 1];
        const float unit = 1.0f / 4294967296.0f, turn = unit * 6.2831855f;
        const float u = float(first) * unit + unit / 2;
        const float angle = float(second) * turn + turn / 2;
        const float radius = std::sqrt(-2.0f * std::log(u));
        return radius * (index % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }

private:
    static Block mix(const Block &c, const std::array<uint32_t, 2> &key) {
        const uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
        return {uint32_t(b >> 32) ^ c[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ key[1],
                uint32_t(a)};
    }
};
