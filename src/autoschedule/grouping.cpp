// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/grouping.h"

#include <algorithm>
#include <map>

namespace calotype::internal {

namespace {

class Grouping {
public:
    Grouping(const Model &model, const Machine &machine)
        : model_(model), cost_(model, machine), group_of_(model.funcs.size(), -1) {
        for (size_t i = 0; i < model.funcs.size(); i++) {
            if (!model.funcs[i].is_inlined) {
                groups_[int(i)] = cost_.alone(int(i));
                group_of_[i] = int(i);
            }
        }
    }

    void merge_all() {
        while (merge_best()) {
        }
    }

    std::vector<Group> groups() const {
        std::vector<Group> result;
        for (const auto &entry : groups_) {
            result.push_back(entry.second);
        }
        return result;
    }

private:
    struct Merge {
        Group group;
        double gain = 0;
        bool is_known = false;
    };

    /// The group of all consumers, or -1.
    int consumers_of(int host) const {
        const FuncModel &func = model_.funcs[size_t(host)];
        int group = -1;
        for (const int c : func.consumers) {
            if (group >= 0 && group_of_[size_t(c)] != group) {
                return -1;
            }
            group = group_of_[size_t(c)];
        }
        return func.stays_at_root ? -1 : group;
    }

    Merge merged(const Group &producer, const Group &consumer) const {
        Merge merge;
        merge.is_known = true;
        merge.group = consumer;
        merge.group.members.insert(merge.group.members.end(), producer.members.begin(),
                                   producer.members.end());
        std::sort(merge.group.members.begin(), merge.group.members.end());
        if (cost_.find_tiles(merge.group)) {
            merge.gain = producer.cost + consumer.cost - merge.group.cost;
        }
        return merge;
    }

    bool merge_best() {
        int best = -1;
        for (const auto &[host, group] : groups_) {
            const int consumer = consumers_of(host);
            if (consumer < 0) {
                continue;
            }
            Merge &merge = merges_[{host, consumer}];
            if (!merge.is_known) {
                merge = merged(group, groups_.at(consumer));
            }
            if (merge.gain > 0 && (best < 0 || merge.gain > gain_of(best))) {
                best = host;
            }
        }
        if (best >= 0) {
            carry_out(best, consumers_of(best));
        }
        return best >= 0;
    }
    double gain_of(int host) {
        return merges_[{host, consumers_of(host)}].gain;
    }

    void carry_out(int host, int consumer) {
        groups_[consumer] = merges_.at({host, consumer}).group;
        for (const int member : groups_.at(host).members) {
            group_of_[size_t(member)] = consumer;
        }
        groups_.erase(host);
        for (auto &[key, merge] : merges_) {
            merge.is_known &= key.first != consumer && key.second != consumer;
        }
    }

    const Model &model_;
    const GroupCost cost_;
    std::vector<int> group_of_;  ///< by Func: the host of its group; -1: inlined
    std::map<int, Group> groups_;
    std::map<std::pair<int, int>, Merge> merges_;  ///< by the hosts of producer and consumer
};

}  // namespace

std::vector<Group> find_groups(const Model &model, const Machine &machine) {
    Grouping grouping(model, machine);
    grouping.merge_all();
    return grouping.groups();
}

}  // namespace calotype::internal
