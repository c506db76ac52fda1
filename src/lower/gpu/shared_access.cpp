// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With the indices p of thread t and q of thread t', the difference p - q is a sum of digits:
//
//     constant + sum of c_k * d_k,    |d_k| <= m_k
//
// where a digit is the difference t_x - t'_x of thread indices of equal coefficients, or of a loop
// variable, or a term that only one of the two has. The threads meet where the sum is zero. They do
// not if it is too far from zero to get there; and they are the same thread if each digit weighs
// more than all lesser ones together (then a sum of zero has only zeros), and the digits of all
// dimensions of the block are there.
#include "lower/gpu/shared_access.h"

#include <algorithm>
#include <cstdlib>

#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

using Part = LinearIndex::Part;

constexpr int64_t too_large = int64_t(1) << 40;

class Linearizer {
public:
    Linearizer(const IndexNames &names, LinearIndex &index) : names_(names), index_(index) {
    }

    void add(const Expr &e, int64_t factor) {
        if (std::abs(factor) > too_large) {
            index_.other.push_back({1, {}});
        } else if (const auto value = as_const_int(e); value && std::abs(*value) < too_large) {
            index_.constant += factor * *value;
        } else if (const Add *sum = e.as<Add>()) {
            add(sum->a, factor);
            add(sum->b, factor);
        } else if (const Sub *difference = e.as<Sub>()) {
            add(difference->a, factor);
            add(difference->b, -factor);
        } else if (const Mul *product = e.as<Mul>(); product && as_const_int(product->b)) {
            const int64_t by = *as_const_int(product->b);
            add(product->a, std::abs(by) < too_large ? factor * by : too_large * 2);
        } else {
            add_term(e, factor);
        }
    }

private:
    void add_term(const Expr &e, int64_t factor) {
        if (const Variable *v = e.as<Variable>()) {
            const auto own = names_.own.find(v->name);
            if (own != names_.own.end()) {
                index_.own[v->name].coefficient += factor;
                return;
            }
        }
        Scope<Interval> ranges;
        bool is_common = is_pure(e);
        const std::vector<std::string> variables = free_variables(e);
        for (const std::string &name : variables) {
            const auto own = names_.own.find(name), common = names_.common.find(name);
            is_common = is_common && own == names_.own.end();
            if (own != names_.own.end()) {
                ranges.push(name, make_interval(own->second, Int(32)));
            } else if (common != names_.common.end()) {
                ranges.push(name, make_interval(common->second, Int(32)));
            }
        }
        const ConstantInterval range = constant_bounds(e, ranges);
        if (!is_common) {
            index_.other.push_back({factor, range});
            return;
        }
        const std::string text = to_string(e);
        Part &part = index_.common[text];
        part.coefficient += factor;
        part.range = range;
        index_.common_names[text] = variables;
    }

    const IndexNames &names_;
    LinearIndex &index_;
};

/// c * d with d in a range.
struct Digit {
    int64_t weight = 0;  ///< |c|
    int64_t low = 0, high = 0;
    bool is_thread = false;
};

class Difference {
public:
    Difference(const SharedAccess &a, const SharedAccess &b,
               const std::map<std::string, int64_t> &threads)
        : a_(a), b_(b), threads_(threads) {
        constant_ = a.index.constant - b.index.constant;
        add_own();
        add_common();
        for (const Part &part : a.index.other) {
            add_digit(part.coefficient, part.range.min, part.range.max, false);
        }
        for (const Part &part : b.index.other) {
            add_digit(-part.coefficient, part.range.min, part.range.max, false);
        }
    }

    bool is_never_zero() const {
        int64_t low = constant_, high = constant_;
        for (const Digit &d : digits_) {
            low += d.weight * d.low;
            high += d.weight * d.high;
        }
        return is_bounded_ && (low > 0 || high < 0);
    }

    /// True if a difference of zero means one thread.
    bool is_zero_for_one_thread() const {
        if (!is_bounded_ || constant_ != 0 || found_threads_ < threads_.size()) {
            return false;
        }
        std::map<int64_t, std::vector<const Digit *>> by_weight;
        for (const Digit &d : digits_) {
            by_weight[d.weight].push_back(&d);
        }
        int64_t lesser = 0;
        for (const auto &entry : by_weight) {
            if (entry.first <= lesser) {
                return false;
            }
            for (const Digit *d : entry.second) {
                if (d->is_thread && entry.second.size() > 1) {
                    return false;
                }
                lesser += d->weight * std::max(std::abs(d->low), std::abs(d->high));
            }
        }
        return true;
    }

private:
    static const Part *find(const std::map<std::string, Part> &parts, const std::string &name) {
        const auto it = parts.find(name);
        return it == parts.end() ? nullptr : &it->second;
    }

    void add_digit(int64_t c, const std::optional<int64_t> &low, const std::optional<int64_t> &high,
                   bool is_thread) {
        if (c == 0) {
            return;
        }
        if (!low || !high || std::abs(*low) > too_large || std::abs(*high) > too_large ||
            std::abs(c) > too_large) {
            is_bounded_ = false;
            return;
        }
        const bool negative = c < 0;
        digits_.push_back(
            {std::abs(c), negative ? -*high : *low, negative ? -*low : *high, is_thread});
    }

    static std::optional<int64_t> minus(const std::optional<int64_t> &a,
                                        const std::optional<int64_t> &b) {
        return a && b ? std::optional<int64_t>(*a - *b) : std::nullopt;
    }

    void add_own() {
        std::set<std::string> names;
        for (const auto &entry : a_.index.own) {
            names.insert(entry.first);
        }
        for (const auto &entry : b_.index.own) {
            names.insert(entry.first);
        }
        for (const auto &entry : threads_) {
            names.insert(entry.first);
        }
        for (const std::string &name : names) {
            add_own(name, find(a_.index.own, name), find(b_.index.own, name));
        }
    }

    void add_own(const std::string &name, const Part *a, const Part *b) {
        const auto thread = threads_.find(name);
        if (a && b && a->coefficient == b->coefficient) {
            const bool is_thread = thread != threads_.end() && a->coefficient != 0;
            const auto low = minus(a->range.min, b->range.max);
            const auto high = minus(a->range.max, b->range.min);
            found_threads_ += is_thread || (thread != threads_.end() && low == 0 && high == 0);
            add_digit(a->coefficient, low, high, is_thread);
            return;
        }
        found_threads_ += thread != threads_.end() && thread->second == 1;
        if (a) {
            add_digit(a->coefficient, a->range.min, a->range.max, false);
        }
        if (b) {
            add_digit(-b->coefficient, b->range.min, b->range.max, false);
        }
    }

    bool is_stale(const std::string &text) const {
        for (const SharedAccess *access : {&a_, &b_}) {
            const auto names = access->index.common_names.find(text);
            if (names == access->index.common_names.end()) {
                continue;
            }
            for (const std::string &name : names->second) {
                if (a_.stale.count(name) || b_.stale.count(name)) {
                    return true;
                }
            }
        }
        return false;
    }

    void add_common() {
        std::set<std::string> texts;
        for (const auto &entry : a_.index.common) {
            texts.insert(entry.first);
        }
        for (const auto &entry : b_.index.common) {
            texts.insert(entry.first);
        }
        for (const std::string &text : texts) {
            const Part *a = find(a_.index.common, text), *b = find(b_.index.common, text);
            const int64_t p = a ? a->coefficient : 0, q = b ? b->coefficient : 0;
            const ConstantInterval range = (a ? a : b)->range;
            if (!is_stale(text)) {
                add_digit(p - q, range.min, range.max, false);
            } else if (p == q) {
                add_digit(p, minus(range.min, range.max), minus(range.max, range.min), false);
            } else {
                add_digit(p, range.min, range.max, false);
                add_digit(-q, range.min, range.max, false);
            }
        }
    }

    const SharedAccess &a_, &b_;
    const std::map<std::string, int64_t> &threads_;
    int64_t constant_ = 0;
    std::vector<Digit> digits_;
    bool is_bounded_ = true;
    size_t found_threads_ = 0;
};

}  // namespace

LinearIndex linear_index(const Expr &e, const IndexNames &names) {
    LinearIndex index;
    for (const auto &entry : names.own) {
        index.own[entry.first].range = entry.second;
    }
    Linearizer(names, index).add(simplify(e), 1);
    return index;
}

bool may_meet(const SharedAccess &a, const SharedAccess &b,
              const std::map<std::string, int64_t> &threads) {
    const Difference difference(a, b, threads);
    return !difference.is_never_zero() && !difference.is_zero_for_one_thread();
}

}  // namespace calotype::internal
