// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/rebase_loops.h"

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

/// Iterations that LLVM is asked to unroll, and nodes of a min that stands in each index afterwards.
constexpr int64_t most_iterations = 16;
constexpr int most_nodes = 8;

class CountNodes : public Visitor {
public:
    int nodes = 0;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        nodes++;
        Visitor::operator()(e);
    }
};

class RebaseLoops : public StmtMutator {
    using StmtMutator::visit;

    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        const auto extent = as_const_int(op->extent);
        const bool is_short =
            op->for_type == ForType::Serial && extent && *extent <= most_iterations;
        if (!is_short || is_const(op->min) || !is_small(op->min)) {
            return with(op, &For::body, body);
        }
        const Expr x = Variable::make(op->min.type(), op->name);
        return with(op, &For::min, make_zero(op->min.type()), &For::body,
                    substitute(op->name, x + op->min, body));
    }

    static bool is_small(const Expr &e) {
        CountNodes count;
        count(e);
        return count.nodes <= most_nodes && is_simple(e);
    }
};

}  // namespace

Stmt rebase_loops(const Stmt &s, LowerContext &) {
    return RebaseLoops().mutate(s);
}

}  // namespace calotype::internal
