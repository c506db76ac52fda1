// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/largest_of_blocks.h"

#include <algorithm>

#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

/// A constant of at most that many elements in a dimension is not worth a question.
constexpr int64_t small_extent = 256;

bool is_one_value(const Expr &e) {
    return is_pure(e) && !contains_kind(e, NodeKind::Load);
}

/// e with the lets that it needs.
Expr with_lets(Expr e, const std::vector<std::pair<std::string, Expr>> &lets) {
    for (size_t i = lets.size(); i-- > 0;) {
        if (uses_var(e, lets[i].first)) {
            e = Let::make(lets[i].first, lets[i].second, e);
        }
    }
    return e;
}

/// e in the first or the last block, in each direction in which it is known where it is largest.
Expr at_ends(Expr e, const std::vector<BlockRange> &blocks) {
    for (size_t i = blocks.size(); i-- > 0;) {
        const BlockRange &block = blocks[i];
        if (!uses_var(e, block.name)) {
            continue;
        }
        const Monotonic m = is_monotonic(e, block.name);
        if (m != Monotonic::Unknown) {
            const bool first = m == Monotonic::Decreasing;
            e = substitute(block.name, first ? block.min : block.min + block.extent - 1, e);
        }
    }
    return simplify(e);
}

bool uses_blocks(const Expr &e, const std::vector<BlockRange> &blocks) {
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const BlockRange &block) { return uses_var(e, block.name); });
}

bool uses_any_of(const Expr &e, const KnownHere &known) {
    return any_free_variable(e, [&](const std::string &name) { return known.binds(name); });
}

}  // namespace

PlaceInKernel::Inside::Inside(PlaceInKernel &place, const LetStmt *op)
    : place_(place), blocks_(place.blocks_.size()), lets_(place.lets_.size()) {
    of_kernel_.emplace(place.of_kernel_, op);
    of_block_.emplace(place.of_block_, op);
    if (is_pure(op->value)) {
        place.lets_.emplace_back(op->name, op->value);
    }
}

PlaceInKernel::Inside::Inside(PlaceInKernel &place, const For *op)
    : place_(place), blocks_(place.blocks_.size()), lets_(place.lets_.size()) {
    const Expr blocks = op->for_type == ForType::GPUBlock ? place.number_of_blocks(op) : Expr();
    of_kernel_.emplace(place.of_kernel_, op);
    if (blocks.defined()) {
        place.blocks_.push_back({op->name, op->min, blocks});
    } else {
        of_block_.emplace(place.of_block_, op);
    }
}

Expr PlaceInKernel::number_of_blocks(const For *op) const {
    const Interval extent = of_kernel_.interval(op->extent);
    return extent.has_upper_bound() && !uses_any_of(op->min, of_kernel_) ? extent.max : Expr();
}

PlaceInKernel::Inside::~Inside() {
    place_.blocks_.resize(blocks_);
    place_.lets_.resize(lets_);
}

Expr LargestOfBlocks::of(const std::string &what, const Expr &size, const PlaceInKernel &place) {
    const Interval all = place.of_kernel().interval(size), range = place.of_block().interval(size);
    const auto constant = all.has_upper_bound() ? as_const_int(all.max) : std::nullopt;
    if ((constant && *constant <= small_extent) || !range.has_upper_bound() ||
        !is_one_value(range.max)) {
        return all.has_upper_bound() ? all.max : Expr();
    }
    const Expr largest = at_ends(range.max, place.blocks());
    if (!uses_blocks(largest, place.blocks())) {
        return largest;
    }
    // As it is written it is exact, unless threads have different sizes.
    const Expr written = with_lets(size, place.lets());
    const bool is_of_block = is_one_value(written) && !uses_any_of(written, place.of_block());
    Asked asked{ctx_.names.unique(what + ".largest"), is_of_block ? written : range.max, {}};
    for (const BlockRange &block : place.blocks()) {
        if (uses_var(asked.size, block.name)) {
            const std::string name = ctx_.names.unique(block.name + ".asked");
            asked.size = substitute(block.name, Variable::make(Int(32), name), asked.size);
            asked.blocks.push_back({name, block.min, block.extent});
        }
    }
    asked_.push_back(asked);
    return Variable::make(Int(32), asked.name);
}

Stmt LargestOfBlocks::asked_before(const Asked &asked, const Stmt &kernel) const {
    const std::string storage = names::part(asked.name, "found");
    const Expr found = Load::make(Int(32), storage, 0, const_true(), Alignment());
    Stmt loop = Store::make(storage, max(found, asked.size), 0, const_true(), Alignment());
    for (const BlockRange &block : asked.blocks) {
        loop = For::make(block.name, block.min, block.extent, ForType::Serial, Partition::Never,
                         DeviceAPI::None, loop);
    }
    const Stmt start = Store::make(storage, 0, 0, const_true(), Alignment());
    return Allocate::make(storage, Int(32), MemoryType::Stack, {1}, const_true(),
                          Block::make({start, loop, LetStmt::make(asked.name, found, kernel)}));
}

Stmt LargestOfBlocks::around(Stmt kernel) {
    for (size_t i = asked_.size(); i-- > 0;) {
        kernel = asked_before(asked_[i], kernel);
    }
    asked_.clear();
    return kernel;
}

}  // namespace calotype::internal
