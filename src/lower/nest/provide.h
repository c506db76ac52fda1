// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store of one iteration of a stage.
#pragma once

#include "ir/stmt_nodes.h"
#include "pipeline/function.h"

namespace calotype::internal {

/// One Provide. With scatter and gather one for each of their choices, after all values and places
/// were computed:
///
///     f(x, scatter(0, 1)) = f(x, gather(1, 0))   ->
///         let v0 = f(x, 1): let v1 = f(x, 0): { f(x, 0) = v0; f(x, 1) = v1 }
Stmt provide_all(const std::string &name, const std::vector<Expr> &values,
                 const std::vector<Expr> &args);

/// The same where the condition holds. What is computed and loaded for it is not guarded, unless it
/// has effects:
///
///     let v = g(x): if (condition) f(x) = v
Stmt provide_where(const Expr &condition, const std::string &name, std::vector<Expr> values,
                   const std::vector<Expr> &args);

/// Func and image calls of e yield 0 where the condition does not hold, and load nothing there.
/// With `only` those of that Func.
Expr load_where(const Expr &condition, const Expr &e, const std::string &only = "");

/// Calls in e of Funcs and images that the stage loads around the cache, marked by stream_load.
Expr stream_loads(const Expr &e, const Function &f, const StageSchedule &schedule);
/// All stores in s, marked by stream_store.
Stmt stream_stores(const Stmt &s);
/// After the last of them: they are seen by what follows.
Stmt stream_store_fence();

/// provide_all as an atomic update. It may be tried several times, so calls with effects of functions
/// of linkables are made before it, unless they are given what the Func holds:
///
///     f(r) = f(r)*2 + next(r)   ->   let v = next(r): atomic f { f(r) = f(r)*2 + v }
Stmt provide_atomically(const std::string &name, const std::vector<Expr> &values,
                        const std::vector<Expr> &args);

}  // namespace calotype::internal
