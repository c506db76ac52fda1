// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First all strided loads are found, with the places that they stand at (strided_loads.h). Of those
// that differ by constants, clusters are made: all whose first elements lie within one stride. Then
// the code is written again: each load of a cluster becomes a slice.
#include "lower/vectors/load_densely.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/names.h"
#include "lower/vectors/bit_lanes.h"
#include "lower/vectors/strided_index.h"
#include "lower/vectors/strided_loads.h"

namespace calotype::internal {

namespace {

/// The largest stride of a load that shares its dense load with no other: beyond it a gather costs
/// less.
constexpr int64_t small_stride = 8;
/// The largest stride, and number of lanes, of loads that share a dense one.
constexpr int64_t max_stride = 64;
constexpr int64_t max_lanes = 1024;
/// The largest stride of a load of any type that two overlapping ones take the place of.
constexpr int64_t max_overlapping_stride = 4;

/// Of bytes also where every eighth is wanted: a register of them has two, which is more than the one that an
/// insertion puts there. Of 16 bits, too, where a register has four and one permutation takes them out of two.
bool may_overlap(int64_t stride, Type t, const Target *target) {
    const bool permutes = target && target->has_feature(Target::AVX512_Skylake);
    return stride <= max_overlapping_stride || stride * t.bytes() <= (permutes ? 16 : 8);
}

/// A register has but one or two elements that are this far apart, and each dense load of a row that is not aligned takes
/// two lines of the cache: as many scalar loads cost less.
constexpr int64_t far_apart = 32;  // bytes

/// What takes the place of strided loads.
struct Dense {
    const LoadGroup *group = nullptr;
    const Load *like = nullptr;  ///< one of the strided loads
    int64_t first = 0;           ///< offset of its first element
    bool transposed = false;     ///< all columns of it, one after the other
    bool overlapping = false;    ///< two loads, for one strided one
    std::string name;            ///< of the let, if it has one

    int lanes() const {
        return group->type.lanes();
    }
};

/// A strided load as part of a dense one.
struct Slice {
    std::shared_ptr<Dense> dense;
    int64_t column = 0;
};

struct Plan {
    std::map<std::pair<int, const Load *>, Slice> slices;     ///< by the number of the place
    std::map<int, std::vector<std::shared_ptr<Dense>>> lets;  ///< to be made around a place
    std::map<const Allocate *, int> padding;
};

class Planner {
public:
    Planner(const StridedLoads &found, UniqueNames *names, const Target *target)
        : found_(found), names_(names), target_(target) {
    }

    Plan plan() {
        for (const auto &[group, loads] : found_.groups) {
            if (!loads[0].place->in_kernel) {
                plan_group(group, loads);
                continue;
            }
            std::map<int, std::vector<StridedLoad>> by_place;
            for (const StridedLoad &load : loads) {
                by_place[load.place->number].push_back(load);
            }
            for (const auto &[number, some] : by_place) {
                plan_group(group, some);
            }
        }
        return std::move(plan_);
    }

private:
    using Loads = std::vector<const StridedLoad *>;

    /// The offsets that are read whenever the code around a group runs.
    struct Sure {
        int64_t min = INT64_MAX, max = INT64_MIN;
        bool any() const {
            return min <= max;
        }
    };

    void plan_group(const LoadGroup &group, const std::vector<StridedLoad> &loads) {
        const Place *around = loads[0].place;
        Loads sorted;
        for (const StridedLoad &load : loads) {
            around = common_place(around, load.place);
            sorted.push_back(&load);
        }
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](auto *a, auto *b) { return a->offset < b->offset; });
        Sure sure;
        for (const StridedLoad &load : loads) {
            if (load.is_sure && load.place->runs_with(around)) {
                sure.min = std::min(sure.min, load.offset);
                sure.max = std::max(sure.max, load.offset);
            }
        }
        for (size_t i = 0; i < sorted.size();) {
            size_t end = i;
            while (end < sorted.size() && sorted[end]->offset < sorted[i]->offset + group.stride) {
                end++;
            }
            plan_cluster(group, sure, Loads(sorted.begin() + long(i), sorted.begin() + long(end)));
            i = end;
        }
    }

    static int count_columns(const Loads &cluster) {
        int count = 1;
        for (size_t i = 1; i < cluster.size(); i++) {
            count += cluster[i]->offset != cluster[i - 1]->offset;
        }
        return count;
    }

    /// Whether a statement that loads of the buffer stores to it.
    bool is_updated(const LoadGroup &group, const Loads &cluster) const {
        return std::any_of(cluster.begin(), cluster.end(), [&](const StridedLoad *load) {
            return found_.may_store(load->place, group.name);
        });
    }

    void plan_cluster(const LoadGroup &group, const Sure &sure, const Loads &cluster) {
        const int64_t stride = group.stride, lanes = group.type.lanes();
        const int columns = count_columns(cluster);
        const bool in_kernel = cluster[0]->place->in_kernel;
        if (columns == 1 && is_updated(group, cluster)) {
            return;  // what is stored by elements is loaded so: a dense load would wait for the stores
        }
        if (stride * lanes > max_lanes || (in_kernel && stride > small_stride) ||
            (stride > small_stride && columns < 2) ||
            (!in_kernel && columns < 2 && stride > max_overlapping_stride &&
             stride * group.type.bytes() >= far_apart) ||
            (stride > small_stride && stride > lanes && 2 * columns <= stride)) {
            return;
        }
        auto dense = std::make_shared<Dense>();
        dense->group = &group;
        dense->like = cluster[0]->load;
        const std::optional<int64_t> first = first_element(group, sure, cluster);
        if (first) {
            dense->first = *first;
            dense->transposed = stride > max_overlapping_stride && 2 * columns > stride &&
                                2 * stride > lanes && !in_kernel;
        } else if (in_kernel || columns > 1) {
            return;
        } else if (pad(group)) {
            dense->first = cluster[0]->offset;
        } else if (may_overlap(stride, group.type, target_) && lanes >= 4) {
            dense->first = cluster[0]->offset;
            dense->overlapping = true;
        } else {
            return;
        }
        for (const StridedLoad *load : cluster) {
            plan_.slices[{load->place->number, load->load}] = {dense, load->offset - dense->first};
        }
        // A let would have all columns, which the two loads that overlap leave out.
        if (!dense->overlapping) {
            share(group, cluster, dense);
        }
    }

    /// Where a dense load can begin that touches nothing but what lies between elements that are
    /// read for sure.
    static std::optional<int64_t> first_element(const LoadGroup &group, const Sure &sure,
                                                const Loads &cluster) {
        const int64_t least = cluster.front()->offset, most = cluster.back()->offset;
        int64_t from = sure.min, to = sure.any() ? sure.max : least;
        if (least == most) {
            from = std::min(from, least);
            to = std::max(to, least);
        }
        const int64_t result = std::min(least, to - group.stride + 1);
        return result >= from && result >= most - group.stride + 1 ? std::optional<int64_t>(result)
                                                                   : std::nullopt;
    }

    /// True if the buffer is one that can be made longer.
    bool pad(const LoadGroup &group) {
        const auto it = found_.allocations.find(group.name);
        const Allocate *op = it == found_.allocations.end() ? nullptr : it->second;
        const bool plain =
            op && !op->new_expr.defined() && op->free_function.empty() &&
            (op->memory_type == MemoryType::Auto || op->memory_type == MemoryType::Heap ||
             op->memory_type == MemoryType::Stack);
        if (plain) {
            int &padding = plan_.padding[op];
            padding = std::max(padding, int(group.stride) - 1);
        }
        return plain;
    }

    /// A let, if loads of several statements are slices of one.
    void share(const LoadGroup &group, const Loads &cluster, const std::shared_ptr<Dense> &dense) {
        const Place *around = cluster[0]->place;
        for (const StridedLoad *load : cluster) {
            around = common_place(around, load->place);
        }
        std::set<int> sure;
        for (const StridedLoad *load : cluster) {
            if (load->is_sure && load->place->runs_with(around)) {
                sure.insert(load->place->number);
            }
        }
        if (names_ && sure.size() > 1 && !group.stays && !cluster[0]->place->in_kernel &&
            !found_.may_store(around, group.name)) {
            dense->name = names_->unique(names::part(group.name, "dense"));
            plan_.lets[around->number].push_back(dense);
        }
    }

    const StridedLoads &found_;
    UniqueNames *names_;
    const Target *target_;
    Plan plan_;
};

class DenseLoads : public Mutator {
public:
    explicit DenseLoads(Plan plan) : plan_(std::move(plan)) {
    }

    using Mutator::mutate;
    Stmt mutate(const Stmt &s) override {
        if (!s.defined()) {
            return s;
        }
        const int number = next_++;
        const int outer = std::exchange(here_, number);
        Stmt result = Mutator::mutate(s);
        here_ = outer;
        const auto lets = plan_.lets.find(number);
        if (lets != plan_.lets.end()) {
            for (const auto &dense : lets->second) {
                result = LetStmt::make(dense->name, value_of(*dense, dense->group->base), result);
            }
        }
        return result;
    }

    Expr mutate(const Expr &e) override {
        return Rewriter(*this).mutate(e);
    }

private:
    using Mutator::visit;

    /// Each shared node of an expression once.
    class Rewriter : public GraphMutator {
    public:
        explicit Rewriter(DenseLoads &code) : code_(code) {
        }

    private:
        using GraphMutator::visit;
        Expr visit(const Load *op) override {
            const auto it = code_.plan_.slices.find({code_.here_, op});
            if (it == code_.plan_.slices.end()) {
                return GraphMutator::visit(op);
            }
            const Dense &dense = *it->second.dense;
            const Expr base = dense.name.empty() ? mutate(dense.group->base) : Expr();
            return slice_of(dense, it->second.column, base);
        }
        Expr visit(const Call *op) override {
            const Expr e = GraphMutator::visit(op);
            const Call *call = Call::as_intrinsic(e, Intrinsic::concat_bits);
            const Expr joined =
                call ? joined_neighbours(call, call->args, code_.kernels_ > 0) : Expr();
            return joined.defined() ? joined : e;
        }
        DenseLoads &code_;
    };

    static Expr load(const Dense &dense, const Expr &base, int64_t first, int lanes) {
        const Load *op = dense.like;
        return Load::make(op->type.with_lanes(lanes), op->name, dense_index(base, first, lanes),
                          const_true(lanes), Alignment(), op->symbol, op->is_streaming);
    }

    static Expr value_of(const Dense &dense, const Expr &base) {
        const int columns = int(dense.group->stride), rows = dense.lanes();
        const Expr all = load(dense, base, dense.first, columns * rows);
        if (!dense.transposed) {
            return all;
        }
        std::vector<int> indices;
        for (int column = 0; column < columns; column++) {
            for (int row = 0; row < rows; row++) {
                indices.push_back(row * columns + column);
            }
        }
        return Shuffle::make({all}, indices);
    }

    static Expr slice_of(const Dense &dense, int64_t column, const Expr &base) {
        const int stride = int(dense.group->stride), lanes = dense.lanes();
        if (dense.overlapping) {
            return overlapping(dense, base);
        }
        const Expr whole =
            dense.name.empty()
                ? value_of(dense, base)
                : Variable::make(dense.group->type.with_lanes(stride * lanes), dense.name);
        return dense.transposed ? Shuffle::make_slice(whole, int(column) * lanes, 1, lanes)
                                : Shuffle::make_slice(whole, int(column), stride, lanes);
    }

    /// Two loads of a power of two: nothing beyond the last element is touched.
    static Expr overlapping(const Dense &dense, const Expr &base) {
        const int stride = int(dense.group->stride), lanes = dense.lanes();
        const int span = stride * (lanes - 1) + 1;
        int part = 1;
        while (part * 2 < span) {
            part *= 2;
        }
        std::vector<int> indices;
        for (int i = 0; i < lanes; i++) {
            const int at = i * stride;
            indices.push_back(at < part ? at : part + at - (span - part));
        }
        return Shuffle::make({load(dense, base, dense.first, part),
                              load(dense, base, dense.first + span - part, part)},
                             indices);
    }

    Stmt visit(const Atomic *op) override {
        return op;
    }

    Stmt visit(const For *op) override {
        kernels_ += is_gpu(op->for_type);
        const Stmt s = Mutator::visit(op);
        kernels_ -= is_gpu(op->for_type);
        return s;
    }

    Stmt visit(const Allocate *op) override {
        const auto padding = plan_.padding.find(op);
        const Stmt s = Mutator::visit(op);
        const Allocate *same = s.as<Allocate>();
        return padding == plan_.padding.end() || !same
                   ? s
                   : with(same, &Allocate::padding, std::max(same->padding, padding->second));
    }

    const Plan plan_;
    int next_ = 0, here_ = 0, kernels_ = 0;
};

/// Lanes in falling order are loaded in rising order, and turned: f[ramp(x, -3, 8)] is f[ramp(x - 21, 3, 8)] from its end on. Not
/// in kernels, where registers hold one element.
class RisingLoads : public GraphMutator {
private:
    using GraphMutator::visit;

    Stmt visit(const For *op) override {
        return is_gpu(op->for_type) ? Stmt(op) : GraphMutator::visit(op);
    }

    Expr visit(const Load *op) override {
        const Ramp *ramp = op->index.as<Ramp>();
        const std::optional<int64_t> stride =
            ramp && ramp->base.type().is_scalar() ? as_const_int(ramp->stride) : std::nullopt;
        if (!stride || *stride > -2 || *stride < -max_overlapping_stride ||
            !is_always(op->predicate)) {
            return GraphMutator::visit(op);
        }
        const Type t = ramp->base.type();
        const int last = ramp->lanes - 1;
        const Expr first = simplify(mutate(ramp->base) + make_const(t, *stride * last));
        const Expr index = Ramp::make(first, make_const(t, -*stride), ramp->lanes);
        std::vector<int> turned;
        for (int i = last; i >= 0; i--) {
            turned.push_back(i);
        }
        return Shuffle::make({with(op, &Load::index, index, &Load::alignment, Alignment())},
                             turned);
    }
};

Stmt rewritten(const Stmt &given, UniqueNames *names, const Target *target) {
    const Stmt s = RisingLoads().mutate(given);
    const StridedLoads found = find_strided_loads(s, max_stride);
    const bool joins =
        contains<Call>(s, [](const Call *op) { return op->is_intrinsic(Intrinsic::concat_bits); });
    return found.groups.empty() && !joins
               ? s
               : DenseLoads(Planner(found, names, target).plan()).mutate(s);
}

}  // namespace

Stmt load_densely(const Stmt &s, LowerContext &ctx) {
    return rewritten(s, &ctx.names, &ctx.target);
}

Expr load_densely(const Expr &e) {
    return rewritten(Evaluate::make(e), nullptr, nullptr).as<Evaluate>()->value;
}

}  // namespace calotype::internal
