// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/fork_async_producers.h"

#include <functional>
#include <set>
#include <utility>

#include "ir/conventions/runtime_calls.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/names.h"
#include "lower/nest/split_loops.h"
#include "runtime/abi/threads.h"

namespace calotype::internal {

namespace {

Expr semaphore(const std::string &name) {
    return Variable::make(type_of<calotype_semaphore_t *>(), name);
}

Stmt call_semaphore(RuntimeFunction function, const Expr &semaphore, const Expr &n) {
    return Evaluate::make(call_runtime(function, {semaphore, n}));
}

Stmt release(const std::string &name, const Expr &n = 1) {
    return call_semaphore(RuntimeFunction::semaphore_release, semaphore(name), n);
}

/// The semaphore, set to n, around body.
Stmt with_semaphore(const std::string &name, const Expr &n, const Stmt &body) {
    const Expr s = semaphore(name);
    const Expr storage =
        Call::make(s.type(), Intrinsic::alloca, {int(sizeof(calotype_semaphore_t))});
    return LetStmt::make(name, storage,
                         Block::make(call_semaphore(RuntimeFunction::semaphore_init, s, n), body));
}

/// The name of the semaphore that a statement releases, or "".
std::string released_by(const Evaluate *op) {
    const Call *call = op->value.as<Call>();
    const bool releases = call && call->call_type == CallKind::Extern &&
                          device_order_of(call->name) == DeviceOrder::Releases;
    return releases ? call->args[0].as<Variable>()->name : "";
}

std::string acquired_by(const Acquire *op) {
    const Variable *v = op->semaphore.as<Variable>();
    return v ? v->name : "";
}

class AcquiredNames : public Visitor {
public:
    std::set<std::string> names;

private:
    using Visitor::visit;
    void visit(const Acquire *op) override {
        names.insert(acquired_by(op));
        Visitor::visit(op);
    }
};

/// Exchanges semaphores for others: none, one, or several in the place of one.
class ReplaceSemaphores : public Mutator {
public:
    explicit ReplaceSemaphores(std::map<std::string, std::vector<std::string>> others)
        : others_(std::move(others)) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Acquire *op) override {
        Stmt body = mutate(op->body);
        auto it = others_.find(acquired_by(op));
        if (it == others_.end()) {
            return Acquire::make(op->semaphore, op->count, body);
        }
        for (const std::string &name : it->second) {
            body = Acquire::make(semaphore(name), op->count, body);
        }
        return body;
    }

    Stmt visit(const Evaluate *op) override {
        auto it = others_.find(released_by(op));
        if (it == others_.end()) {
            return op;
        }
        std::vector<Stmt> releases;
        for (const std::string &name : it->second) {
            releases.push_back(release(name, op->value.as<Call>()->args[1]));
        }
        return Block::make(releases);
    }

    const std::map<std::string, std::vector<std::string>> others_;
};

/// Gives the storage of a Func `copies` copies, one after the other for successive iterations of
/// the loops outside of it.
class RingBuffer : public Mutator {
public:
    RingBuffer(const std::string &func, const Expr &copies) : func_(func), copies_(copies) {
    }

private:
    using Mutator::visit;

    Expr index() const {
        return Variable::make(Int(32), names::ring_index(func_));
    }

    std::vector<Expr> with_index(std::vector<Expr> args) const {
        args.push_back(index());
        return args;
    }

    Stmt visit(const For *op) override {
        loops_.push_back(op);
        const Stmt s = Mutator::visit(op);
        loops_.pop_back();
        return s;
    }

    Stmt visit(const Realize *op) override {
        if (op->name != func_) {
            return Mutator::visit(op);
        }
        Expr iteration = 0;
        for (const For *loop : loops_) {
            iteration =
                iteration * loop->extent + (Variable::make(Int(32), loop->name) - loop->min);
        }
        Region bounds = op->bounds;
        bounds.emplace_back(0, copies_);
        const Stmt body = with(op, &Realize::bounds, bounds, &Realize::body, mutate(op->body));
        return LetStmt::make(names::ring_index(func_), iteration % copies_, body);
    }

    Expr visit(const Call *op) override {
        const Expr e = Mutator::visit(op);
        op = e.as<Call>();
        return op->call_type == CallKind::Func && op->name == func_
                   ? Call::make(op->type, op->name, with_index(op->args), op->call_type,
                                op->value_index, op->symbol)
                   : e;
    }

    Stmt visit(const Provide *op) override {
        const Stmt s = Mutator::visit(op);
        op = s.as<Provide>();
        return op->name == func_ ? with(op, &Provide::args, with_index(op->args)) : s;
    }

    const std::string &func_;
    const Expr copies_;
    std::vector<const For *> loops_;
};

bool produces(const Stmt &s, const std::string &func) {
    return contains<ProducerConsumer>(
        s, [&](const ProducerConsumer *op) { return op->is_producer && op->name == func; });
}

/// Drops storage, and production, of Funcs that nobody reads.
class DropUnused : public Mutator {
public:
    explicit DropUnused(const std::string &keep) : keep_(keep) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Realize *op) override {
        const Stmt s = Mutator::visit(op);
        const Realize *r = s.as<Realize>();
        if (!r || op->name == keep_ || is_read(r->body, op->name)) {
            return s;
        }
        const Stmt rest = without_production(r->body, op->name);
        const std::map<std::string, std::vector<std::string>> none = {
            {names::folding_semaphore(op->name, 0), {}}};
        return mutate(ReplaceSemaphores(none).mutate(rest));
    }

    /// What held storage that is not needed has nothing to hold.
    Stmt visit(const HoistedStorage *op) override {
        const Stmt s = Mutator::visit(op);
        const HoistedStorage *hoisted = s.as<HoistedStorage>();
        return !hoisted || op->name == keep_ || is_stored(hoisted->body, op->name) ? s
                                                                                   : hoisted->body;
    }

    static bool is_stored(const Stmt &s, const std::string &name) {
        return contains<Realize>(s, [&](const Realize *op) { return op->name == name; });
    }

    static bool is_read(const Stmt &s, const std::string &name) {
        class Finder : public GraphVisitor {
        public:
            explicit Finder(const std::string &name) : name_(name) {
            }
            bool found = false;

        private:
            using GraphVisitor::visit;
            void visit(const ProducerConsumer *op) override {
                if (!op->is_producer || op->name != name_) {
                    GraphVisitor::visit(op);
                }
            }
            void visit(const Call *op) override {
                found = found || (op->call_type == CallKind::Func && op->name == name_);
                GraphVisitor::visit(op);
            }
            const std::string &name_;
        };
        Finder finder(name);
        finder(s);
        return finder.found;
    }

    /// What is to be kept may be computed inside of that production.
    Stmt without_production(const Stmt &s, const std::string &name) const {
        class Remove : public Mutator {
        public:
            Remove(const std::string &name, const std::string &keep) : name_(name), keep_(keep) {
            }

        private:
            using Mutator::visit;
            Stmt visit(const ProducerConsumer *op) override {
                if (op->name != name_) {
                    return Mutator::visit(op);
                }
                return op->is_producer && !produces(op->body, keep_) ? Stmt() : mutate(op->body);
            }
            const std::string &name_, &keep_;
        };
        return Remove(name, keep_).mutate(s);
    }

    const std::string &keep_;
};

/// One of the two sides: a copy of the code without what belongs to the other, and without what
/// then does nothing.
class Side : public Mutator {
public:
    /// By the name of a semaphore that counts room in storage: the Func whose storage it is.
    using Rooms = std::map<std::string, std::string>;
    /// With `ring`, the storage is reused, and the producer has to wait for a free copy.
    Side(const std::string &func, bool ring, const Rooms &rooms)
        : func_(func), ring_(ring), rooms_(rooms) {
    }

protected:
    using Mutator::visit;

    Stmt visit(const Block *op) override {
        return Block::make(mutate(op->first), mutate(op->rest));
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? LetStmt::make(op->name, op->value, body) : body;
    }
    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        return !body.defined() ? body : with(op, &For::body, body);
    }
    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = mutate(op->then_case), else_case = mutate(op->else_case);
        if (!then_case.defined()) {
            return else_case.defined() ? IfThenElse::make(!op->condition, else_case) : Stmt();
        }
        return IfThenElse::make(op->condition, then_case, else_case);
    }
    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        return !body.defined() ? body : with(op, &Realize::body, body);
    }
    Stmt visit(const HoistedStorage *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? HoistedStorage::make(op->name, body) : body;
    }
    Stmt visit(const Atomic *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? Atomic::make(op->producer_name, op->mutex_name, body) : body;
    }
    Stmt visit(const Allocate *op) override {
        const Stmt body = mutate(op->body);
        return !body.defined() ? body : with(op, &Allocate::body, body);
    }
    Stmt visit(const ProducerConsumer *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? ProducerConsumer::make(op->name, op->is_producer, body) : body;
    }

    const std::string &func_;
    const bool ring_;
    const Rooms &rooms_;
};

/// Keeps the production of the Func, and of Funcs whose storage is inside: those it may need.
class ProducerSide : public Side {
public:
    using Side::Side;

private:
    using Side::visit;

    Stmt visit(const ProducerConsumer *op) override {
        if (op->name == func_) {
            if (!op->is_producer) {
                return Stmt();
            }
            const Stmt produce = Block::make(op, release(names::semaphore(func_, 0)));
            return ring_ ? Acquire::make(semaphore(names::ring_semaphore(func_, 0)), 1, produce)
                         : produce;
        }
        if (!op->is_producer || produces(op->body, func_)) {
            return Side::visit(op);
        }
        // Of what the other side computes nothing is left, unless what is computed inside of it.
        return inside_.contains(op->name) ? Stmt(op) : mutate(op->body);
    }
    Stmt visit(const Realize *op) override {
        ScopedBinding<> bind(inside_, op->name);
        return Side::visit(op);
    }
    Stmt visit(const Provide *) override {
        return Stmt();
    }
    Stmt visit(const Store *) override {
        return Stmt();
    }
    Stmt visit(const Evaluate *) override {
        return Stmt();
    }
    /// Room in the storage of another Func is given back by those who read it.
    Stmt visit(const Block *op) override {
        const Stmt first = mutate(op->first);
        const Evaluate *evaluate = op->rest.as<Evaluate>();
        const auto room = rooms_.find(evaluate ? released_by(evaluate) : "");
        const bool reads = room != rooms_.end() && room->second != func_ && first.defined() &&
                           uses_buffer(first, room->second);
        return Block::make(first, reads ? op->rest : mutate(op->rest));
    }
    Stmt visit(const Acquire *op) override {
        const Stmt body = mutate(op->body);
        const auto room = rooms_.find(acquired_by(op));
        const bool needless = room != rooms_.end() && room->second != func_ && body.defined() &&
                              !uses_buffer(body, room->second);
        return !body.defined() || needless ? body : Acquire::make(op->semaphore, op->count, body);
    }
    Stmt visit(const AssertStmt *) override {
        return Stmt();
    }
    Stmt visit(const Prefetch *op) override {
        return mutate(op->body);
    }

    Scope<> inside_;
};

/// Keeps everything but the production of the Func, and waits for it.
class ConsumerSide : public Side {
public:
    using Side::Side;

private:
    using Side::visit;
    Stmt visit(const ProducerConsumer *op) override {
        if (op->name != func_) {
            return Side::visit(op);
        }
        if (op->is_producer) {
            return Stmt();
        }
        const Stmt consume =
            ring_ ? Block::make(op, release(names::ring_semaphore(func_, 0))) : Stmt(op);
        return Acquire::make(semaphore(names::semaphore(func_, 0)), 1, consume);
    }
    Stmt visit(const Acquire *op) override {
        const Stmt body = mutate(op->body);
        return !body.defined() || acquired_by(op) == names::folding_semaphore(func_, 0)
                   ? body
                   : Acquire::make(op->semaphore, op->count, body);
    }
};

/// Waits for Funcs after what does not read them, as far as that is done once and without a
/// condition there: it goes on meanwhile. A wait goes into storage that will be forked, so that each
/// side waits for itself.
class WaitLate : public Mutator {
public:
    /// By the name of a semaphore: the Func that is waited for.
    using Waits = std::map<std::string, std::string>;
    WaitLate(Waits waits, std::function<bool(const std::string &)> will_fork)
        : waits_(std::move(waits)), will_fork_(std::move(will_fork)) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Acquire *op) override {
        const Stmt body = mutate(op->body);
        const auto waits = waits_.find(acquired_by(op));
        const Stmt later = waits == waits_.end() ? Stmt() : after_others(op, waits->second, body);
        return later.defined() ? later : Acquire::make(op->semaphore, op->count, body);
    }

    /// The statement with the wait inside of it; undefined if nothing comes before what reads.
    Stmt after_others(const Acquire *op, const std::string &func, const Stmt &s) const {
        const auto inside = [&](const Stmt &body) {
            return after_others(op, func, body);
        };
        const auto inside_storage = [&](const std::string &name, const Stmt &body) {
            const Stmt later = inside(body);
            return later.defined() || !will_fork_(name)
                       ? later
                       : Acquire::make(op->semaphore, op->count, body);
        };
        if (const Block *block = s.as<Block>()) {
            if (uses_buffer(block->first, func)) {
                return Stmt();
            }
            const Stmt rest = inside(block->rest);
            return Block::make(
                block->first,
                rest.defined() ? rest : Acquire::make(op->semaphore, op->count, block->rest));
        } else if (const Realize *realize = s.as<Realize>()) {
            const Stmt body = inside_storage(realize->name, realize->body);
            return body.defined() ? with(realize, &Realize::body, body) : body;
        } else if (const HoistedStorage *hoisted = s.as<HoistedStorage>()) {
            const Stmt body = inside_storage(hoisted->name, hoisted->body);
            return body.defined() ? HoistedStorage::make(hoisted->name, body) : body;
        } else if (const ProducerConsumer *pc = s.as<ProducerConsumer>()) {
            const Stmt body = inside(pc->body);
            return body.defined() ? ProducerConsumer::make(pc->name, pc->is_producer, body) : body;
        } else if (const LetStmt *let = s.as<LetStmt>(); let && !uses_buffer(let->value, func)) {
            const Stmt body = inside(let->body);
            return body.defined() ? LetStmt::make(let->name, let->value, body) : body;
        }
        return Stmt();
    }

    const Waits waits_;
    const std::function<bool(const std::string &)> will_fork_;
};

class ForkAsyncProducers : public Mutator {
public:
    explicit ForkAsyncProducers(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    /// That of an async Func, and how many copies there are at a time where it is used again.
    struct Storage {
        std::string func;
        Expr copies;
    };

    bool is_async(const std::string &name) const {
        auto f = ctx_.env.find(name);
        return f != ctx_.env.end() && f->second.schedule().async && !forked_.contains(name);
    }

    Stmt visit(const Realize *op) override {
        if (!is_async(op->name)) {
            return Mutator::visit(op);
        }
        const Expr copies = computes_again(op->name, op->body) ? Expr(1) : Expr();
        return with(op, &Realize::body, fork_inside({op->name, copies}, op->body));
    }

    /// What a memoized Func needs is computed only where the Func is not found: the fork is inside of
    /// its production, as a producer outside would wait for a consumer that never comes.
    Stmt visit(const ProducerConsumer *op) override {
        auto waiting = op->is_producer ? until_.find(op->name) : until_.end();
        if (waiting == until_.end()) {
            return Mutator::visit(op);
        }
        const std::vector<Storage> outside = std::exchange(here_, waiting->second);
        const Stmt body = mutate_side(op->body);
        here_ = outside;
        return ProducerConsumer::make(op->name, true, body);
    }

    Stmt fork_inside(const Storage &storage, const Stmt &body) {
        const std::string memoized = memoized_around(storage.func, body);
        if (memoized.empty()) {
            return fork(storage.func, body, storage.copies);
        }
        std::vector<Storage> &waiting = until_[memoized];
        waiting.push_back(storage);
        const Stmt s = mutate(body);
        waiting.pop_back();
        return s;
    }

    /// The outermost memoized Func whose production `func` is computed for, or "".
    std::string memoized_around(const std::string &func, const Stmt &body) const {
        std::string found;
        contains<ProducerConsumer>(body, [&](const ProducerConsumer *op) {
            const auto f = ctx_.env.find(op->name);
            const bool is_around = op->is_producer && op->name != func && f != ctx_.env.end() &&
                                   f->second.schedule().memoized && produces(op->body, func);
            found = is_around ? op->name : found;
            return is_around;
        });
        return found;
    }

    /// One side of a fork, or all of a production, in which others fork.
    Stmt mutate_side(const Stmt &s) {
        if (here_.empty()) {
            return mutate(s);
        }
        const std::vector<Storage> all = here_;
        here_.erase(here_.begin());
        const Storage &next = all.front();
        const Stmt result =
            produces(s, next.func) ? fork(next.func, s, next.copies) : mutate_side(s);
        here_ = all;
        return result;
    }

    /// Whether values are computed again that iterations before may still be read, and are not always
    /// what they were: in several steps, or to fill blocks, of what is not there any more.
    bool computes_again(const std::string &name, const Stmt &body) const {
        const Function &f = ctx_.env.at(name);
        const auto moves = ctx_.moves_on.find(name);
        const auto repeats = [&](const For *loop) {
            const bool moves_on = moves != ctx_.moves_on.end() && moves->second.count(loop->name);
            return !moves_on && produces(loop->body, name);
        };
        return (f.stages() > 1 || f.has_extern_definition() || fills_blocks(f)) &&
               contains<For>(body, repeats);
    }

    Stmt visit(const HoistedStorage *op) override {
        auto f = ctx_.env.find(op->name);
        // One within another is for one side of a fork, of what has its ring.
        if (f == ctx_.env.end() || hoisted_.contains(op->name)) {
            return Mutator::visit(op);
        }
        // Each lookup has storage of its own, of the cache: nothing is shared that sides could wait for.
        if (f->second.schedule().memoized) {
            return mutate(op->body);
        }
        // In kernels pipeline_async_copies makes the ring, where it is stored and filled.
        if (f->second.schedule().memory_type == MemoryType::GPUSharedAsync) {
            return mutate(op->body);
        }
        const Expr ring = f->second.schedule().ring_buffer;
        const Expr copies = ring.defined() ? cast(Int(32), ring) : Expr(1);
        const Stmt body = ring.defined() ? RingBuffer(op->name, copies).mutate(op->body) : op->body;
        const ScopedBinding<> bind(hoisted_, op->name);
        return HoistedStorage::make(
            op->name, is_async(op->name) ? fork_inside({op->name, copies}, body) : mutate(body));
    }

    /// Both sides of `body`. With `copies`, the storage inside is used again and again, that many
    /// at a time.
    Stmt fork(const std::string &name, const Stmt &body, const Expr &copies) {
        ScopedBinding<> bind(forked_, name);
        // Another place of its storage, as in another specialization, has consumers of its own.
        consumers_.erase(name);
        computed_once_.erase(name);
        const bool ring = copies.defined();
        AcquiredNames acquired;
        acquired(body);
        for (const std::string &func : acquired_rooms(acquired.names)) {
            rooms_[names::folding_semaphore(func, 0)] = func;
        }
        const bool folded = acquired.names.count(names::folding_semaphore(name, 0)) > 0;
        Stmt producer = DropUnused(name).mutate(ProducerSide(name, ring, rooms_).mutate(body));
        Stmt consumer = DropUnused(name).mutate(ConsumerSide(name, ring, rooms_).mutate(body));
        check_needs(name, body, producer);
        producer = with_own_storage(producer, consumer);
        add_consumer(name);
        consumer = without_rooms_of_others(name, producer, consumer);
        share_semaphores(producer, consumer);
        if (!ring && !folded) {
            computed_once_.insert(name);
        }
        producer = wait_late(producer);
        consumer = mutate_side(wait_late(consumer));
        // By now it is known how many consumers there are.
        const int consumers = consumers_.at(name);
        std::vector<std::string> all, rings, folds;
        for (int i = 0; i < consumers; i++) {
            all.push_back(names::semaphore(name, i));
            rings.push_back(names::ring_semaphore(name, i));
            folds.push_back(names::folding_semaphore(name, i));
        }
        const std::map<std::string, std::vector<std::string>> replaced = {
            {all[0], all}, {rings[0], rings}, {folds[0], folds}};
        producer = mutate_side(ReplaceSemaphores(replaced).mutate(producer));
        Stmt result = Fork::make(producer, consumer);
        for (int i = 0; i < consumers; i++) {
            result = with_semaphore(all[i], 0, result);
            result = ring ? with_semaphore(rings[i], copies, result) : result;
            const Expr places = Variable::make(Int(32), names::folding_places(name));
            result = folded ? with_semaphore(folds[i], places, result) : result;
        }
        return result;
    }

    Stmt wait_late(const Stmt &s) const {
        WaitLate::Waits waits;
        for (const auto &[semaphore, consumer] : waits_for_) {
            if (computed_once_.count(consumer.first)) {
                waits[semaphore] = consumer.first;
            }
        }
        return WaitLate(std::move(waits), [&](const std::string &name) { return is_async(name); })
            .mutate(s);
    }

    /// What both sides compute for themselves, in storage that stands outside of both, is stored by
    /// each for itself.
    Stmt with_own_storage(Stmt producer, const Stmt &consumer) const {
        for (const auto &entry : ctx_.env) {
            const std::string &name = entry.first;
            if (hoisted_.contains(name) && produces(producer, name) && produces(consumer, name)) {
                producer = HoistedStorage::make(name, producer);
            }
        }
        return producer;
    }

    /// Registers the next consumer of an async Func; its number.
    int add_consumer(const std::string &func) {
        const int number = consumers_[func]++;
        rooms_[names::ring_semaphore(func, number)] =
            rooms_[names::folding_semaphore(func, number)] = func;
        waits_for_[names::semaphore(func, number)] = {func, number};
        return number;
    }

    /// Room in storage that only the producer reads is not given back by its consumer as well.
    Stmt without_rooms_of_others(const std::string &name, const Stmt &producer,
                                 Stmt consumer) const {
        for (const auto &[room, func] : rooms_) {
            if (func != name && uses_buffer(producer, func) && !uses_buffer(consumer, func)) {
                const std::map<std::string, std::vector<std::string>> none = {{room, {}}};
                consumer = ReplaceSemaphores(none).mutate(consumer);
            }
        }
        return consumer;
    }

    /// Two sides that wait for one Func cannot share a semaphore: each would take what is meant for
    /// the other. The side that does not read the Func need not wait; if both do, one becomes a
    /// consumer of its own.
    void share_semaphores(Stmt &producer, Stmt &consumer) {
        AcquiredNames here, there;
        here(producer);
        there(consumer);
        for (const std::string &name : here.names) {
            auto waits = waits_for_.find(name);
            if (!there.names.count(name) || waits == waits_for_.end()) {
                continue;
            }
            const auto [func, number] = waits->second;
            const std::string ring = names::ring_semaphore(func, number),
                              fold = names::folding_semaphore(func, number);
            if (!uses_buffer(consumer, func)) {
                consumer = ReplaceSemaphores({{name, {}}, {ring, {}}, {fold, {}}}).mutate(consumer);
            } else if (!uses_buffer(producer, func)) {
                producer = ReplaceSemaphores({{name, {}}, {ring, {}}, {fold, {}}}).mutate(producer);
            } else {
                const int next = add_consumer(func);
                consumer = ReplaceSemaphores({{name, {names::semaphore(func, next)}},
                                              {ring, {names::ring_semaphore(func, next)}},
                                              {fold, {names::folding_semaphore(func, next)}}})
                               .mutate(consumer);
            }
        }
    }

    /// The Funcs in whose folded storage room is acquired.
    std::vector<std::string> acquired_rooms(const std::set<std::string> &names) const {
        std::vector<std::string> funcs;
        for (const auto &entry : ctx_.env) {
            if (names.count(names::folding_semaphore(entry.first, 0))) {
                funcs.push_back(entry.first);
            }
        }
        return funcs;
    }

    /// What the producer reads must be produced on its side, or before both.
    void check_needs(const std::string &func, const Stmt &body, const Stmt &producer) const {
        const auto produced_in = [](const Stmt &s) {
            std::set<std::string> names;
            for_each<ProducerConsumer>(s, [&](const ProducerConsumer *p) {
                if (p->is_producer) {
                    names.insert(p->name);
                }
            });
            return names;
        };
        const std::set<std::string> everywhere = produced_in(body), here = produced_in(producer);
        for (const std::string &name : everywhere) {
            user_assert(here.count(name) || !uses_buffer(producer, name))
                << "func " << func << " is async and needs " << name
                << ", which is computed inside of the storage of " << func
                << " but stored outside of it";
        }
    }

    LowerContext &ctx_;
    std::map<std::string, std::vector<Storage>>
        until_;                             ///< by the Func whose production is waited for
    std::vector<Storage> here_;             ///< of the production that we are in, outer ones first
    Scope<> forked_;                        ///< Funcs of which we are on one of the sides
    Scope<> hoisted_;                       ///< Funcs in whose HoistedStorage we are
    std::set<std::string> computed_once_;   ///< async Funcs whose storage is not used again
    std::map<std::string, int> consumers_;  ///< of async Funcs, at the place of storage we are in
    /// By the name of a semaphore: the Func and the number of its consumer.
    std::map<std::string, std::pair<std::string, int>> waits_for_;
    Side::Rooms rooms_;
};

}  // namespace

Stmt release_places(const std::string &func, const Expr &n) {
    return release(names::folding_semaphore(func, 0), n);
}

Stmt fork_async_producers(const Stmt &s, LowerContext &ctx) {
    return ForkAsyncProducers(ctx).mutate(s);
}

}  // namespace calotype::internal
