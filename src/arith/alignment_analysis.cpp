// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/alignment_analysis.h"

#include <unordered_map>

#include "arith/constant_interval.h"
#include "arith/simplify/const_range.h"
#include "ir/constants.h"
#include "ir/field_walk.h"

namespace calotype::internal {

namespace {

const Alignment unknown;

/// The alignment that all of r, r + d, r + 2d, ... and what else is congruent modulo m share.
Alignment coarsened(const Alignment &a, int64_t d) {
    const int64_t m = greatest_common_divisor(a.modulus, d);
    return m == 0 ? a : m < 0 ? unknown : Alignment{m, euclidean_mod(a.remainder, m)};
}

/// What remains of a fact about the exact result where the type wraps.
Alignment wrapped(const Alignment &a, Type t) {
    const bool is_exact = t.is_int() && !t.can_overflow();
    if (is_exact || (a.modulus == 0 && t.can_represent(a.remainder))) {
        return a;
    }
    return t.bits() > 62 ? coarsened(a, int64_t(1) << 62) : coarsened(a, int64_t(1) << t.bits());
}

class AlignmentFinder {
public:
    explicit AlignmentFinder(const Scope<Alignment> &vars) {
        vars_.set_containing_scope(&vars);
    }

    Alignment find(const Expr &e) {
        if (!e.type().is_int_or_uint()) {
            return unknown;
        }
        if (auto it = memo_.find(e.get()); it != memo_.end()) {
            return it->second;
        }
        const Alignment exact = dispatch(e.get(), [this](const auto *op) { return visit(op); });
        const Alignment result = wrapped(exact, e.type());
        memo_.emplace(e.get(), result);
        return result;
    }

private:
    template<typename T>
    Alignment visit(const T *) {
        return unknown;
    }

    Alignment visit(const IntImm *op) {
        return {0, op->value};
    }
    Alignment visit(const UIntImm *op) {
        return op->value <= uint64_t(INT64_MAX) ? Alignment{0, int64_t(op->value)} : unknown;
    }
    Alignment visit(const Variable *op) {
        const Alignment *a = vars_.find(op->name);
        return a ? *a : unknown;
    }
    Alignment visit(const Broadcast *op) {
        return find(op->value);
    }
    Alignment visit(const Ramp *op) {
        const Alignment base = find(op->base), stride = find(op->stride);
        // All lanes: the base, plus any number of strides.
        const int64_t step = greatest_common_divisor(stride.modulus, stride.remainder);
        return step == INT64_MIN || step < 0 ? unknown : coarsened(base, step);
    }
    Alignment visit(const Add *op) {
        return find(op->a) + find(op->b);
    }
    Alignment visit(const Sub *op) {
        return find(op->a) - find(op->b);
    }
    Alignment visit(const Mul *op) {
        return find(op->a) * find(op->b);
    }
    Alignment visit(const Min *op) {
        return make_union(find(op->a), find(op->b));
    }
    Alignment visit(const Max *op) {
        return make_union(find(op->a), find(op->b));
    }
    Alignment visit(const Select *op) {
        return make_union(find(op->true_value), find(op->false_value));
    }

    Alignment visit(const Div *op) {
        const Alignment a = find(op->a);
        const auto d = as_const_int(op->b);
        if (!d || *d <= 0) {
            return unknown;
        }
        if (a.modulus == 0) {
            return {0, euclidean_div(a.remainder, *d)};
        }
        // Multiples of m, plus r: where d divides m, the quotient is that of the parts.
        return a.modulus % *d == 0 ? Alignment{a.modulus / *d, euclidean_div(a.remainder, *d)}
                                   : unknown;
    }

    Alignment visit(const Mod *op) {
        const Alignment a = find(op->a);
        const auto d = as_const_int(op->b);
        if (!d || *d <= 0) {
            return unknown;
        }
        // a % d is a minus a multiple of d.
        const Alignment result =
            a.modulus == 0 ? Alignment{0, euclidean_mod(a.remainder, *d)} : coarsened(a, *d);
        return result.modulus == *d ? Alignment{0, result.remainder} : result;
    }

    Alignment visit(const Cast *op) {
        const Type from = op->value.type();
        return from.is_int_or_uint() && !op->type.is_bool() ? find(op->value) : unknown;
    }

    Alignment visit(const Let *op) {
        const Alignment value = find(op->value);
        std::unordered_map<const ExprNode *, Alignment> outside;
        std::swap(outside, memo_);
        const ScopedBinding<Alignment> bind(vars_, op->name, value);
        const Alignment body = find(op->body);
        std::swap(outside, memo_);
        return body;
    }

    Alignment visit(const Shuffle *op) {
        Alignment result = find(op->vectors[0]);
        for (const Expr &v : op->vectors) {
            result = make_union(result, find(v));
        }
        return result;
    }

    Alignment visit(const VectorReduce *op) {
        return op->op == VectorReduce::Min || op->op == VectorReduce::Max ? find(op->value)
                                                                          : unknown;
    }

    Alignment visit(const Call *op) {
        switch (op->intrinsic) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
            return find(op->args[0]);
        case Intrinsic::return_second:
        case Intrinsic::require:
            return find(op->args[1]);
        case Intrinsic::if_then_else:
            return op->args.size() > 2 ? make_union(find(op->args[1]), find(op->args[2]))
                                       : find(op->args[1]);
        case Intrinsic::shift_left: {
            const auto bits = as_const_int(op->args[1]);
            const bool known = bits && *bits >= 0 && *bits < op->type.bits() && *bits < 62;
            return known ? find(op->args[0]) * Alignment{0, int64_t(1) << *bits} : unknown;
        }
        default:
            return unknown;
        }
    }

    Scope<Alignment> vars_;
    std::unordered_map<const ExprNode *, Alignment> memo_;
};

}  // namespace

Alignment alignment_of(const Expr &e, const Scope<Alignment> &vars) {
    return AlignmentFinder(vars).find(e);
}

Alignment make_union(const Alignment &a, const Alignment &b) {
    return union_of(a, b);
}

Alignment make_intersection(const Alignment &a, const Alignment &b) {
    return intersection(a, b);
}

bool reduce_modulo(const Expr &e, int64_t modulus, int64_t *remainder,
                   const Scope<Alignment> &vars) {
    const Alignment a = alignment_of(e, vars);
    const bool known = modulus > 0 && (a.modulus == 0 || a.modulus % modulus == 0);
    if (known) {
        *remainder = euclidean_mod(a.remainder, modulus);
    }
    return known;
}

}  // namespace calotype::internal
