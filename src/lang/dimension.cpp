// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/dimension.h"

#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "pipeline/check_parameters.h"
#include "support/error.h"

namespace calotype::internal {

Dimension::Dimension(const Parameter &parameter, int d) : parameter_(parameter), d_(d) {
    user_assert(parameter.defined()) << "dimension " << d << " of an undefined buffer";
    user_assert(parameter.is_buffer())
        << "dimension " << d << " of " << parameter.name() << ", which is a scalar";
    user_assert(d >= 0 && d < parameter.dimensions())
        << "buffer " << parameter.name() << " has no dimension " << d << ", it has "
        << parameter.dimensions();
}

Expr Dimension::min() const {
    return parameter_.min_expr(d_);
}

Expr Dimension::extent() const {
    return parameter_.extent_expr(d_);
}

Expr Dimension::max() const {
    return min() + extent() - 1;
}

Expr Dimension::stride() const {
    return parameter_.stride_expr(d_);
}

Expr Dimension::min_estimate() const {
    return parameter_.min_constraint_estimate(d_);
}

Expr Dimension::extent_estimate() const {
    return parameter_.extent_constraint_estimate(d_);
}

namespace {

// As an int32 of parameters alone.
Expr checked_constraint(const Parameter &p, int d, const char *what, const Expr &e) {
    if (!e.defined()) {
        return e;
    }
    check_int32_of_parameters(e, std::string(what) + " of dimension " + std::to_string(d) +
                                     " of buffer " + p.name());
    return cast(Int(32), e);
}

}  // namespace

// What is the same in every run is the estimate, too.
Dimension Dimension::set_min(const Expr &min) {
    parameter_.set_min_constraint(d_, checked_constraint(parameter_, d_, "min", min));
    return is_const(min) ? set_min_estimate(min) : *this;
}

Dimension Dimension::set_extent(const Expr &extent) {
    parameter_.set_extent_constraint(d_, checked_constraint(parameter_, d_, "extent", extent));
    return is_const(extent) ? set_extent_estimate(extent) : *this;
}

Dimension Dimension::set_stride(const Expr &stride) {
    parameter_.set_stride_constraint(d_, checked_constraint(parameter_, d_, "stride", stride));
    return *this;
}

Dimension Dimension::set_bounds(const Expr &min, const Expr &extent) {
    return set_min(min).set_extent(extent);
}

Dimension Dimension::set_min_estimate(const Expr &min) {
    parameter_.set_min_constraint_estimate(d_, checked_constraint(parameter_, d_, "min", min));
    return *this;
}

Dimension Dimension::set_extent_estimate(const Expr &extent) {
    parameter_.set_extent_constraint_estimate(d_,
                                              checked_constraint(parameter_, d_, "extent", extent));
    return *this;
}

Dimension Dimension::set_estimate(const Expr &min, const Expr &extent) {
    return set_min_estimate(min).set_extent_estimate(extent);
}

}  // namespace calotype::internal
