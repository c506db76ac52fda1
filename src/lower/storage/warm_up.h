// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterations before the first of a loop, in which the windows that slide along it are filled.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// The region of a Func, in the dimension in which it slides forward along a loop, in terms of
/// the loop variable and of what is defined outside of the loop.
struct SlidingWindow {
    std::string func;
    Expr min, max;
    bool moves = false;             ///< not the same in all iterations
    std::vector<std::string> lets;  ///< names of both ends, of all stages
};

/// How many iterations before the first of the loop a production begins, by the Func.
struct WarmUp {
    int iterations = 0;  ///< the most of them
    std::map<std::string, int> starts;
    /// By Func: at the start of it, its new values begin just where the first window does.
    std::map<std::string, bool> exact;
};

/// Iterations in which nothing is done but the productions that fill the windows, a few values in
/// each, as in the steady state:
///
///     for y in [y0, y0 + n): produce g over [y - 1, y + 1]; f(y) = g(y - 1) + g(y + 1)
///     ->
///     for y in [y0 - 2, y0 + n): produce g over [y + 1, y + 1]; if (y >= y0) f(y) = ...
///
/// Then storage that is folded need not hold the first window as a whole. Undefined where it cannot
/// be shown to be right: each production in the loop must be a window that slides by a constant
/// number of places forward, or be needed by such alone if it begins before the first iteration.
/// `outside` has the values of lets around the loop, in terms of what is not a let.
std::optional<WarmUp> plan_warm_up(const For *loop, const std::vector<SlidingWindow> &windows,
                                   const std::map<std::string, Expr> &outside,
                                   const LowerContext &ctx);

/// The loop with that body (its own, perhaps with other values of lets), and these iterations.
Stmt with_warm_up(const For *loop, const Stmt &body, const WarmUp &plan, const LowerContext &ctx);

/// True if something that is produced in the loop is folded by its schedule, by a number that is
/// given.
bool has_given_folds(const For *loop, const LowerContext &ctx);

}  // namespace calotype::internal
