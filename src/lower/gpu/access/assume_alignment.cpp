// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel is walked twice. The first walk gathers what accesses would need (Needs); one that needs
// something of the kernel's own variables needs nothing, since it cannot have it. The second walk
// tells those accesses their alignment whose needs are among those that the condition states: names
// may be bound more than once in a kernel, so an access is judged where it stands.
#include "lower/gpu/access/assume_alignment.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/conventions/names.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/gpu/access/join_stores.h"
#include "lower/gpu/access/load_rows.h"
#include "lower/gpu/access/polynomial.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/gpu/host/device_alignment.h"
#include "lower/gpu/uniform.h"
#include "pipeline/parameter.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Of a dense vector: how many elements one access could move.
int wanted_elements(const Expr &index, const Expr &predicate, Type t) {
    const int most = std::max(max_access_bytes / t.bytes(), 1);
    return is_dense(index, predicate) ? std::gcd(index.type().lanes(), most) : 1;
}

/// Operations for which one access less is nothing.
constexpr int64_t much_work = 256;
/// Iterations of a loop of unknown extent.
constexpr int64_t some_iterations = 8;

/// What a thread takes to compute one node, about: of operands, nothing.
int64_t work_of(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::IntImm:
    case NodeKind::UIntImm:
    case NodeKind::FloatImm:
    case NodeKind::Variable:
    case NodeKind::Broadcast:
    case NodeKind::Ramp:
    case NodeKind::Shuffle:
    case NodeKind::Load:
        return 0;
    case NodeKind::Div:
    case NodeKind::Mod:
        return 8 * e.type().lanes();
    default:
        return (is_long_function(e.as<Call>()) ? 20 : 1) * e.type().lanes();
    }
}

/// What the accesses of a kernel need of what is the same for the whole launch.
class Needs {
public:
    /// True if the expression is the same for the whole launch.
    using IsUniform = std::function<bool(const Expr &)>;

    /// An index is to be a multiple of `n`, but for a constant. False if the kernel's own variables
    /// are against it.
    bool add(const Polynomial &index, int n, const IsUniform &is_uniform) {
        if (!may_be_multiple(index, n, is_uniform)) {
            return false;
        }
        Polynomial rest;
        for (const auto &[product, coefficient] : index.terms) {
            const int64_t missing = n / std::gcd<int64_t>(coefficient, n);
            if (missing == 1) {
                continue;
            }
            if (std::all_of(product.begin(), product.end(), is_uniform)) {
                rest.terms[product] = coefficient;
            } else {
                raise(*std::find_if(product.begin(), product.end(), is_uniform), missing);
            }
        }
        sums_.emplace_back(rest, n);
        return true;
    }

    void add_address(const std::string &buffer, int bytes) {
        int &all = addresses_[buffer];
        all = std::max(all, bytes);
    }

    /// The condition; to be called once, after all were added.
    Expr condition() {
        share_factors();
        Expr result = const_true();
        for (const auto &[factor, multiple] : factors_) {
            result = result && is_multiple(factor, multiple);
        }
        std::set<Expr, ExprDeepLess> stated;
        for (const auto &[sum, n] : sums_) {
            const Expr rest = simplify(without_factors(sum, n));
            if (!is_const_zero(rest) && stated.insert(is_multiple(rest, n)).second) {
                result = result && is_multiple(rest, n);
            }
        }
        for (const auto &[buffer, bytes] : addresses_) {
            const Expr address = Call::make(UInt(64), Intrinsic::buffer_get_device,
                                            {Variable::make(Handle(), names::buffer(buffer))});
            result = result && is_multiple(address, bytes);
        }
        return simplify(result);
    }

private:
    static Expr is_multiple(const Expr &e, int64_t n) {
        return e % make_const(e.type(), n) == make_zero(e.type());
    }

    void raise(const Expr &factor, int64_t multiple) {
        int64_t &all = factors_[factor];
        all = std::max(all, multiple);
    }

    /// A stride that is a multiple of something is one in all products that it stands in.
    void share_factors() {
        for (const auto &[sum, n] : sums_) {
            for (const auto &[product, coefficient] : sum.terms) {
                const auto factor =
                    std::find_if(product.begin(), product.end(),
                                 [&](const Expr &e) { return factors_.count(e) > 0; });
                if (factor != product.end()) {
                    raise(*factor, n / std::gcd<int64_t>(coefficient, n));
                }
            }
        }
    }

    Expr without_factors(const Polynomial &sum, int n) const {
        Expr result = 0;
        for (const auto &[product, coefficient] : sum.terms) {
            const bool done = std::any_of(product.begin(), product.end(),
                                          [&](const Expr &e) { return factors_.count(e) > 0; });
            if (!done) {
                // -1 in place of n - 1.
                const int64_t k = coefficient % n;
                Expr term = make_const(Int(32), k > n / 2 ? k - n : k);
                for (const Expr &e : product) {
                    term = term * e;
                }
                result = result + term;
            }
        }
        return result;
    }

    std::map<Expr, int64_t, ExprDeepLess> factors_;
    std::vector<std::pair<Polynomial, int>> sums_;
    std::map<std::string, int> addresses_;
};

/// Knows the lets around. What is bound in a kernel is its own; buffers of its own have no
/// addresses that a caller chooses.
class AlignmentAssumer : public Mutator {
public:
    explicit AlignmentAssumer(LowerContext &ctx) : ctx_(ctx) {
    }

    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        if (mode_ == Mode::Gather && e.defined()) {
            work_ += times_ * work_of(e);
        }
        return Mutator::mutate(e);
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUBlock && mode_ == Mode::Host) {
            return kernel(op);
        }
        const ScopedBinding<> own(mode_ != Mode::Host, own_, op->name);
        const int64_t around = times_;
        if (mode_ == Mode::Gather && !is_gpu(op->for_type)) {
            times_ *=
                std::clamp<int64_t>(as_const_int(op->extent).value_or(some_iterations), 1, 1 << 10);
            times_ = std::min<int64_t>(times_, 1 << 20);
        }
        const Stmt s = Mutator::visit(op);
        times_ = around;
        return s;
    }

    Stmt kernel(const For *op) {
        if (op->device_api != DeviceAPI::CUDA) {
            return op;
        }
        needs_ = Needs();
        work_ = saved_ = 0;
        const Stmt rows = load_rows(op, known_, ctx_);
        const Stmt joined = join_all_stores(rows.as<For>(), ctx_);
        const For *candidate = joined.as<For>();
        walk(candidate, Mode::Gather);
        const bool pays = saved_ > 0 && work_ / saved_ < much_work;
        const Expr condition = pays ? needs_.condition() : const_false();
        if (is_const_zero(condition)) {
            return op;
        }
        const Stmt aligned = walk(candidate, Mode::Tell);
        return is_const_one(condition) ? aligned : IfThenElse::make(condition, aligned, op);
    }

    enum class Mode { Host, Gather, Tell };

    Stmt walk(const For *op, Mode mode) {
        mode_ = mode;
        const ScopedBinding<> own(own_, op->name);
        const Stmt result = Mutator::visit(op);
        mode_ = Mode::Host;
        return result;
    }

    template<typename Body, typename T>
    Body visit_let(const T *op) {
        const Expr value = mutate(op->value);
        const NamedPolynomial known(known_, op->name, value, mode_ == Mode::Host);
        const ScopedBinding<> own(mode_ != Mode::Host, own_, op->name);
        return T::make(op->name, value, mutate(op->body));
    }
    Stmt visit(const LetStmt *op) override {
        return visit_let<Stmt>(op);
    }
    Expr visit(const Let *op) override {
        return visit_let<Expr>(op);
    }

    Stmt visit(const Allocate *op) override {
        const bool in_kernel = mode_ != Mode::Host;
        const ScopedBinding<> own(in_kernel, own_, op->name);
        const ScopedBinding<> made(!in_kernel && has_runtime_device_memory(op), made_here_,
                                   op->name);
        return Mutator::visit(op);
    }

    bool is_uniform(const Expr &e) const {
        return internal::is_uniform(e,
                                    [&](const std::string &name) { return own_.contains(name); });
    }

    /// What the access is told: in Mode::Tell more than is known, if its index allows.
    Alignment look_at(const std::string &buffer, const Expr &index, const Expr &predicate, Type t,
                      const Alignment &known) {
        const int n = wanted_elements(index, predicate, t);
        if (n == 1 || mode_ == Mode::Host || own_.contains(buffer)) {
            return known;
        }
        const int bytes = n * t.bytes();
        const bool address_known =
            made_here_.contains(buffer) || promised_alignment(ctx_, buffer, t).modulus % bytes == 0;
        if (known.modulus % n == 0 && address_known) {
            return known;
        }
        const std::optional<Polynomial> p = polynomial_of(index.as<Ramp>()->base, known_);
        const auto uniform = [&](const Expr &e) {
            return is_uniform(e);
        };
        Needs ignored;
        if (!p || !(mode_ == Mode::Gather ? needs_ : ignored).add(*p, n, uniform)) {
            return known;
        }
        if (mode_ == Mode::Tell) {
            return intersection(known, {n, p->constant % n});
        }
        saved_ += times_ * (n - 1);
        if (!address_known) {
            needs_.add_address(buffer, bytes);
        }
        return known;
    }

    Expr visit(const Load *op) override {
        const Expr index = mutate(op->index);
        return with(op, &Load::index, index, &Load::predicate, mutate(op->predicate),
                    &Load::alignment,
                    look_at(op->name, index, op->predicate, op->type, op->alignment));
    }

    Stmt visit(const Store *op) override {
        const Expr index = mutate(op->index), value = mutate(op->value);
        return with(op, &Store::value, value, &Store::index, index, &Store::predicate,
                    mutate(op->predicate), &Store::alignment,
                    look_at(op->name, index, op->predicate, value.type(), op->alignment));
    }

    LowerContext &ctx_;
    Mode mode_ = Mode::Host;
    Needs needs_;
    int64_t times_ = 1;  ///< that a thread comes by
    int64_t work_ = 0;   ///< operations of a thread
    int64_t saved_ = 0;  ///< accesses that it would not make
    Polynomials known_;
    Scope<> own_;        ///< names bound in the kernel
    Scope<> made_here_;  ///< allocations of the pipeline outside of kernels
};

}  // namespace

Stmt assume_alignment(const Stmt &s, LowerContext &ctx) {
    return AlignmentAssumer(ctx).mutate(s);
}

}  // namespace calotype::internal
