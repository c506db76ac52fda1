// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/argument.h"

#include "ir/equality.h"

namespace calotype {

using namespace internal;

namespace {

bool same(const Expr &a, const Expr &b) {
    return a.get() == b.get() || (a.defined() && b.defined() && equal(a, b));
}

bool same(const Region &a, const Region &b) {
    bool all = a.size() == b.size();
    for (size_t i = 0; all && i < a.size(); i++) {
        all = same(a[i].min, b[i].min) && same(a[i].extent, b[i].extent);
    }
    return all;
}

}  // namespace

bool ArgumentEstimates::operator==(const ArgumentEstimates &other) const {
    return same(scalar_def, other.scalar_def) && same(scalar_min, other.scalar_min) &&
           same(scalar_max, other.scalar_max) && same(scalar_estimate, other.scalar_estimate) &&
           same(buffer_estimates, other.buffer_estimates);
}

bool Argument::operator==(const Argument &other) const {
    return name == other.name && kind == other.kind && dimensions == other.dimensions &&
           type == other.type && argument_estimates == other.argument_estimates;
}

}  // namespace calotype
