/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiler attributes that the other headers of the runtime's C interface use. Nothing here is
 * part of the interface itself.
 */
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define CALOTYPE_ALWAYS_INLINE inline __attribute__((always_inline))
#define CALOTYPE_ATTRIBUTE_ALIGN(n) __attribute__((aligned(n)))
#else
#define CALOTYPE_ALWAYS_INLINE inline
#define CALOTYPE_ATTRIBUTE_ALIGN(n)
#endif

#if defined(__cplusplus)
#define CALOTYPE_MUST_USE_RESULT [[nodiscard]]
#elif defined(__GNUC__)
#define CALOTYPE_MUST_USE_RESULT __attribute__((warn_unused_result))
#else
#define CALOTYPE_MUST_USE_RESULT
#endif
