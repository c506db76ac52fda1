// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/stage.h"

#include "lang/schedule/loop_editor.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

Stage::Stage(const Function &f, DefinitionPtr definition, size_t stage_index,
             const std::string &condition)
    : function_(f), definition_(std::move(definition)), stage_index_(stage_index),
      condition_(condition) {
    internal_assert(definition_.defined()) << "stage of func " << f.name() << " has no definition";
}

std::string Stage::name() const {
    std::string name = function_.name();
    if (stage_index_ > 0) {
        name += ".update(" + std::to_string(stage_index_ - 1) + ")";
    }
    return name + condition_;
}

std::string Stage::dump_argument_list() const {
    std::string text = "vars:";
    for (const Dim &d : definition_->schedule.dims) {
        text += " " + d.var;
    }
    return text;
}

Stage &Stage::unscheduled() {
    user_assert(!definition_->schedule.touched)
        << name() << " is said to be unscheduled after it was scheduled";
    edit().schedule.touched = true;
    return *this;
}

}  // namespace calotype
