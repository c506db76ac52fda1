// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads are joined where nothing is stored between them and all of them happen: in one expression,
// but for what is under if_then_else. Lets inside have expressions of their own, since an index may
// use them.
#include "lower/gpu/access/join_loads.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/access/kernel_mutator.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/sure_loads.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// A dense load: of `lanes` elements, `first` after a base.
struct Span {
    const Load *load;
    int64_t first;

    int64_t end() const {
        return first + load->type.lanes();
    }
};

/// Of the same buffer and base, in order.
struct Window {
    Expr base;
    std::vector<Span> spans;
    Alignment at_base = Alignment();

    const Load *any() const {
        return spans.front().load;
    }

    /// How many elements one access can move from there on.
    int64_t largest_at(int64_t position) const {
        const int64_t most = std::max<int64_t>(max_access_bytes / any()->type.bytes(), 1);
        return std::gcd(std::gcd(at_base.modulus, at_base.remainder + position), most);
    }

    int64_t accesses_alone(const Span &span) const {
        const int64_t lanes = span.load->type.lanes();
        return lanes / std::gcd(largest_at(span.first), lanes);
    }
};

Alignment moved(const Alignment &a, int64_t by) {
    const int64_t r = a.remainder + by, m = a.modulus;
    return {m, m == 0 ? r : (r % m + m) % m};
}

struct Piece {
    std::string name;
    int64_t first;
    Expr value;
};

/// base + constant.
std::pair<Expr, int64_t> with_offset(const Expr &index) {
    if (const std::optional<int64_t> c = as_const_int(index)) {
        return {make_zero(index.type()), *c};
    }
    const Add *sum = index.as<Add>();
    const std::optional<int64_t> c = sum ? as_const_int(sum->b) : std::nullopt;
    return c ? std::make_pair(sum->a, *c) : std::make_pair(index, int64_t(0));
}

/// Where nothing is loaded in between, one window ends.
void split(Window &window, std::vector<Window> &result) {
    std::stable_sort(window.spans.begin(), window.spans.end(),
                     [](const Span &a, const Span &b) { return a.first < b.first; });
    int64_t end = 0;
    for (const Span &span : window.spans) {
        if (&span == &window.spans.front() || span.first > end) {
            result.push_back({window.base, {}, window.at_base});
            end = span.end();
        }
        result.back().spans.push_back(span);
        end = std::max(end, span.end());
    }
}

/// Buffer, type, base.
using Key = std::tuple<std::string, std::string, Expr>;

struct KeyLess {
    bool operator()(const Key &a, const Key &b) const {
        const auto &[name, bytes, base] = a;
        const auto &[other_name, other_bytes, other_base] = b;
        return std::tie(name, bytes) != std::tie(other_name, other_bytes)
                   ? std::tie(name, bytes) < std::tie(other_name, other_bytes)
                   : ExprDeepLess()(base, other_base);
    }
};

/// The dense loads of an expression, but for those in lets and under conditions of their own.
std::vector<Window> windows_of(const Expr &e, const Scope<> &own) {
    SureLoads loads([&](const std::string &buffer) { return !own.contains(buffer); }, false);
    loads(e);
    std::map<Key, Window, KeyLess> windows;
    for (const Load *op : loads.found) {
        if (is_dense(op->index, op->predicate) && !op->type.is_bool()) {
            const auto [base, first] = with_offset(op->index.as<Ramp>()->base);
            Window &window = windows[{op->name, to_string(op->type.element_of()), base}];
            window.base = base;
            window.spans.push_back({op, first});
            window.at_base = intersection(window.at_base, moved(op->alignment, -first));
        }
    }
    std::vector<Window> result;
    for (auto &[key, window] : windows) {
        split(window, result);
    }
    return result;
}

class LoadJoiner : public KernelMutator {
public:
    explicit LoadJoiner(LowerContext &ctx) : ctx_(ctx) {
    }

    using Mutator::mutate;
    /// Each expression that is reached from a statement or a let is one in which loads are joined.
    Expr mutate(const Expr &e) override {
        if (!e.defined() || !in_kernel_ || inside_ || !contains_kind(e, NodeKind::Load)) {
            return inside_ ? Mutator::mutate(e) : e;
        }
        return joined(e);
    }

private:
    using KernelMutator::visit;

    Expr joined(const Expr &e) {
        std::vector<Piece> pieces;
        std::map<const Load *, Expr> outer_joined;
        std::swap(joined_, outer_joined);
        for (const Window &window : windows_of(e, own_)) {
            join(window, pieces);
        }
        inside_ = true;
        Expr result = Mutator::mutate(e);
        inside_ = false;
        std::swap(joined_, outer_joined);
        for (size_t i = pieces.size(); i-- > 0;) {
            result = Let::make(pieces[i].name, pieces[i].value, result);
        }
        return result;
    }

    void join(const Window &window, std::vector<Piece> &all) {
        int64_t alone = 0, end = window.spans.front().end();
        for (const Span &span : window.spans) {
            alone += window.accesses_alone(span);
            end = std::max(end, span.end());
        }
        std::vector<Piece> pieces;
        for (int64_t at = window.spans.front().first; at < end;) {
            int64_t n = window.largest_at(at);
            while (at + n > end) {
                n /= 2;
            }
            pieces.push_back({"", at, piece(window, at, int(n))});
            at += n;
        }
        if (int64_t(pieces.size()) >= alone) {
            return;
        }
        for (Piece &p : pieces) {
            p.name = ctx_.names.unique(window.any()->name + ".window");
        }
        for (const Span &span : window.spans) {
            joined_[span.load] = put_together(span, pieces);
        }
        all.insert(all.end(), pieces.begin(), pieces.end());
    }

    static Expr piece(const Window &window, int64_t at, int lanes) {
        const Load *like = window.any();
        const Type index_type = window.base.type();
        const Expr first = simplify(window.base + make_const(index_type, at));
        const Expr index = lanes == 1 ? first : Ramp::make(first, make_one(index_type), lanes);
        return with(like, &Load::index, index, &Load::predicate, const_true(lanes),
                    &Load::alignment, moved(window.at_base, at));
    }

    static Expr put_together(const Span &span, const std::vector<Piece> &pieces) {
        std::vector<Expr> parts;
        int64_t first = 0, end = 0;
        for (const Piece &p : pieces) {
            const int64_t piece_end = p.first + p.value.type().lanes();
            if (piece_end <= span.first || p.first >= span.end()) {
                continue;
            }
            first = parts.empty() ? p.first : first;
            end = piece_end;
            parts.push_back(Variable::make(p.value.type(), p.name));
        }
        if (parts.size() == 1 && first == span.first && end == span.end()) {
            return parts[0];
        }
        std::vector<int> lanes(size_t(span.load->type.lanes()));
        std::iota(lanes.begin(), lanes.end(), int(span.first - first));
        return Shuffle::make(parts, lanes);
    }

    Expr visit(const Load *op) override {
        const auto it = joined_.find(op);
        return it == joined_.end() ? Mutator::visit(op) : it->second;
    }

    Expr visit(const Let *op) override {
        const Expr value = apart(op->value), body = apart(op->body);
        return Let::make(op->name, value, body);
    }

    Expr visit(const Call *op) override {
        if (!op->is_intrinsic(Intrinsic::if_then_else)) {
            return Mutator::visit(op);
        }
        std::vector<Expr> args = {mutate(op->args[0])};
        for (size_t i = 1; i < op->args.size(); i++) {
            args.push_back(apart(op->args[i]));
        }
        return Call::make(op->type, Intrinsic::if_then_else, args);
    }

    /// As an expression of its own.
    Expr apart(const Expr &e) {
        inside_ = false;
        const Expr result = mutate(e);
        inside_ = true;
        return result;
    }

    LowerContext &ctx_;
    bool inside_ = false;  ///< an expression whose loads were gathered
    std::map<const Load *, Expr> joined_;
};

}  // namespace

Stmt join_loads(const Stmt &s, LowerContext &ctx) {
    return LoadJoiner(ctx).mutate(s);
}

}  // namespace calotype::internal
