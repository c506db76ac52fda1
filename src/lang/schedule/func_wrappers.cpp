// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives that make another Func or rewrite definitions: in, clone_in, copy_to_device,
// eager_inline.
//
// A wrapper belongs to the Func that it wraps (schedule.wrappers); its own call to that Func is by
// name alone, so that the two do not keep each other alive.
#include <algorithm>
#include <set>

#include "ir/operators.h"
#include "ir/queries.h"
#include "lang/func.h"
#include "lang/schedule/eager_inline.h"
#include "pipeline/inlined_calls.h"
#include "pipeline/level_text.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

namespace {

Function make_plain_wrapper(const Function &f, const std::string &name) {
    Function wrapper(name);
    std::vector<Expr> args, values;
    for (const std::string &arg : f.args()) {
        args.push_back(Variable::make(Int(32), arg));
    }
    for (int i = 0; i < f.outputs(); i++) {
        values.push_back(
            Call::make(f.output_types()[size_t(i)], f.name(), args, CallKind::Func, i));
    }
    wrapper.define(f.args(), values);
    return wrapper;
}

std::string describe_consumers(const std::vector<std::string> &consumers) {
    return consumers[0].empty() ? "all consumers" : internal::join(consumers, ", ");
}

}  // namespace

// The wrapper for exactly these consumers ("" alone: all), made if there is none yet.
Func FuncDirectives::make_wrapper(const std::vector<std::string> &consumers, bool clone,
                                  const std::string &suffix) {
    const char *directive = clone ? "clone_in" : "in";
    user_assert(self().defined()) << directive << " of func " << func_.name()
                                  << ", which is not defined yet";
    std::set<std::string> distinct(consumers.begin(), consumers.end());
    user_assert(!consumers.empty()) << directive << " of func " << func_.name() << " for no funcs";
    user_assert(distinct.size() == consumers.size())
        << directive << " of func " << func_.name()
        << " names a func twice: " << describe_consumers(consumers);
    user_assert(!distinct.count(func_.name()))
        << directive << " of func " << func_.name() << ": it cannot be wrapped for itself";
    auto &wrappers = schedule().wrappers;
    auto first = wrappers.find(consumers[0]);
    const auto existing = first == wrappers.end() ? nullptr : first->second;
    for (const std::string &name : consumers) {
        auto it = wrappers.find(name);
        user_assert((it == wrappers.end() ? nullptr : it->second) == existing)
            << directive << " of func " << func_.name() << " for " << describe_consumers(consumers)
            << ": they already have different wrappers";
    }
    for (const auto &[name, wrapper] : wrappers) {
        user_assert(!existing.defined() || wrapper != existing || distinct.count(name))
            << directive << " of func " << func_.name() << " for " << describe_consumers(consumers)
            << ": the wrapper is shared with " << name << ", name all that share it";
    }
    if (existing.defined()) {
        return Func(Function(existing));
    }
    const std::string name = internal::unique_name(func_.name() + suffix);
    const Function made = clone ? func_.clone(name) : make_plain_wrapper(func_, name);
    for (const std::string &name : consumers) {
        wrappers[name] = made.contents();
    }
    made.edit()->frozen = !clone;
    made.edit()->wrapped = clone ? nullptr : func_.contents().get();
    return Func(made);
}

namespace {

// From now on the consumers may get no further definitions: it would be open whether those call
// the wrapper.
std::vector<std::string> freeze(const std::vector<Func> &consumers) {
    std::vector<std::string> names;
    for (const Func &f : consumers) {
        if (f.defined()) {
            f.function().edit()->frozen = true;
        }
        names.push_back(f.name());
    }
    return names;
}

}  // namespace

Func FuncDirectives::in(const Func &f) {
    return make_wrapper(freeze({f}), false, "_in_" + f.name());
}

Func FuncDirectives::in(const std::vector<Func> &fs) {
    return make_wrapper(freeze(fs), false, "_in");
}

Func FuncDirectives::in() {
    return make_wrapper({""}, false, "_in");
}

Func FuncDirectives::clone_in(const Func &f) {
    return make_wrapper(freeze({f}), true, "_clone_in_" + f.name());
}

Func FuncDirectives::clone_in(const std::vector<Func> &fs) {
    return make_wrapper(freeze(fs), true, "_clone");
}

namespace {

// Whether e is value i of something at exactly the coordinates `args`.
bool is_plain_call(const Expr &e, int value_index, const std::vector<std::string> &args) {
    const Call *call = internal::wrapped_call(e, args);
    return call && call->value_index == value_index;
}

}  // namespace

Func &FuncDirectives::copy_to_device(DeviceAPI api) {
    const char *directive =
        api == DeviceAPI::Host ? "copy_to_host of func " : "copy_to_device of func ";
    user_assert(func_.is_pure()) << directive << func_.name()
                                 << ": it must have a pure definition and no updates";
    const std::vector<Expr> &values = func_->init->values;
    for (size_t i = 0; i < values.size(); i++) {
        user_assert(is_plain_call(values[i], int(i), func_.args()))
            << directive << func_.name()
            << ": its definition must be a call of one func or buffer at the same coordinates";
    }
    func_.edit()->copy_to = api;
    return self();
}

Func &FuncDirectives::copy_to_host() {
    return copy_to_device(DeviceAPI::Host);
}

Func &FuncDirectives::eager_inline(const Func &f) {
    return eager_inline(std::vector<Func>{f});
}

namespace {

/// Each before those that it needs, so that inlining one brings no call of another that is done.
std::vector<Func> callers_first(std::vector<Func> funcs) {
    std::vector<Func> result;
    while (!funcs.empty()) {
        const auto is_called = [&](const Func &f) {
            return std::any_of(funcs.begin(), funcs.end(), [&](const Func &other) {
                return !other.function().same_as(f.function()) &&
                       build_environment({other.function()}).count(f.name()) != 0;
            });
        };
        const auto next = std::find_if_not(funcs.begin(), funcs.end(), is_called);
        internal_assert(next != funcs.end()) << "funcs that call one another in a circle";
        result.push_back(*next);
        funcs.erase(next);
    }
    return result;
}

}  // namespace

Func &FuncDirectives::eager_inline(const std::vector<Func> &funcs) {
    for (const Func &f : callers_first(funcs)) {
        if (func_.stage(0).defined()) {
            internal::inline_calls(f.function(), *func_.stage(0));
        }
    }
    return self();
}

Func &Func::stream_loads() {
    stage_to_schedule().stream_loads();
    return *this;
}

Func &Func::stream_loads(const std::vector<Func> &fs) {
    stage_to_schedule().stream_loads(fs);
    return *this;
}

Stage &Stage::stream_loads() {
    edit().schedule.stream_all_loads = true;
    return *this;
}

Stage &Stage::stream_loads(const std::vector<Func> &fs) {
    for (const Func &f : fs) {
        user_assert(f.name() != function_.name())
            << "loads of func " << f.name() << " in " << name()
            << " cannot be streamed: a stage reads what it has just stored";
        edit().schedule.stream_loads.push_back(f.name());
        // A Func that stands for an image is inlined: what is read then is the image.
        const Call *image = f.defined() && f.num_update_definitions() == 0 && f.outputs() == 1
                                ? f.value().as<Call>()
                                : nullptr;
        if (image && image->call_type == CallKind::Image) {
            edit().schedule.stream_loads.push_back(image->name);
        }
    }
    return *this;
}

Stage &Stage::stream_loads(const Parameter &buffer) {
    edit().schedule.stream_loads.push_back(buffer.name());
    return *this;
}

Stage &Stage::eager_inline(const Func &f) {
    internal::inline_calls(f.function(), edit());
    return *this;
}

Stage &Stage::eager_inline(const std::vector<Func> &funcs) {
    for (const Func &f : callers_first(funcs)) {
        eager_inline(f);
    }
    return *this;
}

// ---- compute_with

Stage &Stage::compute_with(LoopLevel level,
                           const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    user_assert(level.defined() && !level.is_inlined() && !level.is_root())
        << name() << " is computed with " << level_text(level) << ", must be with a loop";
    user_assert(level.func_name() != function_.name())
        << name() << " is computed with " << level_text(level) << ", which is of the same func";
    user_assert(!function_.has_extern_definition())
        << name() << " is computed with " << level_text(level)
        << ", but it has an extern definition";
    const Definition &whole =
        stage_index_ == 0 ? *function_->init : *function_->updates[stage_index_ - 1];
    user_assert(whole.specializations.empty())
        << name() << " is computed with " << level_text(level) << ", but it has specializations";
    FuseLoopLevel fuse;
    fuse.level = std::move(level);
    for (const auto &entry : align) {
        fuse.align[entry.first.name()] = entry.second;
    }
    StageSchedule &schedule = edit().schedule;
    schedule.fuse_level = fuse;
    schedule.touched = true;
    return *this;
}

Stage &Stage::compute_with(LoopLevel level, LoopAlignStrategy align) {
    std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> all;
    for (const VarOrRVar &v : split_vars()) {
        all.emplace_back(v, align);
    }
    return compute_with(std::move(level), all);
}

Stage &Stage::compute_with(const Stage &s, const VarOrRVar &var,
                           const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    return compute_with(LoopLevel(s.function(), var, int(s.stage_index())), align);
}

Stage &Stage::compute_with(const Stage &s, const VarOrRVar &var, LoopAlignStrategy align) {
    return compute_with(LoopLevel(s.function(), var, int(s.stage_index())), align);
}

}  // namespace calotype
