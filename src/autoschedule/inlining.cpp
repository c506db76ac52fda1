// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//     stored:   points * (cost + 1 store) + uses * 1 load
//     inlined:  uses * cost
// A Func that is stored needs loops and memory besides, which is what `slack` stands for.
#include "autoschedule/inlining.h"

namespace calotype::internal {

namespace {

constexpr double slack = 1.2;
constexpr double slack_of_one_operation = 1.5;
/// Of what one Func may become by inlining.
constexpr double most_operations = 1500;

double cost_of_point(const StageModel &stage) {
    double cost = stage.operations;
    for (const Read &read : stage.reads) {
        cost += read.cost;
    }
    return cost;
}

bool is_cheap(const Model &model, int i) {
    const FuncModel &func = model.funcs[size_t(i)];
    const double cost = cost_of_point(func.stages[0]);
    double uses = 0;
    for (const int c : func.consumers) {
        const FuncModel &consumer = model.funcs[size_t(c)];
        for (const StageModel &stage : consumer.stages) {
            for (const Read &read : stage.reads) {
                if (read.source == i) {
                    uses += read.calls * iterations(stage, consumer.region);
                    if (stage.operations + read.calls * cost > most_operations) {
                        return false;
                    }
                }
            }
        }
    }
    const double allowed = func.stages[0].operations <= 1 ? slack_of_one_operation : slack;
    return uses * cost <= allowed * (volume(func.region) * (cost + 1) + uses);
}

}  // namespace

bool may_be_inlined(const FuncModel &func) {
    return !func.stays_at_root && func.f.can_be_inlined() && !func.consumers.empty();
}

void inline_cheap_funcs(ModelBuilder &builder, const std::set<std::string> &others) {
    for (size_t i = 0; i < builder.model().funcs.size(); i++) {
        const FuncModel &func = builder.model().funcs[i];
        if (may_be_inlined(func) &&
            (others.count(func.original.name()) || is_cheap(builder.model(), int(i)))) {
            builder.inline_func(int(i));
        }
    }
}

}  // namespace calotype::internal
