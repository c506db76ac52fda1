// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/values/carry_stored.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arith/linear_form.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/let_scope.h"
#include "lower/storage/handle_names.h"
#include "lower/sure_loads.h"

namespace calotype::internal {

namespace {

/// As far back as values are carried, and the bytes that they may take: each is moved on in each iteration.
constexpr int most_iterations = 3, most_bytes = 512;

/// What one thread does, one thing after the other, with names that mean one thing.
bool is_plain(const Stmt &body) {
    const bool is_straight = !contains_node(body, [](const Node *node) {
        return node->kind == NodeKind::For || node->kind == NodeKind::Fork ||
               node->kind == NodeKind::Acquire || node->kind == NodeKind::Atomic;
    });
    if (!is_straight || !handle_names(body).empty()) {
        return false;
    }
    const std::vector<std::string> names = bound_names(body);
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

/// The lets from the body of a loop to a store that each iteration comes to; nothing if there is none to the buffer.
std::optional<std::vector<const LetStmt *>> lets_around(const Stmt &s, const Store *store) {
    if (s.get() == store) {
        return std::vector<const LetStmt *>{};
    }
    if (const Block *block = s.as<Block>()) {
        auto lets = lets_around(block->first, store);
        return lets ? lets : lets_around(block->rest, store);
    }
    if (const LetStmt *let = s.as<LetStmt>()) {
        auto lets = lets_around(let->body, store);
        if (lets) {
            lets->insert(lets->begin(), let);
        }
        return lets;
    }
    return std::nullopt;
}

/// e as a sum, in which products of sums are sums of products, with constants behind.
Expr distributed(const Expr &e) {
    if (const Add *add = e.as<Add>()) {
        return distributed(add->a) + distributed(add->b);
    }
    if (const Sub *sub = e.as<Sub>()) {
        return distributed(sub->a) - distributed(sub->b);
    }
    const Mul *product = e.as<Mul>();
    if (!product || is_const(product->b)) {
        return e;
    }
    const Expr a = distributed(product->a), b = product->b;
    if (const Add *add = a.as<Add>()) {
        return distributed(add->a * b) + distributed(add->b * b);
    }
    if (const Sub *sub = a.as<Sub>()) {
        return distributed(sub->a * b) - distributed(sub->b * b);
    }
    return is_const(a) ? b * a : a * b;
}

/// a - b.
LinearForm difference(const Expr &a, const Expr &b) {
    LinearForm result(distributed(a));
    result.add(distributed(b), -1);
    return result;
}

/// True if the indices, of single elements or of vectors, are the same for sure.
bool is_same_place(const Expr &a, const Expr &b) {
    const Ramp *first = a.as<Ramp>(), *second = b.as<Ramp>();
    if (first || second) {
        return first && second && first->lanes == second->lanes &&
               equal(first->stride, second->stride) && is_same_place(first->base, second->base);
    }
    const LinearForm apart = difference(a, b);
    return a.type() == b.type() && apart.is_valid() && apart.is_zero();
}

/// A store of a loop, and how many iterations ago what it reads was stored.
class Recurrence {
public:
    Recurrence(const Stmt &in, const Store *store) : in_(in), loop_(in.as<For>()), store_(store) {
        const auto lets = lets_around(loop_->body, store);
        if (!lets || !is_const_one(store->predicate)) {
            return;
        }
        LetScope scope;
        SureLoads loads([&](const std::string &buffer) { return buffer == store->name; });
        std::vector<Expr> indices;
        const auto read = [&](const Expr &value) {
            loads(value);
            for (; indices.size() < loads.found.size();) {
                indices.push_back(scope.expand(loads.found[indices.size()]->index));
            }
        };
        for (const LetStmt *let : *lets) {
            read(let->value);
            scope.push(let->name, let->value);
        }
        read(store->value);
        index_ = scope.expand(store->index);
        if (index_.defined() && is_speculatable(index_)) {
            for (size_t i = 0; i < indices.size(); i++) {
                add(loads.found[i], indices[i]);
            }
        }
    }

    /// The iterations that values are carried over; 0 if none is.
    int length() const {
        return length_;
    }
    Type type() const {
        return store_->value.type();
    }
    const Store *store() const {
        return store_;
    }
    /// How many iterations ago what is read there was stored; 0 if that is not known.
    int distance(const Load *load) const {
        const auto found =
            std::find_if(distances_.begin(), distances_.end(),
                         [&](const auto &known) { return equal(known.first, load->index); });
        return found == distances_.end() || !has_form(load) ? 0 : found->second;
    }
    /// What is in memory where an iteration in front of the loop would have stored.
    Expr in_memory(int iterations) const {
        const Expr index = simplify(substitute(loop_->name, loop_->min - iterations, index_));
        return Load::make(type(), store_->name, index, store_->predicate, Alignment());
    }

private:
    bool has_form(const Load *load) const {
        return load->type == type() && is_const_one(load->predicate);
    }

    void add(const Load *load, const Expr &index) {
        if (!has_form(load) || !index.defined()) {
            return;
        }
        for (int n = 1; n <= most_iterations && n * type().bytes() * type().lanes() <= most_bytes;
             n++) {
            const Expr before = substitute(loop_->name, loop_var() - n, index_);
            if (is_same_place(index, before) && !is_same_place(index_, before)) {
                distances_.emplace_back(load->index, n);
                length_ = std::max(length_, n);
                return;
            }
        }
    }

    Expr loop_var() const {
        return Variable::make(loop_->min.type(), loop_->name);
    }

    const Stmt in_;  ///< keeps what the others point to
    const For *const loop_;
    const Store *const store_;
    Expr index_;  ///< of the store, in terms of what is outside of the loop
    std::vector<std::pair<Expr, int>> distances_;
    int length_ = 0;
};

/// The body of a loop with the values of a recurrence in variables of their own, the last one first.
class UseCarried : public Mutator {
public:
    UseCarried(const Recurrence &recurrence, UniqueNames &names) : recurrence_(recurrence) {
        const std::string &buffer = recurrence.store()->name;
        for (int i = 0; i < recurrence.length(); i++) {
            carried_.push_back(names.unique(buffer + ".carried"));
        }
        stored_ = names.unique(buffer + ".stored");
    }

    /// What goes in front of the loop.
    Stmt first_values() const {
        std::vector<Stmt> values;
        for (int i = 0; i < recurrence_.length(); i++) {
            values.push_back(keep(i, recurrence_.in_memory(i + 1)));
        }
        return Block::make(values);
    }
    /// With storage for what is carried.
    Stmt with_storage(Stmt s) const {
        const Type t = recurrence_.type();
        for (const std::string &name : carried_) {
            s = Allocate::make(name, t.element_of(), MemoryType::Stack, {t.lanes()}, const_true(),
                               s);
        }
        return s;
    }

private:
    using Mutator::visit;

    Expr visit(const Load *op) override {
        const int distance =
            !is_stored_ && op->name == recurrence_.store()->name ? recurrence_.distance(op) : 0;
        return distance > 0 ? load(distance - 1) : Mutator::visit(op);
    }

    Stmt visit(const Store *op) override {
        if (op != recurrence_.store()) {
            return Mutator::visit(op);
        }
        const Expr stored = Variable::make(recurrence_.type(), stored_);
        Stmt s = keep(0, stored);
        for (size_t i = 1; i < carried_.size(); i++) {
            s = Block::make(keep(i, load(i - 1)), s);
        }
        s = LetStmt::make(stored_, mutate(op->value),
                          Block::make(with(op, &Store::value, stored), s));
        is_stored_ = true;
        return s;
    }

    Expr load(size_t i) const {
        const Type t = recurrence_.type();
        return Load::make(t, carried_[i], place(), const_true(t.lanes()), Alignment());
    }
    Stmt keep(size_t i, const Expr &value) const {
        return Store::make(carried_[i], value, place(), const_true(value.type().lanes()),
                           Alignment());
    }
    Expr place() const {
        const int lanes = recurrence_.type().lanes();
        return lanes == 1 ? Expr(0) : Ramp::make(0, 1, lanes);
    }

    const Recurrence recurrence_;
    std::vector<std::string> carried_;
    std::string stored_;
    bool is_stored_ = false;
};

std::vector<std::string> buffers_stored_once(const Stmt &loop) {
    std::map<std::string, int> times;
    for_each<Store>(loop, [&](const Store *op) { times[op->name]++; });
    std::vector<std::string> once;
    for (const auto &[name, n] : times) {
        if (n == 1) {
            once.push_back(name);
        }
    }
    return once;
}

const Store *store_to(const Stmt &loop, const std::string &buffer) {
    const Store *found = nullptr;
    for_each<Store>(loop, [&](const Store *op) { found = op->name == buffer ? op : found; });
    return found;
}

class CarryStored : public StmtMutator {
public:
    explicit CarryStored(UniqueNames &names) : names_(names) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool in_kernel = in_kernel_, in_thread = in_thread_;
        in_kernel_ |= is_gpu(op->for_type);
        in_thread_ |= is_thread_loop(op);
        const Stmt body = mutate(op->body);
        in_kernel_ = in_kernel;
        in_thread_ = in_thread;
        const Stmt loop = body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
        const bool has_own_storage = !in_kernel || in_thread;
        return op->for_type == ForType::Serial && has_own_storage && is_plain(body) ? carried(loop)
                                                                                    : loop;
    }

    Stmt carried(Stmt loop) {
        const Expr extent = loop.as<For>()->extent;
        std::vector<Stmt> first;
        std::vector<UseCarried> used;
        for (const std::string &buffer : buffers_stored_once(loop)) {
            const Recurrence recurrence(loop, store_to(loop, buffer));
            if (recurrence.length() > 0) {
                used.emplace_back(recurrence, names_);
                first.push_back(used.back().first_values());
                loop = used.back().mutate(loop);
            }
        }
        if (used.empty()) {
            return loop;
        }
        first.push_back(loop);
        Stmt s = Block::make(first);
        for (const UseCarried &use : used) {
            s = use.with_storage(s);
        }
        return is_positive_const(extent) ? s : IfThenElse::make(0 < extent, s);
    }

    UniqueNames &names_;
    bool in_kernel_ = false, in_thread_ = false;
};

}  // namespace

Stmt carry_stored(const Stmt &s, LowerContext &ctx) {
    return CarryStored(ctx.names).mutate(s);
}

}  // namespace calotype::internal
