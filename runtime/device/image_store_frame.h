// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that a store keeps for an image: a header that says what it is, then the image, all of
// it under a digest, because a driver loads damaged code without noticing.
//
// All numbers are little-endian:
//   0  "CKO1"                     24  key[32]
//   4  schema                     56  SHA-256 of all other bytes[32]
//   8  header bytes               88  sm, 92 suffix
//  12  kind                       96  flags, 100 toolchain bytes
//  16  payload bytes (8)         104  nanoseconds that it took to make (8)
// 112  toolchain, zeros up to a multiple of 16, then the payload
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/device/kernel_backend.h"

namespace calotype {
namespace runtime {

constexpr uint32_t store_schema = 2;

/** bytes: of malloc, or null for lack of memory. */
struct StoreFrame {
    void *bytes;
    size_t size;
};
StoreFrame make_store_frame(const calotype_uid &key, const DeviceArch &arch,
                            const LoadableImage &image);

/** Check a frame and copy its image out. Null if all is well, else what is wrong: "key" if it holds
 * another image, "memory" if there is not enough for the copy. */
const char *read_store_frame(const void *bytes, size_t size, const calotype_uid &key,
                             const DeviceArch &arch, LoadableImage *image);

}  // namespace runtime
}  // namespace calotype
