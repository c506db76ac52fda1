// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions inside of an expression: sum, product, maximum, ... over an RDom.
#pragma once

#include <string>

#include "lang/rdom.h"
#include "lang/tuple.h"

namespace calotype {

class Func;

/// Each is the value of a new Func (of that name) that reduces over `r`, or, without r, over the
/// one RDom that the expression uses. RVars of other RDoms and Vars become its coordinates.
///
///     blurred(x) = sum(weights(r) * input(x + r)) / 16;
///
/// The forms with a Func define and use that one, which can then be scheduled:
///     Func s("s");
///     blurred(x) = sum(input(x + r), s);
///     s.compute_root();
///
/// The type is that of e: cast first where the sum needs more bits.
Expr sum(const RDom &r, Expr e, const std::string &name = "sum");
Expr sum(Expr e, const std::string &name = "sum");
Expr sum(const RDom &r, Expr e, const Func &f);
Expr sum(Expr e, const Func &f);

Expr saturating_sum(const RDom &r, Expr e, const std::string &name = "saturating_sum");
Expr saturating_sum(Expr e, const std::string &name = "saturating_sum");
Expr saturating_sum(const RDom &r, Expr e, const Func &f);
Expr saturating_sum(Expr e, const Func &f);

Expr product(const RDom &r, Expr e, const std::string &name = "product");
Expr product(Expr e, const std::string &name = "product");
Expr product(const RDom &r, Expr e, const Func &f);
Expr product(Expr e, const Func &f);

/// Of an empty domain: the lowest (highest) value of the type.
Expr maximum(const RDom &r, Expr e, const std::string &name = "maximum");
Expr maximum(Expr e, const std::string &name = "maximum");
Expr maximum(const RDom &r, Expr e, const Func &f);
Expr maximum(Expr e, const Func &f);

Expr minimum(const RDom &r, Expr e, const std::string &name = "minimum");
Expr minimum(Expr e, const std::string &name = "minimum");
Expr minimum(const RDom &r, Expr e, const Func &f);
Expr minimum(Expr e, const Func &f);

/// The coordinates of the first largest (smallest) value, then the value itself.
Tuple argmax(const RDom &r, Expr e, const std::string &name = "argmax");
Tuple argmax(Expr e, const std::string &name = "argmax");
Tuple argmax(const RDom &r, Expr e, const Func &f);
Tuple argmax(Expr e, const Func &f);

Tuple argmin(const RDom &r, Expr e, const std::string &name = "argmin");
Tuple argmin(Expr e, const std::string &name = "argmin");
Tuple argmin(const RDom &r, Expr e, const Func &f);
Tuple argmin(Expr e, const Func &f);

}  // namespace calotype
