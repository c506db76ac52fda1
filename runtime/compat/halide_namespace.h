/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The namespace `Halide` is the namespace `calotype`, by a macro: neither an alias nor using
 * directives would let a program reopen it, declare its classes ahead, specialise its templates,
 * or add functions that argument-dependent lookup finds.
 *
 * Targets Calotype::Halide and Calotype::HalideRuntime define the macro for the whole of a
 * translation unit, so declarations that stand before the first of these headers, and sources that
 * include none of them, mean the same namespace.
 */
#pragma once

#if defined(__cplusplus) && !defined(Halide)
#define Halide calotype
#endif
