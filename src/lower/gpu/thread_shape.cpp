// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/thread_shape.h"

#include <algorithm>

#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class ShapeFinder : public Visitor {
public:
    explicit ShapeFinder(const Scope<Interval> &outside) {
        ranges_.set_containing_scope(&outside);
    }
    using Visitor::operator();
    void operator()(const Stmt &s) override {
        if (!s.defined()) {
            return;
        }
        const int before = loops_;
        Visitor::operator()(s);
        if (loops_ > before) {
            shape.with_threads.insert(s.get());
        }
    }
    void operator()(const Expr &) override {
    }
    ThreadShape shape;

private:
    using Visitor::visit;

    void visit(const LetStmt *op) override {
        const Type t = op->value.type();
        const bool counts = t.is_scalar() && (t.is_int() || t.is_uint());
        ScopedBinding<Interval> bind(counts, ranges_, op->name,
                                     counts ? bounds_of_expr(op->value, ranges_) : Interval());
        (*this)(op->body);
    }

    void visit(const For *op) override {
        const Interval first = bounds_of_expr(op->min, ranges_);
        const Interval last = bounds_of_expr(op->min + op->extent - 1, ranges_);
        const Interval extent = bounds_of_expr(op->extent, ranges_);
        ScopedBinding<Interval> bind(ranges_, op->name, Interval(first.min, last.max));
        if (!is_thread_loop(op)) {
            (*this)(op->body);
            return;
        }
        loops_++;
        const int around = std::exchange(depth_, 0);
        (*this)(op->body);
        const int dim = depth_;
        depth_ = std::max(around, dim + 1);
        user_assert(dim < max_gpu_dims)
            << "thread loop " << op->name << " has three thread loops inside: a block of threads "
            << "has at most three dimensions";
        user_assert(extent.has_upper_bound())
            << "the extent of thread loop " << op->name << ", " << op->extent
            << ", has no bound outside of the kernel";
        shape.dim[op] = dim;
        shape.dims = std::max(shape.dims, dim + 1);
        Expr &size = shape.size[size_t(dim)];
        size = simplify(size.defined() ? max(size, extent.max) : extent.max);
    }

    Scope<Interval> ranges_;
    int loops_ = 0;  ///< thread loops met
    int depth_ = 0;  ///< thread loops inside of each other, below this place
};

}  // namespace

ThreadShape find_thread_shape(const Stmt &body, const Scope<Interval> &outside) {
    ShapeFinder finder(outside);
    finder(body);
    for (Expr &size : finder.shape.size) {
        size = size.defined() ? size : Expr(1);
    }
    return std::move(finder.shape);
}

}  // namespace calotype::internal
