// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why it is right. Let m be the first iteration, [a(y), b(y)] the window of g in iteration y, with
// b growing by s > 0 in each, and k the least number with b(m - k - 1) < a(m). Iterations from
// m - k on compute ]b(y - 1), b(y)] of g, and nothing below a(m), which no one reads. So in each
// iteration y all of [a(m), b(y)] has been computed. A consumer of g that slides, too, reads in
// iteration y < m nothing outside of what its first window and that of y read, so nothing outside
// of [a(m), b(y)]; and if that is not empty, y >= m - k, and g has begun. Where g is computed in
// blocks, s is a multiple of their size: a block that is filled up ends at b(y + 1) at the latest.
//
// A production that does not slide begins when the first of its consumers does. Its region must
// then depend on the loop through the regions of windows alone: those never leave what the first
// window reads, so neither does it.
#include "lower/storage/warm_up.h"

#include <algorithm>
#include <cstdint>

#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/let_scope.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

/// More iterations than that cost more than they save.
constexpr int64_t most_iterations = 64;

bool runs_once(const For *loop, const LowerContext &ctx) {
    const auto it = ctx.loops.find(loop->name);
    return is_const_one(loop->extent) ||
           (it != ctx.loops.end() && it->second.var == outermost_name);
}

/// A production in the loop, or several in one nest.
struct Production {
    std::vector<std::string> funcs;
    Stmt body;
};

/// What stands in the body of a loop, not inside of other loops: productions in order, and lets.
class Body {
public:
    Body(const Stmt &s, const LowerContext &ctx) : ctx_(ctx) {
        collect(s);
    }
    std::vector<Production> productions;
    std::vector<const LetStmt *> lets;
    std::vector<Stmt> rest;  ///< neither

private:
    void collect(const Stmt &s) {
        if (const auto *op = s.as<LetStmt>()) {
            lets.push_back(op);
            collect(op->body);
        } else if (const auto *op = s.as<ProducerConsumer>()) {
            op->is_producer ? collect_production(op) : collect(op->body);
        } else if (const auto *op = s.as<Realize>()) {
            collect(op->body);
        } else if (const auto *op = s.as<HoistedStorage>()) {
            collect(op->body);
        } else if (const auto *op = s.as<Block>()) {
            collect(op->first);
            collect(op->rest);
        } else if (const auto *op = s.as<For>(); op && runs_once(op, ctx_)) {
            collect(op->body);
        } else {
            rest.push_back(s);
        }
    }

    void collect_production(const ProducerConsumer *op) {
        Production p;
        p.funcs.push_back(op->name);
        p.body = op->body;
        for (const auto *next = p.body.as<ProducerConsumer>(); next && next->is_producer;
             next = p.body.as<ProducerConsumer>()) {
            p.funcs.push_back(next->name);
            p.body = next->body;
        }
        productions.push_back(std::move(p));
    }

    const LowerContext &ctx_;
};

class Planner {
public:
    Planner(const For *loop, const std::vector<SlidingWindow> &windows,
            const std::map<std::string, Expr> &outside, const LowerContext &ctx)
        : loop_(loop), outside_(outside), ctx_(ctx), body_(loop->body, ctx) {
        for (const SlidingWindow &w : windows) {
            windows_[w.func] = &w;
        }
    }

    std::optional<WarmUp> plan() {
        if (!all_windows_are_in_the_body()) {
            return std::nullopt;
        }
        for (size_t i = body_.productions.size(); i-- > 0;) {
            if (!plan_production(i)) {
                return std::nullopt;
            }
        }
        return result_.iterations > 0 ? std::optional<WarmUp>(result_) : std::nullopt;
    }

private:
    bool all_windows_are_in_the_body() const {
        size_t found = 0;
        for (const Production &p : body_.productions) {
            for (const std::string &f : p.funcs) {
                found += windows_.count(f);
            }
        }
        return found == windows_.size();
    }

    bool plan_production(size_t number) {
        const Production &p = body_.productions[number];
        const int needed = start_of_consumers(number);
        int start = 0;
        for (const std::string &f : p.funcs) {
            const auto it = windows_.find(f);
            if (it == windows_.end()) {
                if (needed > 0 && !follows_windows(f)) {
                    return false;
                }
                start = std::max(start, needed);
            } else if (!it->second->moves) {
                if (needed > 0) {
                    return false;
                }
            } else if (const auto own = start_of(*it->second)) {
                start = std::max(start, *own);
            } else {
                return false;
            }
        }
        for (const std::string &f : p.funcs) {
            result_.starts[f] = start;
        }
        result_.iterations = std::max(result_.iterations, start);
        return true;
    }

    int start_of_consumers(size_t number) const {
        int start = 0;
        for (size_t i = number + 1; i < body_.productions.size(); i++) {
            const Production &consumer = body_.productions[i];
            for (const std::string &f : body_.productions[number].funcs) {
                if (uses_buffer(consumer.body, f)) {
                    start = std::max(start, result_.starts.at(consumer.funcs[0]));
                }
            }
        }
        return start;
    }

    /// With the values of lets around the loop.
    Expr expanded(const Expr &e) const {
        return simplify(substitute(outside_, e));
    }

    std::optional<int> start_of(const SlidingWindow &w) {
        const Expr before = Variable::make(loop_->min.type(), loop_->name) - 1;
        const Expr min = expanded(w.min), max = expanded(w.max);
        const Expr previous = substitute(loop_->name, before, max);
        const int64_t step = as_const_int(simplify(max - previous)).value_or(0);
        const Expr bound = find_constant_bound(previous + 1 - min, Direction::Upper);
        if (step <= 0 || !bound.defined()) {
            return std::nullopt;
        }
        const int64_t distance = as_const_int(bound).value_or(most_iterations * step + 1);
        if (distance > most_iterations * step) {
            return std::nullopt;
        }
        const auto exact = as_const_int(simplify(previous + 1 - min));
        result_.exact[w.func] = exact && *exact % step == 0;
        return int(std::max<int64_t>(0, (distance + step - 1) / step));
    }

    /// True if the region of f changes with the loop as the regions of windows do, and not
    /// otherwise.
    bool follows_windows(const std::string &f) const {
        const auto it = ctx_.env.find(f);
        if (it == ctx_.env.end() || it->second.has_extern_definition() ||
            it->second.schedule().memoized || it->second.schedule().async) {
            return false;
        }
        LetScope lets;
        for (const LetStmt *let : body_.lets) {
            lets.push(let->name, is_end_of_window(let->name) ? Expr() : let->value);
        }
        for (int stage = 0; stage < it->second.stages(); stage++) {
            for (const std::string &arg : it->second.args()) {
                for (const std::string &end :
                     {names::stage_min(f, stage, arg), names::stage_max(f, stage, arg)}) {
                    const Expr value = lets.expand(names::var(end));
                    if (!value.defined() || uses_var(value, loop_->name)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    bool is_end_of_window(const std::string &name) const {
        return std::any_of(windows_.begin(), windows_.end(), [&](const auto &w) {
            const auto &lets = w.second->lets;
            return std::find(lets.begin(), lets.end(), name) != lets.end();
        });
    }

    const For *loop_;
    const std::map<std::string, Expr> &outside_;
    const LowerContext &ctx_;
    const Body body_;
    std::map<std::string, const SlidingWindow *> windows_;
    WarmUp result_;
};

/// The body, in which productions begin when they must, and all else in the first iteration.
class GuardBody {
public:
    GuardBody(const For *loop, const WarmUp &plan, const LowerContext &ctx)
        : loop_(loop), plan_(plan), ctx_(ctx) {
    }

    Stmt guarded(const Stmt &s) const {
        if (const auto *op = s.as<LetStmt>()) {
            return LetStmt::make(op->name, op->value, guarded(op->body));
        } else if (const auto *op = s.as<ProducerConsumer>()) {
            return ProducerConsumer::make(
                op->name, op->is_producer,
                op->is_producer ? from(plan_.starts.at(op->name), op->body) : guarded(op->body));
        } else if (const auto *op = s.as<Realize>()) {
            return with(op, &Realize::body, guarded(op->body));
        } else if (const auto *op = s.as<HoistedStorage>()) {
            return HoistedStorage::make(op->name, guarded(op->body));
        } else if (const auto *op = s.as<Block>()) {
            return Block::make(guarded(op->first), guarded(op->rest));
        } else if (const auto *op = s.as<For>(); op && runs_once(op, ctx_)) {
            return with(op, &For::body, guarded(op->body));
        }
        return from(0, s);
    }

private:
    Stmt from(int start, const Stmt &s) const {
        if (start == plan_.iterations) {
            return s;
        }
        const Expr i = Variable::make(loop_->min.type(), loop_->name);
        const Expr first = start == 0 ? loop_->min : loop_->min - start;
        return IfThenElse::make(likely(first <= i), s);
    }

    const For *loop_;
    const WarmUp &plan_;
    const LowerContext &ctx_;
};

/// Finds productions of Funcs with a given fold.
class FindFolds : public Visitor {
public:
    explicit FindFolds(const LowerContext &ctx) : ctx_(ctx) {
    }
    bool found = false;

private:
    using Visitor::visit;
    void visit(const ProducerConsumer *op) override {
        const auto f = ctx_.env.find(op->name);
        if (op->is_producer && f != ctx_.env.end()) {
            for (const StorageDim &d : f->second.schedule().storage_dims) {
                found = found || d.fold_factor.defined();
            }
        }
        if (!found) {
            (*this)(op->body);
        }
    }
    const LowerContext &ctx_;
};

}  // namespace

bool has_given_folds(const For *loop, const LowerContext &ctx) {
    FindFolds finder(ctx);
    finder(loop->body);
    return finder.found;
}

std::optional<WarmUp> plan_warm_up(const For *loop, const std::vector<SlidingWindow> &windows,
                                   const std::map<std::string, Expr> &outside,
                                   const LowerContext &ctx) {
    return Planner(loop, windows, outside, ctx).plan();
}

Stmt with_warm_up(const For *loop, const Stmt &body, const WarmUp &plan, const LowerContext &ctx) {
    const Expr min = loop->min - plan.iterations;
    const Expr all = loop->extent + plan.iterations;
    const Expr extent =
        can_prove(loop->extent > 0) ? all : select(loop->extent > 0, all, make_zero(all.type()));
    return For::make(loop->name, min, extent, loop->for_type, loop->partition, loop->device_api,
                     GuardBody(loop, plan, ctx).guarded(body));
}

}  // namespace calotype::internal
