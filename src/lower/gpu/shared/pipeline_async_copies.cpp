// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a loop is taken apart along its spine: allocations, lets, sequences, and what
// produces and consumes. What produces the storage in question is taken out, with the lets around
// it; the rest stays. Both are put together again with the loop's variable moved ahead, and with
// the place of an iteration added to all indices.
#include "lower/gpu/shared/pipeline_async_copies.h"

#include <algorithm>
#include <set>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/kernels.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/gpu/access/image_accesses.h"
#include "lower/gpu/access/shift_accesses.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/shared/shared_access.h"
#include "lower/gpu/uniform.h"
#include "pipeline/schedule.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

constexpr int default_stages = 2, max_stages = 16;
/// Of an iteration's place in shared memory, so that vectors stay aligned in all of them.
constexpr int place_bytes = 16;

bool meet(const std::set<std::string> &a, const std::set<std::string> &b) {
    return std::any_of(a.begin(), a.end(), [&](const std::string &name) { return b.count(name); });
}

/// A loop's body in parts.
struct Spine {
    std::vector<const Allocate *> storage;           ///< in GPUSharedAsync
    std::vector<Stmt> fills;                         ///< what produces it, with its lets around
    std::vector<std::pair<std::string, Expr>> lets;  ///< around the place that is looked at
    std::set<std::string> bound;                     ///< names of all lets
    Stmt rest;
    bool is_simple = true;

    explicit Spine(const Stmt &body) {
        rest = strip(body);
    }

private:
    const Allocate *storage_of(const std::string &producer) const {
        for (const Allocate *op : storage) {
            if (op->name == producer) {
                return op;
            }
        }
        return nullptr;
    }

    /// True if storage in GPUSharedAsync is made or filled in s.
    bool has_fill(const Stmt &s) const {
        return contains_node(s, [&](const Node *node) {
            const Allocate *storage = node_as<Allocate>(node);
            const ProducerConsumer *p = node_as<ProducerConsumer>(node);
            return (storage && storage->memory_type == MemoryType::GPUSharedAsync) ||
                   (p && p->is_producer && storage_of(p->name));
        });
    }

    Stmt strip(const Stmt &s) {
        if (const Block *op = s.as<Block>()) {
            const Stmt first = strip(op->first), last = strip(op->rest);
            return !first.defined() ? last : last.defined() ? Block::make(first, last) : first;
        }
        if (const Allocate *op = s.as<Allocate>()) {
            if (op->memory_type == MemoryType::GPUSharedAsync) {
                // Parts of an inner loop may have storage of the same name, one after the other.
                is_simple = is_simple && !storage_of(op->name);
                storage.push_back(op);
                return strip(op->body);
            }
            const Stmt body = strip(op->body);
            return body.defined() ? with(op, &Allocate::body, body) : body;
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            if (op->is_producer && storage_of(op->name)) {
                fills.push_back(wrap_in_lets(lets, op->body));
                return Stmt();
            }
            const Stmt body = strip(op->body);
            return body.defined() ? ProducerConsumer::make(op->name, op->is_producer, body) : body;
        }
        if (const LetStmt *op = s.as<LetStmt>()) {
            const bool moves = is_pure(op->value) && !contains_kind(op->value, NodeKind::Load);
            if (!moves && !has_fill(op->body)) {
                return s;
            }
            is_simple = is_simple && moves;
            bound.insert(op->name);
            lets.emplace_back(op->name, op->value);
            const Stmt body = strip(op->body);
            lets.pop_back();
            return body.defined() ? LetStmt::make(op->name, op->value, body) : body;
        }
        return s;
    }
};

/// The tile that may be copied in place of a fill, or null.
const Call *tile_offer(const Expr &condition) {
    const Not *declined = condition.as<Not>();
    return declined ? Call::as_intrinsic(declined->a, Intrinsic::gpu_tile_offer) : nullptr;
}

/// Tiles whose copies are counted at `arrivals`, by place of an iteration.
struct TileCopies {
    std::string arrivals;
    Expr is_first_thread;
    int number = 0;  ///< of those of one iteration
};

/// Stores of what device memory holds become copies.
class CopyMaker : public StmtMutator {
public:
    /// Tiles are counted at arrivals[place].
    CopyMaker(const std::set<std::string> &to, const Scope<> &made_in_kernel,
              const TileCopies &tiles, const Expr &place)
        : to_(to), made_in_kernel_(made_in_kernel), tiles_(tiles), place_(place) {
    }

private:
    using Mutator::visit;

    Stmt visit(const IfThenElse *op) override {
        const Call *offer = tile_offer(op->condition);
        if (!offer) {
            return Mutator::visit(op);
        }
        const Expr arrivals = Variable::make(Handle(), tiles_.arrivals);
        std::vector<Expr> args = {offer->args[0], 0, arrivals, place_};
        args.insert(args.end(), offer->args.begin() + 1, offer->args.end());
        const Expr copy = Call::make(Int(32), Intrinsic::gpu_tile_copy, args);
        const TileCopyCall tile(copy.as<Call>());
        const Expr expect =
            Call::make(Int(32), Intrinsic::gpu_arrivals_expect,
                       {arrivals, place_, tile.width * tile.height * tile.type.bytes()});
        return IfThenElse::make(tiles_.is_first_thread,
                                Block::make(Evaluate::make(expect), Evaluate::make(copy)));
    }

    static Expr first_of(const Expr &index) {
        return as_image_index(index) ? Expr() : first_of_neighbours(index);
    }

    Stmt visit(const Store *op) override {
        if (!to_.count(op->name) || !is_trivially_true(op->predicate)) {
            return op;
        }
        if (const Select *either = op->value.as<Select>()) {
            return either->condition.type().is_scalar() ? chosen(op, either) : Stmt(op);
        }
        const Load *load = op->value.as<Load>();
        const Expr to = first_of(op->index), from = load ? first_of(load->index) : Expr();
        const int bytes = op->value.type().bytes() * op->value.type().lanes();
        if (!to.defined() || !from.defined() || !is_trivially_true(load->predicate) ||
            made_in_kernel_.contains(load->name) || bytes < 4 || (bytes & (bytes - 1)) != 0) {
            return op;
        }
        return copies(op, to, load, from, bytes);
    }

    /// Where nothing is to be copied, a store does it.
    Stmt chosen(const Store *op, const Select *either) {
        const auto with_value = [&](const Expr &value) {
            return mutate(with(op, &Store::value, value));
        };
        return IfThenElse::make(either->condition, with_value(either->true_value),
                                with_value(either->false_value));
    }

    static Stmt copies(const Store *op, const Expr &to, const Load *load, const Expr &from,
                       int bytes) {
        constexpr int most = 16;
        const Type element = op->value.type().element_of();
        const int pieces = std::max(1, bytes / most), lanes = op->value.type().lanes() / pieces;
        std::vector<Stmt> result;
        for (int i = 0; i < pieces; i++) {
            const Expr by = make_const(to.type(), i * lanes);
            result.push_back(Evaluate::make(
                Call::make(element, Intrinsic::gpu_async_copy,
                           {Variable::make(Handle(), op->name), simplify(to + by),
                            Variable::make(Handle(), load->name), simplify(from + by), lanes})));
        }
        return Block::make(result);
    }

    const std::set<std::string> &to_;
    const Scope<> &made_in_kernel_;
    const TileCopies &tiles_;
    const Expr place_;
};

/// The one product of warpgroups in a loop's body, where its sums stay in registers. Then it need
/// not be done before the next iteration's is started: what it reads is filled again an iteration
/// later, and the sums are waited for behind the loop.
class ProductInFlight : public StmtMutator {
public:
    /// `in_registers` are allocations of threads' own, `filled` those that the loop fills.
    ProductInFlight(const Stmt &body, const Scope<> &in_registers,
                    const std::set<std::string> &filled)
        : in_registers_(in_registers), filled_(filled) {
        left_running = mutate(body);
    }
    Stmt left_running;  ///< the body, in which the product of one iteration before is waited for

    bool is_there() const {
        return sums_ && products_ > 0 && waits_ == 1 && fits_;
    }
    /// The wait for all of them.
    Stmt last_wait() const {
        const Expr name = Variable::make(wait_->type, stored_->name);
        const Expr done = Call::make(wait_->type, Intrinsic::gpu_warpgroup_wait, {name, 0});
        const Stmt stores = LetStmt::make(stored_->name, done, stored_->body);
        return LetStmt::make(stored_->name, sums_->value, stores);
    }

private:
    using Mutator::visit;
    Stmt visit(const LetStmt *op) override {
        if (const Call *call =
                Call::as_intrinsic(op->value, Intrinsic::gpu_warpgroup_multiply_add)) {
            products_++;
            for (size_t operand : {size_t(0), size_t(2)}) {
                fits_ = fits_ && filled_.count(call->args[operand].as<Variable>()->name);
            }
            const Variable *before = call->args[4].as<Variable>();
            const bool is_first = before && last_ && before->name == last_->name;
            sums_ = products_ == 1 && is_first ? last_ : sums_;
        }
        last_ = op;
        const Call *wait = Call::as_intrinsic(op->value, Intrinsic::gpu_warpgroup_wait);
        if (!wait) {
            return Mutator::visit(op);
        }
        waits_++;
        wait_ = op->value.as<Call>();
        stored_ = op;
        check_stores(op->body);
        const Expr value =
            Call::make(wait->type, Intrinsic::gpu_warpgroup_wait, {wait->args[0], 1});
        return LetStmt::make(op->name, value, op->body);
    }
    void check_stores(const Stmt &s) {
        for (const std::string &name : accessed_buffers(s).written) {
            fits_ = fits_ && in_registers_.contains(name);
        }
    }
    // Not in a loop of the body, nor under a condition.
    Stmt visit(const For *op) override {
        fits_ = fits_ && !contains_intrinsic(Stmt(op), Intrinsic::gpu_warpgroup_wait);
        return op;
    }
    Stmt visit(const IfThenElse *op) override {
        fits_ = fits_ && !contains_intrinsic(Stmt(op), Intrinsic::gpu_warpgroup_wait);
        return op;
    }

    const Scope<> &in_registers_;
    const std::set<std::string> &filled_;
    const LetStmt *sums_ = nullptr, *last_ = nullptr, *stored_ = nullptr;
    const Call *wait_ = nullptr;
    int products_ = 0, waits_ = 0;
    bool fits_ = true;
};

/// Copies for later iterations are started once this iteration's products are on their way, if
/// warpgroups make them, else first of all.
class BesideProducts : public StmtMutator {
public:
    explicit BesideProducts(const Stmt &copies) : copies_(copies) {
    }
    Stmt in(const Stmt &s) {
        const Stmt result = mutate(s);
        return is_placed_ ? result : Block::make(copies_, s);
    }

private:
    using Mutator::visit;
    Stmt visit(const LetStmt *op) override {
        if (is_placed_ || !Call::as_intrinsic(op->value, Intrinsic::gpu_warpgroup_wait)) {
            return Mutator::visit(op);
        }
        is_placed_ = true;
        return Block::make(copies_, op);
    }
    // Only where each thread comes by, once.
    Stmt visit(const For *op) override {
        return op;
    }
    Stmt visit(const IfThenElse *op) override {
        return op;
    }
    const Stmt copies_;
    bool is_placed_ = false;
};

/// One loop that is done in this way.
class PipelinedLoop {
public:
    /// `arrivals` is a fresh name.
    PipelinedLoop(const For *loop, Spine spine, int stages, const std::string &arrivals,
                  const Expr &is_first_thread)
        : loop_(loop), spine_(std::move(spine)), stages_(stages),
          tiles_({arrivals, is_first_thread, 0}) {
        for (const Allocate *op : spine_.storage) {
            names_.insert(op->name);
        }
        for (const Stmt &fill : spine_.fills) {
            const bool is_tile = contains_intrinsic(fill, Intrinsic::gpu_tile_offer);
            tiles_.number += is_tile;
            has_copies_of_threads_ = has_copies_of_threads_ || !is_tile;
        }
    }

    bool is_possible() const {
        if (!spine_.is_simple || spine_.fills.empty() || !spine_.rest.defined()) {
            return false;
        }
        const AccessedBuffers fills = accessed_buffers(Block::make(spine_.fills)),
                              rest = accessed_buffers(spine_.rest);
        if (meet(fills.read, fills.written) || meet(fills.read, rest.written) ||
            meet(fills.written, rest.written)) {
            return false;
        }
        for (const Allocate *op : spine_.storage) {
            if (!fills.written.count(op->name) || !has_size_outside(op)) {
                return false;
            }
        }
        return std::all_of(fills.written.begin(), fills.written.end(),
                           [&](const std::string &name) { return names_.count(name) > 0; });
    }

    const std::vector<const Allocate *> &storage() const {
        return spine_.storage;
    }
    const Stmt &rest() const {
        return spine_.rest;
    }

    /// With `rest` in place of rest().
    Stmt make(Stmt rest, const Scope<> &made_in_kernel, const Scope<> &in_registers,
              bool in_loop) const {
        const ProductInFlight product(rest, in_registers, names_);
        const bool in_flight = stages_ > 2 && product.is_there();
        const int ahead = stages_ - (in_flight ? 2 : 1);
        rest = in_flight ? product.left_running : rest;
        std::vector<Stmt> all;
        if (in_loop) {
            all.push_back(barrier());  // others may still read what an earlier iteration left
        }
        if (tiles_.number > 0) {
            all.push_back(by_first_thread(Intrinsic::gpu_arrivals_begin, {tiles_.number}));
            all.push_back(barrier());
        }
        for (int i = 0; i < ahead; i++) {
            all.push_back(fill(loop_->min + i, made_in_kernel));
        }
        const Expr k = Variable::make(Int(32), loop_->name);
        const Stmt next = fill(k + ahead, made_in_kernel);
        const Stmt body = Block::make(arrival(ahead), BesideProducts(next).in(in_place(rest)));
        all.push_back(with(loop_, &For::body, body));
        if (in_flight) {
            all.push_back(product.last_wait());
        }
        if (tiles_.number > 0) {
            all.push_back(barrier());
            all.push_back(by_first_thread(Intrinsic::gpu_arrivals_end, {}));
        }
        Stmt result = Block::make(all);
        if (tiles_.number > 0) {
            result = Allocate::make(tiles_.arrivals, UInt(64), MemoryType::GPUSharedAsync,
                                    {stages_}, const_true(), result, Expr(), "", 0);
        }
        for (size_t i = spine_.storage.size(); i-- > 0;) {
            const Allocate *op = spine_.storage[i];
            result = Allocate::make(op->name, op->type, op->memory_type,
                                    {simplify(place_size(op) * stages_)}, op->condition, result,
                                    op->new_expr, op->free_function, 0);
        }
        return result;
    }

private:
    bool has_size_outside(const Allocate *op) const {
        for (const Expr &e : op->extents) {
            if (uses_var(e, loop_->name) || uses_any_var(e, spine_.bound)) {
                return false;
            }
        }
        return place_bytes % (op->type.bytes() * op->type.lanes()) == 0;
    }

    static Expr place_size(const Allocate *op) {
        const int unit = place_bytes / (op->type.bytes() * op->type.lanes());
        Expr elements = 1;
        for (const Expr &e : op->extents) {
            elements = elements * e;
        }
        return simplify((elements + (op->padding + unit - 1)) / unit * unit);
    }

    static Stmt barrier() {
        return Evaluate::make(
            Call::make(Int(32), Intrinsic::gpu_thread_barrier, {Expr(fence_shared)}));
    }
    static Stmt evaluate(Intrinsic id, const std::vector<Expr> &args) {
        return Evaluate::make(Call::make(Int(32), id, args));
    }

    /// Of all places' arrivals.
    Stmt by_first_thread(Intrinsic id, const std::vector<Expr> &more) const {
        std::vector<Expr> args = {Variable::make(Handle(), tiles_.arrivals), 0, stages_};
        args.insert(args.end(), more.begin(), more.end());
        return IfThenElse::make(tiles_.is_first_thread, evaluate(id, args));
    }

    /// Until what this iteration reads is there, for all threads.
    Stmt arrival(int ahead) const {
        std::vector<Stmt> all;
        if (has_copies_of_threads_) {
            all.push_back(evaluate(Intrinsic::gpu_async_wait, {Expr(ahead - 1)}));
        }
        if (tiles_.number > 0) {
            const Expr arrivals = Variable::make(Handle(), tiles_.arrivals);
            all.push_back(evaluate(Intrinsic::gpu_arrivals_wait,
                                   {arrivals, place(), simplify(number() / stages_ % 2)}));
        }
        all.push_back(barrier());
        return Block::make(all);
    }

    /// Of this iteration, and of what it reads in the storage.
    Expr number() const {
        return Variable::make(Int(32), loop_->name) - loop_->min;
    }
    Expr place() const {
        return simplify(number() % stages_);
    }

    /// s, with its storage where this iteration has it.
    Stmt in_place(Stmt s) const {
        for (const Allocate *op : spine_.storage) {
            s = shift_accesses(op->name, op->name, simplify(place() * place_size(op)), s);
        }
        return s;
    }

    /// What iteration k needs, if there is such an iteration.
    Stmt fill(const Expr &k, const Scope<> &made_in_kernel) const {
        const Stmt all =
            CopyMaker(names_, made_in_kernel, tiles_, place()).mutate(Block::make(spine_.fills));
        const Stmt copies = IfThenElse::make(simplify(k - loop_->min < loop_->extent),
                                             substitute(loop_->name, simplify(k), in_place(all)));
        return has_copies_of_threads_
                   ? Block::make(copies, evaluate(Intrinsic::gpu_async_commit, {}))
                   : copies;
    }

    const For *loop_;
    Spine spine_;
    int stages_;
    TileCopies tiles_;
    bool has_copies_of_threads_ = false;
    std::set<std::string> names_;
};

class Pipeliner : public StmtMutator {
public:
    Pipeliner(const KernelNest &nest, LowerContext &ctx)
        : ctx_(ctx), is_first_thread_(const_true()) {
        for (const KernelLoop &loop : nest.threads) {
            own_.push(loop.name);
            is_first_thread_ = is_first_thread_ && Variable::make(Int(32), loop.name) == 0;
        }
        is_first_thread_ = simplify(is_first_thread_);
    }

private:
    using Mutator::visit;

    /// False if threads of a block may find different values.
    bool is_uniform(const Expr &e) const {
        return internal::is_uniform(e,
                                    [&](const std::string &name) { return own_.contains(name); });
    }

    template<typename F>
    Stmt divergent(bool differs, F body) {
        differing_ += differs;
        const Stmt s = body();
        differing_ -= differs;
        return s;
    }

    Stmt visit(const For *op) override {
        const bool differs = !is_uniform(op->min) || !is_uniform(op->extent);
        if (op->for_type == ForType::Serial && differing_ == 0 && !differs) {
            Spine spine(op->body);
            const int stages = stages_of(spine.storage);
            if (stages > 1) {
                const PipelinedLoop loop(op, std::move(spine), stages,
                                         ctx_.names.unique(op->name + ".arrivals"),
                                         is_first_thread_);
                if (loop.is_possible()) {
                    return loop.make(inside(loop), made_, in_registers_, loops_ > 0);
                }
            }
        }
        const ScopedBinding<> bind(differs, own_, op->name);
        loops_++;
        const Stmt s = divergent(differs, [&] { return Mutator::visit(op); });
        loops_--;
        return s;
    }

    /// What the loop does with its storage; loops in it may have storage of their own.
    Stmt inside(const PipelinedLoop &loop) {
        std::vector<ScopedBinding<>> bind;
        for (const Allocate *op : loop.storage()) {
            bind.emplace_back(made_, op->name);
        }
        loops_++;
        const Stmt rest = mutate(loop.rest());
        loops_--;
        return rest;
    }

    // An offer that no loop takes is declined.
    Stmt visit(const IfThenElse *op) override {
        return tile_offer(op->condition)
                   ? mutate(op->then_case)
                   : divergent(!is_uniform(op->condition), [&] { return Mutator::visit(op); });
    }
    Stmt visit(const LetStmt *op) override {
        const ScopedBinding<> bind(!is_uniform(op->value), own_, op->name);
        return Mutator::visit(op);
    }

    Stmt visit(const Allocate *op) override {
        const ScopedBinding<> bind(made_, op->name);
        const bool is_own =
            op->memory_type == MemoryType::Register || op->memory_type == MemoryType::Stack;
        const ScopedBinding<> bind_own(is_own, in_registers_, op->name);
        const bool is_async = op->memory_type == MemoryType::GPUSharedAsync;
        return with(op, &Allocate::memory_type, is_async ? MemoryType::GPUShared : op->memory_type,
                    &Allocate::body, mutate(op->body));
    }

    int stages_of(const std::vector<const Allocate *> &storage) const {
        int stages = storage.empty() ? 0 : 1;
        for (const Allocate *op : storage) {
            const Function *f = ctx_.function_of_buffer(op->name);
            const Expr ring = f ? f->schedule().ring_buffer : Expr();
            const int64_t n = ring.defined() ? as_const_int(ring).value_or(0) : default_stages;
            user_assert(n >= 1 && n <= max_stages)
                << "ring_buffer of " << op->name << ", which is stored in GPUSharedAsync, is "
                << ring << ", must be a constant from 1 to " << max_stages;
            stages = std::max(stages, int(n));
        }
        return stages;
    }

    LowerContext &ctx_;
    Expr is_first_thread_;
    Scope<> own_;           ///< names that threads have different values of
    Scope<> made_;          ///< allocations around
    Scope<> in_registers_;  ///< of these, a thread's own
    int differing_ = 0, loops_ = 0;
};

}  // namespace

Stmt pipeline_async_copies(const Stmt &s, LowerContext &ctx) {
    return rewrite_kernels(s, [&](const For *op) {
        KernelNest nest = match_kernel(op);
        nest.body = Pipeliner(nest, ctx).mutate(nest.body);
        return nest.to_stmt();
    });
}

}  // namespace calotype::internal
