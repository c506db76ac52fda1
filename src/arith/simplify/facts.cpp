// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/simplify/facts.h"

#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

Facts::Layer::Layer(Facts &facts)
    : facts_(facts), bound_names_(facts.bound_names_.size()), truths_(facts.truths_.size()),
      hidden_(facts.hidden_.size()), shares_cache_(false) {
    facts_.caches_.emplace_back();
}

Facts::Layer::Layer(Facts &facts, const std::string &binds)
    : facts_(facts), bound_names_(facts.bound_names_.size()), truths_(facts.truths_.size()),
      hidden_(facts.hidden_.size()), shares_cache_(!facts.variables_.contains(binds)) {
    if (!shares_cache_) {
        facts_.caches_.emplace_back();
    }
}

Facts::Layer::~Layer() {
    while (facts_.bound_names_.size() > bound_names_) {
        const std::string name = facts_.bound_names_.back();
        const Expr replacement = facts_.variables_.get(name).replacement;
        if (replacement.defined()) {
            for (const std::string &used : free_variables(replacement)) {
                facts_.replacement_uses_[used]--;
            }
        }
        facts_.values_ -= facts_.variables_.get(name).value.defined();
        facts_.variables_.pop(name);
        facts_.bound_names_.pop_back();
    }
    while (facts_.hidden_.size() > hidden_) {
        facts_.truths_[facts_.hidden_.back()].hidden--;
        facts_.hidden_.pop_back();
    }
    while (facts_.truths_.size() > truths_) {
        for (const std::string &used : free_variables(facts_.truths_.back().condition)) {
            facts_.names_in_truths_[used]--;
        }
        facts_.truths_.pop_back();
    }
    if (shares_cache_) {
        facts_.caches_.back() = Cache();
    } else {
        facts_.caches_.pop_back();
    }
}

Facts::Facts() {
    caches_.emplace_back();
}

void Facts::push(const std::string &name, const Variable &variable) {
    if (variable.replacement.defined()) {
        for (const std::string &used : free_variables(variable.replacement)) {
            replacement_uses_[used]++;
        }
    }
    values_ += variable.value.defined();
    variables_.push(name, variable);
    bound_names_.push_back(name);
}

void Facts::bind(const std::string &name, const IntegerInfo &info, const Expr &replacement,
                 const Expr &value, Origin origin) {
    push(name,
         Variable{info, replacement, value, bound_names_.size(),
                  value.defined() ? free_variables(value) : std::vector<std::string>(), origin});
    hide_truths_about(name);
}

void Facts::hide_truths_about(const std::string &name) {
    auto mentions = names_in_truths_.find(name);
    if (mentions == names_in_truths_.end() || mentions->second == 0) {
        return;
    }
    for (size_t i = 0; i < truths_.size(); i++) {
        if (uses_var(truths_[i].condition, name)) {
            truths_[i].hidden++;
            hidden_.push_back(i);
        }
    }
}

void Facts::refine(const std::string &name, const IntegerInfo &info) {
    Variable narrowed{info, Expr(), Expr(), 0};
    if (const Variable *old = variables_.find(name)) {
        narrowed = *old;
        narrowed.info.range = intersection(old->info.range, info.range);
        narrowed.info.alignment = intersection(old->info.alignment, info.alignment);
        if (narrowed.info.range.is_empty()) {
            return;  // unreachable code: nothing useful can be said
        }
    }
    push(name, narrowed);
}

void Facts::replace(const std::string &name, const Expr &constant) {
    const Variable *old = variables_.find(name);
    Variable replaced = old ? *old : Variable{IntegerInfo(), Expr(), Expr(), 0};
    replaced.replacement = constant;
    push(name, replaced);
}

Expr Facts::value_of(const std::string &name) const {
    const Variable *v = variables_.find(name);
    if (!v || !v->value.defined()) {
        return Expr();
    }
    for (const std::string &used : v->uses) {
        const Variable *other = variables_.find(used);
        if (other && other->depth >= v->depth) {
            return Expr();
        }
    }
    return v->value;
}

Expr Facts::replacement_of(const std::string &name) const {
    const Variable *v = variables_.find(name);
    return v ? v->replacement : Expr();
}

const IntegerInfo *Facts::info_of(const std::string &name) const {
    const Variable *v = variables_.find(name);
    return v ? &v->info : nullptr;
}

Facts::Origin Facts::origin_of(const std::string &name) const {
    const Variable *v = variables_.find(name);
    return v ? v->origin : Origin::Unknown;
}

bool Facts::in_replacement(const std::string &name) const {
    auto it = replacement_uses_.find(name);
    return it != replacement_uses_.end() && it->second > 0;
}

namespace {

/// Conditions are asked about more often than they are alike: what is deep in them is not looked at first.
uint64_t hash_of_truth(const Expr &condition) {
    return shallow_hash(condition, 5);
}

}  // namespace

void Facts::learn(const Expr &condition, bool value) {
    for (const std::string &used : free_variables(condition)) {
        names_in_truths_[used]++;
    }
    truths_.push_back(Truth{hash_of_truth(condition), condition, value});
}

int Facts::truth_of(const Expr &condition) const {
    if (!has_truths()) {
        return -1;
    }
    const uint64_t h = hash_of_truth(condition);
    for (size_t i = truths_.size(); i-- > 0;) {
        if (truths_[i].hash == h && !truths_[i].hidden && equal(truths_[i].condition, condition)) {
            return truths_[i].value;
        }
    }
    return -1;
}

const Expr *Facts::find_simplified(const Expr &e) const {
    const auto &cache = caches_.back().simplified;
    auto it = cache.find(e.get());
    return it == cache.end() ? nullptr : &it->second.second;
}

void Facts::remember_simplified(const Expr &e, const Expr &simplified) {
    caches_.back().simplified.emplace(e.get(), std::make_pair(e, simplified));
}

const IntegerInfo *Facts::find_info(const ExprNode *e) const {
    const auto &cache = caches_.back().infos;
    auto it = cache.find(e);
    return it == cache.end() ? nullptr : &it->second.second;
}

void Facts::remember_info(const ExprNode *e, const IntegerInfo &info) {
    caches_.back().infos.emplace(e, std::make_pair(Expr(e), info));
}

}  // namespace calotype::internal
