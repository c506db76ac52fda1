// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/propagate_likely.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "arith/sample_value.h"
#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/let_scope.h"

namespace calotype::internal {

namespace {

/// The values of an expression for some values of its variables. One is not enough, as of choices each has one side.
using Samples = std::array<int64_t, 4>;

/// Lets around, with the values of lets around those.
class Lets {
public:
    template<typename Body>
    void with(const std::string &name, const Expr &value, const Body &body) {
        // No index has other types in it.
        lets_.push(name, value.type() == Int(32) ? remove_likelies(value) : Expr());
        for (SampleValues &samples : samples_) {
            samples.push(name, value);
        }
        body();
        for (SampleValues &samples : samples_) {
            samples.pop(name);
        }
        lets_.pop();
    }

    /// a - b without names of lets, unless that is huge.
    Expr difference(const Expr &a, const Expr &b) const {
        const Expr named = remove_likelies(a - b), expanded = lets_.expand(named);
        return simplify(expanded.defined() ? expanded : named);
    }

    /// Numbers that a - b has, if that is easily said.
    std::optional<Samples> samples(const Expr &a, const Expr &b) const {
        const Expr difference = a - b;
        Samples result;
        for (size_t i = 0; i < samples_.size(); i++) {
            const auto sample = samples_[i].of(difference);
            if (!sample) {
                return std::nullopt;
            }
            result[i] = *sample;
        }
        return result;
    }

private:
    LetScope lets_;
    std::array<SampleValues, std::tuple_size_v<Samples>> samples_{SampleValues(0), SampleValues(1),
                                                                  SampleValues(2), SampleValues(3)};
};

template<typename MinMax>
bool is_index(const MinMax *op) {
    return op->type == Int(32);
}

/// What is likely at most zero, and whether in innermost loops alone. Most differences are told apart
/// by samples, without the simplifier.
class Differences {
public:
    bool empty() const {
        return tags_.empty();
    }
    void add(const Lets &lets, const Expr &a, const Expr &b, Intrinsic tag) {
        if (const auto samples = lets.samples(a, b)) {
            samples_.insert(*samples);
        } else {
            has_unknown_ = true;
        }
        Intrinsic &known = tags_.insert({lets.difference(a, b), tag}).first->second;
        known = tag == Intrinsic::likely ? tag : known;
    }
    std::optional<Intrinsic> find(const Lets &lets, const Expr &a, const Expr &b) const {
        const auto samples = lets.samples(a, b);
        if (samples ? !samples_.count(*samples) : !has_unknown_) {
            return std::nullopt;
        }
        const auto it = tags_.find(lets.difference(a, b));
        return it == tags_.end() ? std::nullopt : std::optional(it->second);
    }

private:
    std::map<Expr, Intrinsic, ExprDeepLess> tags_;
    std::set<Samples> samples_;
    bool has_unknown_ = false;  ///< a difference without samples
};

/// Of an expression: what it says about choices of indices, of which each part is asked once.
class Choices : private Visitor {
public:
    struct Found {
        bool has_choice = false;         ///< the smaller or larger of two indices
        std::optional<Intrinsic> tag{};  ///< the strongest
    };
    Found of(const Expr &e) {
        found_ = Found();
        (*this)(e);
        return found_;
    }

private:
    using Visitor::visit;

    void operator()(const Expr &e) override {
        if (!e.defined()) {
            return;
        }
        const Found before = found_;
        const auto known = known_.find(e.get());
        if (known != known_.end()) {
            found_ = known->second.second;
        } else {
            found_ = Found();
            Visitor::operator()(e);
            known_.emplace(e.get(), std::pair(e, found_));
        }
        found_.has_choice = found_.has_choice || before.has_choice;
        add(before.tag);
    }

    void add(std::optional<Intrinsic> tag) {
        if (tag && found_.tag != Intrinsic::likely) {
            found_.tag = tag;
        }
    }

    void visit(const Min *op) override {
        found_.has_choice = found_.has_choice || is_index(op);
        Visitor::visit(op);
    }
    void visit(const Max *op) override {
        found_.has_choice = found_.has_choice || is_index(op);
        Visitor::visit(op);
    }
    void visit(const Call *op) override {
        if (op->is_likely()) {
            add(op->intrinsic);
        }
        Visitor::visit(op);
    }

    Found found_;
    std::unordered_map<const Node *, std::pair<Expr, Found>> known_;  ///< with what keeps the node
};

/// A shared part of the code's expressions is looked at where it stands first.
class FindTagged : public Visitor {
public:
    enum class Of { Choices, Guards };
    explicit FindTagged(Of kind) : kind_(kind) {
    }
    Differences found;

    using Visitor::operator();
    void operator()(const Expr &e) override {
        const Choices::Found in = choices_.of(e);
        const bool is_wanted = kind_ == Of::Choices && in.has_choice && in.tag;
        if (is_wanted && seen_.insert(e.get()).second) {
            Visitor::operator()(e);
        }
    }

private:
    using Visitor::visit;

    template<typename MinMax>
    void choice(const MinMax *op, bool is_min) {
        const auto in_a = choices_.of(op->a).tag, in_b = choices_.of(op->b).tag;
        if (is_index(op) && bool(in_a) != bool(in_b)) {
            if (bool(in_a) == is_min) {
                found.add(lets_, op->a, op->b, in_a ? *in_a : *in_b);
            } else {
                found.add(lets_, op->b, op->a, in_a ? *in_a : *in_b);
            }
        }
        Visitor::visit(op);
    }
    void visit(const Min *op) override {
        choice(op, true);
    }
    void visit(const Max *op) override {
        choice(op, false);
    }
    void visit(const IfThenElse *op) override {
        const auto tag = choices_.of(op->condition).tag;
        if (tag && kind_ == Of::Guards) {
            guard(op->condition, *tag);
        }
        Visitor::visit(op);
    }
    /// What a condition that is likely to hold says of two indices.
    void guard(const Expr &e, Intrinsic tag) {
        if (const And *both = e.as<And>()) {
            guard(both->a, tag);
            guard(both->b, tag);
        } else if (const Call *call = e.as<Call>(); call && call->is_likely()) {
            guard(call->args[0], tag);
        } else if (const LE *op = e.as<LE>()) {
            at_most(op->a, op->b, tag);
        } else if (const LT *op = e.as<LT>()) {
            at_most(op->a, op->b, tag);
        }
    }
    void at_most(const Expr &a, const Expr &b, Intrinsic tag) {
        if (a.type() == Int(32)) {
            found.add(lets_, a, b, tag);
        }
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        lets_.with(op->name, op->value, [&] { (*this)(op->body); });
    }
    void visit(const Let *op) override {
        (*this)(op->value);
        lets_.with(op->name, op->value, [&] { (*this)(op->body); });
    }

    const Of kind_;
    Lets lets_;
    Choices choices_;
    std::unordered_set<const Node *> seen_;
};

/// Within the expression of a statement, a shared part is rewritten once.
class Tagger : public Mutator {
public:
    explicit Tagger(const Differences &likely) : likely_(likely) {
    }

    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined() || !choices_.of(e).has_choice) {
            return e;
        }
        const auto known = rewritten_.find(e.get());
        if (known != rewritten_.end()) {
            return known->second;
        }
        depth_++;
        const Expr result = Mutator::mutate(e);
        depth_--;
        if (depth_ == 0) {
            rewritten_.clear();
        } else {
            rewritten_.emplace(e.get(), result);
        }
        return result;
    }

private:
    using Mutator::visit;

    template<typename MinMax>
    Expr choice(const MinMax *op, bool is_min) {
        const Expr a = mutate(op->a), b = mutate(op->b);
        const auto with_sides = [&](const Expr &a, const Expr &b) {
            return a.same_as(op->a) && b.same_as(op->b) ? Expr(op) : MinMax::make(a, b);
        };
        if (!is_index(op) || choices_.of(a).tag || choices_.of(b).tag) {
            return with_sides(a, b);
        }
        const auto tagged = [&](const Expr &e, Intrinsic tag) {
            return Call::make(e.type(), tag, {e});
        };
        if (const auto tag = likely_.find(lets_, a, b)) {
            return is_min ? with_sides(tagged(a, *tag), b) : with_sides(a, tagged(b, *tag));
        }
        if (const auto tag = likely_.find(lets_, b, a)) {
            return is_min ? with_sides(a, tagged(b, *tag)) : with_sides(tagged(a, *tag), b);
        }
        return with_sides(a, b);
    }
    Expr visit(const Min *op) override {
        return choice(op, true);
    }
    Expr visit(const Max *op) override {
        return choice(op, false);
    }
    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        Stmt body;
        lets_.with(op->name, value, [&] { body = mutate(op->body); });
        return value.same_as(op->value) && body.same_as(op->body)
                   ? Stmt(op)
                   : LetStmt::make(op->name, value, body);
    }
    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        Expr body;
        lets_.with(op->name, value, [&] { body = mutate(op->body); });
        return value.same_as(op->value) && body.same_as(op->body)
                   ? Expr(op)
                   : Let::make(op->name, value, body);
    }

    const Differences &likely_;
    Lets lets_;
    Choices choices_;
    int depth_ = 0;                                     ///< expressions around this one
    std::unordered_map<const Node *, Expr> rewritten_;  ///< parts of the outermost of them
};

Stmt propagate(const Stmt &s, FindTagged::Of kind) {
    if (!contains_likely(s)) {
        return s;
    }
    FindTagged tagged(kind);
    tagged(s);
    return tagged.found.empty() ? s : Tagger(tagged.found).mutate(s);
}

}  // namespace

Stmt propagate_likely(const Stmt &s) {
    return propagate(s, FindTagged::Of::Choices);
}

Stmt propagate_guards(const Stmt &s) {
    return propagate(s, FindTagged::Of::Guards);
}

}  // namespace calotype::internal
