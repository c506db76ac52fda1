// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/data/sha256.h"

#include <atomic>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace calotype::runtime {

namespace {

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
constexpr uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotate_right(uint32_t value, int bits) {
    return value >> bits | value << (32 - bits);
}

uint32_t read_big_endian(const uint8_t *bytes) {
    return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
}

void write_big_endian(uint32_t value, uint8_t *bytes) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = uint8_t(value >> (24 - 8 * i));
    }
}

/** The block's sixteen words and the 48 that follow from them. */
void expand(const uint8_t *bytes, uint32_t schedule[64]) {
    for (int i = 0; i < 16; i++) {
        schedule[i] = read_big_endian(bytes + 4 * i);
    }
    for (int i = 16; i < 64; i++) {
        const uint32_t a = schedule[i - 15], b = schedule[i - 2];
        const uint32_t small0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
        const uint32_t small1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;
        schedule[i] = schedule[i - 16] + small0 + schedule[i - 7] + small1;
    }
}

/** One round, for the eight variables in the order that they have in it. */
void one_round(uint32_t a, uint32_t b, uint32_t c, uint32_t &d, uint32_t e, uint32_t f, uint32_t g,
               uint32_t &h, uint32_t input) {
    const uint32_t big1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint32_t big0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint32_t choice = (e & f) ^ (~e & g);
    const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h += big1 + choice + input;
    d += h;
    h += big0 + majority;
}

void add_block_portably(const uint8_t *bytes, uint32_t state[8]) {
    uint32_t schedule[64];
    expand(bytes, schedule);
    uint32_t v[8];
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i += 8) {
        for (int j = 0; j < 8; j++) {  // Unrolled, the variables move by renaming alone.
            one_round(v[(8 - j) % 8], v[(9 - j) % 8], v[(10 - j) % 8], v[(11 - j) % 8],
                      v[(12 - j) % 8], v[(13 - j) % 8], v[(14 - j) % 8], v[(15 - j) % 8],
                      round_constants[i + j] + schedule[i + j]);
        }
    }
    for (int i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

#if defined(__x86_64__)
bool find_instructions() {
    unsigned a, b, c, d;
    const bool sse4 = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3);
    return sse4 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

bool have_instructions() {
    static std::atomic<int> known{0};  // 1: no, 2: yes
    int answer = known.load(std::memory_order_relaxed);
    if (answer == 0) {
        answer = find_instructions() ? 2 : 1;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == 2;
}

/** With the processor's own rounds, which want the variables as (a b e f) and (c d g h). */
__attribute__((target("sha,sse4.1"))) void add_block_with_instructions(const uint8_t *bytes,
                                                                       uint32_t state[8]) {
    const __m128i byte_order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i *at = reinterpret_cast<const __m128i *>(bytes);
    __m128i words[4];
    for (int i = 0; i < 4; i++) {
        words[i] = _mm_shuffle_epi8(_mm_loadu_si128(at + i), byte_order);
    }
    __m128i abef = _mm_setr_epi32(int(state[5]), int(state[4]), int(state[1]), int(state[0]));
    __m128i cdgh = _mm_setr_epi32(int(state[7]), int(state[6]), int(state[3]), int(state[2]));
    const __m128i abef_before = abef, cdgh_before = cdgh;
    for (int i = 0; i < 16; i++) {
        const __m128i constants =
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(round_constants + 4 * i));
        const __m128i input = _mm_add_epi32(words[0], constants);
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
        const __m128i seventh = _mm_alignr_epi8(words[3], words[2], 4);
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(words[0], words[1]), seventh);
        const __m128i next = _mm_sha256msg2_epu32(sum, words[3]);
        words[0] = words[1], words[1] = words[2], words[2] = words[3], words[3] = next;
    }
    uint32_t f_e_b_a[4], h_g_d_c[4];
    _mm_storeu_si128(reinterpret_cast<__m128i *>(f_e_b_a), _mm_add_epi32(abef, abef_before));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(h_g_d_c), _mm_add_epi32(cdgh, cdgh_before));
    state[0] = f_e_b_a[3], state[1] = f_e_b_a[2], state[4] = f_e_b_a[1], state[5] = f_e_b_a[0];
    state[2] = h_g_d_c[3], state[3] = h_g_d_c[2], state[6] = h_g_d_c[1], state[7] = h_g_d_c[0];
}
#endif

}  // namespace

// The first 32 bits of the fractional parts of the square roots of the first eight primes.
Sha256::Sha256(bool portable)
    : state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      portable(portable) {
}

void Sha256::add_block(const uint8_t *bytes) {
#if defined(__x86_64__)
    if (!portable && have_instructions()) {
        add_block_with_instructions(bytes, state);
        return;
    }
#endif
    add_block_portably(bytes, state);
}

Sha256 &Sha256::add(const void *data, size_t size) {
    const uint8_t *bytes = static_cast<const uint8_t *>(data);
    total += size;
    while (size > 0) {
        if (filled == 0 && size >= sizeof block) {
            add_block(bytes);
            bytes += sizeof block;
            size -= sizeof block;
            continue;
        }
        const size_t room = sizeof block - filled;
        const size_t count = size < room ? size : room;
        memcpy(block + filled, bytes, count);
        filled += count;
        bytes += count;
        size -= count;
        if (filled == sizeof block) {
            add_block(block);
            filled = 0;
        }
    }
    return *this;
}

calotype_uid Sha256::finish() {
    const uint64_t bits = total * 8;
    const uint8_t end = 0x80, zeros[64] = {};
    add(&end, 1);
    add(zeros, (64 + 56 - filled) % 64);
    uint8_t length[8];
    write_big_endian(uint32_t(bits >> 32), length);
    write_big_endian(uint32_t(bits), length + 4);
    add(length, sizeof length);
    calotype_uid result;
    for (int i = 0; i < 8; i++) {
        write_big_endian(state[i], result.b + 4 * i);
    }
    return result;
}

void write_hex(const calotype_uid &hash, size_t bytes, char *digits) {
    for (size_t i = 0; i < bytes; i++) {
        *digits++ = "0123456789abcdef"[hash.b[i] >> 4];
        *digits++ = "0123456789abcdef"[hash.b[i] & 15];
    }
    *digits = 0;
}

}  // namespace calotype::runtime
