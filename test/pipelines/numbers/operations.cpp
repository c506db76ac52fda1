// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "targets.h"

namespace calotype::test {

using namespace internal;

namespace {

Wide min_of(const Type &t) {
    return t.is_int() ? -(Wide(1) << (t.bits() - 1)) : 0;
}

Wide max_of(const Type &t) {
    return (Wide(1) << (t.bits() - (t.is_int() ? 1 : 0))) - 1;
}

template<typename T>
Wide load(const Buffer<void> &b, int i) {
    return Wide(b.as<T>()(i));
}

/// Element i of a buffer of any integer type.
Wide load_any(const Buffer<void> &b, int i) {
    const Type t = b.type();
    if (t.is_bool()) {
        return load<bool>(b, i);
    }
    switch (t.bits()) {
    case 8:
        return t.is_int() ? load<int8_t>(b, i) : load<uint8_t>(b, i);
    case 16:
        return t.is_int() ? load<int16_t>(b, i) : load<uint16_t>(b, i);
    case 32:
        return t.is_int() ? load<int32_t>(b, i) : load<uint32_t>(b, i);
    default:
        return t.is_int() ? load<int64_t>(b, i) : load<uint64_t>(b, i);
    }
}

/// All pairs as two buffers.
Buffer<void> operands(const Type &t, const std::vector<Wide> &values, size_t count, bool outer,
                      size_t other) {
    Buffer<void> buffer(t, int(count));
    for (size_t i = 0; i < count; i++) {
        const uint64_t v = uint64_t(values[outer ? i / other : i % values.size()]);
        std::memcpy(static_cast<char *>(buffer.data()) + i * size_t(t.bytes()), &v,
                    size_t(t.bytes()));
    }
    return buffer;
}

std::string text(Wide v) {
    return v > std::numeric_limits<int64_t>::max() ? std::to_string(uint64_t(v))
                                                   : std::to_string(int64_t(v));
}

struct Expected {
    Wide value;
    bool defined;
};

/// What the results must be, for all pairs.
std::vector<Expected> expected_results(const Operation &op, const Type &t,
                                       const std::vector<Wide> &a, const std::vector<Wide> &b) {
    std::vector<Expected> all;
    all.reserve(a.size() * b.size());
    for (Wide va : a) {
        for (Wide vb : b) {
            const Wide exact = op.meaning(va, vb);
            const Wide value = op.saturates ? saturated(t, exact) : wrapped(t, exact);
            const bool undefined = t.is_int() && t.bits() >= 32 && !op.saturates && value != exact;
            all.push_back({value, !undefined});
        }
    }
    return all;
}

void compare(const Buffer<void> &result, const Operation &op, const std::vector<Expected> &expected,
             const std::vector<Wide> &a, const std::vector<Wide> &b, const std::string &where) {
    int wrong = 0;
    for (size_t i = 0; i < expected.size() && wrong < 3; i++) {
        if (!expected[i].defined) {
            continue;
        }
        const Wide actual = load_any(result, int(i));
        if (actual != expected[i].value) {
            ADD_FAILURE() << op.name << "(" << text(a[i / b.size()]) << ", "
                          << text(b[i % b.size()]) << ") is " << text(actual) << ", must be "
                          << text(expected[i].value) << ", " << where;
            wrong++;
        }
    }
}

}  // namespace

Wide wrapped(const Type &t, Wide v) {
    const Wide low = v & max_of(UInt(t.bits()));
    return low > max_of(t) ? low - (Wide(1) << t.bits()) : low;
}

Wide saturated(const Type &t, Wide v) {
    return std::clamp(v, min_of(t), max_of(t));
}

Wide euclidean_mod(Wide a, Wide b) {
    if (b == 0) {
        return 0;
    }
    const Wide r = a % b;
    return r < 0 ? r + (b < 0 ? -b : b) : r;
}

Wide euclidean_div(Wide a, Wide b) {
    return b == 0 ? 0 : (a - euclidean_mod(a, b)) / b;
}

Wide shifted(Wide v, Wide by) {
    return by >= 0 ? v * (Wide(1) << by) : v >> -by;
}

std::vector<Wide> values_of(const Type &t) {
    std::vector<Wide> values;
    if (t.bits() <= 8) {
        for (Wide v = min_of(t); v <= max_of(t); v++) {
            values.push_back(v);
        }
        return values;
    }
    for (int bit = 0; bit <= t.bits(); bit += t.bits() / 8) {
        for (Wide v : {(Wide(1) << bit) - 1, (Wide(1) << bit), -(Wide(1) << bit) - 1,
                       -(Wide(1) << bit) + 1}) {
            values.push_back(v);
        }
    }
    for (Wide v : {3, 7, 10, 100, 12345, -2, -7, -100}) {
        values.push_back(v);
    }
    values.push_back(min_of(t));
    values.push_back(max_of(t));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return between(values, min_of(t), max_of(t));
}

std::vector<Wide> between(const std::vector<Wide> &list, Wide min, Wide max) {
    std::vector<Wide> kept;
    std::copy_if(list.begin(), list.end(), std::back_inserter(kept),
                 [&](Wide v) { return min <= v && v <= max; });
    return kept;
}

void check_operations(const Type &ta, const Type &tb, const std::vector<Wide> &a,
                      const std::vector<Wide> &b, const std::vector<Operation> &operations,
                      const std::vector<int> &lanes) {
    const size_t count = a.size() * b.size();
    ImageParam pa(ta, 1, "a"), pb(tb, 1, "b");
    pa.set(operands(ta, a, count, true, b.size()));
    pb.set(operands(tb, b, count, false, a.size()));
    std::vector<std::vector<Expected>> expected;
    for (int n : lanes) {
        Var x("x");
        std::vector<Expr> values;
        for (const Operation &op : operations) {
            values.push_back(op.expr(pa(x), pb(x)));
            if (expected.size() < operations.size()) {
                expected.push_back(expected_results(op, values.back().type(), a, b));
            }
        }
        Func f("operations");
        f(x) = Tuple(values);
        if (n > 1) {
            f.vectorize(x, n, TailStrategy::GuardWithIf);
        }
        // Without vectors, fewer instructions change little.
        for (const Target &t :
             n > 1 ? targets() : std::vector<Target>{get_jit_target_from_environment()}) {
            const Realization results = f.realize({int(count)}, t);
            const std::string where = std::to_string(n) + " lanes on " + t.to_string();
            for (size_t i = 0; i < operations.size(); i++) {
                compare(results[i], operations[i], expected[i], a, b, where);
            }
        }
    }
}

}  // namespace calotype::test
