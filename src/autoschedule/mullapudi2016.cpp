// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/mullapudi2016.h"

#include <algorithm>
#include <set>

#include "autoschedule/grouping.h"
#include "autoschedule/inlining.h"
#include "autoschedule/write_schedule.h"

namespace calotype::internal {

namespace {

struct Plan {
    Model model;
    std::vector<Group> groups;
    double cost = 0;
};

/// Finds the groups of a pipeline, of which some Funcs are inlined although they alone would not be
/// cheaper so: each of their consumers is in another group, so that they would be written to memory
/// as a whole, and read from there by all of these.
class Planner {
public:
    Planner(const Pipeline &pipeline, const Machine &machine)
        : pipeline_(pipeline), machine_(machine) {
    }
    Plan best() const {
        std::set<std::string> inlined;
        Plan plan = make(inlined);
        for (const std::string &name : candidates(plan)) {
            inlined.insert(name);
            Plan other = make(inlined);
            if (other.cost < plan.cost) {
                plan = std::move(other);
            } else {
                inlined.erase(name);
            }
        }
        return plan;
    }

private:
    static constexpr size_t most_candidates = 6;

    Plan make(const std::set<std::string> &inlined) const {
        ModelBuilder builder(pipeline_.contents()->outputs, pipeline_.requirements());
        inline_cheap_funcs(builder, inlined);
        Plan plan;
        plan.model = std::move(builder.model());
        plan.groups = find_groups(plan.model, machine_);
        for (const Group &group : plan.groups) {
            plan.cost += group.cost;
        }
        return plan;
    }

    /// Those that take the most memory first.
    std::vector<std::string> candidates(const Plan &plan) const {
        std::vector<const FuncModel *> found;
        for (const Group &group : plan.groups) {
            const FuncModel &func = plan.model.funcs[size_t(group.host)];
            if (may_be_inlined(func) && func.consumers.size() > 1 &&
                func.bytes_of_all() > machine_.near_cache()) {
                found.push_back(&func);
            }
        }
        std::stable_sort(found.begin(), found.end(), [](const FuncModel *a, const FuncModel *b) {
            return a->bytes_of_all() > b->bytes_of_all();
        });
        std::vector<std::string> names;
        for (size_t i = 0; i < found.size() && i < most_candidates; i++) {
            names.push_back(found[i]->original.name());
        }
        return names;
    }

    const Pipeline &pipeline_;
    const Machine &machine_;
};

}  // namespace

void schedule_by_mullapudi2016(const Pipeline &pipeline, const Target &target,
                               const AutoschedulerParams &params, AutoSchedulerResults *results) {
    const Machine machine = machine_of(target, params);
    const Plan plan = Planner(pipeline, machine).best();
    std::vector<Function> order;
    for (const FuncModel &func : plan.model.funcs) {
        order.push_back(func.original);
    }
    ScheduleText text(order);
    write_schedule(plan.model, plan.groups, machine, text);
    results->schedule_source =
        text.text("Written by " + params.to_string() + " for " + target.to_string());
}

}  // namespace calotype::internal
