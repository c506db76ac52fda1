// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/values/join_reductions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/let_scope.h"

namespace calotype::internal {

namespace {

/// Stores of one loop: each needs a register, or several.
constexpr int max_stores = 8;

/// Operations of a body. Of shorter ones LLVM makes vectors of consecutive elements, of each loop by itself.
constexpr int long_body = 12;

using Values = std::map<std::string, Expr>;

/// What a statement, or an expression, does.
struct Accesses {
    std::set<std::string> reads, writes;
    int stores = 0;
    bool is_plain = true;  ///< nothing happens but stores

    bool is_independent_of(const Accesses &other) const {
        return is_plain && other.is_plain && are_disjoint(writes, other.reads) &&
               are_disjoint(writes, other.writes) && are_disjoint(reads, other.writes);
    }

private:
    static bool are_disjoint(const std::set<std::string> &a, const std::set<std::string> &b) {
        return std::none_of(a.begin(), a.end(), [&](const std::string &x) { return b.count(x); });
    }
};

class FindAccesses : public GraphVisitor {
public:
    Accesses found;

    using GraphVisitor::operator();
    void operator()(const Stmt &s) override {
        switch (s.defined() ? s->kind : NodeKind::Block) {
        case NodeKind::Block:
        case NodeKind::LetStmt:
        case NodeKind::IfThenElse:
        case NodeKind::For:
        case NodeKind::ProducerConsumer:
        case NodeKind::Store:
            return GraphVisitor::operator()(s);
        default:
            found.is_plain = false;
        }
    }

private:
    using GraphVisitor::visit;

    void visit(const Load *op) override {
        found.reads.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        found.writes.insert(op->name);
        found.stores++;
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        found.is_plain = found.is_plain && op->is_pure();
        GraphVisitor::visit(op);
    }
};

template<typename T>
Accesses accesses_of(const T &t) {
    FindAccesses find;
    find(t);
    return find.found;
}

/// Loads of elements that change in the loops, in terms of what is outside of lets.
class MovingLoads : public Visitor {
public:
    explicit MovingLoads(const std::vector<std::string> &loops) : loops_(loops) {
    }
    std::vector<Expr> found;

private:
    using Visitor::visit;

    void visit(const Let *op) override {
        (*this)(op->value);
        const LetScope::Inside inside(lets_, op->name, op->value);
        (*this)(op->body);
    }
    void visit(const LetStmt *op) override {
        (*this)(op->value);
        const LetScope::Inside inside(lets_, op->name, op->value);
        (*this)(op->body);
    }
    void visit(const Load *op) override {
        const Expr index = lets_.expand(op->index);
        if (index.defined() && uses_any_var(index, loops_)) {
            found.push_back(with(op, &Load::index, simplify(index)));
        }
        Visitor::visit(op);
    }

    const std::vector<std::string> &loops_;
    LetScope lets_;
};

/// How many operations it takes to compute what is stored, places left out.
class Work : public GraphVisitor {
public:
    int count = 0;

private:
    using GraphVisitor::visit;

    void visit(const Load *) override {
    }
#define ARITH(Name, symbol)                                                                        \
    void visit(const Name *op) override {                                                          \
        count++;                                                                                   \
        GraphVisitor::visit(op);                                                                   \
    }
#define COMPARE(Name, symbol)
#define LOGIC(Name, symbol)
#include "ir/nodes.def"
    void visit(const Call *op) override {
        count += is_long_function(op) ? long_body : 1;
        GraphVisitor::visit(op);
    }
};

bool is_long(const Stmt &body) {
    Work work;
    work(body);
    return work.count >= long_body;
}

/// Whether a store is to a place that the outermost loop of a nest, or lets inside, may change.
class FindMovingStore : public Visitor {
public:
    explicit FindMovingStore(const std::string &loop) : moving_{loop} {
    }
    bool found = false;

    using Visitor::operator();
    void operator()(const Expr &) override {
    }

private:
    using Visitor::visit;

    void visit(const LetStmt *op) override {
        moving_.push_back(op->name);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        found = found || uses_any_var(op->index, moving_);
    }

    std::vector<std::string> moving_;
};

/// Loops that are around each other and nothing else, in front of which lets stand.
struct Nest {
    std::vector<const For *> loops;  ///< outermost first
    Stmt body;                       ///< of the innermost one
    Values lets;

    explicit Nest(const For *outermost, const Values &lets) : lets(lets) {
        for (const For *op = outermost; op; op = body.as<For>()) {
            loops.push_back(op);
            body = op->body;
        }
    }
    bool is_reduction() const {
        FindMovingStore moving(loops.front()->name);
        moving(body);
        const bool is_serial = std::none_of(loops.begin(), loops.end(), [](const For *op) {
            return is_gpu(op->for_type) || op->for_type == ForType::Parallel;
        });
        return is_serial && !moving.found && !contains_kind(body, NodeKind::For);
    }
};

/// The loads of one statement that another has, too.
bool load_the_same(const Stmt &a, const Stmt &b, const std::vector<std::string> &loops) {
    MovingLoads of_a(loops), of_b(loops);
    of_a(a);
    of_b(b);
    return std::any_of(of_a.found.begin(), of_a.found.end(), [&](const Expr &x) {
        return std::any_of(of_b.found.begin(), of_b.found.end(),
                           [&](const Expr &y) { return equal(x, y); });
    });
}

/// The stores that a statement consists of; false if there is more to it.
bool find_stores(const Stmt &s, std::vector<const Store *> *found) {
    if (const Block *op = s.as<Block>()) {
        return find_stores(op->first, found) && find_stores(op->rest, found);
    }
    const Store *op = s.as<Store>();
    found->push_back(op);
    return op && is_const_one(op->predicate);
}

/// Whether one of the stores reads what one before it writes.
bool need_each_other(const std::vector<const Store *> &stores) {
    std::set<std::string> written;
    for (const Store *op : stores) {
        const auto reads = [&](const Load *load) {
            return written.count(load->name) > 0;
        };
        if (contains<Load>(op->value, reads) || !written.insert(op->name).second) {
            return true;
        }
    }
    return false;
}

/// Both, with names in front of them for what they compute in common. Each by itself would be named, and put in order,
/// in its own way, so that whoever looks for equal expressions afterwards may not find them.
Stmt with_common_names(const Stmt &first, const Stmt &second, LowerContext &ctx) {
    constexpr int too_large = 1 << 14;  ///< nodes of a tree
    const Stmt as_they_are = Block::make(first, second);
    std::vector<const Store *> stores;
    const Stmt without_lets = substitute_in_all_lets(as_they_are);
    if (!find_stores(without_lets, &stores) || need_each_other(stores)) {
        return as_they_are;
    }
    std::vector<Expr> values;
    for (const Store *op : stores) {
        if (is_repetitive(op->value, too_large)) {
            return as_they_are;
        }
        values.push_back(simplify(op->value));
    }
    Expr rest =
        common_subexpression_elimination(Call::make(Int(32), Intrinsic::bundle, std::move(values)));
    Values names;
    std::vector<std::pair<std::string, Expr>> lets;
    while (const Let *op = rest.as<Let>()) {
        lets.emplace_back(ctx.names.unique(op->name), substitute(names, op->value));
        names[op->name] = Variable::make(op->value.type(), lets.back().first);
        rest = Expr(op->body);
    }
    std::vector<Stmt> renamed;
    for (size_t i = 0; i < stores.size(); i++) {
        const Expr value = substitute(names, rest.as<Call>()->args[i]);
        renamed.push_back(with(stores[i], &Store::value, value));
    }
    return wrap_in_lets(lets, Block::make(renamed));
}

/// Both in the loops of b; undefined if they are not over one domain, or it would gain nothing.
Stmt join(const Nest &a, const Nest &b, LowerContext &ctx) {
    if (a.loops.size() != b.loops.size()) {
        return Stmt();
    }
    Values names = a.lets;
    std::vector<std::string> loops;
    for (size_t i = 0; i < a.loops.size(); i++) {
        const For *x = a.loops[i], *y = b.loops[i];
        const auto are_equal = [&](const Expr &of_x, const Expr &of_y) {
            return equal(substitute(names, of_x), substitute(b.lets, of_y));
        };
        if (x->for_type != y->for_type || x->partition != y->partition ||
            !are_equal(x->min, y->min) || !are_equal(x->extent, y->extent)) {
            return Stmt();
        }
        names[x->name] = Variable::make(y->min.type(), y->name);
        loops.push_back(y->name);
    }
    const Stmt first = substitute(names, a.body);
    if (!load_the_same(first, substitute(b.lets, b.body), loops)) {
        return Stmt();
    }
    Stmt result = is_long(first) && is_long(b.body) ? with_common_names(first, b.body, ctx)
                                                    : Block::make(first, b.body);
    for (size_t i = b.loops.size(); i-- > 0;) {
        result = with(b.loops[i], &For::body, result);
    }
    return result;
}

/// Moves the last loops of a statement into those of the next one.
class Joiner {
public:
    /// Undefined if there are none to join.
    static Stmt join_last(const Stmt &first, const Stmt &next, bool are_scalars,
                          LowerContext &ctx) {
        Joiner joiner(are_scalars, ctx);
        const Stmt without = joiner.take_last(first, {});
        if (joiner.taken_.empty() || !joiner.taken_.front().is_reduction()) {
            return Stmt();
        }
        joiner.accesses_ = accesses_of(Stmt(joiner.taken_.front().loops.front()));
        const Stmt joined = joiner.accesses_.is_plain ? joiner.put_into(next, {}) : Stmt();
        return joined.defined() && without.defined() ? Block::make(without, joined) : joined;
    }

private:
    Joiner(bool are_scalars, LowerContext &ctx) : are_scalars_(are_scalars), ctx_(ctx) {
    }

    /// The statement without its last loops, undefined if nothing is left.
    Stmt take_last(const Stmt &s, const Values &lets) {
        if (const For *op = s.as<For>()) {
            taken_.emplace_back(op, lets);
            return Stmt();
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>(); op && op->is_producer) {
            const Stmt body = take_last(op->body, lets);
            return body.defined() ? with(op, &ProducerConsumer::body, body) : Stmt();
        }
        if (const Block *op = s.as<Block>()) {
            const Stmt rest = take_last(op->rest, lets);
            return rest.defined() ? Block::make(op->first, rest) : op->first;
        }
        if (const LetStmt *op = s.as<LetStmt>(); op && is_simple(op->value)) {
            const Stmt body = take_last(op->body, with_let(lets, op));
            return body.defined() ? with(op, &LetStmt::body, body) : Stmt();
        }
        return s;
    }

    /// A statement whose first loops are joined by those that were taken; undefined if they cannot be.
    Stmt put_into(const Stmt &s, const Values &lets) const {
        if (const For *op = s.as<For>()) {
            const Nest nest(op, lets);
            const Accesses accesses = accesses_of(s);
            const bool may_join =
                nest.is_reduction() && accesses.is_independent_of(accesses_) &&
                accesses.stores + accesses_.stores <= max_stores &&
                (!are_scalars_ || (is_long(taken_.front().body) && is_long(nest.body)));
            return may_join ? join(taken_.front(), nest, ctx_) : Stmt();
        }
        if (const Block *op = s.as<Block>()) {
            if (const Stmt first = put_into(op->first, lets); first.defined()) {
                return Block::make(first, op->rest);
            }
            const bool may_pass = !contains_kind(op->first, NodeKind::For) &&
                                  accesses_of(op->first).is_independent_of(accesses_);
            const Stmt rest = may_pass ? put_into(op->rest, lets) : Stmt();
            return rest.defined() ? Block::make(op->first, rest) : Stmt();
        }
        if (const LetStmt *op = s.as<LetStmt>();
            op && accesses_of(op->value).is_independent_of(accesses_)) {
            return in_body(op, is_simple(op->value) ? with_let(lets, op) : lets);
        }
        if (const Allocate *op = s.as<Allocate>(); op && !op->new_expr.defined()) {
            return in_body(op, lets);
        }
        const ProducerConsumer *op = s.as<ProducerConsumer>();
        return op ? in_body(op, lets) : Stmt();
    }

    template<typename T>
    Stmt in_body(const T *op, const Values &lets) const {
        const Stmt body = put_into(op->body, lets);
        return body.defined() ? with(op, &T::body, body) : Stmt();
    }

    static Values with_let(Values lets, const LetStmt *op) {
        lets[op->name] = substitute(lets, op->value);
        return lets;
    }

    const bool are_scalars_;   ///< what is stored is neither of lanes nor of threads
    std::vector<Nest> taken_;  ///< one or none
    Accesses accesses_;
    LowerContext &ctx_;
};

class JoinReductions : public StmtMutator {
public:
    explicit JoinReductions(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool around = are_scalars_;
        are_scalars_ = around && op->for_type != ForType::Vectorized && !is_gpu(op->for_type);
        const Stmt s = Mutator::visit(op);
        are_scalars_ = around;
        return s;
    }

    Stmt visit(const Block *op) override {
        const Stmt s = Mutator::visit(op);
        const Block *block = s.as<Block>();
        const Stmt joined =
            block ? Joiner::join_last(block->first, block->rest, are_scalars_, ctx_) : Stmt();
        return joined.defined() ? joined : s;
    }

    LowerContext &ctx_;
    bool are_scalars_ = true;
};

}  // namespace

Stmt join_reductions(const Stmt &s, LowerContext &ctx) {
    return JoinReductions(ctx).mutate(s);
}

}  // namespace calotype::internal
