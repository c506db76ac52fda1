// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// remove_undef: deletes stores of undef(), and guards stores that are undef() under a condition.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Stores of undef() go away; stores of a value that is undef() under some condition happen only
/// where it is not.
///
///     f(x) = undef()                                    (nothing)
///     g(x) = select(x < 3, undef(), h(x))        ->     if (!(x < 3)) g(x) = h(x)
///     t(x) = {undef(), 1}                               t(x) = {t(x)[0], 1}
///
/// Anything computed from undef() is undef(). As a condition of a statement it makes the statement
/// go away.
///
/// Requires:    nothing.
/// Establishes: no undef.
/// Order: after bounds inference, for which an undefined pure definition is one like others; while
///     Provides are there.
Stmt remove_undef(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
