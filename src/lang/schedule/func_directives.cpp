// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/func_directives.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lang/func.h"
#include "pipeline/check_parameters.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

Func &FuncDirectives::self() {
    return static_cast<Func &>(*this);
}

void FuncDirectives::check_dimension(const char *directive, const std::string &dim) const {
    const std::vector<std::string> &args = func_.args();
    user_assert(std::count(args.begin(), args.end(), dim))
        << directive << " of func " << func_.name() << ": " << dim
        << " is none of its dimensions, which are "
        << (args.empty() ? "none" : internal::join(args, ", "));
}

// ---- where it is computed and stored

Func &FuncDirectives::compute_at(LoopLevel level) {
    schedule().compute_level = std::move(level);
    return self();
}

Func &FuncDirectives::compute_at(const Func &g, const VarOrRVar &var) {
    return compute_at(LoopLevel(g, var));
}

Func &FuncDirectives::compute_root() {
    return compute_at(LoopLevel::root());
}

Func &FuncDirectives::compute_inline() {
    schedule().compute_level = LoopLevel::inlined();
    schedule().store_level = LoopLevel::inlined();
    schedule().hoist_storage_level = LoopLevel::inlined();
    return self();
}

Func &FuncDirectives::store_at(LoopLevel level) {
    schedule().store_level = std::move(level);
    return self();
}

Func &FuncDirectives::store_at(const Func &g, const VarOrRVar &var) {
    return store_at(LoopLevel(g, var));
}

Func &FuncDirectives::store_root() {
    return store_at(LoopLevel::root());
}

Func &FuncDirectives::hoist_storage(LoopLevel level) {
    schedule().hoist_storage_level = std::move(level);
    return self();
}

Func &FuncDirectives::hoist_storage(const Func &g, const VarOrRVar &var) {
    return hoist_storage(LoopLevel(g, var));
}

Func &FuncDirectives::hoist_storage_root() {
    return hoist_storage(LoopLevel::root());
}

// ---- bounds

namespace {

Expr int32_or_undefined(const char *directive, const std::string &func, const Var &var,
                        const Expr &e) {
    if (!e.defined()) {
        return e;
    }
    const std::string what =
        std::string(directive) + " of func " + func + ": a bound of " + var.name();
    const std::optional<double> number = as_const_float(e);
    user_assert(Int(32).can_represent(e.type()) ||
                (number ? Int(32).can_represent(*number) : is_const(e)))
        << what << " has type " << e.type() << ", must fit in int32";
    check_is_of_parameters(e, what);
    return cast(Int(32), e);
}

/// A size of a Func's storage, as an int32 of parameters; an undefined one stays.
Expr checked_size(const char *directive, const Function &f, const std::string &of, const Expr &e) {
    if (!e.defined()) {
        return e;
    }
    const std::string what = std::string(directive) + " of func " + f.name() + ": the " + of;
    check_int32_of_parameters(e, what, Reads::Nothing);
    const auto value = as_const_int(e);
    user_assert(!value || *value > 0) << what << " is " << *value << ", must be at least 1";
    return cast(Int(32), e);
}

/// As an output, a Func passes its estimates on to its buffers.
void estimate_outputs(const Function &f, const Var &var, const Expr &min, const Expr &extent) {
    const auto arg = std::find(f.args().begin(), f.args().end(), var.name());
    const int dim = int(arg - f.args().begin());
    for (Parameter p : f->output_buffers) {
        if (min.defined()) {
            p.set_min_constraint_estimate(dim, min);
        }
        if (extent.defined()) {
            p.set_extent_constraint_estimate(dim, extent);
        }
    }
}

}  // namespace

Func &FuncDirectives::add_bound(const char *directive, std::vector<Bound> *list, const Var &var,
                                Bound b) {
    check_dimension(directive, var.name());
    b.var = var.name();
    for (Expr *e : {&b.min, &b.extent, &b.modulus, &b.remainder}) {
        *e = int32_or_undefined(directive, func_.name(), var, *e);
    }
    const auto extent = b.extent.defined() ? as_const_int(b.extent) : std::nullopt;
    user_assert(!extent || *extent >= 0)
        << directive << " of func " << func_.name() << ": the extent of " << var.name() << " is "
        << *extent << ", must not be negative";
    const auto modulus = b.modulus.defined() ? as_const_int(b.modulus) : std::nullopt;
    user_assert(!modulus || *modulus > 0)
        << directive << " of func " << func_.name() << ": the modulus of " << var.name() << " is "
        << *modulus << ", must be at least 1";
    list->push_back(b);
    return self();
}

Func &FuncDirectives::bound(const Var &var, Expr min, Expr extent) {
    user_assert(!min.defined() || extent.defined())
        << "bound of func " << func_.name() << ": the extent of " << var.name() << " is undefined";
    Bound b;
    b.min = std::move(min);
    b.extent = std::move(extent);
    add_bound("bound", &schedule().bounds, var, b);
    // A number is the estimate, too.
    const Bound &added = schedule().bounds.back();
    estimate_outputs(func_, var, is_const(added.min) ? added.min : Expr(),
                     is_const(added.extent) ? added.extent : Expr());
    return self();
}

Func &FuncDirectives::bound_extent(const Var &var, Expr extent) {
    Bound b;
    b.extent = std::move(extent);
    return add_bound("bound_extent", &schedule().bounds, var, b);
}

Func &FuncDirectives::align_bounds(const Var &var, Expr modulus, Expr remainder) {
    Bound b;
    b.remainder = remainder % modulus;
    b.modulus = std::move(modulus);
    return add_bound("align_bounds", &schedule().bounds, var, b);
}

Func &FuncDirectives::align_extent(const Var &var, Expr modulus) {
    Bound b;
    b.modulus = std::move(modulus);
    return add_bound("align_extent", &schedule().bounds, var, b);
}

Func &FuncDirectives::set_estimate(const Var &var, const Expr &min, const Expr &extent) {
    Bound b;
    b.min = min;
    b.extent = extent;
    add_bound("set_estimate", &schedule().estimates, var, b);
    const Bound &added = schedule().estimates.back();
    estimate_outputs(func_, var, added.min, added.extent);
    return self();
}

Func &FuncDirectives::set_estimates(const Region &estimates) {
    user_assert(int(estimates.size()) == func_.dimensions())
        << "set_estimates of func " << func_.name() << ": " << estimates.size() << " estimates for "
        << func_.dimensions() << " dimensions";
    for (size_t i = 0; i < estimates.size(); i++) {
        set_estimate(Var(func_.args()[i]), estimates[i].min, estimates[i].extent);
    }
    return self();
}

// ---- storage

StorageDim &FuncDirectives::storage_dim(const char *directive, const Var &dim) {
    check_dimension(directive, dim.name());
    for (StorageDim &d : schedule().storage_dims) {
        if (d.var == dim.name()) {
            return d;
        }
    }
    internal_error << "func " << func_.name() << " has no storage dimension " << dim.name();
}

Func &FuncDirectives::reorder_storage(const std::vector<Var> &dims) {
    std::vector<StorageDim> &old = schedule().storage_dims;
    std::vector<size_t> from;
    for (const Var &v : dims) {
        check_dimension("reorder_storage", v.name());
        const auto it = std::find_if(old.begin(), old.end(),
                                     [&](const StorageDim &d) { return d.var == v.name(); });
        const size_t place = size_t(it - old.begin());
        user_assert(!std::count(from.begin(), from.end(), place))
            << "reorder_storage of func " << func_.name() << ": " << v.name() << " is named twice";
        from.push_back(place);
    }
    std::vector<size_t> places = from;
    std::sort(places.begin(), places.end());
    const std::vector<StorageDim> before = old;
    for (size_t i = 0; i < places.size(); i++) {
        old[places[i]] = before[from[i]];
    }
    return self();
}

Func &FuncDirectives::reorder_storage(const Var &x, const Var &y) {
    return reorder_storage(std::vector<Var>{x, y});
}

Func &FuncDirectives::align_storage(const Var &dim, const Expr &alignment) {
    storage_dim("align_storage", dim).alignment =
        checked_size("align_storage", func_, "alignment of " + dim.name(), alignment);
    return self();
}

Func &FuncDirectives::bound_storage(const Var &dim, const Expr &bound) {
    storage_dim("bound_storage", dim).bound =
        checked_size("bound_storage", func_, "bound of " + dim.name(), bound);
    return self();
}

Func &FuncDirectives::fold_storage(const Var &dim, const Expr &extent, bool fold_forward) {
    StorageDim &d = storage_dim("fold_storage", dim);
    d.fold_factor = checked_size("fold_storage", func_, "extent of " + dim.name(), extent);
    d.fold_forward = fold_forward;
    return self();
}

Func &FuncDirectives::ring_buffer(Expr extent) {
    schedule().ring_buffer = checked_size("ring_buffer", func_, "extent", extent);
    return self();
}

Func &FuncDirectives::store_in(MemoryType memory_type) {
    schedule().memory_type = memory_type;
    return self();
}

// ---- running

Func &FuncDirectives::memoize(const EvictionKey &eviction_key) {
    schedule().memoized = true;
    const Expr &key = eviction_key.key();
    if (key.defined()) {
        user_assert(!schedule().memoize_eviction_key.defined())
            << "memoize of func " << func_.name() << " with eviction key " << key
            << ": it has one already, " << schedule().memoize_eviction_key;
        const Type t = key.type();
        user_assert(t.is_scalar() && (t.is_handle() || t.is_int_or_uint()))
            << "memoize of func " << func_.name() << ": the eviction key has type " << t
            << ", must be an integer or a pointer";
        check_is_of_parameters(key, "memoize of func " + func_.name() + ": the eviction key",
                               Reads::Nothing);
        schedule().memoize_eviction_key =
            t.is_handle() ? Reinterpret::make(UInt(64), key) : cast(UInt(64), key);
    }
    return self();
}

Func &FuncDirectives::async() {
    schedule().async = true;
    return self();
}

Func &FuncDirectives::trace_loads() {
    schedule().trace_loads = true;
    return self();
}

Func &FuncDirectives::trace_stores() {
    schedule().trace_stores = true;
    return self();
}

Func &FuncDirectives::trace_realizations() {
    schedule().trace_realizations = true;
    return self();
}

Func &FuncDirectives::add_trace_tag(const std::string &tag) {
    schedule().trace_tags.push_back(tag);
    return self();
}

Func &FuncDirectives::no_profiling() {
    schedule().no_profiling = true;
    return self();
}

void FuncDirectives::debug_to_file(const std::string &filename) {
    func_.edit()->debug_file = filename;
}

// ---- with other stages

Func &
FuncDirectives::compute_with(const Stage &s, const VarOrRVar &var,
                             const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    self().stage_to_schedule().compute_with(s, var, align);
    return self();
}

Func &FuncDirectives::compute_with(const Stage &s, const VarOrRVar &var, LoopAlignStrategy align) {
    self().stage_to_schedule().compute_with(s, var, align);
    return self();
}

Func &
FuncDirectives::compute_with(LoopLevel level,
                             const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    self().stage_to_schedule().compute_with(std::move(level), align);
    return self();
}

Func &FuncDirectives::compute_with(LoopLevel level, LoopAlignStrategy align) {
    self().stage_to_schedule().compute_with(std::move(level), align);
    return self();
}

}  // namespace calotype
