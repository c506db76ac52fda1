// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/hash.h"

#include <algorithm>
#include <cstring>

#include "support/hex.h"

namespace calotype::internal {

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    uint64_t hash = hash_combine(seed, uint64_t(size));
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word = 0;
        for (int i = 0; i < 8; i++) {  // little endian on every machine; compilers make it one load
            word |= uint64_t(bytes[i]) << (8 * i);
        }
        hash = hash_combine(hash, word);
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < size; i++) {
        tail |= uint64_t(bytes[i]) << (8 * i);
    }
    return size ? hash_combine(hash, tail) : hash;
}

namespace {

// FIPS 180-4, section 4.2.2: fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotate_right(uint32_t x, int by) {
    return (x >> by) | (x << (32 - by));
}

}  // namespace

void Sha256::add_block(const uint8_t *block) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = uint32_t(block[4 * i]) << 24 | uint32_t(block[4 * i + 1]) << 16 |
               uint32_t(block[4 * i + 2]) << 8 | uint32_t(block[4 * i + 3]);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) {
        state_[i] += add[i];
    }
}

void Sha256::update(const void *data, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    while (size > 0) {
        size_t used = total_ % 64;
        size_t take = std::min(size, 64 - used);
        std::memcpy(pending_.data() + used, bytes, take);
        total_ += take;
        bytes += take;
        size -= take;
        if (used + take == 64) {
            add_block(pending_.data());
        }
    }
}

void Sha256::update_field(std::string_view text) {
    uint64_t size = text.size();
    uint8_t length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = uint8_t(size >> (8 * i));
    }
    update(length, 8);
    update(text);
}

Sha256::Digest Sha256::finish() {
    const uint64_t bits = total_ * 8;
    const uint8_t one = 0x80, zero = 0;
    update(&one, 1);
    while (total_ % 64 != 56) {
        update(&zero, 1);
    }
    uint8_t length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = uint8_t(bits >> (56 - 8 * i));
    }
    update(length, 8);
    Digest digest;
    for (int i = 0; i < 32; i++) {
        digest[i] = uint8_t(state_[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

std::string Sha256::finish_hex() {
    const Digest digest = finish();
    return hex_digits(digest.data(), digest.size());
}

std::string sha256_hex(std::string_view text) {
    Sha256 sha;
    sha.update(text);
    return sha.finish_hex();
}

}  // namespace calotype::internal
