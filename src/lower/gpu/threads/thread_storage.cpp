// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All indices of such storage are sums: a base, which threads decide, and a rest, which the loops
// and lanes inside decide. Where all accesses have the same base, and no two threads meet (see
// shared_access.h), a thread's part is what the rests reach, and the base can be left out.
//
// A rest is a sum in each dimension of the storage if each of these sums stays within one window of
// the dimension's extent: then no element has two such names. So a part may have the shape of its
// rests, instead of the rows of the whole.
#include "lower/gpu/threads/thread_storage.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "arith/linear_form.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/gpu/host/guarded_tails.h"
#include "lower/gpu/shared/shared_access.h"
#include "lower/known_here.h"
#include "lower/names.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

constexpr int64_t too_large = int64_t(1) << 31;

/// coefficient * e
struct Term {
    Expr e;
    int64_t coefficient = 1;
    ConstantInterval range;  ///< of e
};

/// An index of an access, in parts.
struct Access {
    std::vector<Term> rest;
    std::map<std::string, int64_t> base;  ///< coefficients, by the text of what is multiplied
    int64_t constant = 0;
    int64_t lane_stride = 0;
    int lanes = 1;
    bool is_known = true;
};

/// One dimension of the new storage: (sum - min) / step
struct Shape {
    int64_t stride = 1;  ///< in the whole
    int64_t min = 0, max = 0, step = 0;
    bool any = false;
    int64_t extent() const {
        return any ? (max - min) / std::max<int64_t>(step, 1) + 1 : 1;
    }
};

/// What an access adds in one dimension.
struct Sum {
    std::vector<Term> terms;
    int64_t constant = 0, lane_stride = 0;
};

std::vector<Sum> sums_of(const Access &a, const std::vector<Shape> &shape) {
    std::vector<Sum> result(shape.size());
    int64_t constant = a.constant;
    const auto dimension_of = [&](int64_t coefficient) {
        size_t d = shape.size() - 1;
        while (d > 0 && coefficient % shape[d].stride != 0) {
            d--;
        }
        return d;
    };
    for (size_t d = shape.size(); d-- > 0;) {
        result[d].constant = constant / shape[d].stride;
        constant %= shape[d].stride;
    }
    for (const Term &term : a.rest) {
        const size_t d = dimension_of(term.coefficient);
        result[d].terms.push_back({term.e, term.coefficient / shape[d].stride, term.range});
    }
    if (a.lane_stride != 0) {
        const size_t d = dimension_of(a.lane_stride);
        result[d].lane_stride = a.lane_stride / shape[d].stride;
    }
    return result;
}

/// The values of a sum; false if they have no bound.
bool range_of(const Sum &sum, int lanes, int64_t &low, int64_t &high) {
    low = high = sum.constant;
    const auto add = [&](int64_t c, int64_t min, int64_t max) {
        low += c * (c < 0 ? max : min);
        high += c * (c < 0 ? min : max);
    };
    for (const Term &t : sum.terms) {
        if (!t.range.min || !t.range.max || std::abs(*t.range.min) > too_large ||
            std::abs(*t.range.max) > too_large || std::abs(t.coefficient) > too_large) {
            return false;
        }
        add(t.coefficient, *t.range.min, *t.range.max);
    }
    add(sum.lane_stride, 0, lanes - 1);
    return std::abs(low) < too_large && std::abs(high) < too_large;
}

/// Fused thread loops, as the indices of one allocation take them apart: t is t/c and t%c, as if
/// these were two loops.
class FusedThreads {
public:
    FusedThreads(const std::string &buffer, const std::vector<KernelLoop> &threads,
                 const Stmt &body) {
        Finder finder(buffer, threads);
        finder(body);
        for (const KernelLoop &loop : threads) {
            const int64_t size = as_const_int(loop.extent).value_or(0);
            const std::set<int64_t> &divisors = finder.divisors[loop.name];
            const int64_t c = divisors.size() == 1 ? *divisors.begin() : 0;
            if (c <= 1 || size % c != 0) {
                sizes[loop.name] = size;
                continue;
            }
            const Expr t = Variable::make(Int(32), loop.name);
            const std::string outer_name = names::part(loop.name, "outer"),
                              inner_name = names::part(loop.name, "inner");
            const Expr outer = names::var(outer_name), inner = names::var(inner_name);
            sizes[outer_name] = size / c;
            sizes[inner_name] = c;
            parts_.push_back({t / int(c), outer});
            parts_.push_back({t % int(c), inner});
            parts_.push_back({t, outer * int(c) + inner});
        }
    }
    std::map<std::string, int64_t> sizes;  ///< of the thread loops or their parts; 0: not known

    Expr apart(Expr index) const {
        for (const auto &part : parts_) {
            index = substitute(part.first, part.second, index);
        }
        return index;
    }

private:
    /// What threads are divided by in indices.
    class Finder : public Visitor {
    public:
        Finder(const std::string &buffer, const std::vector<KernelLoop> &threads)
            : buffer_(buffer) {
            for (const KernelLoop &loop : threads) {
                divisors[loop.name];
            }
        }
        std::map<std::string, std::set<int64_t>> divisors;

    private:
        using Visitor::visit;
        template<typename T>
        void visit_access(const T *op) {
            const bool around = std::exchange(in_index_, in_index_ || op->name == buffer_);
            (*this)(op->index);
            in_index_ = around;
        }
        void visit(const Load *op) override {
            visit_access(op);
        }
        void visit(const Store *op) override {
            visit_access(op);
            (*this)(op->value);
        }
        template<typename T>
        void visit_quotient(const T *op) {
            const Variable *t = op->a.template as<Variable>();
            const auto by = as_const_int(op->b);
            const auto it = t && by && in_index_ ? divisors.find(t->name) : divisors.end();
            if (it != divisors.end()) {
                it->second.insert(*by);
            }
            Visitor::visit(op);
        }
        void visit(const Div *op) override {
            visit_quotient(op);
        }
        void visit(const Mod *op) override {
            visit_quotient(op);
        }
        const std::string &buffer_;
        bool in_index_ = false;
    };
    std::vector<std::pair<Expr, Expr>> parts_;
};

/// The accesses of one allocation.
class Collector : public Visitor {
public:
    Collector(const std::string &name, const FusedThreads &threads)
        : name_(name), threads_(threads), sizes_(threads.sizes) {
        for (const auto &[thread, size] : sizes_) {
            sizes[thread] = 1;
            known_.given(thread, {0, size > 0 ? std::optional<int64_t>(size - 1) : std::nullopt});
        }
    }
    std::vector<Access> found;
    std::map<std::string, int64_t> sizes;  ///< how many threads of each loop access; 0: not known
    bool escapes = false;                  ///< used by other means than loads and stores

    Access parts_of(const Expr &index) const {
        Access a;
        Expr e = simplify(threads_.apart(index));
        if (const Ramp *ramp = e.as<Ramp>()) {
            const auto stride = as_const_int(ramp->stride);
            a.is_known = ramp->base.type().is_scalar() && stride.has_value();
            a.lane_stride = stride.value_or(0);
            a.lanes = ramp->lanes;
            e = ramp->base;
        } else if (const Broadcast *broadcast = e.as<Broadcast>()) {
            a.is_known = broadcast->value.type().is_scalar();
            a.lanes = broadcast->lanes;
            e = broadcast->value;
        } else {
            a.is_known = e.type().is_scalar();
        }
        if (!a.is_known) {
            return a;
        }
        const LinearForm sum(simplify(e));
        a.is_known = sum.is_valid() && std::abs(sum.constant) < too_large;
        a.constant = sum.constant;
        for (const LinearForm::Term &term : sum.terms) {
            add_term(a, term.value, term.coefficient);
        }
        return a;
    }

private:
    using Visitor::visit;

    void add_term(Access &a, const Expr &e, int64_t factor) const {
        bool is_base = true, has_threads = false;
        for (const std::string &name : free_variables(e)) {
            has_threads = has_threads || sizes_.count(name) > 0;
            is_base = is_base && !inside_.contains(name);
        }
        a.is_known = a.is_known && is_pure(e) && (!has_threads || e.as<Variable>()) &&
                     std::abs(factor) < too_large;
        if (is_base) {
            a.base[to_string(e)] += factor;
        } else {
            a.rest.push_back({e, factor, known_.range(e)});
        }
    }

    void access(const std::string &buffer, const Expr &index) {
        if (buffer != name_) {
            return;
        }
        found.push_back(parts_of(index));
        for (auto &[thread, size] : sizes) {
            // A stage may have fewer threads than the block has.
            const auto last = known_.range(names::var(thread)).max;
            size = !last || size == 0 ? 0 : std::max(size, *last + 1);
        }
    }
    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
        visit_where(op->condition, op->then_case);
        visit_where(!op->condition, op->else_case);
    }
    void visit_where(const Expr &condition, const Stmt &s) {
        const KnownHere::Inside inside(known_, threads_.apart(condition));
        (*this)(s);
    }
    void visit(const Load *op) override {
        access(op->name, op->index);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        access(op->name, op->index);
        Visitor::visit(op);
    }
    void visit(const Variable *op) override {
        escapes = escapes || op->name == name_;
    }
    template<typename T>
    void visit_let(const T *op) {
        (*this)(op->value);
        const KnownHere::Inside inside(known_, op);
        const ScopedBinding<> bind(inside_, op->name);
        (*this)(op->body);
    }
    void visit(const LetStmt *op) override {
        visit_let(op);
    }
    void visit(const Let *op) override {
        visit_let(op);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        const KnownHere::Inside inside(known_, op);
        const ScopedBinding<> bind(inside_, op->name);
        (*this)(op->body);
    }

    const std::string &name_;
    const FusedThreads &threads_;
    const std::map<std::string, int64_t> sizes_;  ///< of the threads
    KnownHere known_;
    Scope<> inside_;  ///< loops and lets
};

/// Gives accesses of one allocation their new indices, in the order in which they were found.
class Shrinker : public Mutator {
public:
    Shrinker(const std::string &name, const std::vector<Access> &accesses,
             const std::vector<Shape> &shape)
        : name_(name), accesses_(accesses), shape_(shape) {
    }
    using Mutator::mutate;

private:
    using Mutator::visit;

    Expr next_index() {
        internal_assert(next_ < accesses_.size()) << "more accesses of " << name_ << " than before";
        const Access &a = accesses_[next_++];
        const std::vector<Sum> sums = sums_of(a, shape_);
        Expr index = 0;
        int64_t stride = 1, lane_stride = 0;
        for (size_t d = 0; d < shape_.size(); d++) {
            const Shape &s = shape_[d];
            const int64_t step = std::max<int64_t>(s.step, 1);
            Expr in_dimension = int((sums[d].constant - s.min) / step);
            for (const Term &t : sums[d].terms) {
                in_dimension = in_dimension + t.e * int(t.coefficient / step);
            }
            index = index + in_dimension * int(stride);
            lane_stride += sums[d].lane_stride / step * stride;
            stride *= s.extent();
        }
        index = simplify(index);
        if (a.lanes == 1) {
            return index;
        }
        return a.lane_stride == 0 ? Broadcast::make(index, a.lanes)
                                  : Ramp::make(index, int(lane_stride), a.lanes);
    }

    Expr visit(const Load *op) override {
        if (op->name != name_) {
            return Mutator::visit(op);
        }
        const Expr index = next_index();
        return with(op, &Load::index, index, &Load::predicate, mutate(op->predicate),
                    &Load::alignment, Alignment());
    }
    Stmt visit(const Store *op) override {
        if (op->name != name_) {
            return Mutator::visit(op);
        }
        const Expr index = next_index();
        const Expr value = mutate(op->value);
        return with(op, &Store::value, value, &Store::index, index, &Store::predicate,
                    mutate(op->predicate), &Store::alignment, Alignment());
    }

    const std::string &name_;
    const std::vector<Access> &accesses_;
    const std::vector<Shape> &shape_;
    size_t next_ = 0;
};

bool have_one_base(const Collector &all) {
    return !all.escapes && std::all_of(all.found.begin(), all.found.end(), [&](const Access &a) {
        return a.is_known && a.base == all.found[0].base;
    });
}

/// What the sums of all accesses reach; false if there is no bound, or an element has two names.
bool measure(const std::vector<Access> &accesses, std::vector<Shape> &shape) {
    for (const Access &a : accesses) {
        const std::vector<Sum> sums = sums_of(a, shape);
        for (size_t d = 0; d < shape.size(); d++) {
            int64_t low, high;
            if (!range_of(sums[d], a.lanes, low, high)) {
                return false;
            }
            Shape &s = shape[d];
            s.step = std::gcd(s.step, s.any ? sums[d].constant - s.min : 0);
            s.step = std::gcd(s.step, sums[d].lane_stride);
            for (const Term &t : sums[d].terms) {
                s.step = std::gcd(s.step, t.coefficient);
            }
            s.step = std::gcd(s.step, s.any ? low - s.min : low - sums[d].constant);
            s.min = s.any ? std::min(s.min, low) : low;
            s.max = s.any ? std::max(s.max, high) : high;
            s.any = true;
        }
    }
    for (size_t d = 0; d + 1 < shape.size(); d++) {
        if ((shape[d].max - shape[d].min) * shape[d].stride >= shape[d + 1].stride) {
            return false;
        }
    }
    return true;
}

/// True if no two threads meet where base and shape take them.
bool is_split(const Collector &all, const std::vector<Shape> &shape) {
    ThreadIndex form;
    for (const auto &thread : all.sizes) {
        const auto base = all.found[0].base.find(thread.first);
        const int64_t coefficient = base == all.found[0].base.end() ? 0 : base->second;
        const auto last = thread.second > 0 ? std::optional(thread.second - 1) : std::nullopt;
        form.own[thread.first] = {coefficient, ConstantInterval(0, last)};
    }
    for (size_t d = 0; d < shape.size(); d++) {
        const Shape &s = shape[d];
        form.own[" " + std::to_string(d)] = {s.stride * s.step,
                                             ConstantInterval(0, s.extent() - 1)};
    }
    SharedAccess any;
    any.index[""] = std::move(form);
    return !may_conflict(any, any, all.sizes);
}

/// Dimensions that begin and end where threads take turns: of 32 elements a row that 4 threads have
/// two at a time of, a thread has 2 by 4.
std::vector<Shape> shape_between_threads(const Allocate *op, const Collector &all) {
    std::set<int64_t> strides = {1};
    int64_t stride = 1;
    for (const Expr &e : op->extents) {
        strides.insert(stride);
        stride *= std::max<int64_t>(as_const_int(e).value_or(1), 1);
    }
    for (const auto &thread : all.sizes) {
        const auto base = all.found[0].base.find(thread.first);
        if (base != all.found[0].base.end() && base->second > 0 && thread.second > 0) {
            strides.insert(base->second);
            strides.insert(base->second * thread.second);
        }
    }
    std::vector<Shape> shape;
    for (const int64_t s : strides) {
        shape.emplace_back();
        shape.back().stride = s;
    }
    return shape;
}

/// The dimensions of a thread's part; none if it has no part of its own.
std::vector<Shape> shape_of(const Allocate *op, const Collector &all) {
    if (all.found.empty() || !have_one_base(all)) {
        return {};
    }
    std::vector<Shape> shape;
    int64_t stride = 1;
    for (const Expr &e : op->extents) {
        const int64_t extent = as_const_int(e).value_or(0);
        if (extent != 1 || shape.empty()) {
            shape.emplace_back();
            shape.back().stride = stride;
        }
        stride *= extent;
    }
    if (op->constant_size() > 0 && measure(all.found, shape) && is_split(all, shape)) {
        return shape;
    }
    shape.assign(1, Shape());
    if (measure(all.found, shape) && is_split(all, shape)) {
        return shape;
    }
    shape = shape_between_threads(op, all);
    return measure(all.found, shape) && is_split(all, shape) ? shape : std::vector<Shape>();
}

class PartKeeper : public StmtMutator {
public:
    PartKeeper(const SplitStorage &storage, const LowerContext &ctx)
        : storage_(storage), ctx_(ctx) {
    }

private:
    using Mutator::visit;
    Stmt visit(const Allocate *op) override {
        const auto it = storage_.find(op->name);
        if (it == storage_.end()) {
            return Mutator::visit(op);
        }
        const FusedThreads threads(it->first, it->second, op->body);
        Collector all(it->first, threads);
        all(op->body);
        const std::vector<Shape> shape = shape_of(op, all);
        user_assert(!shape.empty())
            << "storage of " << op->name << " is in " << to_string(op->memory_type)
            << ", which each thread has its own of, but it stands outside of the thread loops "
            << "that use it, and it cannot be shown that each uses a part of its own, of constant "
            << "size; compute it inside of them, or store it in GPUShared"
            << hint_at_guarded_tail(ctx_.function_of_buffer(op->name), ctx_);
        std::vector<Expr> extents;
        for (const Shape &s : shape) {
            extents.emplace_back(int(s.extent()));
        }
        const Stmt body = Shrinker(it->first, all.found, shape).mutate(op->body);
        return with(op, &Allocate::extents, extents, &Allocate::body, mutate(body));
    }
    const SplitStorage &storage_;
    const LowerContext &ctx_;
};

}  // namespace

Stmt keep_parts_of_threads(const Stmt &body, const SplitStorage &storage, const LowerContext &ctx) {
    return storage.empty() ? body : PartKeeper(storage, ctx).mutate(body);
}

}  // namespace calotype::internal
