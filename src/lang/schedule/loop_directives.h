// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopDirectives: the directives of Func and Stage that change the loops of one stage. On a Func
// they concern the pure definition; for update definition i use f.update(i).
#pragma once

#include <string>
#include <vector>

#include "ir/enums.h"
#include "ir/expr.h"
#include "lang/schedule/gpu_directives.h"
#include "pipeline/parameter.h"

namespace calotype {

class Func;
class Stage;
namespace internal {
class LoopEditor;
}

namespace internal {

/// Base of Func and Stage; all directives give back the object, to be chained. Each throws a
/// CompileError if it names a loop that the stage does not have (the message lists those it has),
/// or one of a name already taken.
template<typename Self>
class LoopDirectives : public GpuDirectives<Self> {
public:
    /// Split a loop in two, of which the inner has `factor` iterations (a positive int32, constant
    /// or not).
    ///     for x in [m, m + e): f(x) = ...
    ///     ->
    ///     for outer in [0, ceil(e / factor)): for inner in [0, factor):
    ///         f(m + outer * factor + inner) = ...
    /// `tail` says what happens if factor does not divide the extent; RVars allow GuardWithIf and
    /// Predicate alone, update definitions no ShiftInwards.
    Self &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    /// Make one loop of two.
    ///     for outer < n: for inner < m: ...
    ///     ->
    ///     for fused < n * m: outer = fused / m, inner = fused % m, ...
    Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    /// Give a loop another name. From a loop that has it already, the name is taken away: that loop stays as it is,
    /// and cannot be named any more.
    Self &rename(const VarOrRVar &old_name, const VarOrRVar &new_name);
    /// Put loops into this order, innermost first. Loops that are not named keep their places.
    ///     reorder(y, x):   for y: for x: ...   ->   for x: for y: ...
    /// RVars whose order matters to the result must keep it.
    Self &reorder(const std::vector<VarOrRVar> &vars);
    template<typename... Args, typename = IfLoops<Args...>>
    Self &reorder(const VarOrRVar &x, const VarOrRVar &y, Args &&...args) {
        return reorder(std::vector<VarOrRVar>{x, y, std::forward<Args>(args)...});
    }

    /// Run a loop one iteration after another: the default.
    Self &serial(const VarOrRVar &var);
    /// Run iterations on a pool of threads; with task_size, so many iterations a task.
    ///     for y: ...   ->   parallel y: ...
    /// Not for RVars whose iterations depend on each other: see atomic and allow_race_conditions.
    Self &parallel(const VarOrRVar &var);
    Self &parallel(const VarOrRVar &var, const Expr &task_size,
                   TailStrategy tail = TailStrategy::Auto);
    /// Compute all iterations at once in a vector. The extent must be a constant; with `factor` the
    /// loop is split first.
    ///     vectorize(x, 8):   for x: f(x) = ...   ->   for x: f(ramp(x * 8, 1, 8)) = ...
    Self &vectorize(const VarOrRVar &var);
    Self &vectorize(const VarOrRVar &var, const Expr &factor,
                    TailStrategy tail = TailStrategy::Auto);
    /// Replicate the body once an iteration. The extent must be a constant; with `factor` the loop
    /// is split first.
    ///     unroll(c):   for c < 3: f(c) = ...   ->   f(0) = ...; f(1) = ...; f(2) = ...
    Self &unroll(const VarOrRVar &var);
    Self &unroll(const VarOrRVar &var, const Expr &factor, TailStrategy tail = TailStrategy::Auto);

    /// Split two loops and put the tiles outside.
    ///     for y: for x: ...   ->   for yo: for xo: for yi < yfactor: for xi < xfactor: ...
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
               const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
               TailStrategy tail = TailStrategy::Auto);
    /// The same, the outer loops keep the names x and y.
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
               const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    /// Any number of loops, innermost first; all lists have one length.
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
               const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
               const std::vector<TailStrategy> &tails);
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
               const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
               TailStrategy tail = TailStrategy::Auto);
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &inners,
               const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);

    /// Whether a loop may be divided into a prologue, a steady state free of boundary checks, and
    /// an epilogue.
    Self &partition(const VarOrRVar &var, Partition policy);
    Self &never_partition(const std::vector<VarOrRVar> &vars);
    template<typename... Args, typename = IfLoops<Args...>>
    Self &never_partition(const VarOrRVar &var, Args &&...args) {
        return never_partition(std::vector<VarOrRVar>{var, std::forward<Args>(args)...});
    }
    Self &never_partition_all();
    Self &always_partition(const std::vector<VarOrRVar> &vars);
    template<typename... Args, typename = IfLoops<Args...>>
    Self &always_partition(const VarOrRVar &var, Args &&...args) {
        return always_partition(std::vector<VarOrRVar>{var, std::forward<Args>(args)...});
    }
    Self &always_partition_all();

    /// Compile a copy of the stage for the case that the condition holds, and give that copy to be
    /// scheduled further.
    ///     f(x) = ...   ->   if condition: f(x) = ... else: f(x) = ...
    /// The condition is a Bool without RVars, Func calls or effects; conditions are tested in order
    /// of the calls.
    Stage specialize(const Expr &condition);
    /// After the specializations: if none holds, fail at run time with this message. Nothing may be
    /// specialized after it.
    void specialize_fail(const std::string &message);

    /// Let RVars run in parallel although their iterations may conflict. The result may then depend
    /// on timing.
    Self &allow_race_conditions();
    /// Do the update of each element atomically, so that RVars may run in parallel. It must be
    /// associative and commutative, which is checked unless override_associativity_test.
    Self &atomic(bool override_associativity_test = false);

    /// In each iteration of loop `at`, fetch what f (or a buffer parameter) needs `offset`
    /// iterations of loop `from` later.
    Self &prefetch(const Func &f, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    Self &prefetch(const Parameter &parameter, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    template<typename T, typename = decltype(Parameter(std::declval<const T &>().parameter()))>
    Self &prefetch(const T &image, const VarOrRVar &at, const VarOrRVar &from,
                   const Expr &offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf) {
        return prefetch(image.parameter(), at, from, offset, strategy);
    }

    /// Run a loop on the host, where the loops around it run on another device.
    Self &host(const VarOrRVar &var = Var::outermost());

    /// Run a loop on a Hexagon processor, or in SME's streaming mode. This build makes no code for
    /// either: a pipeline that has them compiles for no target.
    Self &hexagon(const VarOrRVar &var = Var::outermost());
    Self &sme_streaming(const VarOrRVar &var = Var::outermost());

    /// Store around the cache: for results that are not read soon.
    Self &stream_stores();

    /// The stage's loops after the directives so far, innermost first.
    std::vector<VarOrRVar> split_vars() const;

private:
    internal::LoopEditor editor();
    Self &self() {
        return static_cast<Self &>(*this);
    }
    const Self &self() const {
        return static_cast<const Self &>(*this);
    }
};

}  // namespace internal

}  // namespace calotype
