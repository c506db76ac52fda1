// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashing: 64 bits to find a bucket (the same on every machine and run), SHA-256 where a digest is
// used as a name, as in the artifact caches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace calotype::internal {

/// Mixes all bits of `x` (a bijection).
constexpr uint64_t hash_mix(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/// The hash of the sequence that `seed` stands for, followed by `value`. Order matters.
constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) {
    return hash_mix(seed * 0x9e3779b97f4a7c15u + hash_mix(value) + 1);
}

/// Hash of `size` bytes.
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed = 0);

inline uint64_t hash_combine(uint64_t seed, std::string_view text) {
    return hash_bytes(text.data(), text.size(), seed);
}

/// The SHA-256 digest of everything added, in the order it was added.
class Sha256 {
public:
    using Digest = std::array<uint8_t, 32>;

    void update(const void *data, size_t size);
    void update(std::string_view text) {
        update(text.data(), text.size());
    }
    /// Adds the length first, so that ("ab", "c") and ("a", "bc") differ.
    void update_field(std::string_view text);

    /// Closes the stream; call once.
    Digest finish();
    /// The same as 64 lower-case hexadecimal digits.
    std::string finish_hex();

private:
    void add_block(const uint8_t *block);

    std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<uint8_t, 64> pending_{};
    uint64_t total_ = 0;
};

/// SHA-256 of `text` as hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace calotype::internal
