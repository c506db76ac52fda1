/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writing a buffer to a file, and conversions from 16-bit floats: small helpers of generated code.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct calotype_buffer_t;

/** Write `buf` to a file, in the format that the name's extension says:
 *   .npy           NumPy array, any type, axes in C order (the first dimension is the last axis)
 *   .pgm .ppm      8- or 16-bit unsigned images of one or three channels
 *   .tif .tiff     uncompressed, up to three dimensions (x, y, channel)
 *   others         five 32-bit words: the extents of four dimensions and a type number; then the
 *                  elements, the first dimension innermost
 * A buffer that is dirty on a device is copied back first. Returns 0 or an error code. */
extern int32_t calotype_debug_to_file(void *user_context, const char *filename,
                                      struct calotype_buffer_t *buf);

/** The value of an IEEE half. */
extern float calotype_float16_bits_to_float(uint16_t bits);
extern double calotype_float16_bits_to_double(uint16_t bits);

#ifdef __cplusplus
}
#endif
