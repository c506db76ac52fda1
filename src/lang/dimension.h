// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dimension: one dimension of a buffer parameter, to be asked about and to be constrained.
#pragma once

#include "pipeline/parameter.h"

namespace calotype {

namespace internal {

/// Coordinates min .. max; neighbours are `stride` elements apart. The getters give int32
/// expressions that mean the actual shape; constraints are checked when the pipeline runs and used
/// in compiling it. Setters can be chained.
///
///     input.dim(0).set_bounds(0, 640).set_stride(3);
class Dimension {
public:
    Dimension(const Parameter &parameter, int d);

    Expr min() const;
    Expr extent() const;
    Expr max() const;
    Expr stride() const;
    Expr min_estimate() const;
    Expr extent_estimate() const;

    /// An undefined Expr takes the constraint away.
    Dimension set_min(const Expr &min);
    Dimension set_extent(const Expr &extent);
    /// The stride of dimension 0 is 1 unless set: set_stride(Expr()) allows any.
    Dimension set_stride(const Expr &stride);
    Dimension set_bounds(const Expr &min, const Expr &extent);
    /// What is typical, for tuning.
    Dimension set_estimate(const Expr &min, const Expr &extent);
    Dimension set_min_estimate(const Expr &min);
    Dimension set_extent_estimate(const Expr &extent);
    Dimension set_bounds_estimate(const Expr &min, const Expr &extent) {
        return set_estimate(min, extent);
    }

    /// Another dimension of the same buffer.
    Dimension dim(int i) const {
        return Dimension(parameter_, i);
    }

private:
    Parameter parameter_;
    int d_;
};

}  // namespace internal
}  // namespace calotype
