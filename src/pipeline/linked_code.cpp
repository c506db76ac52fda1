// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/linked_code.h"

#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// The same linkable given twice: what either asks for holds, what either promises must be
/// promised by both.
void merge(LinkableData &into, const LinkableData &from) {
    const bool agree =
        into.lto == from.lto || into.lto == LtoMode::Allow || from.lto == LtoMode::Allow;
    user_assert(agree) << "linkable " << linkable_description(into)
                       << " is given with lto=require and with lto=never";
    into.lto = into.lto == LtoMode::Allow ? from.lto : into.lto;
    for (const std::string &name : from.after) {
        if (std::find(into.after.begin(), into.after.end(), name) == into.after.end()) {
            into.after.push_back(name);
        }
    }
    into.nrt |= from.nrt;
    into.is_session_dependent |= from.is_session_dependent;
    into.is_pinned |= from.is_pinned;
    into.is_embedded |= from.is_embedded;
    into.is_optional &= from.is_optional;
    into.is_threadsafe &= from.is_threadsafe;
    into.no_teardown_after_loss &= from.no_teardown_after_loss;
}

void check_distinct(const LinkableData &a, const LinkableData &b) {
    user_assert(a.name != b.name) << "two linkables of the pipeline are named '" << a.name
                                  << "': " << linkable_description(a) << " and "
                                  << linkable_description(b) << "; name= gives one another";
}

/// Puts linkables in an order in which each stands behind those that it comes after; else they stay
/// as they are. `after` holds the indices of these, and is put in order with them.
class SetUpOrder {
public:
    SetUpOrder(std::vector<LinkableData> &linkables, std::vector<std::vector<size_t>> &after)
        : linkables_(linkables), after_(after), state_(linkables.size()), place_(linkables.size()) {
        for (size_t i = 0; i < linkables.size(); i++) {
            visit(i);
        }
        std::vector<LinkableData> sorted;
        std::vector<std::vector<size_t>> sorted_after;
        for (const size_t old : order_) {
            sorted.push_back(std::move(linkables_[old]));
            sorted_after.emplace_back();
            for (const size_t first : after_[old]) {
                sorted_after.back().push_back(place_[first]);
            }
        }
        linkables_ = std::move(sorted);
        after_ = std::move(sorted_after);
    }

private:
    enum State { New, Open, Done };

    void visit(size_t i) {
        if (state_[i] == Done) {
            return;
        }
        path_.push_back(i);
        if (state_[i] == Open) {
            fail_with_cycle();
        }
        state_[i] = Open;
        for (const size_t first : after_[i]) {
            visit(first);
        }
        path_.pop_back();
        state_[i] = Done;
        place_[i] = order_.size();
        order_.push_back(i);
    }

    [[noreturn]] void fail_with_cycle() const {
        std::vector<std::string> cycle;
        for (auto it = std::find(path_.begin(), path_.end(), path_.back()); it != path_.end();
             ++it) {
            cycle.push_back(linkable_description(linkables_[*it]));
        }
        user_error << "linkables come after each other in a cycle: " << join(cycle, " after ");
    }

    std::vector<LinkableData> &linkables_;
    std::vector<std::vector<size_t>> &after_;
    std::vector<State> state_;
    std::vector<size_t> place_, path_, order_;
};

/// The indices of those that each comes after, by their names.
std::vector<std::vector<size_t>> after_by_name(const std::vector<LinkableData> &linkables) {
    std::map<std::string, size_t> index;
    for (size_t i = 0; i < linkables.size(); i++) {
        index[linkables[i].name] = i;
    }
    std::vector<std::vector<size_t>> after;
    for (const LinkableData &l : linkables) {
        after.emplace_back();
        for (const std::string &name : l.after) {
            after.back().push_back(index.at(name));
        }
    }
    return after;
}

}  // namespace

LinkPlan::LinkPlan(const std::vector<Linkable> &declared, const UsedParameters &used) {
    for (const Linkable &l : declared) {
        add(l);
    }
    std::map<std::string, std::vector<Linkable>> only_used;
    for (const auto *declarations : {&used.linked_functions, &used.linked_symbols}) {
        for (const auto &entry : *declarations) {
            only_used[entry.second->linkable.name()].push_back(entry.second->linkable);
        }
    }
    for (const auto &entry : only_used) {
        for (const Linkable &l : entry.second) {
            add(l);
        }
    }
    check_names();
    resolve_after();
    SetUpOrder(linkables_, after_);
    for (const auto &[name, declaration] : used.linked_functions) {
        functions_[name] = index_of(declaration->linkable);
        signatures_[name] = declaration->signature;
    }
    for (const auto &[name, declaration] : used.linked_symbols) {
        symbols_[name] = index_of(declaration->linkable);
    }
}

void LinkPlan::add(const Linkable &linkable) {
    for (LinkableData &known : linkables_) {
        if (same_linkable(known, linkable.data())) {
            merge(known, linkable.data());
            aliases_[linkable.name()] = known.name;
            return;
        }
    }
    linkables_.push_back(linkable.data());
    // Nothing can call what has no code.
    linkables_.back().is_pinned |= linkable.data().images.empty();
}

size_t LinkPlan::index_of(const Linkable &linkable) const {
    size_t i = 0;
    while (!same_linkable(linkables_[i], linkable.data())) {
        i++;
    }
    return i;
}

void LinkPlan::check_names() const {
    for (size_t i = 0; i < linkables_.size(); i++) {
        for (size_t j = 0; j < i; j++) {
            check_distinct(linkables_[j], linkables_[i]);
        }
    }
}

/// Names become those that the linkables have here, whatever they were called where they were
/// given again.
void LinkPlan::resolve_after() {
    std::vector<std::string> names;
    std::map<std::string, size_t> index;
    for (size_t i = 0; i < linkables_.size(); i++) {
        names.push_back(linkables_[i].name);
        index[linkables_[i].name] = i;
    }
    for (const auto &[alias, name] : aliases_) {
        index.emplace(alias, index.at(name));
    }
    for (LinkableData &l : linkables_) {
        after_.emplace_back();
        for (std::string &name : l.after) {
            const auto it = index.find(name);
            user_assert(it != index.end())
                << "linkable " << linkable_description(l) << " comes after '" << name
                << "', which is not a linkable of the pipeline" << did_you_mean(name, names);
            after_.back().push_back(it->second);
            name = linkables_[it->second].name;
        }
    }
}

LinkedCode LinkPlan::code_for(const LinkedNames &names, bool with_pinned) const {
    std::vector<bool> is_linked(linkables_.size());
    LinkedCode code;
    for (const std::string &name : names.functions) {
        is_linked[functions_.at(name)] = true;
        code.functions[name] = signatures_.at(name);
    }
    for (const std::string &name : names.symbols) {
        is_linked[symbols_.at(name)] = true;
    }
    // What a linkable comes after stands before it.
    for (size_t i = linkables_.size(); i-- > 0;) {
        if (is_linked[i] || (with_pinned && linkables_[i].is_pinned)) {
            is_linked[i] = true;
            for (const size_t first : after_[i]) {
                is_linked[first] = true;
            }
        }
    }
    for (size_t i = 0; i < linkables_.size(); i++) {
        if (is_linked[i]) {
            code.linkables.push_back(linkables_[i]);
        }
    }
    return code;
}

void merge_linked_code(LinkedCode &into, const LinkedCode &from) {
    // What is called otherwise in one module keeps the name that it has here.
    std::map<std::string, std::string> names;
    const auto known_as = [&](const LinkableData &l) {
        return std::find_if(into.linkables.begin(), into.linkables.end(),
                            [&](const LinkableData &k) { return same_linkable(k, l); });
    };
    for (const LinkableData &l : from.linkables) {
        const auto known = known_as(l);
        names[l.name] = known == into.linkables.end() ? l.name : known->name;
    }
    for (LinkableData l : from.linkables) {
        for (std::string &name : l.after) {
            name = names.at(name);
        }
        const auto known = known_as(l);
        if (known != into.linkables.end()) {
            merge(*known, l);
            continue;
        }
        for (const LinkableData &other : into.linkables) {
            check_distinct(other, l);
        }
        into.linkables.push_back(std::move(l));
    }
    std::vector<std::vector<size_t>> after = after_by_name(into.linkables);
    SetUpOrder(into.linkables, after);
    for (const auto &[name, signature] : from.functions) {
        user_assert(into.functions.emplace(name, signature).first->second == signature)
            << "two modules call function '" << name << "' with different types";
    }
    into.needs_device_runtime |= from.needs_device_runtime;
}

}  // namespace calotype::internal
