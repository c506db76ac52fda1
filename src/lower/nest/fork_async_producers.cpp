// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/fork_async_producers.h"

#include <set>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "runtime/abi/threads.h"

namespace calotype {

using namespace internal;

namespace {

Expr semaphore_of(const std::string &func) {
    return Variable::make(type_of<calotype_semaphore_t *>(), func + ".semaphore");
}

Stmt call_semaphore(const char *function, const std::string &func, int n) {
    return Evaluate::make(Call::make(Int(32), function, {semaphore_of(func), n}, CallKind::Extern));
}

/// Drops storage, and production, of Funcs that nobody reads.
class DropUnused : public Mutator {
public:
    explicit DropUnused(const std::string &keep)
        : keep_(keep) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Realize *op) override {
        const Stmt s = Mutator::visit(op);
        const Realize *r = s.as<Realize>();
        if (!r || op->name == keep_ || is_read(r->body, op->name)) {
            return s;
        }
        return mutate(without_production(r->body, op->name));
    }

    static bool is_read(const Stmt &s, const std::string &name) {
        class Finder : public GraphVisitor {
        public:
            explicit Finder(const std::string &name)
                : name_(name) {
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
                found = found || (op->call_kind == CallKind::Func && op->name == name_);
                GraphVisitor::visit(op);
            }
            const std::string &name_;
        };
        Finder finder(name);
        finder(s);
        return finder.found;
    }

    static Stmt without_production(const Stmt &s, const std::string &name) {
        class Remove : public Mutator {
        public:
            explicit Remove(const std::string &name)
                : name_(name) {
            }

        private:
            using Mutator::visit;
            Stmt visit(const ProducerConsumer *op) override {
                if (op->name != name_) {
                    return Mutator::visit(op);
                }
                return op->is_producer ? Stmt() : mutate(op->body);
            }
            const std::string &name_;
        };
        return Remove(name).mutate(s);
    }

    const std::string &keep_;
};

/// One of the two sides: a copy of the code without what belongs to the other, and without what then does nothing.
class Side : public Mutator {
public:
    explicit Side(const std::string &func)
        : func_(func) {
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
        return !body.defined() ? body :
                                 For::make(op->name, op->min, op->extent, op->for_type, op->partition, op->device_api,
                                           body);
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
        return !body.defined() ? body :
                                 Realize::make(op->name, op->types, op->memory_type, op->bounds, op->condition, body);
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
        return !body.defined() ? body :
                                 Allocate::make(op->name, op->type, op->memory_type, op->extents, op->condition, body,
                                                op->new_expr, op->free_function, op->padding);
    }
    Stmt visit(const ProducerConsumer *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? ProducerConsumer::make(op->name, op->is_producer, body) : body;
    }

    const std::string &func_;
};

/// Keeps the production of the Func, and of Funcs whose storage is inside: those it may need.
class ProducerSide : public Side {
public:
    using Side::Side;

private:
    using Side::visit;

    Stmt visit(const ProducerConsumer *op) override {
        if (op->name == func_) {
            return op->is_producer ? Block::make(op, call_semaphore("calotype_semaphore_release", func_, 1)) : Stmt();
        }
        return op->is_producer && inside_.contains(op->name) ? Stmt(op) : Side::visit(op);
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
        return op->is_producer ? Stmt() : Acquire::make(semaphore_of(func_), 1, op);
    }
};

class ForkAsyncProducers : public Mutator {
public:
    explicit ForkAsyncProducers(LowerContext &ctx)
        : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Realize *op) override {
        auto f = ctx_.env.find(op->name);
        if (f == ctx_.env.end() || !f->second.schedule().async) {
            return Mutator::visit(op);
        }
        const Stmt producer = DropUnused(op->name).mutate(ProducerSide(op->name).mutate(op->body));
        const Stmt consumer = DropUnused(op->name).mutate(ConsumerSide(op->name).mutate(op->body));
        check_needs(op, producer);
        const Expr storage = Call::make(type_of<calotype_semaphore_t *>(), Intrinsic::alloca,
                                        {int(sizeof(calotype_semaphore_t))});
        Stmt body = Block::make(call_semaphore("calotype_semaphore_init", op->name, 0),
                                Fork::make(mutate(producer), mutate(consumer)));
        body = LetStmt::make(semaphore_of(op->name).as<Variable>()->name, storage, body);
        return Realize::make(op->name, op->types, op->memory_type, op->bounds, op->condition, body);
    }

    /// What the producer reads must be produced on its side, or before both.
    void check_needs(const Realize *op, const Stmt &producer) const {
        class Produced : public GraphVisitor {
        public:
            std::set<std::string> names;

        private:
            using GraphVisitor::visit;
            void visit(const ProducerConsumer *p) override {
                if (p->is_producer) {
                    names.insert(p->name);
                }
                GraphVisitor::visit(p);
            }
        };
        Produced everywhere, here;
        everywhere(op->body);
        here(producer);
        for (const std::string &name : everywhere.names) {
            user_assert(here.names.count(name) || !uses_buffer(producer, name))
                << "func " << op->name << " is async and needs " << name
                << ", which is computed inside of the storage of " << op->name << " but stored outside of it";
        }
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt fork_async_producers(const Stmt &s, LowerContext &ctx) {
    return ForkAsyncProducers(ctx).mutate(s);
}

}  // namespace calotype
