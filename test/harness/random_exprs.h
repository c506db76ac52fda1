// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions with values for their variables: what generated code is compared on with the
// interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/interpret.h"

namespace calotype::test {

struct RandomExprs {
    std::vector<Expr> exprs;              ///< of all types but handles
    std::map<std::string, Value> values;  ///< of all their variables, each name of one type
};

/// `count` of them, at most `depth` operations deep.
RandomExprs random_exprs(uint32_t seed, int count, int depth = 4);

/// Each value and each result has its own place in a buffer of bytes, this long.
constexpr int slot_bytes = 256;

/// Stores expression number i to slot i of the buffer "out"; the variables, in order, are what
/// stands in the slots of the buffer "values".
internal::Stmt store_all(const RandomExprs &batch);

/// The bytes of a value in memory, and back.
void write_value(const Value &v, uint8_t *out);
Value read_value(Type t, const uint8_t *in);

/// The value that the language gives e; false where it leaves it open or the interpreter does not
/// know.
bool defined_value(const Expr &e, const std::map<std::string, Value> &values, Value *result);

}  // namespace calotype::test
