// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_constant_interval.h"

#include <ostream>

#include "support/error.h"

namespace calotype {
namespace Internal {

using internal::ConstRange;

ConstantInterval::operator ConstRange() const {
    ConstRange r;
    if (min_defined) {
        r.min = min;
    }
    if (max_defined) {
        r.max = max;
    }
    return r;
}

bool ConstantInterval::contains(uint64_t x) const {
    return x <= uint64_t(INT64_MAX) ? contains(int64_t(x)) : !max_defined;
}

ConstantInterval ConstantInterval::make_union(const ConstantInterval &a,
                                              const ConstantInterval &b) {
    return internal::union_of(ConstRange(a), ConstRange(b));
}

ConstantInterval ConstantInterval::make_intersection(const ConstantInterval &a,
                                                     const ConstantInterval &b) {
    const ConstRange r = internal::intersection(ConstRange(a), ConstRange(b));
    internal_assert(!r.is_empty()) << "no integer is in both [" << a.min << ", " << a.max
                                   << "] and [" << b.min << ", " << b.max << "]";
    return r;
}

void ConstantInterval::cast_to(const Type &t) {
    const ConstantInterval all = bounds_of_type(t);
    if (!all.contains(*this)) {
        *this = all;
    }
}

ConstantInterval ConstantInterval::operator-() const {
    return 0 - *this;
}

bool ConstantInterval::operator==(const ConstantInterval &other) const {
    return ConstRange(*this) == ConstRange(other);
}

#define CALOTYPE_RANGE_OPERATION(name, function)                                                   \
    ConstantInterval name(const ConstantInterval &a, const ConstantInterval &b) {                  \
        return function(ConstRange(a), ConstRange(b));                                             \
    }
CALOTYPE_RANGE_OPERATION(operator+, internal::operator+)
CALOTYPE_RANGE_OPERATION(operator-, internal::operator-)
CALOTYPE_RANGE_OPERATION(operator*, internal::operator*)
CALOTYPE_RANGE_OPERATION(operator/, internal::operator/)
CALOTYPE_RANGE_OPERATION(operator%, internal::operator%)
CALOTYPE_RANGE_OPERATION(min, internal::min)
CALOTYPE_RANGE_OPERATION(max, internal::max)
#undef CALOTYPE_RANGE_OPERATION

bool operator<(const ConstantInterval &a, const ConstantInterval &b) {
    return a.max_defined && b.min_defined && a.max < b.min;
}
bool operator<=(const ConstantInterval &a, const ConstantInterval &b) {
    return a.max_defined && b.min_defined && a.max <= b.min;
}
bool operator>(const ConstantInterval &a, const ConstantInterval &b) {
    return b < a;
}
bool operator>=(const ConstantInterval &a, const ConstantInterval &b) {
    return b <= a;
}

ConstantInterval abs(const ConstantInterval &i) {
    return internal::abs(ConstRange(i));
}

ConstantInterval cast(Type t, const ConstantInterval &i) {
    ConstantInterval result = i;
    result.cast_to(t);
    return result;
}

std::ostream &operator<<(std::ostream &out, const ConstantInterval &i) {
    out << "[";
    i.min_defined ? out << i.min : out << "-inf";
    out << ", ";
    return (i.max_defined ? out << i.max : out << "inf") << "]";
}

}  // namespace Internal
}  // namespace calotype
