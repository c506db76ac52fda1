// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/inner_ranges.h"

#include <utility>

#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/expand_lets.h"

namespace calotype::internal {

namespace {

constexpr int small_value = 256;

bool is_integer(const Expr &e) {
    return e.type().is_scalar() && (e.type().is_int() || e.type().is_uint());
}

}  // namespace

void InnerRanges::bind(const std::string &name, const Expr &first, const Expr &last) {
    if (known_.contains(name)) {
        // What is known so far is about the variable of that name that is hidden from here on.
        known_.for_each(
            [&](const std::string &, const std::shared_ptr<Known> &known) { range_of(*known); });
    }
    known_.push(name, std::make_shared<Known>(Known{first, last, std::nullopt}));
}

InnerRanges::Binding::Binding(InnerRanges &ranges, const For *op)
    : ranges_(ranges), name_(op->name), is_range_(true) {
    ranges.bind(name_, op->min, op->min + op->extent - 1);
}

InnerRanges::Binding::Binding(InnerRanges &ranges, const LetStmt *op)
    : ranges_(ranges), name_(op->name), is_range_(is_integer(op->value)) {
    if (!is_range_) {
        return;
    }
    ranges.bind(name_, op->value, op->value);
    // Differences of lets may cancel.
    is_value_ = is_pure(op->value);
    if (is_value_) {
        ranges.values_.push(name_, op->value);
    }
}

InnerRanges::Binding::Binding(InnerRanges &ranges, const std::string &name, const Expr &extent)
    : ranges_(ranges), name_(name), is_range_(true) {
    ranges.bind(name, 0, extent - 1);
    // The extent is known outside.
    (*ranges.known_.find(name))->range = Interval(0, simplify(extent - 1));
}

InnerRanges::Binding::~Binding() {
    if (is_range_) {
        ranges_.known_.pop(name_);
    }
    if (is_value_) {
        ranges_.values_.pop(name_);
    }
}

Interval InnerRanges::range_of(Known &known) const {
    if (!known.range) {
        const Interval first = of(known.first);
        known.range =
            known.last.same_as(known.first) ? first : Interval(first.min, of(known.last).max);
    }
    return *known.range;
}

Interval InnerRanges::of(const Expr &e) const {
    const Expr expanded = simplify(expand_lets(e, values_, small_value));
    Scope<Interval> ranges;
    for (const std::string &name : free_variables(expanded)) {
        if (const std::shared_ptr<Known> *known = known_.find(name)) {
            ranges.push(name, range_of(**known));
        }
    }
    return simplify(bounds_of_expr(expanded, ranges));
}

}  // namespace calotype::internal
