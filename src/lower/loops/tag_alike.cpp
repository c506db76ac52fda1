// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/tag_alike.h"

#include <map>
#include <set>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/loops/open_lets.h"

namespace calotype::internal {

namespace {

/// Lets around, with the values of lets around those.
class Lets {
public:
    template<typename Body>
    void with(const std::string &name, const Expr &value, Body &&body) {
        // No index has other types in it.
        lets_.push(name, value.type() == Int(32) ? remove_likelies(value) : Expr());
        body();
        lets_.pop();
    }

    /// a - b without names of lets, unless that is huge.
    Expr difference(const Expr &a, const Expr &b) const {
        const Expr named = remove_likelies(a - b), expanded = lets_.expand(named);
        return simplify(expanded.defined() ? expanded : named);
    }

private:
    OpenLets lets_;
};

template<typename MinMax>
bool is_index(const MinMax *op) {
    return op->type == Int(32);
}

/// What is likely at most zero.
using Differences = std::set<Expr, ExprDeepLess>;

class FindTagged : public Visitor {
public:
    Differences found;

private:
    using Visitor::visit;

    template<typename MinMax>
    void choice(const MinMax *op, bool is_min) {
        const bool first = is_index(op) && contains_likely(op->a);
        if (is_index(op) && first != contains_likely(op->b)) {
            found.insert(first == is_min ? lets_.difference(op->a, op->b)
                                         : lets_.difference(op->b, op->a));
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
        if (likely_.count(lets_.difference(a, b))) {
            return is_min ? MinMax::make(likely_if_innermost(a), b)
                          : MinMax::make(a, likely_if_innermost(b));
        }
        if (likely_.count(lets_.difference(b, a))) {
            return is_min ? MinMax::make(a, likely_if_innermost(b))
                          : MinMax::make(likely_if_innermost(a), b);
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

Stmt tag_alike(const Stmt &s) {
    FindTagged tagged;
    tagged(s);
    return tagged.found.empty() ? s : Tagger(tagged.found).mutate(s);
}

}  // namespace calotype::internal
