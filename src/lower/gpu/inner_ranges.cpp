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

InnerRanges::Binding::Binding(InnerRanges &ranges, const For *op)
    : ranges_(ranges), name_(op->name), is_range_(true) {
    const Interval first = ranges.of(op->min), last = ranges.of(op->min + op->extent - 1);
    ranges.ranges_.push(name_, Interval(first.min, last.max));
}

InnerRanges::Binding::Binding(InnerRanges &ranges, const LetStmt *op)
    : ranges_(ranges), name_(op->name), is_range_(is_integer(op->value)) {
    if (!is_range_) {
        return;
    }
    ranges.ranges_.push(name_, ranges.of(op->value));
    // Differences of lets may cancel.
    is_value_ = is_pure(op->value);
    if (is_value_) {
        ranges.values_.push(name_, op->value);
    }
}

InnerRanges::Binding::Binding(InnerRanges &ranges, const std::string &name, const Expr &extent)
    : ranges_(ranges), name_(name), is_range_(true) {
    ranges.ranges_.push(name_, Interval(0, simplify(extent - 1)));
}

InnerRanges::Binding::~Binding() {
    if (is_range_) {
        ranges_.ranges_.pop(name_);
    }
    if (is_value_) {
        ranges_.values_.pop(name_);
    }
}

Interval InnerRanges::of(const Expr &e) const {
    return simplify(bounds_of_expr(simplify(expand_lets(e, values_, small_value)), ranges_));
}

}  // namespace calotype::internal
