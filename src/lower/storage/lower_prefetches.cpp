// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/lower_prefetches.h"

#include "ir/constants.h"
#include "ir/conventions/prefetch.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/names.h"
#include "lower/storage/flat_index.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class LowerPrefetches : public StmtMutator {
public:
    explicit LowerPrefetches(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> bind(allocated_, op->name);
        return Mutator::visit(op);
    }

    /// The first and the last element of the region in each dimension, and whether to fetch it.
    struct Region {
        std::vector<Expr> first, last;
        Expr condition;
    };

    static Region region_of(const Prefetch *op) {
        Region region{{}, {}, op->condition};
        for (int d = 0; d < int(op->bounds.size()); d++) {
            const Range &bounds = op->bounds[size_t(d)];
            const Expr buffer_min = names::var(names::buffer_min(op->name, d));
            const Expr buffer_max = buffer_min + names::var(names::buffer_extent(op->name, d)) - 1;
            Expr first = bounds.min, last = bounds.min + bounds.extent - 1;
            if (op->strategy == PrefetchBoundStrategy::Clamp) {
                first = clamp(first, buffer_min, buffer_max);
                last = clamp(last, buffer_min, buffer_max);
            } else if (op->strategy == PrefetchBoundStrategy::GuardWithIf) {
                region.condition = region.condition && first >= buffer_min && last <= buffer_max;
            }
            region.first.push_back(first);
            region.last.push_back(last);
        }
        return region;
    }

    Stmt visit(const Prefetch *op) override {
        const Stmt body = mutate(op->body);
        const Region region = region_of(op);
        const Type t = op->types[0];
        const int step = elements_fetched(t);
        std::vector<std::string> loops;
        std::vector<Expr> args;
        for (size_t d = 0; d < region.first.size(); d++) {
            loops.push_back(ctx_.names.unique(op->name + ".prefetch." + std::to_string(d)));
            args.push_back(region.first[d] + names::var(loops[d]) * (d == 0 ? step : 1));
        }
        const Expr index =
            flat_index(op->name, args, allocated_.contains(op->name), index_type(ctx_.target));
        Stmt fetch = Evaluate::make(
            Call::make(t, Intrinsic::prefetch, {Variable::make(Handle(), op->name), index}));
        for (size_t d = 0; d < loops.size(); d++) {
            const Expr extent = region.last[d] - region.first[d] + 1;
            fetch = For::make(loops[d], 0, d == 0 ? (extent + (step - 1)) / step : extent,
                              ForType::Serial, Partition::Never, DeviceAPI::None, fetch);
        }
        if (!is_trivially_true(region.condition)) {
            fetch = IfThenElse::make(region.condition, fetch);
        }
        return Block::make(fetch, body);
    }

    LowerContext &ctx_;
    Scope<> allocated_;
};

}  // namespace

Stmt lower_prefetches(const Stmt &s, LowerContext &ctx) {
    return LowerPrefetches(ctx).mutate(s);
}

}  // namespace calotype::internal
