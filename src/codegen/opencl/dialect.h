// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The differences between the C-like languages of devices, as tables: words.def, types.def,
// forms.def and helpers.def have a column for each.
#pragma once

#include <string>
#include <vector>

#include "ir/intrinsics.h"
#include "ir/type.h"
#include "target/target.h"

namespace calotype::internal {

enum class Dialect : uint8_t { OpenCL, CUDA };

/// Words and phrases of a dialect, one a row of words.def.
enum class Word : uint8_t {
#define WORD(name, opencl, cuda) name,
#include "codegen/opencl/words.def"
};
const char *word(Dialect dialect, Word w);

/// The name of a scalar type in memory and in registers; 16-bit floats without a type of their own
/// are the unsigned integers of their bits.
const char *scalar_type_name(Dialect dialect, Type t);

/// How an operation is written, with places for what it is applied to:
///   $0 $1 ...   the operands
///   {T} {T0}    the type of the result, of operand 0
///   {S} {S0}    the signed integer type of as many bits
///   {U} {U0}    the unsigned one
///   {bits} {bits0}  the bits of an element
///   {name:T} {name:0}  the helper of helpers.def for that type
/// `vector` is for vectors of the dialect's own; null where there is none: then it is done lane by
/// lane.
struct Form {
    const char *scalar = nullptr;
    const char *vector = nullptr;
};

/// The row of forms.def for integers or floats, or null.
const Form *intrinsic_form(Dialect dialect, Intrinsic id, bool is_float);

/// The text of a helper for that type: {f} stands for its name. Null if there is no such helper.
const char *helper_text(Dialect dialect, const std::string &name, Type t);

/// True for names that mean something in the dialect already.
bool is_reserved(const std::string &name);

/// Lanes of the vectors that together hold `lanes` lanes, the widest first.
std::vector<int> part_widths(Dialect dialect, int lanes);

}  // namespace calotype::internal
