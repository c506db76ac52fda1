// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The external functions and variables that an image of device code defines: nvJitLink takes two
// definitions of one name without failing, so they are looked for before it is called.
#pragma once

#include <stddef.h>
#include <string.h>

#include "runtime/abi/kernels.h"
#include "runtime/host/function_ref.h"

namespace calotype::runtime {

/** Bytes of a file of device code, which may be damaged. */
struct FileBytes {
    const uint8_t *bytes;
    uint64_t size;

    bool has(uint64_t offset, uint64_t length) const {
        return offset <= size && length <= size - offset;
    }
    /** Little endian; 0 beyond the end. */
    uint64_t number(uint64_t offset, int length) const {
        uint64_t value = 0;
        for (int i = 0; has(offset, uint64_t(length)) && i < length; i++) {
            value |= uint64_t(bytes[offset + uint64_t(i)]) << (8 * i);
        }
        return value;
    }
    bool begins_with(const void *magic, size_t length) const {
        return has(0, length) && memcmp(bytes, magic, length) == 0;
    }
};
inline FileBytes bytes_of(const calotype_image &image) {
    return {static_cast<const uint8_t *>(image.data), image.size};
}

/** Called for each name; answers whether to go on. */
using FoundSymbol = FunctionRef<bool(const char *name, size_t length)>;

/** The strong definitions in PTX and in a cubin; of other kinds none are known. False: ended early.
 */
bool for_each_definition(const calotype_image &image, FoundSymbol found);
/** TextKind::find_kernels for PTX: the entries that have a body, in their order. */
void find_ptx_kernels(const char *text, void (*found)(const char *, size_t, void *), void *data);

}  // namespace calotype::runtime
