// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide's functions that change the functions of a pipeline before it is compiled.
#include "halide_analysis.h"

namespace calotype {
namespace Internal {

using namespace internal;

namespace {

/// Calls fn with the definition of every stage that has one.
template<typename Fn>
void for_each_stage(const Function &f, Fn fn) {
    for (int i = 0; i < f.stages(); i++) {
        if (f.stage(i).defined()) {
            fn(*f.stage(i));
        }
    }
}

void simplify_specializations(Definition &definition) {
    ScheduleList<Specialization> kept;
    DefinitionPtr always;
    for (Specialization &s : definition.specializations) {
        s.condition = simplify(s.condition);
        if (is_const_zero(s.condition)) {
            continue;
        }
        if (is_const_one(s.condition) && s.failure_message.empty()) {
            always = s.definition;
            break;
        }
        kept.push_back(s);
        if (is_const_one(s.condition)) {
            break;
        }
    }
    definition.specializations = kept;
    for (Specialization &s : definition.specializations) {
        if (s.definition.defined()) {
            simplify_specializations(*s.definition);
        }
    }
    if (always.defined()) {  // it takes the place of what no call gets to
        simplify_specializations(*always);
        kept.insert(kept.end(), always->specializations.begin(), always->specializations.end());
        definition.schedule = always->schedule;
        definition.args = always->args;
        definition.values = always->values;
        definition.predicate = always->predicate;
        definition.specializations = kept;
    }
}

}  // namespace

void simplify_specializations(std::map<std::string, Function> &env) {
    for (const auto &entry : env) {
        for_each_stage(entry.second, [](Definition &d) { simplify_specializations(d); });
    }
}

void inline_function(Function caller, const Function &f) {
    Func func(caller);
    func.eager_inline(Func(f));
    for (int i = 0; i < func.num_update_definitions(); i++) {
        func.update(i).eager_inline(Func(f));
    }
}

}  // namespace Internal
}  // namespace calotype
