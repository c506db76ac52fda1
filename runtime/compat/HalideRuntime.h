/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The runtime's C interface under the names that Halide gives it, for programs that were written
 * against those: every halide_NAME is calotype_NAME. Include this or <calotype/runtime.h>, as you
 * like; they may be mixed.
 */
#pragma once

#include "../runtime.h"
#include "halide_namespace.h"
#include "runtime_errors.h"
#include "runtime_functions.h"
#include "runtime_types.h"

/* The version of Halide whose names these are. */
#define HALIDE_VERSION_MAJOR 22
#define HALIDE_VERSION_MINOR 0
#define HALIDE_VERSION_PATCH 0
#define HALIDE_VERSION 220000

#ifdef __cplusplus
#include "../cpp/function_info.h"
#define HalideFunctionInfo CalotypeFunctionInfo
#endif

#ifndef HALIDE_EXPORT_SYMBOL
#ifdef _WIN32
#define HALIDE_EXPORT_SYMBOL __declspec(dllexport)
#define HALIDE_NEVER_INLINE __declspec(noinline)
#define HALIDE_ATTRIBUTE_DEPRECATED(text) __declspec(deprecated(text))
#else
#define HALIDE_EXPORT_SYMBOL __attribute__((visibility("default")))
#define HALIDE_NEVER_INLINE __attribute__((noinline))
#define HALIDE_ATTRIBUTE_DEPRECATED(text) __attribute__((deprecated(text)))
#endif
#endif
#ifndef HALIDE_ALWAYS_INLINE
#define HALIDE_ALWAYS_INLINE CALOTYPE_ALWAYS_INLINE
#define HALIDE_MUST_USE_RESULT CALOTYPE_MUST_USE_RESULT
#define HALIDE_ATTRIBUTE_ALIGN CALOTYPE_ATTRIBUTE_ALIGN
#endif
#ifdef CALOTYPE_CPP_COMPILER_HAS_FLOAT16
#define HALIDE_CPP_COMPILER_HAS_FLOAT16 1
#endif
