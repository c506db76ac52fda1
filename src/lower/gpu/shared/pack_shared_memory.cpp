// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a kernel is numbered in the order of its text. Storage lives from its first use to
// its last; if these are in a loop inside of the allocation, from the loop's begin to its end.
// Storage b may take the place of a if a barrier that all threads pass stands after a's last use
// and before b's first, and, where both are in one loop, another after b's last use, or before a's
// first in the next iteration. Storage of the two branches of a condition that is about the block
// as a whole, and always the same in it, is never used in one block: no barrier is needed there.
#include "lower/gpu/shared/pack_shared_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "arith/atomic_update.h"
#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/access/shift_accesses.h"
#include "lower/gpu/device_limits.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/largest_of_blocks.h"
#include "pipeline/schedule.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// What storage begins at a multiple of, in bytes.
constexpr int unit_bytes = 16;
/// What warpgroups read begins at multiples of 1024 bytes.
constexpr int warpgroup_units = 1024 / unit_bytes;

struct LoopSpan {
    int begin = 0, end = 0;
};

struct Storage {
    std::string name;
    int element_bytes = 1;
    bool is_constant = true;       ///< the size, not only its bound
    Expr units;                    ///< size, in terms of what is outside of the kernel
    Expr bytes;                    ///< the same in 64 bits
    std::vector<int> loops;        ///< around the allocation, outermost first
    std::map<int, bool> branches;  ///< of the block's conditions around it: which one it is in
    int first = -1, last = -1;
};

struct Barrier {
    int position = 0;
    std::vector<int> loops;
};

/// The storage of a kernel and when it lives.
class LiveRanges : public Visitor {
public:
    LiveRanges(const KernelNest &nest, LowerContext &ctx)
        : largest(ctx),
          unit_units_(contains_intrinsic(nest.body, Intrinsic::gpu_warpgroup_multiply_add)
                          ? warpgroup_units
                          : 1) {
        (*this)(nest.to_stmt());
    }
    std::vector<Storage> storage;
    LargestOfBlocks largest;  ///< what sizes are in terms of

    /// True if b may take the place of a.
    bool may_follow(const Storage &a, const Storage &b) const {
        if (a.last < 0 || b.last < 0 || exclude_each_other(a, b)) {
            return true;
        }
        const size_t common = size_t(
            std::mismatch(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end()).first -
            a.loops.begin());
        const std::vector<int> loops(a.loops.begin(), a.loops.begin() + long(common));
        if (!has_barrier(a.last, b.first, loops)) {
            return false;
        }
        return loops.empty() || has_barrier(b.last, spans_[size_t(loops.back())].end, loops) ||
               has_barrier(spans_[size_t(loops.back())].begin, a.first, loops);
    }

private:
    using Visitor::visit;

    static bool exclude_each_other(const Storage &a, const Storage &b) {
        return std::any_of(a.branches.begin(), a.branches.end(), [&](const auto &branch) {
            const auto other = b.branches.find(branch.first);
            return other != b.branches.end() && other->second != branch.second;
        });
    }

    /// True if the value is the same wherever in a block it is asked for.
    bool is_of_block(const Expr &e) const {
        return is_pure(e) && !contains_kind(e, NodeKind::Load) && !uses_any_var(e, inner_);
    }

    bool has_barrier(int after, int before, const std::vector<int> &loops) const {
        return std::any_of(barriers_.begin(), barriers_.end(), [&](const Barrier &b) {
            return after < b.position && b.position < before && b.loops.size() <= loops.size() &&
                   std::equal(b.loops.begin(), b.loops.end(), loops.begin());
        });
    }

    /// A use at a place in loops reaches as far as those that are not around the allocation.
    void use(const std::string &name) {
        for (size_t i = storage.size(); i-- > 0;) {
            if (storage[i].name != name) {
                continue;
            }
            const size_t depth = storage[i].loops.size();
            const int here =
                depth < loops_.size() ? spans_[size_t(loops_[depth])].begin : position_;
            storage[i].first = storage[i].first < 0 ? here : std::min(storage[i].first, here);
            storage[i].last = std::max(storage[i].last, position_);
            if (depth < loops_.size()) {
                to_extend_.emplace_back(i, loops_[depth]);
            }
            return;
        }
    }

    void visit(const Load *op) override {
        use(op->name);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        Visitor::visit(op);
        use(op->name);
        position_++;
    }
    void visit(const Variable *op) override {
        if (op->type.is_handle()) {
            use(op->name);
        }
    }
    void visit(const Evaluate *op) override {
        Visitor::visit(op);
        const Call *call = op->value.as<Call>();
        if (call && call->is_intrinsic(Intrinsic::gpu_thread_barrier) && conditions_ == 0) {
            barriers_.push_back({++position_, loops_});
        }
        position_++;
    }
    void visit(const IfThenElse *op) override {
        conditions_++;
        (*this)(op->condition);
        const bool is_choice = is_of_block(op->condition);
        const int number = is_choice ? choices_++ : -1;
        for (const bool first : {true, false}) {
            if (is_choice) {
                branches_[number] = first;
            }
            (*this)(first ? op->then_case : op->else_case);
        }
        branches_.erase(number);
        conditions_--;
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        const bool is_inner = !is_of_block(op->value);
        const PlaceInKernel::Inside inside(place_, op);
        const ScopedBinding<> bind_inner(is_inner, inner_, op->name);
        (*this)(op->body);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        const PlaceInKernel::Inside inside(place_, op);
        const ScopedBinding<> bind_inner(op->for_type != ForType::GPUBlock, inner_, op->name);
        if (is_gpu(op->for_type)) {
            (*this)(op->body);
            return;
        }
        const int number = int(spans_.size());
        spans_.push_back({++position_, 0});
        position_++;
        loops_.push_back(number);
        (*this)(op->body);
        loops_.pop_back();
        const int end = ++position_;
        spans_[size_t(number)].end = end;
        position_++;
        for (const auto &entry : to_extend_) {
            Storage &s = storage[entry.first];
            s.last = entry.second == number ? std::max(s.last, end) : s.last;
        }
    }
    void visit(const Allocate *op) override {
        if (is_gpu_shared(op->memory_type)) {
            Storage s;
            s.name = op->name;
            s.element_bytes = op->type.bytes() * op->type.lanes();
            s.is_constant = op->constant_size() > 0;
            set_size(s, op);
            s.loops = loops_;
            s.branches = branches_;
            storage.push_back(std::move(s));
        }
        Visitor::visit(op);
    }

    void set_size(Storage &s, const Allocate *op) {
        const Expr most_elements = make_const(Int(64), std::numeric_limits<int32_t>::max());
        Expr elements = 1, exact = make_one(Int(64));
        for (const Expr &e : op->extents) {
            const Expr most = largest.of(op->name, e, place_);
            user_assert(most.defined())
                << "storage of " << op->name << " cannot be in shared memory: its extent " << e
                << " has no bound outside of the kernel";
            elements = elements * most;
            exact = min(exact * cast<int64_t>(most), most_elements);
        }
        const Expr bytes = (elements + op->padding) * s.element_bytes;
        const int whole = unit_bytes * unit_units_;
        s.units = simplify((bytes + (whole - 1)) / whole * unit_units_);
        s.bytes = simplify((exact + op->padding) * s.element_bytes);
    }

    const int unit_units_;  ///< sizes are multiples of that
    PlaceInKernel place_;
    std::vector<LoopSpan> spans_;
    std::vector<int> loops_;  ///< around this place
    std::vector<Barrier> barriers_;
    std::vector<std::pair<size_t, int>> to_extend_;  ///< storage, to the end of a loop
    std::map<int, bool> branches_;                   ///< around this place
    Scope<> inner_;                                  ///< names that have several values in a block
    int position_ = 0, conditions_ = 0, choices_ = 0;
};

/// Storage by different names: the branches of a condition may have the same.
class NameStorage : public StmtMutator {
public:
    explicit NameStorage(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;
    Stmt visit(const Allocate *op) override {
        if (!is_gpu_shared(op->memory_type) || names_.insert(op->name).second) {
            return Mutator::visit(op);
        }
        const std::string name = ctx_.names.unique(op->name + ".place");
        return Allocate::make(name, op->type, op->memory_type, op->extents, op->condition,
                              mutate(shift_accesses(op->name, name, 0, op->body)), op->new_expr,
                              op->free_function, op->padding);
    }
    LowerContext &ctx_;
    std::set<std::string> names_;
};

/// Stores that do not read what they replace need not be atomic. Once several Funcs are one allocation, back ends could
/// not tell that.
class DropAtomics : public StmtMutator {
    using Mutator::visit;
    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> shared(is_gpu_shared(op->memory_type), shared_, op->name);
        return Mutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        const Store *store = op->body.as<Store>();
        const bool is_plain =
            store && shared_.contains(store->name) && !replaced_value(store).defined();
        return is_plain ? op->body : Stmt(op);
    }
    Scope<> shared_;
};

/// A place in shared memory that one storage after the other has.
struct Slot {
    std::vector<const Storage *> users;  ///< in the order of their lives
    Expr units;
};

std::vector<Slot> assign_slots(const LiveRanges &live) {
    std::vector<const Storage *> in_order;
    for (const Storage &s : live.storage) {
        in_order.push_back(&s);
    }
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const Storage *a, const Storage *b) { return a->first < b->first; });
    std::vector<Slot> slots;
    for (const Storage *s : in_order) {
        const auto free = std::find_if(slots.begin(), slots.end(), [&](const Slot &slot) {
            return std::all_of(slot.users.begin(), slot.users.end(),
                               [&](const Storage *a) { return live.may_follow(*a, *s); });
        });
        if (free == slots.end()) {
            slots.push_back({{s}, s->units});
        } else {
            free->users.push_back(s);
            free->units = simplify(max(free->units, s->units));
        }
    }
    return slots;
}

/// Without the allocations of shared memory.
class DropAllocations : public StmtMutator {
    using Mutator::visit;
    Stmt visit(const Allocate *op) override {
        return is_gpu_shared(op->memory_type) ? mutate(op->body) : Mutator::visit(op);
    }
};

/// Uses of what stands in the slot become uses of `name`, in which the slot begins at `first`.
Stmt placed(const Slot &slot, const std::string &name, const Expr &first, Stmt body) {
    for (const Storage *s : slot.users) {
        internal_assert(unit_bytes % s->element_bytes == 0)
            << "element size of shared storage " << s->name;
        body =
            shift_accesses(s->name, name, simplify(first * (unit_bytes / s->element_bytes)), body);
    }
    return body;
}

/// Slots of constant size are allocations of their own: that stores to one are not seen by loads of
/// another is then plain to the device's compiler. Others are one allocation, whose size comes with
/// the launch.
Stmt packed(KernelNest nest, const std::vector<Slot> &slots, bool apart, LowerContext &ctx) {
    Stmt body = DropAllocations().mutate(wrap_in_lets(nest.lets, nest.body));
    const std::string all = apart ? "" : ctx.names.unique("shared");
    Expr units = 0;
    const auto allocated = [&](const std::string &name) {
        return Allocate::make(name, UInt(8), MemoryType::GPUShared, {simplify(units * unit_bytes)},
                              const_true(), body);
    };
    for (const Slot &slot : slots) {
        const std::string name = apart ? ctx.names.unique("shared") : all;
        body = placed(slot, name, apart ? Expr(0) : units, body);
        if (apart) {
            units = slot.units;
            body = allocated(name);
        } else {
            units = simplify(units + slot.units);
        }
    }
    nest.lets.clear();
    nest.body = apart ? body : allocated(all);
    return nest.to_stmt();
}

/// Sizes are of 32 bits. Before the launch it is asked whether those that are not constant fit, each in its part of
/// what all may have.
Stmt checked(const std::vector<Storage> &storage, int64_t limit, Stmt kernel) {
    for (size_t i = storage.size(); i-- > 0;) {
        const Expr &bytes = storage[i].bytes;
        const std::optional<int64_t> most =
            as_const_int(find_constant_bound(bytes, Direction::Upper));
        if (!most || *most > limit) {
            const Expr limit_of_each = make_const(Int(64), limit);
            const std::string what = "storage of " + storage[i].name + " in shared memory";
            kernel = Block::make(check(bytes <= limit_of_each, "buffer_allocation_too_large",
                                       {StringImm::make(what), bytes, limit_of_each}),
                                 kernel);
        }
    }
    return kernel;
}

Stmt pack_kernel(const For *op, LowerContext &ctx) {
    KernelNest nest = match_kernel(op);
    nest.body = NameStorage(ctx).mutate(DropAtomics().mutate(nest.body));
    LiveRanges live(nest, ctx);
    if (live.storage.empty()) {
        return op;
    }
    const std::vector<Slot> slots = assign_slots(live);
    Expr total = 0;
    for (const Slot &slot : slots) {
        total = simplify(total + slot.units);
    }
    const auto units = as_const_int(total);
    const int64_t limit = max_shared_bytes(nest.api);
    user_assert(!units || limit == 0 || *units * unit_bytes <= limit)
        << "kernel " << op->name << " needs " << *units * unit_bytes
        << " bytes of shared memory a block; devices have at most " << limit;
    const bool apart = units && *units * unit_bytes <= max_static_shared_bytes;
    const bool is_packed = apart && slots.size() == live.storage.size() &&
                           std::all_of(live.storage.begin(), live.storage.end(),
                                       [](const Storage &s) { return s.is_constant; });
    Stmt kernel = is_packed ? nest.to_stmt() : packed(nest, slots, apart, ctx);
    if (!ctx.target.has_feature(Target::NoAsserts)) {
        const int64_t most = std::numeric_limits<int32_t>::max() / int64_t(live.storage.size());
        kernel = checked(live.storage, limit == 0 ? most : std::min(limit, most), kernel);
    }
    return live.largest.around(kernel);
}

}  // namespace

Stmt pack_shared_memory(const Stmt &s, LowerContext &ctx) {
    return rewrite_kernels(s, [&](const For *op) { return pack_kernel(op, ctx); });
}

}  // namespace calotype::internal
