// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/thread_shape.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class ShapeFinder : public Visitor {
public:
    explicit ShapeFinder(const InnerRanges &outside) : ranges_(outside) {
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
        const InnerRanges::Binding bind(ranges_, op);
        (*this)(op->body);
    }

    void visit(const For *op) override {
        const Interval extent = ranges_.of(op->extent);
        const InnerRanges::Binding bind(ranges_, op);
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

    InnerRanges ranges_;
    int loops_ = 0;  ///< thread loops met
    int depth_ = 0;  ///< thread loops inside of each other, below this place
};

}  // namespace

ThreadShape find_thread_shape(const Stmt &body, const InnerRanges &outside) {
    ShapeFinder finder(outside);
    finder(body);
    for (Expr &size : finder.shape.size) {
        size = size.defined() ? size : Expr(1);
    }
    return std::move(finder.shape);
}

}  // namespace calotype::internal
