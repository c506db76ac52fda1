// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/simplify/const_range.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/fold_constants.h"

namespace calotype::internal {

namespace {

using End = std::optional<int64_t>;
using Wide = __int128;

End narrow_end(Wide x) {
    if (x < std::numeric_limits<int64_t>::min() || x > std::numeric_limits<int64_t>::max()) {
        return std::nullopt;
    }
    return int64_t(x);
}

// An end of a range, or an infinity of the given sign, for products and quotients of ends.
struct Extended {
    int infinite = 0;
    int64_t value = 0;

    int sign() const {
        return infinite ? infinite : (value > 0) - (value < 0);
    }
};

Extended lower(const ConstRange &r) {
    return r.min ? Extended{0, *r.min} : Extended{-1, 0};
}

Extended upper(const ConstRange &r) {
    return r.max ? Extended{0, *r.max} : Extended{1, 0};
}

// Zero times infinity is zero: the infinity stands for arbitrarily large finite numbers.
Extended product(const Extended &a, const Extended &b) {
    if (a.sign() == 0 || b.sign() == 0) {
        return {};
    }
    if (a.infinite || b.infinite) {
        return {a.sign() * b.sign(), 0};
    }
    const End exact = narrow_end(Wide(a.value) * b.value);
    return exact ? Extended{0, *exact} : Extended{a.sign() * b.sign(), 0};
}

bool less(const Extended &a, const Extended &b) {
    if (a.infinite || b.infinite) {
        return a.infinite < b.infinite;
    }
    return a.value < b.value;
}

ConstRange from_corners(std::initializer_list<Extended> corners) {
    const Extended lo = std::min(corners, less);
    const Extended hi = std::max(corners, less);
    ConstRange result;
    if (!lo.infinite) {
        result.min = lo.value;
    }
    if (!hi.infinite) {
        result.max = hi.value;
    }
    return result;
}

}  // namespace

int64_t euclidean_mod(int64_t a, int64_t b) {
    return mod_imp(a, b);
}

int64_t euclidean_div(int64_t a, int64_t b) {
    return div_imp(a, b);
}

// Of magnitudes, which the smallest number has too. Its own does not fit: it stays what it is.
int64_t greatest_common_divisor(int64_t a, int64_t b) {
    const auto magnitude = [](int64_t v) {
        return v < 0 ? 0 - uint64_t(v) : uint64_t(v);
    };
    return int64_t(std::gcd(magnitude(a), magnitude(b)));
}

ConstRange ConstRange::of_type(Type t) {
    if (t.is_int() && t.bits() <= 64) {
        return of(t.imin(), t.imax());
    }
    if (t.is_uint()) {
        return t.bits() >= 64 ? at_least(0) : of(0, int64_t(t.umax()));
    }
    return everything();
}

ConstRange intersection(const ConstRange &a, const ConstRange &b) {
    ConstRange r = a;
    if (b.min && (!r.min || *r.min < *b.min)) {
        r.min = b.min;
    }
    if (b.max && (!r.max || *r.max > *b.max)) {
        r.max = b.max;
    }
    return r;
}

ConstRange within(const ConstRange &r, const ConstRange &limits) {
    const ConstRange both = intersection(r, limits);
    return both.is_empty() ? r : both;
}

ConstRange union_of(const ConstRange &a, const ConstRange &b) {
    ConstRange r;
    if (a.min && b.min) {
        r.min = std::min(*a.min, *b.min);
    }
    if (a.max && b.max) {
        r.max = std::max(*a.max, *b.max);
    }
    return r;
}

ConstRange operator+(const ConstRange &a, const ConstRange &b) {
    ConstRange r;
    if (a.min && b.min) {
        r.min = narrow_end(Wide(*a.min) + *b.min);
    }
    if (a.max && b.max) {
        r.max = narrow_end(Wide(*a.max) + *b.max);
    }
    return r;
}

ConstRange operator-(const ConstRange &a, const ConstRange &b) {
    ConstRange r;
    if (a.min && b.max) {
        r.min = narrow_end(Wide(*a.min) - *b.max);
    }
    if (a.max && b.min) {
        r.max = narrow_end(Wide(*a.max) - *b.min);
    }
    return r;
}

ConstRange operator*(const ConstRange &a, const ConstRange &b) {
    return from_corners({product(lower(a), lower(b)), product(lower(a), upper(b)),
                         product(upper(a), lower(b)), product(upper(a), upper(b))});
}

ConstRange operator/(const ConstRange &a, const ConstRange &b) {
    // Dividing by anything gives at most |a|, and zero when dividing by zero.
    if (!b.min || *b.min <= 0) {
        ConstRange r;
        if (a.min && a.max && *a.min != std::numeric_limits<int64_t>::min()) {
            const int64_t most = std::max(std::abs(*a.min), std::abs(*a.max));
            r = ConstRange::of(-most, most);
        }
        if (b.is_single() && *b.min < 0 && *b.min != -1 && r.is_bounded()) {
            const int64_t x = euclidean_div(*a.min, *b.min), y = euclidean_div(*a.max, *b.min);
            r = ConstRange::of(std::min(x, y), std::max(x, y));
        }
        if (b.min && a.min && *a.min >= 0 && *b.min >= 0) {
            r = intersection(r, ConstRange::at_least(0));
        }
        return r;
    }
    // A positive divisor: monotonic in a; the divisor's ends decide by the sign of a's end.
    ConstRange r;
    if (a.min) {
        r.min = *a.min < 0 ? euclidean_div(*a.min, *b.min)
                           : (b.max ? euclidean_div(*a.min, *b.max) : 0);
    }
    if (a.max) {
        r.max = *a.max >= 0 ? euclidean_div(*a.max, *b.min)
                            : (b.max ? euclidean_div(*a.max, *b.max) : -1);
    }
    return r;
}

ConstRange operator%(const ConstRange &a, const ConstRange &b) {
    ConstRange r = ConstRange::at_least(0);
    if (b.is_bounded() && *b.min != std::numeric_limits<int64_t>::min()) {
        const int64_t most = std::max(std::abs(*b.min), std::abs(*b.max));
        r.max = std::max<int64_t>(most - 1, 0);
    }
    if (a.min && *a.min >= 0) {
        if (a.max) {
            r = intersection(r, ConstRange::at_most(*a.max));
        }
        if (a.max && b.min && *a.max < *b.min) {
            r = a;
        }
    }
    if (a.is_bounded() && b.is_single() && *b.min > 0 &&
        euclidean_div(*a.min, *b.min) == euclidean_div(*a.max, *b.min)) {
        r = ConstRange::of(euclidean_mod(*a.min, *b.min), euclidean_mod(*a.max, *b.min));
    }
    return r;
}

ConstRange min(const ConstRange &a, const ConstRange &b) {
    ConstRange r;
    if (a.min && b.min) {
        r.min = std::min(*a.min, *b.min);
    }
    if (a.max || b.max) {
        r.max = a.max && b.max ? std::min(*a.max, *b.max) : (a.max ? *a.max : *b.max);
    }
    return r;
}

ConstRange max(const ConstRange &a, const ConstRange &b) {
    ConstRange r;
    if (a.max && b.max) {
        r.max = std::max(*a.max, *b.max);
    }
    if (a.min || b.min) {
        r.min = a.min && b.min ? std::max(*a.min, *b.min) : (a.min ? *a.min : *b.min);
    }
    return r;
}

bool always_less(const ConstRange &a, const ConstRange &b) {
    return a.max && b.min && *a.max < *b.min;
}

bool always_less_equal(const ConstRange &a, const ConstRange &b) {
    return a.max && b.min && *a.max <= *b.min;
}

ConstRange fit_type(const ConstRange &r, Type t) {
    const ConstRange whole = ConstRange::of_type(t);
    if (!t.can_overflow()) {
        const ConstRange fitted = intersection(r, whole);
        return fitted.is_empty() ? whole : fitted;
    }
    // Unsigned 64 bits: without an upper end it cannot be told whether the result wrapped.
    if (t.bits() >= 64 && !r.max) {
        return whole;
    }
    return whole.contains(r) ? r : whole;
}

namespace {

Alignment normalised(Wide modulus, Wide remainder) {
    if (modulus < 0) {
        modulus = -modulus;
    }
    if (!narrow_end(modulus)) {
        return {};
    }
    if (modulus == 0) {
        return narrow_end(remainder) ? Alignment{0, int64_t(remainder)} : Alignment{};
    }
    Wide r = remainder % modulus;
    if (r < 0) {
        r += modulus;
    }
    return {int64_t(modulus), int64_t(r)};
}

}  // namespace

Alignment operator+(const Alignment &a, const Alignment &b) {
    return normalised(greatest_common_divisor(a.modulus, b.modulus),
                      Wide(a.remainder) + b.remainder);
}

Alignment operator-(const Alignment &a, const Alignment &b) {
    return normalised(greatest_common_divisor(a.modulus, b.modulus),
                      Wide(a.remainder) - b.remainder);
}

// (m a + r)(n b + s) = m n ab + m s a + n r b + r s
Alignment operator*(const Alignment &a, const Alignment &b) {
    const End ms = narrow_end(Wide(a.modulus) * b.remainder);
    const End nr = narrow_end(Wide(b.modulus) * a.remainder);
    const End mn = narrow_end(Wide(a.modulus) * b.modulus);
    if (!ms || !nr || !mn) {
        return {};
    }
    return normalised(greatest_common_divisor(greatest_common_divisor(*ms, *nr), *mn),
                      Wide(a.remainder) * b.remainder);
}

Alignment union_of(const Alignment &a, const Alignment &b) {
    const End difference = narrow_end(Wide(a.remainder) - b.remainder);
    if (!difference) {
        return {};
    }
    return normalised(
        greatest_common_divisor(greatest_common_divisor(a.modulus, b.modulus), *difference),
        a.remainder);
}

Alignment intersection(const Alignment &a, const Alignment &b) {
    if (b.modulus == 0 || (a.modulus != 0 && b.modulus % a.modulus == 0)) {
        return b;
    }
    if (a.modulus == 0 || a.modulus % b.modulus == 0) {
        return a;
    }
    // The combined modulus is the least common multiple; search its remainder where that is small.
    const Wide common = Wide(a.modulus / greatest_common_divisor(a.modulus, b.modulus)) * b.modulus;
    if (common > 4096) {
        return a.modulus > b.modulus ? a : b;
    }
    for (int64_t r = a.remainder; r < int64_t(common); r += a.modulus) {
        if (r % b.modulus == b.remainder) {
            return {int64_t(common), r};
        }
    }
    return b;
}

}  // namespace calotype::internal
