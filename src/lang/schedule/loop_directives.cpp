// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/loop_directives.h"

#include "lang/func.h"
#include "lang/schedule/loop_editor.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

using internal::LoopEditor;

template<typename Self>
LoopEditor LoopDirectives<Self>::editor() {
    return LoopEditor(self().stage_to_schedule());
}

template<typename Self>
Self &LoopDirectives<Self>::split(const VarOrRVar &old, const VarOrRVar &outer,
                                  const VarOrRVar &inner, const Expr &factor, TailStrategy tail) {
    editor().split(old, outer, inner, factor, tail);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::fuse(const VarOrRVar &inner, const VarOrRVar &outer,
                                 const VarOrRVar &fused) {
    editor().fuse(inner, outer, fused);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::rename(const VarOrRVar &old_name, const VarOrRVar &new_name) {
    editor().rename(old_name, new_name);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::reorder(const std::vector<VarOrRVar> &vars) {
    editor().reorder(vars);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::serial(const VarOrRVar &var) {
    editor().set_for_type(var, ForType::Serial);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::parallel(const VarOrRVar &var) {
    editor().set_for_type(var, ForType::Parallel);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::parallel(const VarOrRVar &var, const Expr &task_size,
                                     TailStrategy tail) {
    split(var, var, editor().name_inner(var), task_size, tail);
    return parallel(var);
}

template<typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &var) {
    editor().set_for_type(var, ForType::Vectorized);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &var, const Expr &factor, TailStrategy tail) {
    const VarOrRVar inner = editor().name_inner(var);
    split(var, var, inner, factor, tail);
    return vectorize(inner);
}

template<typename Self>
Self &LoopDirectives<Self>::unroll(const VarOrRVar &var) {
    editor().set_for_type(var, ForType::Unrolled);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::unroll(const VarOrRVar &var, const Expr &factor, TailStrategy tail) {
    const VarOrRVar inner = editor().name_inner(var);
    split(var, var, inner, factor, tail);
    return unroll(inner);
}

template<typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &previous,
                                 const std::vector<VarOrRVar> &outers,
                                 const std::vector<VarOrRVar> &inners,
                                 const std::vector<Expr> &factors,
                                 const std::vector<TailStrategy> &tails) {
    const size_t n = previous.size();
    user_assert(n > 0 && outers.size() == n && inners.size() == n && factors.size() == n &&
                tails.size() == n)
        << "tile of " << self().name() << ": lists of " << n << " loops, " << outers.size()
        << " outer names, " << inners.size() << " inner names, " << factors.size()
        << " factors and " << tails.size() << " tail strategies, all must have one length above 0";
    for (size_t i = 0; i < n; i++) {
        split(previous[i], outers[i], inners[i], factors[i], tails[i]);
    }
    std::vector<VarOrRVar> order = inners;
    order.insert(order.end(), outers.begin(), outers.end());
    return reorder(order);
}

template<typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &previous,
                                 const std::vector<VarOrRVar> &outers,
                                 const std::vector<VarOrRVar> &inners,
                                 const std::vector<Expr> &factors, TailStrategy tail) {
    return tile(previous, outers, inners, factors,
                std::vector<TailStrategy>(previous.size(), tail));
}

template<typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &previous,
                                 const std::vector<VarOrRVar> &inners,
                                 const std::vector<Expr> &factors, TailStrategy tail) {
    return tile(previous, previous, inners, factors, tail);
}

template<typename Self>
Self &LoopDirectives<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo,
                                 const VarOrRVar &yo, const VarOrRVar &xi, const VarOrRVar &yi,
                                 const Expr &xfactor, const Expr &yfactor, TailStrategy tail) {
    return tile(std::vector<VarOrRVar>{x, y}, std::vector<VarOrRVar>{xo, yo},
                std::vector<VarOrRVar>{xi, yi}, std::vector<Expr>{xfactor, yfactor}, tail);
}

template<typename Self>
Self &LoopDirectives<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi,
                                 const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
                                 TailStrategy tail) {
    return tile(x, y, x, y, xi, yi, xfactor, yfactor, tail);
}

template<typename Self>
Self &LoopDirectives<Self>::partition(const VarOrRVar &var, Partition policy) {
    editor().set_partition(var, policy);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::never_partition(const std::vector<VarOrRVar> &vars) {
    for (const VarOrRVar &v : vars) {
        partition(v, Partition::Never);
    }
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::never_partition_all() {
    editor().set_partition_of_all(Partition::Never);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::always_partition(const std::vector<VarOrRVar> &vars) {
    for (const VarOrRVar &v : vars) {
        partition(v, Partition::Always);
    }
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::always_partition_all() {
    editor().set_partition_of_all(Partition::Always);
    return self();
}

template<typename Self>
Stage LoopDirectives<Self>::specialize(const Expr &condition) {
    return editor().specialize(condition);
}

template<typename Self>
void LoopDirectives<Self>::specialize_fail(const std::string &message) {
    editor().specialize_fail(message);
}

template<typename Self>
Self &LoopDirectives<Self>::allow_race_conditions() {
    editor().schedule().allow_race_conditions = true;
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::atomic(bool override_associativity_test) {
    editor().atomic(override_associativity_test);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::prefetch(const Func &f, const VarOrRVar &at, const VarOrRVar &from,
                                     const Expr &offset, PrefetchBoundStrategy strategy) {
    editor().prefetch(f.name(), nullptr, at, from, offset, strategy);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::prefetch(const Parameter &parameter, const VarOrRVar &at,
                                     const VarOrRVar &from, const Expr &offset,
                                     PrefetchBoundStrategy strategy) {
    editor().prefetch(parameter.name(), parameter.contents(), at, from, offset, strategy);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::host(const VarOrRVar &var) {
    editor().set_device_api(var, DeviceAPI::Host);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::hexagon(const VarOrRVar &var) {
    editor().set_device_api(var, DeviceAPI::Hexagon);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::sme_streaming(const VarOrRVar &var) {
    editor().set_device_api(var, DeviceAPI::SMEStreaming);
    return self();
}

template<typename Self>
Self &LoopDirectives<Self>::stream_stores() {
    editor().stream_stores();
    return self();
}

template<typename Self>
std::vector<VarOrRVar> LoopDirectives<Self>::split_vars() const {
    std::vector<VarOrRVar> vars;
    for (const Dim &d : self().stage_to_schedule().definition()->schedule.dims) {
        vars.emplace_back(d.var, d.is_rvar());
    }
    return vars;
}

template class LoopDirectives<Func>;
template class LoopDirectives<Stage>;

}  // namespace calotype
