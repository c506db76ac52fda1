// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loop_reads.h"

#include <map>
#include <utility>
#include <vector>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "lower/effects.h"

namespace calotype::internal {

namespace {

/// What a loop's body does besides computing.
class Effects : public GraphVisitor {
public:
    Effects(const Stmt &body, std::set<std::string> &written) : written_(written) {
        (*this)(body);
    }
    bool are_stores_alone() const {
        return are_stores_alone_;
    }
    bool have_function() const {
        return has_function_;
    }

private:
    using GraphVisitor::visit;

    void visit(const Store *op) override {
        written_.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Allocate *op) override {
        written_.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        are_stores_alone_ = are_stores_alone_ && op->is_pure();
        has_function_ = has_function_ || is_long_function(op);
        GraphVisitor::visit(op);
    }
    void visit(const AssertStmt *) override {  // what follows may count on it
        are_stores_alone_ = false;
    }
    void visit(const Acquire *) override {
        are_stores_alone_ = false;
    }
    void visit(const Fork *) override {
        are_stores_alone_ = false;
    }

    std::set<std::string> &written_;
    bool are_stores_alone_ = true;
    bool has_function_ = false;
};

/// Where a value comes from.
struct Origin {
    bool is_fixed = true;  ///< the same in all iterations
    bool reads = false;    ///< from memory
};
using Origins = std::map<std::string, Origin>;

class FindOrigin : public GraphVisitor {
public:
    FindOrigin(const LoopReads &reads, const Origins &names) : reads_(reads), names_(names) {
    }
    Origin ask(const Expr &e) {
        (*this)(e);
        return origin_;
    }

private:
    using GraphVisitor::visit;

    void visit(const Variable *op) override {
        const auto name = names_.find(op->name);
        if (name != names_.end()) {
            origin_.is_fixed = origin_.is_fixed && name->second.is_fixed;
            origin_.reads = origin_.reads || name->second.reads;
        }
    }
    void visit(const Load *op) override {
        origin_.is_fixed = origin_.is_fixed && reads_.is_unwritten(op->name);
        origin_.reads = true;
        GraphVisitor::visit(op);
    }

    const LoopReads &reads_;
    const Origins &names_;
    Origin origin_;
};

/// Looks for a function of such reads where each iteration comes by.
class FindFunction : public Visitor {
public:
    FindFunction(const LoopReads &reads, const std::set<std::string> &bound) : reads_(reads) {
        for (const std::string &name : bound) {
            names_[name] = {false, false};
        }
    }
    bool ask(const Stmt &body) {
        (*this)(body);
        return found_;
    }

private:
    using Visitor::visit;

    void operator()(const Expr &e) override {
        found_ = found_ || contains<Call>(e, [&](const Call *op) {
                     if (!is_long_function(op)) {
                         return false;
                     }
                     const Origin origin = FindOrigin(reads_, names_).ask(op);
                     return origin.is_fixed && origin.reads;
                 });
    }
    using Visitor::operator();

    void visit(const LetStmt *op) override {
        (*this)(op->value);
        const Origin around =
            std::exchange(names_[op->name], FindOrigin(reads_, names_).ask(op->value));
        (*this)(op->body);
        names_[op->name] = around;
    }
    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        if (is_positive_const(op->extent) && !is_gpu(op->for_type)) {
            (*this)(op->body);
        }
    }

    const LoopReads &reads_;
    Origins names_;  ///< of those that the loop gives a meaning
    bool found_ = false;
};

/// A condition with what it reads taken out, of which bounds inference knows nothing.
class WithoutReads : public GraphMutator {
    using GraphMutator::visit;
    Expr visit(const Load *op) override {
        return make_zero(op->type);
    }
};

}  // namespace

LoopReads::LoopReads(const For *loop) {
    const Effects effects(loop->body, written_);
    stores_are_all_ = effects.are_stores_alone();
    if (!stores_are_all_ || !effects.have_function() || is_gpu(loop->for_type)) {
        return;
    }
    const std::vector<std::string> names = bound_names(Stmt(loop));
    bound_ = {names.begin(), names.end()};
    feed_functions_ = FindFunction(*this, bound_).ask(loop->body);
}

bool LoopReads::are_of_inputs(const Expr &e) const {
    return !contains<Load>(e, [&](const Load *op) {
        return !op->symbol.defined() || !is_trivially_true(op->predicate) ||
               !op->type.is_scalar() || !is_unwritten(op->name);
    });
}

bool says_more(const Expr &condition, const std::function<bool(const std::string &)> &is_own) {
    return any_free_variable(WithoutReads().mutate(condition),
                             [&](const std::string &name) { return !is_own(name); });
}

}  // namespace calotype::internal
