// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/unroll_loops.h"

#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

using internal::Direction;
using internal::find_constant_bound;
using internal::find_constant_bounds;
using internal::Interval;
using internal::make_interval;
using internal::Scope;

namespace {

/// What a constant bound may cost at most.
constexpr int64_t max_guarded_copies = 1 << 16;

class Unroller : public Mutator {
private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Unrolled) {
            return Mutator::visit(op);
        }
        const Stmt body = mutate(op->body);
        const Expr extent = simplify(op->extent);
        const std::optional<int64_t> constant = as_const_int(extent);
        const int64_t copies = constant ? *constant : bound_of(extent, op->name);
        std::vector<Stmt> result;
        for (int64_t i = 0; i < copies; i++) {
            const Expr offset = make_const(op->min.type(), i);
            Stmt copy = substitute(op->name, i == 0 ? op->min : simplify(op->min + offset), body);
            if (!constant) {
                copy = IfThenElse::make(offset < extent, copy);
            }
            result.push_back(copy);
        }
        return Block::make(result);
    }

    /// With the lets around us in it: in min(first + 3, last) - first the two belong together.
    Expr expanded(Expr e) const {
        for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) {
            if (uses_var(e, (*let)->name) && is_pure((*let)->value)) {
                e = simplify(substitute((*let)->name, (*let)->value, e));
            }
        }
        return e;
    }

    /// A constant that the extent never exceeds.
    int64_t bound_of(const Expr &extent, const std::string &loop) const {
        Scope<Interval> ranges;
        for (const LetStmt *let : lets_) {
            const Type t = let->value.type();
            if (t.is_int() && t.is_scalar()) {
                ranges.push(let->name, make_interval(find_constant_bounds(let->value, ranges), t));
            }
        }
        const Expr bound = find_constant_bound(expanded(extent), Direction::Upper, ranges);
        const std::optional<int64_t> copies = bound.defined() ? as_const_int(bound) : std::nullopt;
        user_assert(copies && *copies <= max_guarded_copies)
            << "loop " << loop << " cannot be unrolled: its extent " << extent
            << " is not constant and has no " << (copies ? "small " : "") << "constant bound";
        return *copies;
    }

    Stmt visit(const LetStmt *op) override {
        lets_.push_back(op);
        const Stmt result = Mutator::visit(op);
        lets_.pop_back();
        return result;
    }

    std::vector<const LetStmt *> lets_;  ///< around us, outermost first
};

}  // namespace

Stmt unroll_loops(const Stmt &s, LowerContext &) {
    return Unroller().mutate(s);
}

}  // namespace calotype
