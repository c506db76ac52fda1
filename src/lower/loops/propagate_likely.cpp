// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/propagate_likely.h"

#include <map>
#include <optional>
#include <set>

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

/// Lets around, with the values of lets around those.
class Lets {
public:
    template<typename Body>
    void with(const std::string &name, const Expr &value, Body &&body) {
        // No index has other types in it.
        lets_.push(name, value.type() == Int(32) ? remove_likelies(value) : Expr());
        samples_.with(name, value, body);
        lets_.pop();
    }

    /// a - b without names of lets, unless that is huge.
    Expr difference(const Expr &a, const Expr &b) const {
        const Expr named = remove_likelies(a - b), expanded = lets_.expand(named);
        return simplify(expanded.defined() ? expanded : named);
    }

    /// A number that a - b has for some values of its variables, if that is easily said.
    std::optional<int64_t> sample(const Expr &a, const Expr &b) const {
        return samples_.of(a - b);
    }

private:
    LetScope lets_;
    SampleValues samples_;
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
        if (const auto sample = lets.sample(a, b)) {
            samples_.insert(*sample);
        } else {
            has_unknown_ = true;
        }
        Intrinsic &known = tags_.insert({lets.difference(a, b), tag}).first->second;
        known = tag == Intrinsic::likely ? tag : known;
    }
    std::optional<Intrinsic> find(const Lets &lets, const Expr &a, const Expr &b) const {
        const auto sample = lets.sample(a, b);
        if (sample && !has_unknown_ && !samples_.count(*sample)) {
            return std::nullopt;
        }
        const auto it = tags_.find(lets.difference(a, b));
        return it == tags_.end() ? std::nullopt : std::optional(it->second);
    }

private:
    std::map<Expr, Intrinsic, ExprDeepLess> tags_;
    std::set<int64_t> samples_;
    bool has_unknown_ = false;  ///< a difference without a sample
};

/// The strongest of the tags in an expression.
class FindTag : public GraphVisitor {
public:
    bool found = false;
    Intrinsic tag = Intrinsic::likely_if_innermost;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        if (op->is_likely()) {
            found = true;
            tag = op->is_intrinsic(Intrinsic::likely) ? Intrinsic::likely : tag;
        }
        GraphVisitor::visit(op);
    }
};

class FindTagged : public Visitor {
public:
    Differences found;

private:
    using Visitor::visit;

    template<typename MinMax>
    void choice(const MinMax *op, bool is_min) {
        FindTag in_a, in_b;
        if (is_index(op)) {
            in_a(op->a);
            in_b(op->b);
        }
        if (in_a.found != in_b.found) {
            const bool first = in_a.found;
            const Intrinsic tag = first ? in_a.tag : in_b.tag;
            if (first == is_min) {
                found.add(lets_, op->a, op->b, tag);
            } else {
                found.add(lets_, op->b, op->a, tag);
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
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        lets_.with(op->name, op->value, [&] { (*this)(op->body); });
    }
    void visit(const Let *op) override {
        (*this)(op->value);
        lets_.with(op->name, op->value, [&] { (*this)(op->body); });
    }

    Lets lets_;
};

class Tagger : public Mutator {
public:
    explicit Tagger(const Differences &likely) : likely_(likely) {
    }

private:
    using Mutator::visit;

    template<typename MinMax>
    Expr choice(const MinMax *op, bool is_min) {
        const Expr a = mutate(op->a), b = mutate(op->b);
        if (!is_index(op) || contains_likely(a) || contains_likely(b)) {
            return MinMax::make(a, b);
        }
        const auto tagged = [&](const Expr &e, Intrinsic tag) {
            return Call::make(e.type(), tag, {e});
        };
        if (const auto tag = likely_.find(lets_, a, b)) {
            return is_min ? MinMax::make(tagged(a, *tag), b) : MinMax::make(a, tagged(b, *tag));
        }
        if (const auto tag = likely_.find(lets_, b, a)) {
            return is_min ? MinMax::make(a, tagged(b, *tag)) : MinMax::make(tagged(a, *tag), b);
        }
        return MinMax::make(a, b);
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
        return LetStmt::make(op->name, value, body);
    }
    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        Expr body;
        lets_.with(op->name, value, [&] { body = mutate(op->body); });
        return Let::make(op->name, value, body);
    }

    const Differences &likely_;
    Lets lets_;
};

}  // namespace

Stmt propagate_likely(const Stmt &s) {
    FindTagged tagged;
    tagged(s);
    return tagged.found.empty() ? s : Tagger(tagged.found).mutate(s);
}

}  // namespace calotype::internal
