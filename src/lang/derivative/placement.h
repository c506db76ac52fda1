// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the contributions of a stage to the adjoint of a Func go: scattered over the stage's loops,
// or, where coordinates can be solved for the loop variables, gathered.
#pragma once

#include <string>
#include <vector>

#include "arith/interval.h"
#include "lang/rdom.h"

namespace calotype::internal {

/// A loop of a stage that is differentiated.
struct AdjointLoop {
    std::string name;
    Interval range;  ///< of a pure Var what is needed of it; an end may be unknown
    bool is_pure = false;
};

/// `target(place) += value` in all iterations of the loops where the condition holds.
struct Contribution {
    std::vector<AdjointLoop> loops;
    Expr condition;
    std::vector<Expr> place;
    Expr value;
};

/// The same without the loops: an update over an RDom, or, if `is_gather`, a term of the pure
/// definition.
struct Placement {
    bool is_gather = false;
    std::vector<Expr> place;  ///< in the target's Vars and RVars
    Expr condition, value;
};

/// Solves `place` for the loop variables:
///     target(x + r) += a(x) * k(r)            over x, r
///     ->  target(u) += a(u - r) * k(r)        over r
///     target(x / 2) += a(x)                   over x
///     ->  target(u) += a(2 * u + s)           over s in [0, 2)
/// Loops that stay become an RDom; a CompileError names `what` if the range of one is not known.
/// The value may read `adjoint`, which is 0 outside of the loops' ranges, anywhere; all else is
/// read inside of them only.
Placement place_contribution(const Contribution &c, const std::vector<std::string> &target_args,
                             const std::string &adjoint, const std::string &what);

/// True if each of these loop variables moves a coordinate of `place` by itself, so that no two
/// iterations have one place.
bool is_injective(const std::vector<Expr> &place, const std::vector<std::string> &vars);

/// What a read of the Func under update at `read` sees, if it is written at `place`. `vars` are
/// those of the loops that are RVars, innermost first.
enum class SelfRead {
    Same,      ///< the element that the iteration writes
    Separate,  ///< elements that no iteration writes
    Before,    ///< elements as they were before the stage: later iterations write them
    Scan,      ///< elements that earlier iterations wrote
    Unknown,
};
SelfRead classify_self_read(const std::vector<Expr> &place, const std::vector<Expr> &read,
                            const std::vector<AdjointLoop> &loops,
                            const std::vector<std::string> &vars);

}  // namespace calotype::internal
