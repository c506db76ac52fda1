// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 (FIPS 180-4), for content ids, image keys and the digests of stored images.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/kernels.h"

namespace calotype::runtime {

/** The hash of bytes that come in pieces. */
class Sha256 {
public:
    /** portable: without the processor's instructions for it. */
    explicit Sha256(bool portable = false);
    Sha256 &add(const void *data, size_t size);
    /** The hash of all bytes so far; the end of the object's use. */
    calotype_uid finish();

private:
    uint32_t state[8];
    uint64_t total = 0;
    uint8_t block[64];
    size_t filled = 0;
    bool portable;

    void add_block(const uint8_t *bytes);
};

inline calotype_uid sha256(const void *data, size_t size) {
    return Sha256().add(data, size).finish();
}

/** The first so many bytes of a hash as hexadecimal digits, and a NUL. */
void write_hex(const calotype_uid &hash, size_t bytes, char *digits);

}  // namespace calotype::runtime
