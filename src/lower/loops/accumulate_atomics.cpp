// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/accumulate_atomics.h"

#include <optional>
#include <string>
#include <vector>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/let_scope.h"
#include "lower/loops/atomic_update.h"

namespace calotype::internal {

namespace {

/// Numbers of any type; conditions and what saturates stay.
bool is_of_numbers(VectorReduce::Operator op) {
    return op == VectorReduce::Add || op == VectorReduce::Mul || op == VectorReduce::Min ||
           op == VectorReduce::Max;
}

struct Update {
    const Atomic *atomic;
    const Store *store;
    AtomicUpdate update;
    Expr index;         ///< in terms of what is outside of the loop
    bool is_sure;       ///< each iteration does it
    std::string own{};  ///< the storage of what is combined
    std::string met{};  ///< and of whether there was anything, if it is not sure
};

/// The atomic updates in the body of a loop, of elements that are the same for all of it.
class FindUpdates : public Visitor {
public:
    explicit FindUpdates(const For *loop) {
        const LetScope::Inside inside(lets_, loop->name, Expr());
        inside_.push_back(loop->name);
        (*this)(loop->body);
    }
    std::vector<Update> found;
    bool is_alone = true;  ///< neither waits for other threads nor calls what may

private:
    using Visitor::visit;

    void visit(const For *op) override {
        is_alone = is_alone && op->for_type == ForType::Serial;
        inside_.push_back(op->name);
        perhaps([&] {
            const LetScope::Inside inside(lets_, op->name, Expr());
            Visitor::visit(op);
        });
    }
    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
        perhaps([&] {
            (*this)(op->then_case);
            if (op->else_case.defined()) {
                (*this)(op->else_case);
            }
        });
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        const LetScope::Inside inside(lets_, op->name, op->value);
        inside_.push_back(op->name);
        (*this)(op->body);
    }
    void visit(const Fork *) override {
        is_alone = false;
    }
    void visit(const Acquire *) override {
        is_alone = false;
    }
    void visit(const Evaluate *op) override {
        is_alone = is_alone && is_pure(op->value);
    }
    void visit(const Call *op) override {
        is_alone = is_alone && (op->is_pure() || op->is_likely());
        Visitor::visit(op);
    }
    void visit(const Atomic *op) override {
        const Store *store = op->body.as<Store>();
        auto update = store ? match_atomic_update(store) : std::nullopt;
        if (update && op->mutex_name.empty() && store->value.type().is_scalar() &&
            is_const_one(store->predicate) && update->operand.type() == store->value.type() &&
            is_of_numbers(update->op)) {
            const Expr index = lets_.expand(store->index);
            if (index.defined() && is_pure(index) && !contains_kind(index, NodeKind::Load) &&
                !uses_any_var(index, inside_)) {
                found.push_back({op, store, *update, index, is_sure_});
            }
        }
        Visitor::visit(op);
    }

    template<typename Body>
    void perhaps(Body body) {
        const bool around = std::exchange(is_sure_, false);
        body();
        is_sure_ = around;
    }

    LetScope lets_;
    std::vector<std::string> inside_;  ///< variables of the loop
    bool is_sure_ = true;
};

/// How often a buffer is read or written.
class CountAccesses : public Visitor {
public:
    explicit CountAccesses(const std::string &buffer) : buffer_(buffer) {
    }
    int count = 0;

private:
    using Visitor::visit;
    void visit(const Load *op) override {
        count += op->name == buffer_;
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        count += op->name == buffer_;
        Visitor::visit(op);
    }
    const std::string &buffer_;
};

int accesses(const Stmt &s, const std::string &buffer) {
    CountAccesses counter(buffer);
    counter(s);
    return counter.count;
}

Stmt store_first(const std::string &name, const Expr &value) {
    return Store::make(name, value, 0, const_true(), Alignment());
}

Expr load_first(const std::string &name, const Type &t) {
    return Load::make(t, name, 0, const_true(), Alignment());
}

/// The body, in which updates are of own storage.
class UpdateOwn : public StmtMutator {
public:
    explicit UpdateOwn(const std::vector<Update> &updates) : updates_(updates) {
    }

private:
    using Mutator::visit;
    Stmt visit(const Atomic *op) override {
        for (const Update &u : updates_) {
            if (u.atomic == op) {
                const Expr before = load_first(u.own, u.store->value.type());
                const Stmt update =
                    store_first(u.own, combine(u.update.op, before, u.update.operand));
                return u.is_sure ? update
                                 : Block::make(update, store_first(u.met, make_one(UInt(8))));
            }
        }
        return op;
    }
    const std::vector<Update> &updates_;
};

class AccumulateAtomics : public StmtMutator {
public:
    explicit AccumulateAtomics(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const Stmt s = Mutator::visit(op);
        const For *loop = s.as<For>();
        if (!loop || loop->for_type != ForType::Serial ||
            !contains_kind(loop->body, NodeKind::Atomic)) {
            return s;
        }
        FindUpdates finder(loop);
        std::vector<Update> updates;
        for (Update &u : finder.found) {
            const std::string &buffer = u.store->name;
            if (finder.is_alone && accesses(loop->body, buffer) == accesses(u.atomic, buffer)) {
                u.own = ctx_.names.unique(buffer + ".own");
                u.met = u.is_sure ? "" : ctx_.names.unique(buffer + ".met");
                updates.push_back(u);
            }
        }
        return updates.empty() ? s : accumulated(loop, updates);
    }

    static Stmt accumulated(const For *loop, const std::vector<Update> &updates) {
        Stmt s = with(loop, &For::body, UpdateOwn(updates).mutate(loop->body));
        for (const Update &u : updates) {
            const Type t = u.store->value.type();
            s = Block::make({store_first(u.own, reduction_identity(u.update.op, t)), s,
                             IfThenElse::make(has_met(loop, u), once(u))});
            s = Allocate::make(u.own, t, MemoryType::Stack, {1}, const_true(), s);
            if (!u.is_sure) {
                s = Allocate::make(u.met, UInt(8), MemoryType::Stack, {1}, const_true(),
                                   Block::make(store_first(u.met, make_zero(UInt(8))), s));
            }
        }
        return s;
    }

    static Expr has_met(const For *loop, const Update &u) {
        return u.is_sure ? 0 < loop->extent : load_first(u.met, UInt(8)) != make_zero(UInt(8));
    }

    static Stmt once(const Update &u) {
        const Expr old = with(u.update.old.as<Load>(), &Load::index, u.index);
        const Expr value = u.update.rebuild(old, load_first(u.own, u.store->value.type()));
        return Atomic::make(u.atomic->producer_name, "",
                            with(u.store, &Store::value, value, &Store::index, u.index));
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt accumulate_atomics(const Stmt &s, LowerContext &ctx) {
    return AccumulateAtomics(ctx).mutate(s);
}

}  // namespace calotype::internal
