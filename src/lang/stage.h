// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stage: a handle on one definition of a Func (the pure one, an update, a specialization), to
// schedule it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lang/schedule/loop_directives.h"
#include "lang/var_or_rvar.h"
#include "pipeline/function.h"

namespace calotype {

/// Got from f.update(i), from an assignment, or from a Func by conversion.
class Stage : public internal::LoopDirectives<Stage> {
public:
    /// `condition` is the part of the name that tells a specialization apart.
    Stage(const internal::Function &f, internal::DefinitionPtr definition, size_t stage_index,
          const std::string &condition = "");

    const internal::StageSchedule &get_schedule() const {
        return definition_->schedule;
    }
    /// "f", "f.update(0)", with ".specialize(...)" behind it for a specialization.
    std::string name() const;
    /// The loops, innermost first, as text: for finding out what a schedule made.
    std::string dump_argument_list() const;

    /// Factor an associative reduction: the RVars that are not listed are reduced into a new Func
    /// first, which has the Vars `v` as further dimensions in place of the listed RVars; this stage
    /// then reduces over those.
    ///     f() += g(r)                              // r split into ro, ri
    ///     Func part = f.update().rfactor(ri, u);
    ///     ->
    ///     part(u) += g(ro * 8 + u)                 // all u are independent
    ///     f() += part(ri)
    Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved);
    Func rfactor(const RVar &r, const Var &v);

    /// Put the definition of the pure Func f in place of all calls to it in this stage, now.
    Stage &eager_inline(const Func &f);
    Stage &eager_inline(const std::vector<Func> &funcs);
    template<typename... Args>
    std::enable_if_t<(std::is_convertible<Args, Func>::value && ...), Stage &>
    eager_inline(const Func &f, const Func &g, Args &&...more) {
        return eager_inline(std::vector<Func>{f, g, std::forward<Args>(more)...});
    }

    /// Compute this stage and `s` in one fused loop, from the outermost down to `var`.
    ///     for x: f(x) = ...   for x: g(x) = ...   ->   for x: { f(x) = ...; g(x) = ... }
    /// f and g must not depend on each other and must be computed at the same place.
    Stage &compute_with(LoopLevel level,
                        const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    Stage &compute_with(LoopLevel level, LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Stage &compute_with(const Stage &s, const VarOrRVar &var,
                        const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    Stage &compute_with(const Stage &s, const VarOrRVar &var,
                        LoopAlignStrategy align = LoopAlignStrategy::Auto);

    /// Load what this stage reads of other Funcs and of buffers, or of f or the buffer alone, around the
    /// cache: a hint for what is read once.
    Stage &stream_loads();
    Stage &stream_loads(const std::vector<Func> &fs);
    template<typename T, std::enable_if_t<std::is_convertible<const T &, Func>::value, bool> = true>
    Stage &stream_loads(const T &f);  // defined where Func is complete, in func.h
    Stage &stream_loads(const Parameter &buffer);

    /// Says that this update is meant to have no schedule: no warning about it.
    Stage &unscheduled();

    const internal::Function &function() const {
        return function_;
    }
    internal::IntrusivePtr<const internal::Definition> definition() const {
        return definition_;
    }
    /// To change it, at once: see Function::edit().
    internal::Definition &edit() const {
        internal::count_edit();
        return *definition_;
    }
    size_t stage_index() const {
        return stage_index_;
    }

    /// What the loop directives change.
    const Stage &stage_to_schedule() const {
        return *this;
    }

private:
    internal::Function function_;
    internal::DefinitionPtr definition_;
    size_t stage_index_;
    std::string condition_;
};

/// For compatibility: the same handle under its former name.
using ScheduleHandle = Stage;

}  // namespace calotype
