// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/linked_code.h"

#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace calotype {

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
    sort_by_set_up();
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
                << "linkable '" << l.name << "' comes after '" << name
                << "', which is no linkable of the pipeline" << internal::did_you_mean(name, names);
            after_.back().push_back(it->second);
            name = linkables_[it->second].name;
        }
    }
}

void LinkPlan::set_up_first(size_t i, std::vector<int> &state, std::vector<size_t> &path,
                            std::vector<size_t> &order) const {
    enum { New, Open, Done };
    if (state[i] == Done) {
        return;
    }
    path.push_back(i);
    if (state[i] == Open) {
        std::vector<std::string> cycle;
        for (auto it = std::find(path.begin(), path.end(), i); it != path.end(); ++it) {
            cycle.push_back("'" + linkables_[*it].name + "'");
        }
        user_error << "linkables come after each other in a cycle: "
                   << internal::join(cycle, " after ");
    }
    state[i] = Open;
    for (const size_t first : after_[i]) {
        set_up_first(first, state, path, order);
    }
    path.pop_back();
    state[i] = Done;
    order.push_back(i);
}

void LinkPlan::sort_by_set_up() {
    std::vector<int> state(linkables_.size());
    std::vector<size_t> path, order;
    for (size_t i = 0; i < linkables_.size(); i++) {
        set_up_first(i, state, path, order);
    }
    std::vector<size_t> place(order.size());
    for (size_t i = 0; i < order.size(); i++) {
        place[order[i]] = i;
    }
    std::vector<LinkableData> sorted;
    std::vector<std::vector<size_t>> after;
    for (const size_t old : order) {
        sorted.push_back(std::move(linkables_[old]));
        after.emplace_back();
        for (const size_t first : after_[old]) {
            after.back().push_back(place[first]);
        }
    }
    linkables_ = std::move(sorted);
    after_ = std::move(after);
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
    for (const LinkableData &l : from.linkables) {
        const auto same = std::find_if(into.linkables.begin(), into.linkables.end(),
                                       [&](const auto &k) { return same_linkable(k, l); });
        if (same != into.linkables.end()) {
            merge(*same, l);
            continue;
        }
        for (const LinkableData &known : into.linkables) {
            check_distinct(known, l);
        }
        into.linkables.push_back(l);
    }
    for (const auto &[name, signature] : from.functions) {
        user_assert(into.functions.emplace(name, signature).first->second == signature)
            << "two modules call function '" << name << "' with different types";
    }
    into.needs_device_runtime |= from.needs_device_runtime;
}

}  // namespace calotype
