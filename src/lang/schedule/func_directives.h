// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FuncDirectives: the directives that concern a Func as a whole: where it is computed and stored,
// and how.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lang/pipeline.h"
#include "lang/var_or_rvar.h"
#include "pipeline/function.h"

namespace calotype {

class Func;
class Stage;

namespace internal {

/// Base of Func; all directives give it back, to be chained.
class FuncDirectives {
public:
    /// Compute f once, before everything that uses it: the default of outputs.
    ///     for y: for x: g(x, y) = ...f...
    ///     ->
    ///     for y: for x: f(x, y) = ...
    ///     for y: for x: g(x, y) = ...
    Func &compute_root();
    /// Compute what is needed of f anew in each iteration of loop `var` of g, which must use f.
    ///     for y: for x: g(x, y) = f(x, y) + f(x, y + 1)
    ///     -> f.compute_at(g, y)
    ///     for y: { for x: for v in [y, y + 1]: f(x, v) = ...;  for x: g(x, y) = ... }
    Func &compute_at(const Func &g, const VarOrRVar &var);
    Func &compute_at(LoopLevel level);
    /// Put f's definition in place of its calls: the default. A Func with updates, with
    /// specializations or of an extern stage is computed right before each use instead, inside of
    /// all loops.
    Func &compute_inline();
    /// Where f's storage begins to live: at or outside of where it is computed. A loop between the
    /// two lets values of earlier iterations be used again (sliding window).
    Func &store_root();
    Func &store_at(const Func &g, const VarOrRVar &var);
    Func &store_at(LoopLevel level);
    /// Allocate at this level, outside of store_at, what the loops inside need at most.
    Func &hoist_storage(const Func &g, const VarOrRVar &var);
    Func &hoist_storage(LoopLevel level);
    Func &hoist_storage_root();

    /// A Func that copies this one and that `f` (or all of `fs`, or everybody) calls in its place:
    /// scheduling it makes f work on a copy. The same call again gives the same wrapper.
    ///     g = f(x)   -> f.in(g) ->   wrapper(x) = f(x);  g = wrapper(x)
    Func in(const Func &f);
    Func in(const std::vector<Func> &fs);
    Func in();
    /// As in, but the new Func repeats this one's definition rather than calling it.
    Func clone_in(const Func &f);
    Func clone_in(const std::vector<Func> &fs);
    /// Carry this Func out as a copy of its source to the device (the host) by the runtime. Its
    /// only definition must be a call of one Func, ImageParam or Buffer at the same coordinates, as
    /// that of a wrapper made by in().
    Func &copy_to_device(DeviceAPI api = DeviceAPI::Default_GPU);
    Func &copy_to_host();

    /// Inline the calls to these pure Funcs in the pure definition, now; update(i) has its own.
    Func &eager_inline(const Func &f);
    Func &eager_inline(const std::vector<Func> &funcs);
    template<typename... Args>
    std::enable_if_t<(std::is_convertible<Args, Func>::value && ...), Func &>
    eager_inline(const Func &f, const Func &g, Args &&...more) {
        return eager_inline(std::vector<Func>{f, g, std::forward<Args>(more)...});
    }

    /// Compute the pure definition together with stage s: see Stage::compute_with.
    Func &compute_with(const Stage &s, const VarOrRVar &var,
                       const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    Func &compute_with(const Stage &s, const VarOrRVar &var,
                       LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Func &compute_with(LoopLevel level,
                       const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    Func &compute_with(LoopLevel level, LoopAlignStrategy align = LoopAlignStrategy::Auto);

    /// Promise that exactly min .. min + extent - 1 of dimension `var` is computed; checked at run
    /// time.
    ///     bound(c, 0, 3):   for c in [c.min, c.min + c.extent)   ->   for c in [0, 3)
    Func &bound(const Var &var, Expr min, Expr extent);
    /// Promise the extent alone.
    Func &bound_extent(const Var &var, Expr extent);
    /// Grow what is computed so that the min is `remainder` modulo `modulus`, and the extent a
    /// multiple of it.
    Func &align_bounds(const Var &var, Expr modulus, Expr remainder = 0);
    /// Grow what is computed so that the extent is a multiple of `modulus`.
    Func &align_extent(const Var &var, Expr modulus);
    /// What is typically computed of an output, for tuning and for default sizes.
    Func &set_estimate(const Var &var, const Expr &min, const Expr &extent);
    Func &set_estimates(const Region &estimates);

    /// Order of the dimensions in memory, innermost first. It need not name all: the others keep
    /// their order.
    Func &reorder_storage(const std::vector<Var> &dims);
    Func &reorder_storage(const Var &x, const Var &y);
    template<typename... Args>
    std::enable_if_t<(std::is_convertible<Args, Var>::value && ...), Func &>
    reorder_storage(const Var &x, const Var &y, Args &&...args) {
        return reorder_storage(std::vector<Var>{x, y, std::forward<Args>(args)...});
    }
    /// Round the extent of a dimension in memory up to a multiple of `alignment` elements.
    Func &align_storage(const Var &dim, const Expr &alignment);
    /// Promise that at most `bound` elements of a dimension are alive at once; checked at run time.
    Func &bound_storage(const Var &dim, const Expr &bound);
    /// Keep only `extent` elements of a dimension, addressed modulo `extent`.
    Func &fold_storage(const Var &dim, const Expr &extent, bool fold_forward = true);
    /// Keep `extent` copies of the storage, used in turn by the iterations of the loop it is stored
    /// at.
    Func &ring_buffer(Expr extent);
    /// Where the storage lives: heap, stack, registers, GPU shared memory, ...
    Func &store_in(MemoryType memory_type);
    /// Compute and store in `type`: the result is a Func with these definitions and this schedule in
    /// that type, and this Func (of one value) becomes a call of it, converted back.
    ///
    ///     f(x) = 0.0f;   f(x) += cast<float>(g(r));   (int8 g)
    ///     ->
    ///     f_typed(x) = 0;   f_typed(x) += cast<int32_t>(g(r));   f(x) = cast<float>(f_typed(x));
    ///
    /// A CompileError where `type` could lack a value, unless is_unsafe; updates must be sums,
    /// differences, minima or maxima. Floats that are converted from integers are taken as exact. If
    /// it is not known how many terms a sum has, the run checks that there are few enough.
    Func change_type(const Type &type, bool is_unsafe = false);

    /// Keep results across runs, keyed by all parameters that they depend on. `eviction_key` (an
    /// integer or a pointer parameter) groups entries for calotype_memoization_cache_evict. The
    /// Func must be computed at root.
    Func &memoize(const EvictionKey &eviction_key = EvictionKey());
    /// Produce in a thread of its own, while consumers use what is ready.
    Func &async();

    Func &trace_loads();
    Func &trace_stores();
    Func &trace_realizations();
    /// Text that the tracing callback gets when the pipeline starts.
    Func &add_trace_tag(const std::string &tag);
    /// Count this Func's time as its consumer's.
    Func &no_profiling();
    /// Write what is computed to a file at run time; the ending of the name gives the format.
    void debug_to_file(const std::string &filename);

protected:
    FuncDirectives() = default;
    explicit FuncDirectives(const Function &f) : func_(f) {
    }

    Func &self();
    Function func_;
    Pipeline pipeline_;  ///< made when first needed

private:
    StorageDim &storage_dim(const char *directive, const Var &dim);
    void check_dimension(const char *directive, const std::string &dim) const;
    Func &add_bound(const char *directive, std::vector<Bound> *list, const Var &var, Bound b);
    Func make_wrapper(const std::vector<std::string> &consumers, bool clone,
                      const std::string &suffix);
    /// To be changed, at once.
    FuncSchedule &schedule() const {
        return func_.edit()->schedule;
    }
};

}  // namespace internal

}  // namespace calotype
