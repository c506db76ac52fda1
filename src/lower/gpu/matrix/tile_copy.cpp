// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With t the place in the storage that a thread stores to, and i that in the input that it loads,
// both in terms of the numbers of threads and of loops, the fill is a copy of a rectangle if
//
//     i = (x + t % width) + (y + t / width) * stride + z * stride of another dimension + ...
//
// with x, y, z that are the same for all of them. That t takes each value once is found by counting.
#include "lower/gpu/matrix/tile_copy.h"

#include <algorithm>

#include "arith/sample_value.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/gpu/host/device_alignment.h"
#include "lower/let_scope.h"
#include "lower/names.h"
#include "pipeline/parameter.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

constexpr int unit_bytes = 16;  ///< rows and the buffer begin at multiples of that

/// Without promises, which hold.
class DropPromises : public Mutator {
    using Mutator::visit;
    Expr visit(const Call *op) override {
        return op->is_intrinsic({Intrinsic::promise_clamped, Intrinsic::unsafe_promise_clamped})
                   ? mutate(op->args[0])
                   : Mutator::visit(op);
    }
};

/// The one store of a fill and the loops around it.
struct Fill {
    LetScope lets;
    std::vector<KernelLoop> loops;  ///< and threads
    const Store *store = nullptr;

    /// False if there is more than loops around one store.
    bool read(const Stmt &s) {
        if (const LetStmt *let = s.as<LetStmt>()) {
            lets.push(let->name, let->value);
            return is_pure(let->value) && read(let->body);
        }
        if (const For *loop = s.as<For>()) {
            loops.push_back({loop->name, loop->extent});
            return loop->for_type == ForType::Serial && is_const_zero(loop->min) &&
                   read(loop->body);
        }
        store = s.as<Store>();
        return store != nullptr;
    }

    /// e without lets and promises; undefined if that is too much.
    Expr expanded(const Expr &e) const {
        // The lets stand in any order.
        constexpr int most_rounds = 16;
        Expr result = e;
        for (int i = 0; i < most_rounds && result.defined() && uses_lets(result); i++) {
            result = lets.expand(result);
        }
        return result.defined() && !uses_lets(result) ? DropPromises().mutate(result) : Expr();
    }
    bool uses_lets(const Expr &e) const {
        return any_free_variable(e, [&](const std::string &name) { return lets.binds(name); });
    }

    bool is_own(const std::string &name) const {
        return std::any_of(loops.begin(), loops.end(),
                           [&](const KernelLoop &loop) { return loop.name == name; });
    }
    bool uses_only_own(const Expr &e) const {
        return !any_free_variable(e, [&](const std::string &name) { return !is_own(name); });
    }
    bool uses_own(const Expr &e) const {
        return any_free_variable(e, [&](const std::string &name) { return is_own(name); });
    }
};

/// Counts which multiples of `step` below `size` an expression takes, for all values of loops.
class PlaceCounter {
public:
    PlaceCounter(const Fill &fill, const Expr &place, int step, int size)
        : fill_(fill), place_(place), step_(step), seen_(size_t(size / step)) {
    }
    /// True if it takes each of them once.
    bool takes_each_once() {
        int64_t times = 1;
        for (const KernelLoop &loop : fill_.loops) {
            times *= as_const_int(loop.extent).value_or(0);
        }
        if (times != int64_t(seen_.size())) {
            return false;
        }
        from(0);
        return all_;
    }

private:
    void from(size_t i) {
        if (i == fill_.loops.size()) {
            const auto value = values_.of(place_);
            const bool fits = value && *value % step_ == 0 && *value >= 0 &&
                              *value / step_ < int64_t(seen_.size()) &&
                              !seen_[size_t(*value / step_)];
            all_ = all_ && fits;
            if (fits) {
                seen_[size_t(*value / step_)] = true;
            }
            return;
        }
        const int n = int(*as_const_int(fill_.loops[i].extent));
        for (int v = 0; v < n && all_; v++) {
            values_.with(fill_.loops[i].name, v, [&] { from(i + 1); });
        }
    }

    const Fill &fill_;
    const Expr place_;
    const int step_;
    std::vector<bool> seen_;
    SampleValues values_;
    bool all_ = true;
};

/// True if the unit can read the input: its rows are known to begin where it needs them.
bool is_readable(const std::string &from, Type t, const LowerContext &ctx) {
    const auto input = ctx.used.parameters.find(from);
    if (input == ctx.used.parameters.end() || input->second.dimensions() < 2 ||
        input->second.dimensions() > TileCopyCall::most_dimensions ||
        promised_alignment(ctx, from, t).modulus % unit_bytes != 0) {
        return false;
    }
    for (int d = 1; d < input->second.dimensions(); d++) {
        const Expr stride = input->second.stride_constraint(d);
        const Alignment known = stride.defined() ? modulus_remainder(stride) : Alignment();
        if (known.modulus * t.bytes() % unit_bytes != 0 ||
            known.remainder * t.bytes() % unit_bytes != 0) {
            return false;
        }
    }
    return true;
}

/// Of the lets, those whose values come from one of the names.
void push_lets_of(std::vector<std::string> names, const std::map<std::string, Expr> &lets,
                  LetScope *result) {
    for (size_t i = 0; i < names.size(); i++) {
        for (const auto &[name, value] : lets) {
            if (!result->binds(name) && uses_var(value, names[i])) {
                result->push(name, value);
                names.push_back(name);
            }
        }
    }
}

/// Strides under the names of their fields, where an index has what was given for them.
Expr with_field_names(Expr index, const std::vector<std::string> &strides) {
    for (const std::string &name : strides) {
        index = substitute(names::given(name), names::var(name), index);
    }
    return index;
}

/// An index as a sum of coordinates, each times the stride of its dimension (1 of the first); empty
/// if it is not one.
std::vector<Expr> coordinates_of(const Expr &index, const std::vector<std::string> &strides,
                                 const SimplifyContext &context) {
    const auto at = [&](int value, const std::string &only = "") {
        std::map<std::string, Expr> values;
        for (const std::string &name : strides) {
            values[name] = only.empty() || only == name ? value : 0;
        }
        return substitute(values, index);
    };
    std::vector<Expr> result = {simplify(at(0), context)};
    Expr once = result[0], twice = result[0];
    for (const std::string &name : strides) {
        result.push_back(simplify(at(1, name) - at(0), context));
        once = once + result.back();
        twice = twice + result.back() * 2;
    }
    const bool is_sum = is_const_zero(simplify(at(1) - once, context)) &&
                        is_const_zero(simplify(at(2) - twice, context));
    return is_sum ? result : std::vector<Expr>();
}

/// Takes the place in the storage away from the coordinates. False if what is left of them is not
/// the same for all threads.
bool begins_at_one_place(const Fill &fill, const Expr &place, const PanelLayout &layout,
                         const SimplifyContext &context, TileCopy *tile) {
    for (size_t d = 0; d < tile->coordinates.size(); d++) {
        Expr &at = tile->coordinates[d];
        if (d == 0) {
            at = simplify(at - place % layout.width, context);
        } else if (tile->dimension == 0 && fill.uses_own(at)) {
            at = simplify(at - place / layout.width, context);
            tile->dimension = int(d);
        }
        if (fill.uses_own(at)) {
            return false;
        }
    }
    return tile->dimension > 0;
}

}  // namespace

std::optional<TileCopy> match_tile_copy(const Stmt &fill, const std::string &to,
                                        const PanelLayout &layout,
                                        const std::vector<KernelLoop> &threads,
                                        const std::map<std::string, Expr> &lets,
                                        const LowerContext &ctx) {
    Fill parts{{}, threads, nullptr};
    if (!parts.read(fill) || parts.store->name != to ||
        (layout.rows > TileCopyCall::most_rows && layout.rows % TileCopyCall::most_rows != 0)) {
        return std::nullopt;
    }
    const Load *load = parts.store->value.as<Load>();
    const Expr first = first_of_neighbours(parts.store->index);
    if (!load || !first.defined() || first.type() != Int(32) ||
        !is_trivially_true(parts.store->predicate) || !is_trivially_true(load->predicate) ||
        !first_of_neighbours(load->index).defined() ||
        !is_readable(load->name, load->type.element_of(), ctx)) {
        return std::nullopt;
    }
    SimplifyContext context;
    std::vector<std::string> strides;
    for (int d = 1; d < ctx.used.parameters.at(load->name).dimensions(); d++) {
        strides.push_back(names::buffer_stride(load->name, d));
    }
    std::vector<std::string> names = strides;
    for (const KernelLoop &loop : parts.loops) {
        const auto extent = as_const_int(loop.extent);
        if (!extent) {
            return std::nullopt;
        }
        context.bound(loop.name, 0, *extent - 1);
        names.push_back(loop.name);
    }
    push_lets_of(names, lets, &parts.lets);
    const Expr to_first = parts.expanded(first),
               from_first = parts.expanded(first_of_neighbours(load->index));
    if (!to_first.defined() || !from_first.defined()) {
        return std::nullopt;
    }
    const Expr place = simplify(to_first, context);
    if (!parts.uses_only_own(place)) {
        return std::nullopt;
    }
    PlaceCounter counter(parts, place, load->type.lanes(), layout.width * layout.rows);
    if (!counter.takes_each_once()) {
        return std::nullopt;
    }
    TileCopy tile = {load->name, load->type.element_of(), 0,
                     coordinates_of(with_field_names(from_first, strides), strides, context)};
    return begins_at_one_place(parts, place, layout, context, &tile)
               ? std::optional<TileCopy>(std::move(tile))
               : std::nullopt;
}

}  // namespace calotype::internal
