// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/text/check_read.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// The loops of a stage while splits replace them.
class LoopNames {
public:
    explicit LoopNames(const std::string &func) : func_(func) {
    }
    void add(const std::string &loop) {
        loops_.push_back(loop);
    }
    void take(const std::string &loop) {
        const auto it = std::find(loops_.begin(), loops_.end(), loop);
        user_assert(it != loops_.end()) << "the text of a pipeline names loop " << loop
                                        << " of func " << func_ << ", which nothing makes";
        loops_.erase(it);
    }
    void take(const Split &s) {
        if (s.is_fuse()) {
            take(s.inner);
            take(s.outer);
            add(s.old_var);
            return;
        }
        take(s.old_var);
        add(s.outer);
        if (!s.is_rename()) {
            add(s.inner);
        }
    }
    void check_none_left() const {
        user_assert(loops_.empty())
            << "the text of a pipeline leaves out loop " << loops_.front() << " of func " << func_;
    }

private:
    const std::string &func_;
    std::vector<std::string> loops_;
};

}  // namespace

void check_condition(const Expr &condition, const std::string &whose) {
    user_assert(!condition.defined() || condition.type().is_bool())
        << "the text of a pipeline has condition " << condition << " of " << whose << " of type "
        << condition.type() << ", must be bool";
}

void check_definition_read(const FunctionContents &f, const Definition &d) {
    check_condition(d.predicate, "func " + f.name);
    for (const Specialization &s : d.specializations) {
        check_condition(s.condition, "func " + f.name);
    }
    LoopNames loops(f.name);
    for (size_t i = 0; i < f.args.size() && i < d.args.size(); i++) {
        const Variable *v = d.args[i].as<Variable>();
        if (v && v->name == f.args[i]) {
            loops.add(v->name);
        }
    }
    for (const ReductionVariable &v : d.schedule.rvars) {
        loops.add(v.var);
    }
    loops.add(outermost_name);
    for (const Split &s : d.schedule.splits) {
        loops.take(s);
    }
    for (const Dim &dim : d.schedule.dims) {
        loops.take(dim.var);
    }
    loops.check_none_left();
}

}  // namespace calotype::internal
