// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/fold_choices.h"

#include <algorithm>
#include <set>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include "pipeline/fields.h"

namespace calotype::internal {

namespace {

/// The value that the choice has whatever it is for, or null.
const Expr *decided(const Select *op) {
    return is_const_one(op->condition)    ? &op->true_value
           : is_const_zero(op->condition) ? &op->false_value
                                          : nullptr;
}

/// The Funcs that are called but for values that are not chosen.
class LiveCalls : public GraphVisitor {
public:
    std::vector<std::string> names;

private:
    using GraphVisitor::visit;

    void visit(const Select *op) override {
        if (const Expr *chosen = decided(op)) {
            (*this)(*chosen);
        } else {
            GraphVisitor::visit(op);
        }
    }

    void visit(const Call *op) override {
        if (op->call_type == CallKind::Func) {
            names.push_back(op->name);
        }
        GraphVisitor::visit(op);
    }
};

std::set<std::string> live_functions(const LowerContext &ctx) {
    std::set<std::string> live;
    std::vector<std::string> open;
    for (const Function &f : ctx.outputs) {
        open.push_back(f.name());
    }
    while (!open.empty()) {
        const std::string name = open.back();
        open.pop_back();
        const auto found = ctx.env.find(name);
        if (found == ctx.env.end() || !live.insert(name).second) {
            continue;
        }
        LiveCalls calls;
        for_each_part<Expr>(*found->second.contents(), [&](const Expr &e) { calls(e); });
        open.insert(open.end(), calls.names.begin(), calls.names.end());
        for (const ExternFuncArgument &arg : found->second->extern_args) {
            if (arg.is_func()) {
                open.push_back(Function(arg.func).name());
            }
        }
    }
    return live;
}

class FoldChoices : public GraphMutator {
    using GraphMutator::visit;
    Expr visit(const Select *op) override {
        const Expr *chosen = decided(op);
        return chosen ? mutate(*chosen) : GraphMutator::visit(op);
    }
};

}  // namespace

void fold_choices(LowerContext &ctx) {
    const std::set<std::string> live = live_functions(ctx);
    const bool only_inlined = std::all_of(ctx.env.begin(), ctx.env.end(), [&](const auto &entry) {
        return live.count(entry.first) || ctx.is_inlined(entry.second);
    });
    if (!only_inlined) {
        return;
    }
    FoldChoices fold;
    for (auto it = ctx.env.begin(); it != ctx.env.end();) {
        if (!live.count(it->first)) {
            it = ctx.env.erase(it);
            continue;
        }
        const Function &f = it->second;
        for (int i = 0; i < f.stages(); i++) {
            if (f.stage(i)) {
                mutate_expressions(*f.stage(i), [&](const Expr &e) { return fold.mutate(e); });
            }
        }
        ++it;
    }
}

}  // namespace calotype::internal
