// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/rebase_loops.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

/// What LLVM unrolls: iterations, and operations in all of them (of which two or three become an instruction). What it
/// does not unroll has no places that are constants.
constexpr int64_t most_iterations = 16, most_operations = 480;
/// Nodes of a min, which stands in each index afterwards.
constexpr int most_nodes = 8;

/// The operations of a statement or expression, as often as they run; more than a limit is the limit and one.
class Operations : public Visitor {
public:
    explicit Operations(int64_t limit) : limit_(limit) {
    }

    int64_t count = 0;

    void operator()(const Expr &e) override {
        if (count <= limit_ && e.defined() && !is_trivial(e)) {
            count = std::min(count + times_, limit_ + 1);
            Visitor::operator()(e);
        }
    }
    using Visitor::operator();

private:
    using Visitor::visit;

    void visit(const For *op) override {
        const int64_t around = times_;
        times_ = std::min(limit_ + 1, times_ * as_const_int(op->extent).value_or(limit_ + 1));
        (*this)(op->body);
        times_ = around;
    }

    const int64_t limit_;
    int64_t times_ = 1;
};

class RebaseLoops : public StmtMutator {
    using StmtMutator::visit;

    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        if (op->for_type != ForType::Serial || is_const(op->min) || !is_short(op) ||
            !is_small(op->min)) {
            return body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
        }
        const Expr x = Variable::make(op->min.type(), op->name);
        return with(op, &For::min, make_zero(op->min.type()), &For::body,
                    substitute(op->name, x + op->min, body));
    }

    static bool is_small(const Expr &e) {
        Operations nodes(most_nodes);
        nodes(e);
        return nodes.count <= most_nodes && is_simple(e);
    }

    static bool is_short(const For *op) {
        const auto extent = as_const_int(op->extent);
        if (!extent || *extent > most_iterations) {
            return false;
        }
        Operations operations(most_operations);
        operations(Stmt(op));
        return operations.count <= most_operations;
    }
};

}  // namespace

Stmt rebase_loops(const Stmt &s, LowerContext &) {
    return RebaseLoops().mutate(s);
}

}  // namespace calotype::internal
