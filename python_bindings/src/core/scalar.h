// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars of pipelines and Python's numbers.
#pragma once

#include <optional>

#include "args.h"

namespace calotype::python {

/// The bits of a number as a value of that type. An ArrayError that names `what` if it does not
/// fit, or is not a number.
uint64_t scalar_bits(nb::handle value, const Type &type, const std::string &what);
/// The inverse.
nb::object scalar_object(uint64_t bits, const Type &type);
/// A float, or an int that no integer type holds, as a constant with all digits that the type has, if
/// that is a float.
std::optional<Expr> float_literal(nb::handle value, const Type &type);
/// A constant of the type, or an Expr as it is.
Expr scalar_expr(nb::handle value, const Type &type);

}  // namespace calotype::python
