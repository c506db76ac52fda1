// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With the indices p of thread t and q of thread t', the difference p - q is a sum of digits:
//
//     constant + sum of c_k * d_k,    |d_k| <= m_k
//
// where a digit is the difference t_x - t'_x of thread indices of equal coefficients, or of a loop
// variable, or a term that only one of the two has. The threads meet where the sum is zero. They do
// not if it is too far from zero to get there.
//
// Sorted by |c_k|, the digits are cut into lesser and greater ones in all ways: where all greater
// c_k are multiples of some M, the lesser digits and the constant are together one, too. If no
// multiple of M is near enough, the threads never meet. If zero is the only one, the lesser digits
// alone make a sum of zero; where each of them weighs more than all lesser ones together, such a
// sum has only zeros. If these include the digits of all dimensions of the block, be it of
// different strides, only a thread and itself meet. Of the greater digits no bounds need be known.
#include "lower/gpu/shared/shared_access.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "arith/linear_form.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "lower/loops/atomic_update.h"
#include "lower/names.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

using Part = ThreadIndex::Part;

class BufferFinder : public GraphVisitor {
public:
    AccessedBuffers found;

private:
    using GraphVisitor::visit;
    void visit(const Load *op) override {
        found.read.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        found.written.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        const Variable *to =
            op->is_intrinsic(Intrinsic::gpu_async_copy) ? op->args[0].as<Variable>() : nullptr;
        const Variable *from = to ? op->args[2].as<Variable>() : nullptr;
        if (to && from) {
            found.written.insert(to->name);
            found.read.insert(from->name);
        }
        if (op->is_intrinsic(Intrinsic::gpu_tile_copy)) {
            found.written.insert(op->args[0].as<Variable>()->name);
            found.read.insert(op->args[4].as<Variable>()->name);
        }
        if (op->is_intrinsic({Intrinsic::gpu_load_matrix, Intrinsic::gpu_warpgroup_multiply_add})) {
            found.read.insert(op->args[0].as<Variable>()->name);
        }
        if (op->is_intrinsic(Intrinsic::gpu_warpgroup_multiply_add)) {
            found.read.insert(op->args[2].as<Variable>()->name);
        }
        GraphVisitor::visit(op);
    }
};

constexpr int64_t too_large = int64_t(1) << 40;

class Linearizer {
public:
    Linearizer(const AccessContext &context,
               const std::function<bool(const std::string &)> &is_stride)
        : context_(context), is_stride_(is_stride) {
        of_stride("");
    }
    LinearIndex index;

    /// index += e * factor * stride
    void add(const Expr &e, int64_t factor, const std::string &stride) {
        LinearForm sum;
        sum.add(e, factor);
        ThreadIndex &result = of_stride(stride);
        if (!sum.is_valid() || std::abs(sum.constant) > too_large) {
            result.other.push_back({1, {}});
            return;
        }
        result.constant += sum.constant;
        for (const LinearForm::Term &term : sum.terms) {
            const Mul *product = stride.empty() ? term.value.as<Mul>() : nullptr;
            if (std::abs(term.coefficient) > too_large) {
                result.other.push_back({1, {}});
            } else if (product && is_stride(product->b)) {
                add(product->a, term.coefficient, product->b.as<Variable>()->name);
            } else if (product && is_stride(product->a)) {
                add(product->b, term.coefficient, product->a.as<Variable>()->name);
            } else if (stride.empty() && is_stride(term.value)) {
                of_stride(term.value.as<Variable>()->name).constant += term.coefficient;
            } else {
                add_term(result, term.value, term.coefficient);
            }
        }
    }

private:
    ThreadIndex &of_stride(const std::string &stride) {
        const auto [it, is_new] = index.try_emplace(stride);
        if (is_new) {
            for (const std::string &name : context_.own) {
                it->second.own[name].range = context_.known.range(names::var(name));
            }
        }
        return it->second;
    }

    bool is_stride(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        return v && is_stride_(v->name);
    }

    void add_term(ThreadIndex &form, const Expr &e, int64_t factor) const {
        if (const Variable *v = e.as<Variable>()) {
            if (context_.own.count(v->name)) {
                form.own[v->name].coefficient += factor;
                return;
            }
        }
        const bool is_common = is_pure(e) && !uses_any_var(e, context_.own);
        const ConstantInterval range = context_.known.range(e);
        if (!is_common) {
            form.other.push_back({factor, range});
            return;
        }
        const std::string text = to_string(e);
        Part &part = form.common[text];
        part.coefficient += factor;
        part.range = range;
        form.common_names[text] = free_variables(e);
    }

    const AccessContext &context_;
    const std::function<bool(const std::string &)> &is_stride_;
};

/// c * d with d in a range.
struct Digit {
    int64_t weight = 0;  ///< |c|
    int64_t low = 0, high = 0;
    std::string thread;  ///< the difference of this index of threads
    bool is_bounded = true;

    int64_t reach() const {
        return weight * std::max(std::abs(low), std::abs(high));
    }
};

class Difference {
public:
    Difference(const ThreadIndex &p, const ThreadIndex &q, const std::set<std::string> &stale,
               const std::map<std::string, int64_t> &threads)
        : p_(p), q_(q), stale_(stale), threads_(threads) {
        constant_ = p.constant - q.constant;
        add_own();
        add_common();
        for (const Part &part : p.other) {
            add_digit(part.coefficient, part.range.min, part.range.max);
        }
        for (const Part &part : q.other) {
            add_digit(-part.coefficient, part.range.min, part.range.max);
        }
        std::sort(digits_.begin(), digits_.end(),
                  [](const Digit &a, const Digit &b) { return a.weight < b.weight; });
    }

    bool is_never_zero() const {
        bool is_bounded = true;
        int64_t low = constant_, high = constant_;
        for (const Digit &d : digits_) {
            is_bounded = is_bounded && d.is_bounded;
            low += d.weight * d.low;
            high += d.weight * d.high;
        }
        if (is_bounded && (low > 0 || high < 0)) {
            return true;
        }
        bool never = false;
        for_each_cut([&](size_t, int64_t reach, int64_t modulus) {
            if (modulus > 0) {
                const int64_t above = ((constant_ % modulus) + modulus) % modulus;
                never = never || std::min(above, modulus - above) > reach;
            }
        });
        return never;
    }

    /// The dimensions in which a difference of zero means one thread.
    std::set<std::string> decided_threads() const {
        std::set<std::string> result = one_thread_;
        for_each_cut([&](size_t lesser, int64_t reach, int64_t modulus) {
            const bool only_zero =
                modulus == 0 ? constant_ == 0 : constant_ % modulus == 0 && reach < modulus;
            if (only_zero) {
                result.merge(threads_of_zero_sum(lesser));
            }
        });
        return result;
    }

private:
    /// Calls f with the number of lesser digits, how far from zero their sum may be, and what all
    /// greater ones are multiples of (0: there are none).
    template<typename F>
    void for_each_cut(F &&f) const {
        int64_t reach = 0;
        for (size_t lesser = 0; lesser <= digits_.size(); lesser++) {
            if (lesser > 0) {
                if (!digits_[lesser - 1].is_bounded) {
                    return;
                }
                reach += digits_[lesser - 1].reach();
            }
            int64_t modulus = 0;
            for (size_t i = lesser; i < digits_.size(); i++) {
                modulus = std::gcd(modulus, digits_[i].weight);
            }
            f(lesser, reach, modulus);
        }
    }

    /// Of the first digits, if a sum of zero has only zeros.
    std::set<std::string> threads_of_zero_sum(size_t count) const {
        std::set<std::string> found;
        int64_t lesser = 0;
        for (size_t i = 0; i < count;) {
            size_t end = i;
            int64_t reach = 0;
            while (end < count && digits_[end].weight == digits_[i].weight) {
                reach += digits_[end++].reach();
            }
            if (digits_[i].weight <= lesser) {
                return {};
            }
            if (end == i + 1 && !digits_[i].thread.empty()) {
                found.insert(digits_[i].thread);
            }
            lesser += reach;
            i = end;
        }
        return found;
    }

    static const Part *find(const std::map<std::string, Part> &parts, const std::string &name) {
        const auto it = parts.find(name);
        return it == parts.end() ? nullptr : &it->second;
    }

    void add_digit(int64_t c, const std::optional<int64_t> &low, const std::optional<int64_t> &high,
                   const std::string &thread = "") {
        if (c == 0) {
            return;
        }
        if (std::abs(c) > too_large) {
            digits_.push_back({1, 0, 0, "", false});
            return;
        }
        if (!low || !high || std::abs(*low) > too_large || std::abs(*high) > too_large) {
            digits_.push_back({std::abs(c), 0, 0, thread, false});
            return;
        }
        const bool negative = c < 0;
        digits_.push_back(
            {std::abs(c), negative ? -*high : *low, negative ? -*low : *high, thread, true});
    }

    static std::optional<int64_t> minus(const std::optional<int64_t> &a,
                                        const std::optional<int64_t> &b) {
        return a && b ? std::optional<int64_t>(*a - *b) : std::nullopt;
    }

    static std::set<std::string> names_of(const std::map<std::string, Part> &a,
                                          const std::map<std::string, Part> &b) {
        std::set<std::string> names;
        for (const auto *parts : {&a, &b}) {
            for (const auto &entry : *parts) {
                names.insert(entry.first);
            }
        }
        return names;
    }

    void add_own() {
        for (const std::string &name : names_of(p_.own, q_.own)) {
            add_own(name, find(p_.own, name), find(q_.own, name));
        }
    }

    void add_own(const std::string &name, const Part *p, const Part *q) {
        const bool is_thread = threads_.count(name) > 0;
        if (!p || !q || p->coefficient != q->coefficient) {
            if (p) {
                add_digit(p->coefficient, p->range.min, p->range.max);
            }
            if (q) {
                add_digit(-q->coefficient, q->range.min, q->range.max);
            }
            return;
        }
        const auto low = minus(p->range.min, q->range.max);
        const auto high = minus(p->range.max, q->range.min);
        if (is_thread && low == 0 && high == 0) {
            one_thread_.insert(name);
        }
        add_digit(p->coefficient, low, high, is_thread ? name : "");
    }

    bool is_stale(const std::string &text) const {
        for (const ThreadIndex *form : {&p_, &q_}) {
            const auto names = form->common_names.find(text);
            if (names == form->common_names.end()) {
                continue;
            }
            for (const std::string &name : names->second) {
                if (stale_.count(name)) {
                    return true;
                }
            }
        }
        return false;
    }

    void add_common() {
        for (const std::string &text : names_of(p_.common, q_.common)) {
            const Part *a = find(p_.common, text), *b = find(q_.common, text);
            const int64_t p = a ? a->coefficient : 0, q = b ? b->coefficient : 0;
            const ConstantInterval range = (a ? a : b)->range;
            if (!is_stale(text)) {
                add_digit(p - q, range.min, range.max);
            } else if (p == q) {
                add_digit(p, minus(range.min, range.max), minus(range.max, range.min));
            } else {
                add_digit(p, range.min, range.max);
                add_digit(-q, range.min, range.max);
            }
        }
    }

    const ThreadIndex &p_, &q_;
    const std::set<std::string> &stale_;
    const std::map<std::string, int64_t> &threads_;
    int64_t constant_ = 0;
    std::vector<Digit> digits_;  ///< the lightest first
    std::set<std::string> one_thread_;
};

}  // namespace

LinearIndex linear_index(const Expr &e, const AccessContext &context,
                         const std::function<bool(const std::string &)> &is_stride) {
    Linearizer linearizer(context, is_stride);
    linearizer.add(simplify(e), 1, "");
    return std::move(linearizer.index);
}

AccessedBuffers accessed_buffers(const Stmt &s) {
    BufferFinder finder;
    finder(s);
    return std::move(finder.found);
}

bool SharedAccess::covers(const SharedAccess &other) const {
    return is_write == other.is_write && buffer == other.buffer && atomic == other.atomic &&
           index == other.index &&
           std::includes(stale.begin(), stale.end(), other.stale.begin(), other.stale.end());
}

UpdateKind update_kind(const Atomic *op, const std::string &buffer) {
    std::optional<VectorReduce::Operator> operation;
    int stores = 0;
    for_each<Store>(op->body, [&](const Store *store) {
        if (store->name == buffer) {
            const auto update = match_atomic_update(store);
            operation = update ? std::optional(update->op) : std::nullopt;
            stores++;
        }
    });
    return stores == 1 && operation ? UpdateKind{operation, nullptr} : UpdateKind{std::nullopt, op};
}

bool may_conflict(const SharedAccess &a, const SharedAccess &b,
                  const std::map<std::string, int64_t> &threads) {
    std::set<std::string> stale = a.stale, strides;
    stale.insert(b.stale.begin(), b.stale.end());
    for (const LinearIndex *index : {&a.index, &b.index}) {
        for (const auto &entry : *index) {
            strides.insert(entry.first);
        }
    }
    std::set<std::string> decided;
    const ThreadIndex none;
    for (const std::string &stride : strides) {
        const auto p = a.index.find(stride), q = b.index.find(stride);
        const Difference difference(p == a.index.end() ? none : p->second,
                                    q == b.index.end() ? none : q->second, stale, threads);
        if (difference.is_never_zero()) {
            return false;
        }
        decided.merge(difference.decided_threads());
    }
    for (const auto &thread : threads) {
        if (thread.second != 1 && !decided.count(thread.first)) {
            return true;
        }
    }
    return false;
}

}  // namespace calotype::internal
