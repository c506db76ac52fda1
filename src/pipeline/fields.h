// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of everything that a pipeline is made of, stated once: the key of a compile job,
// copies, walks over expressions and the text form of a pipeline follow from it, as visitors and
// equality follow from the fields() of a node of the IR.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "pipeline/function.h"
#include "pipeline/source.h"

namespace calotype::internal {

/// A member of `T &`, which is const where the object is. Unless it counts, two pipelines that
/// differ in it alone are compiled to the same code.
template<typename T, bool Counts = true>
struct Field {
    static constexpr bool counts = Counts;
    const char *name;
    T &value;
};

template<typename T>
Field<T> field(const char *name, T &value) {
    return {name, value};
}
/// What is written down while a pipeline is made, and no code depends on.
template<typename T>
Field<T, false> note(const char *name, T &value) {
    return {name, value};
}

template<typename S, typename T>
concept MaybeConst = std::same_as<std::remove_const_t<S>, T>;

/// @name fields(x): all members of x, in the order of their declaration.
/// @{
template<MaybeConst<ReductionVariable> S>
auto fields(S &v) {
    return std::tuple(field("var", v.var), field("min", v.min), field("extent", v.extent));
}
template<MaybeConst<Split> S>
auto fields(S &s) {
    return std::tuple(field("old_var", s.old_var), field("outer", s.outer), field("inner", s.inner),
                      field("factor", s.factor), field("tail", s.tail), field("divides", s.divides),
                      field("kind", s.kind));
}
template<MaybeConst<Dim> S>
auto fields(S &d) {
    return std::tuple(field("var", d.var), field("for_type", d.for_type),
                      field("device_api", d.device_api), field("dim_type", d.dim_type),
                      field("partition", d.partition));
}
template<MaybeConst<Bound> S>
auto fields(S &b) {
    return std::tuple(field("var", b.var), field("min", b.min), field("extent", b.extent),
                      field("modulus", b.modulus), field("remainder", b.remainder));
}
template<MaybeConst<StorageDim> S>
auto fields(S &d) {
    return std::tuple(field("var", d.var), field("alignment", d.alignment), field("bound", d.bound),
                      field("fold_factor", d.fold_factor), field("fold_forward", d.fold_forward));
}
template<MaybeConst<PrefetchDirective> S>
auto fields(S &p) {
    return std::tuple(field("name", p.name), field("at", p.at), field("from", p.from),
                      field("offset", p.offset), field("strategy", p.strategy),
                      field("symbol", p.symbol));
}
template<MaybeConst<FuseLoopLevel> S>
auto fields(S &f) {
    return std::tuple(field("level", f.level), field("align", f.align));
}
template<MaybeConst<StageSchedule> S>
auto fields(S &s) {
    return std::tuple(
        field("rvars", s.rvars), field("splits", s.splits), field("dims", s.dims),
        field("prefetches", s.prefetches), field("fuse_level", s.fuse_level),
        note("touched", s.touched), field("allow_race_conditions", s.allow_race_conditions),
        field("atomic", s.atomic),
        field("override_atomic_associativity_test", s.override_atomic_associativity_test),
        field("stream_stores", s.stream_stores), field("stream_loads", s.stream_loads),
        field("stream_all_loads", s.stream_all_loads));
}
template<MaybeConst<FuncSchedule> S>
auto fields(S &s) {
    return std::tuple(
        field("store_level", s.store_level), field("compute_level", s.compute_level),
        field("hoist_storage_level", s.hoist_storage_level), field("storage_dims", s.storage_dims),
        field("bounds", s.bounds), field("estimates", s.estimates), field("wrappers", s.wrappers),
        field("memory_type", s.memory_type), field("memoized", s.memoized),
        field("memoize_eviction_key", s.memoize_eviction_key), field("async", s.async),
        field("ring_buffer", s.ring_buffer), field("trace_loads", s.trace_loads),
        field("trace_stores", s.trace_stores), field("trace_realizations", s.trace_realizations),
        field("no_profiling", s.no_profiling), field("trace_tags", s.trace_tags));
}
template<MaybeConst<Specialization> S>
auto fields(S &s) {
    return std::tuple(field("condition", s.condition), field("definition", s.definition),
                      field("failure_message", s.failure_message));
}
template<MaybeConst<Definition> S>
auto fields(S &d) {
    return std::tuple(field("is_init", d.is_init), field("args", d.args), field("values", d.values),
                      field("predicate", d.predicate), field("schedule", d.schedule),
                      field("specializations", d.specializations));
}
template<MaybeConst<ExternFuncArgument> S>
auto fields(S &a) {
    return std::tuple(field("arg_type", a.arg_type), field("func", a.func), field("value", a.value),
                      field("buffer", a.buffer), field("expr", a.expr),
                      field("image_param", a.image_param));
}
template<MaybeConst<BufferConstraint> S>
auto fields(S &c) {
    return std::tuple(field("min", c.min), field("extent", c.extent), field("stride", c.stride),
                      field("min_estimate", c.min_estimate),
                      field("extent_estimate", c.extent_estimate));
}
template<MaybeConst<ParameterContents> S>
auto fields(S &p) {
    return std::tuple(field("name", p.name), field("type", p.type), field("is_buffer", p.is_buffer),
                      field("dimensions", p.dimensions),
                      note("name_is_explicit", p.name_is_explicit), note("value", p.value),
                      field("min_value", p.min_value), field("max_value", p.max_value),
                      field("estimate", p.estimate), field("default_value", p.default_value),
                      note("buffer", p.buffer), note("buffer_mutex", p.buffer_mutex),
                      note("is_constant", p.is_constant), field("host_alignment", p.host_alignment),
                      field("constraints", p.constraints), field("memory_type", p.memory_type),
                      field("trace_loads", p.trace_loads), field("trace_tags", p.trace_tags));
}
template<MaybeConst<Requirement> S>
auto fields(S &r) {
    return std::tuple(field("condition", r.condition), field("message_parts", r.message_parts));
}
template<MaybeConst<FunctionContents> S>
auto fields(S &f) {
    return std::tuple(
        field("name", f.name), field("args", f.args), field("output_types", f.output_types),
        note("required_types", f.required_types), note("required_dims", f.required_dims),
        field("init", f.init), field("updates", f.updates), field("schedule", f.schedule),
        field("output_buffers", f.output_buffers), field("debug_file", f.debug_file),
        note("frozen", f.frozen), field("extern_name", f.extern_name),
        field("extern_args", f.extern_args), field("extern_mangling", f.extern_mangling),
        field("extern_device_api", f.extern_device_api),
        field("extern_proxy_expr", f.extern_proxy_expr),
        field("extern_schedule", f.extern_schedule), note("wrapped", f.wrapped),
        field("copy_to", f.copy_to), field("requirements", f.requirements),
        note("owned_wrapped", f.owned_wrapped));
}
/// @}

template<typename T>
concept HasFields = requires(T &x) {
    fields(x);
};

/// Calls f on the Field of each member.
template<HasFields T, typename F>
void for_each_member(T &x, F &&f) {
    std::apply([&](auto... member) { (f(member), ...); }, fields(x));
}

/// Walks all that counts of a part of a pipeline and gives it to Derived: a number for each integer,
/// enumerator, size and whether something is there, by number(int64_t); strings, Exprs, Types,
/// LoopLevels, doubles, Parameters and symbols by operator(). For Derived, which says
/// `using CountingWalk<Derived>::operator();`.
template<typename Derived>
class CountingWalk {
public:
    void operator()(const DefinitionPtr &d) {
        self().number(d.defined());
        if (d.defined()) {
            self()(*d);
        }
    }
    template<typename T>
    void operator()(const std::optional<T> &x) {
        self().number(x.has_value());
        if (x) {
            self()(*x);
        }
    }
    template<typename T>
    void operator()(const std::vector<T> &list) {
        self().number(int64_t(list.size()));
        for (const T &item : list) {
            self()(item);
        }
    }
    template<typename T>
    void operator()(const std::map<std::string, T> &map) {
        self().number(int64_t(map.size()));
        for (const auto &[key, item] : map) {
            self()(key);
            self()(item);
        }
    }
    template<typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
    void operator()(const T &value) {
        self().number(int64_t(value));
    }
    template<HasFields T>
    void operator()(const T &x) {
        for_each_member(x, [&](auto member) {
            if constexpr (member.counts) {
                self()(member.value);
            }
        });
    }

private:
    Derived &self() {
        return static_cast<Derived &>(*this);
    }
};

template<typename T>
inline constexpr bool is_list = false;
template<typename T>
inline constexpr bool is_list<std::vector<T>> = true;
template<typename T>
inline constexpr bool is_list<ScheduleList<T>> = true;
template<typename T>
inline constexpr bool is_map = false;
template<typename K, typename T>
inline constexpr bool is_map<std::map<K, T>> = true;

/// Calls f on every Part (an Expr, a LoopLevel, ...) of x, a definition, schedule or Function. What
/// a symbol or Parameter stands for is not part of it. A Part that holds others comes before them.
template<typename Part, typename T, typename F>
void for_each_part(T &x, F &&f) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::same_as<Plain, Part>) {
        f(x);
    }
    if constexpr (HasFields<T>) {
        for_each_member(x, [&](auto member) { for_each_part<Part>(member.value, f); });
    } else if constexpr (std::same_as<Plain, DefinitionPtr>) {
        if (x.defined()) {
            for_each_part<Part>(*x, f);
        }
    } else if constexpr (is_list<Plain>) {
        for (auto &item : x) {
            for_each_part<Part>(item, f);
        }
    } else if constexpr (is_map<Plain>) {
        for (auto &[key, item] : x) {
            for_each_part<Part>(item, f);
        }
    }
}

/// Every defined Expr of x replaced by fn(e), in place.
template<typename T, typename F>
void mutate_expressions(T &x, F &&fn) {
    for_each_part<Expr>(x, [&](Expr &e) { e = e.defined() ? fn(e) : e; });
}

}  // namespace calotype::internal
