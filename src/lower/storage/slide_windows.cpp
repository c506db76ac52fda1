// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why it is right. Let [a(i), b(i)] be the region required in iteration i, with a and b never
// decreasing. Iteration i finds everything from a(i) to b(i - 1) in storage: it lies in the region
// of iteration i - 1, which was either computed there or, by the same argument, before. So it is
// enough to compute from max(a(i), b(i - 1) + 1) on. All of this is in terms of the regions as
// infer_bounds gave them; that producers of g slide too, and so compute less than their own region
// in iteration i, is covered by the same argument for them.
#include "lower/storage/slide_windows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/names.h"
#include "pipeline/loop_graph.h"
#include "pipeline/tails.h"

namespace calotype {

using namespace internal;

using internal::is_monotonic;
using internal::Monotonic;

namespace {

/// New values of lets, by the node that makes the let.
using NewValues = std::map<const LetStmt *, Expr>;

/// True if the loops that were made of `loop` never leave the region of the stage.
bool stays_in_region(const LoopGraph &graph, int loop) {
    return std::all_of(graph.steps().begin(), graph.steps().end(), [&](const LoopStep &s) {
        return s.kind != Split::Kind::Split || is_guarded(s.tail) || !graph.is_made_of(s.old, loop);
    });
}

/// Whether dimension d is a pure variable, in its place, in all stages, and in all specializations
/// stays in its region.
bool can_slide_along(const Function &f, const Definition &def, bool is_update, int d) {
    if (is_update) {
        const Variable *v = def.args[size_t(d)].as<Variable>();
        if (!v || v->symbol || v->name != f.args()[size_t(d)]) {
            return false;
        }
    }
    for (const Specialization &s : def.specializations) {
        if (s.definition && !can_slide_along(f, *s.definition, is_update, d)) {
            return false;
        }
    }
    return stays_in_region(LoopGraph(f.args(), def.schedule), d);
}

bool can_slide_along(const Function &f, int d) {
    for (int stage = 0; stage < f.stages(); stage++) {
        if (f.stage(stage) && !can_slide_along(f, *f.stage(stage), stage > 0, d)) {
            return false;
        }
    }
    return true;
}

/// The statements that hold a production: nothing needs to be known of others.
class HoldsProduction : public Visitor {
public:
    std::unordered_set<const StmtNode *> statements;

    using Visitor::operator();
    void operator()(const Stmt &s) override {
        const int before = productions_;
        Visitor::operator()(s);
        if (productions_ > before) {
            statements.insert(s.get());
        }
    }

private:
    using Visitor::visit;
    void visit(const ProducerConsumer *op) override {
        productions_ += op->is_producer;
        (*this)(op->body);
    }
    void visit(const Provide *) override {
    }
    int productions_ = 0;
};

using Values = std::map<std::string, Expr>;

/// Finds for each production the loops along which it slides.
class FindSlides : public Visitor {
public:
    FindSlides(const LowerContext &ctx, const Stmt &s) : ctx_(ctx) {
        holds_production_(s);
    }
    NewValues new_values;

    using Visitor::operator();
    void operator()(const Stmt &s) override {
        if (holds_production_.statements.count(s.get())) {
            Visitor::operator()(s);
        }
    }

private:
    using Visitor::visit;

    /// A statement around the current one.
    struct Enclosing {
        enum Kind { Loop, Let, Storage, Condition, Unordered } kind;
        const For *loop = nullptr;
        const LetStmt *let = nullptr;
        std::string storage;
        Expr condition;
        /// Of a loop along which something may slide: lets inside of it, down to where we are, in
        /// terms of what is defined outside of it and of loop variables.
        Values values;
    };

    void enter(const Enclosing &e, const Stmt &body) {
        enclosing_.push_back(e);
        (*this)(body);
        enclosing_.pop_back();
    }

    static bool in_order(const For *loop) {
        return loop->for_type == ForType::Serial || loop->for_type == ForType::Unrolled;
    }

    bool runs_once(const For *loop) const {
        auto it = ctx_.loops.find(loop->name);
        return it != ctx_.loops.end() && it->second.var == outermost_name;
    }

    void visit(const For *op) override {
        enter({Enclosing::Loop, op, nullptr, "", Expr(), {}}, op->body);
    }

    void visit(const LetStmt *op) override {
        for (Enclosing &e : enclosing_) {
            if (e.kind == Enclosing::Loop && in_order(e.loop)) {
                e.values[op->name] = simplify(substitute(e.values, op->value));
            }
        }
        enter({Enclosing::Let, nullptr, op, "", Expr(), {}}, op->body);
        for (Enclosing &e : enclosing_) {
            e.values.erase(op->name);
        }
    }

    void visit(const Realize *op) override {
        enter({Enclosing::Storage, nullptr, nullptr, op->name, Expr(), {}}, op->body);
    }
    void visit(const IfThenElse *op) override {
        enter({Enclosing::Condition, nullptr, nullptr, "", op->condition, {}}, op->then_case);
        enter({Enclosing::Condition, nullptr, nullptr, "", !op->condition, {}}, op->else_case);
    }
    void visit(const Fork *op) override {
        enter({Enclosing::Unordered, nullptr, nullptr, "", Expr(), {}}, op->first);
        enter({Enclosing::Unordered, nullptr, nullptr, "", Expr(), {}}, op->rest);
    }

    void visit(const ProducerConsumer *op) override {
        if (op->is_producer) {
            auto it = ctx_.env.find(op->name);
            if (it != ctx_.env.end() && !it->second.schedule().memoized) {
                slide(it->second);
            }
        }
        (*this)(op->body);
    }

    /// The loops between the storage of f and here, innermost first.
    void slide(const Function &f) {
        size_t storage = enclosing_.size();
        for (size_t i = 0; i < enclosing_.size(); i++) {
            if (enclosing_[i].kind == Enclosing::Storage && enclosing_[i].storage == f.name()) {
                storage = i;
            }
        }
        std::set<int> done;
        for (size_t i = enclosing_.size(); i-- > storage + 1;) {
            const Enclosing &e = enclosing_[i];
            if (e.kind == Enclosing::Unordered) {
                return;
            }
            if (e.kind == Enclosing::Loop && in_order(e.loop) && !runs_once(e.loop)) {
                slide_over(f, i, done);
            }
        }
    }

    /// True if the condition, once it does not hold, holds in no later iteration: as that of a
    /// guarded tail.
    static bool holds_first(const Expr &condition, const std::string &var) {
        const Monotonic m = is_monotonic(remove_likelies(condition), var);
        return m == Monotonic::Constant || m == Monotonic::Decreasing;
    }

    /// True if no iteration of loop number `at` comes here more often than the one before.
    bool always_produced(size_t at) const {
        const Values &values = enclosing_[at].values;
        const std::string &var = enclosing_[at].loop->name;
        for (size_t i = at + 1; i < enclosing_.size(); i++) {
            const Enclosing &e = enclosing_[i];
            if (e.kind == Enclosing::Unordered) {
                return false;
            }
            if (e.kind == Enclosing::Condition &&
                !holds_first(substitute(values, e.condition), var)) {
                return false;
            }
            if (e.kind == Enclosing::Loop && (uses_var(substitute(values, e.loop->min), var) ||
                                              uses_var(substitute(values, e.loop->extent), var))) {
                return false;
            }
        }
        return true;
    }

    const LetStmt *find_let(const std::string &name) const {
        for (size_t i = enclosing_.size(); i-- > 0;) {
            if (enclosing_[i].kind == Enclosing::Let && enclosing_[i].let->name == name) {
                return enclosing_[i].let;
            }
        }
        return nullptr;
    }

    /// The region of f in one dimension, in terms of the loop variable: of the last stage that
    /// loops over the dimension, as the loops of an update with something else in its place say
    /// nothing of what is required.
    struct DimensionRegion {
        Expr min, max;
        bool depends = false;  ///< on the loop
        bool inner = false;    ///< on loops inside of it
        bool defined() const {
            return min.defined() && max.defined();
        }
    };

    DimensionRegion region(const Function &f, int d, size_t at) const {
        const Values &values = enclosing_[at].values;
        DimensionRegion r;
        auto value_of = [&](const std::string &name) {
            auto it = values.find(name);
            return it == values.end() ? Expr() : it->second;
        };
        for (int stage = f.stages() - 1; stage >= 0 && !r.defined(); stage--) {
            r.min = value_of(names::stage_min(f.name(), stage, f.args()[d]));
            r.max = value_of(names::stage_max(f.name(), stage, f.args()[d]));
        }
        if (!r.defined()) {
            return r;
        }
        auto uses = [&](const std::string &name) {
            return uses_var(r.min, name) || uses_var(r.max, name);
        };
        r.depends = uses(enclosing_[at].loop->name);
        for (size_t i = at + 1; i < enclosing_.size(); i++) {
            r.inner = r.inner ||
                      (enclosing_[i].kind == Enclosing::Loop && uses(enclosing_[i].loop->name));
        }
        return r;
    }

    void slide_over(const Function &f, size_t at, std::set<int> &done) {
        int moving = -1;
        DimensionRegion window;
        for (int d = 0; d < f.dimensions(); d++) {
            const DimensionRegion r = region(f, d, at);
            if (!r.defined()) {
                return;
            }
            if (r.depends) {
                if (moving >= 0) {
                    return;
                }
                moving = d;
                window = r;
            }
        }
        const bool fixed = moving < 0;
        for (int d = 0; fixed && moving < 0 && d < f.dimensions(); d++) {
            moving = done.count(d) || !can_slide_along(f, d) ? -1 : d;
        }
        if (moving < 0 || done.count(moving) || !can_slide_along(f, moving) ||
            !always_produced(at)) {
            return;
        }
        if (fixed) {
            window = region(f, moving, at);
        }
        if (!window.inner && shrink(f, moving, at, window)) {
            done.insert(moving);
        }
    }

    /// The value of the let that stands at one end of a window, where only what begins at `next` is
    /// computed, `next` being in terms of the loop variable. Where `next` is a constant away from
    /// the window's other end, or from this one, it is written so: then the extent is a constant in
    /// all iterations but the first.
    Expr reduced(const LetStmt &let, bool forward, const Expr &next, const For *loop,
                 const std::string &other_end, const Values &values) const {
        const Expr other = value_at(let, other_end);
        struct Distance {
            bool is_known = false;
            int64_t by = 0;
        };
        const auto from = [&](const std::string &name) {
            const auto it = values.find(name);
            Distance result;
            if (it != values.end()) {
                if (const auto by = as_const_int(simplify(next - it->second))) {
                    result = {true, *by};
                }
            }
            return result;
        };
        const Distance from_own = from(let.name);
        const Distance from_other = other.defined() ? from(other_end) : Distance();
        const auto moved = [](const Expr &e, int64_t by) {
            return by == 0 ? e : e + int(by);
        };
        const Expr start = from_other.is_known ? moved(other, from_other.by)
                           : from_own.is_known ? moved(let.value, from_own.by)
                                               : next;
        const Expr i = Variable::make(loop->min.type(), loop->name);
        // Kernels keep one version of the loop, whose barriers then stand in no branch.
        const Expr is_later = loop->min < i;
        const Expr result = select(in_kernel() ? is_later : likely(is_later), start, let.value);
        const bool is_empty = forward ? from_other.by > 0 : from_other.by < 0;
        const auto own = values.find(let.name);
        const bool is_inside =
            own != values.end() && can_prove(forward ? next >= own->second : next <= own->second);
        if (is_empty || is_inside) {
            return result;
        }
        return forward ? max(let.value, result) : min(let.value, result);
    }

    bool in_kernel() const {
        return std::any_of(enclosing_.begin(), enclosing_.end(), [](const Enclosing &e) {
            return e.kind == Enclosing::Loop && is_gpu(e.loop->for_type);
        });
    }

    /// What the innermost let of that name stands for, where another let is made: its name if it is
    /// outside, its value if that means the same there; undefined otherwise.
    Expr value_at(const LetStmt &place, const std::string &name) const {
        const LetStmt *found = find_let(name);
        std::vector<std::string> between;
        bool inside = false;
        for (const Enclosing &e : enclosing_) {
            if (e.kind != Enclosing::Let) {
                continue;
            }
            inside = inside || e.let == &place;
            if (e.let == found) {
                return !inside                               ? names::var(name)
                       : uses_any_var(e.let->value, between) ? Expr()
                                                             : e.let->value;
            }
            if (inside) {
                between.push_back(e.let->name);
            }
        }
        return Expr();
    }

    /// Whether new lets could be made for all stages.
    bool shrink(const Function &f, int d, size_t at, const DimensionRegion &window) {
        const For *loop = enclosing_[at].loop;
        const Values &values = enclosing_[at].values;
        const Monotonic start = is_monotonic(window.min, loop->name),
                        end = is_monotonic(window.max, loop->name);
        auto grows = [](Monotonic m) {
            return m == Monotonic::Increasing || m == Monotonic::Constant;
        };
        auto falls = [](Monotonic m) {
            return m == Monotonic::Decreasing || m == Monotonic::Constant;
        };
        const bool forward = grows(start) && grows(end);
        if (!forward && !(falls(start) && falls(end))) {
            return false;
        }
        const Expr i = Variable::make(loop->min.type(), loop->name);
        const Expr previous_end = substitute(loop->name, i - 1, forward ? window.max : window.min);
        const Expr next = simplify(forward ? previous_end + 1 : previous_end - 1);
        if (can_prove(forward ? window.min >= next : window.max <= next)) {
            return false;  // successive regions do not overlap
        }
        std::map<const LetStmt *, Expr> changes;
        for (int stage = 0; stage < f.stages(); stage++) {
            const std::string name = forward ? names::stage_min(f.name(), stage, f.args()[d])
                                             : names::stage_max(f.name(), stage, f.args()[d]);
            const LetStmt *let = find_let(name);
            if (!let) {
                return false;
            }
            changes[let] = reduced(*let, forward, next, loop,
                                   forward ? names::stage_max(f.name(), stage, f.args()[d])
                                           : names::stage_min(f.name(), stage, f.args()[d]),
                                   values);
        }
        for (const auto &change : changes) {
            new_values[change.first] = change.second;
        }
        return true;
    }

    const LowerContext &ctx_;
    HoldsProduction holds_production_;
    std::vector<Enclosing> enclosing_;
};

/// Puts in the new values. A window that begins at another one's end begins, in the iteration that
/// fills both, where that one does then:
///
///     let g.min = select(y0 < y, g.max, g.max - 4)
///     let h.min = select(y0 < y, h.max, g.min - 2)   ->   select(y0 < y, h.max, g.max - 4 - 2)
///
/// so that along a chain of windows none has Selects in Selects.
class ReplaceLets : public Mutator {
public:
    explicit ReplaceLets(const NewValues &new_values) : new_values_(new_values) {
    }

private:
    using Mutator::visit;

    /// What a new let is in the iteration that fills the window.
    struct Filling {
        Expr is_later, value;
        std::map<std::string, size_t> bindings;  ///< of the variables in both, when it was made
    };

    Stmt visit(const LetStmt *op) override {
        auto it = new_values_.find(op);
        const Expr value = it == new_values_.end() ? op->value : resolved(it->second);
        const Select *choice = it == new_values_.end() ? nullptr : value.as<Select>();
        bound_.push(op->name);
        fillings_.push(op->name, choice ? filling(choice) : Filling());
        const Stmt body = mutate(op->body);
        fillings_.pop(op->name);
        bound_.pop(op->name);
        return value.same_as(op->value) && body.same_as(op->body)
                   ? Stmt(op)
                   : LetStmt::make(op->name, value, body);
    }

    Stmt visit(const For *op) override {
        bound_.push(op->name);
        const Stmt s = Mutator::visit(op);
        bound_.pop(op->name);
        return s;
    }

    Filling filling(const Select *choice) const {
        Filling result{choice->condition, choice->false_value, {}};
        for (const Expr &e : {choice->condition, choice->false_value}) {
            for (const std::string &name : free_variables(e)) {
                result.bindings[name] = bound_.count(name);
            }
        }
        return result;
    }

    Expr resolved(const Expr &value) const {
        const Select *choice = value.as<Select>();
        if (!choice) {
            return value;
        }
        std::map<std::string, Expr> starts;
        for (const std::string &name : free_variables(choice->false_value)) {
            const Filling *other = fillings_.find(name);
            if (other && other->value.defined() && equal(other->is_later, choice->condition) &&
                std::all_of(other->bindings.begin(), other->bindings.end(),
                            [&](const auto &b) { return bound_.count(b.first) == b.second; })) {
                starts[name] = other->value;
            }
        }
        return starts.empty() ? value
                              : Select::make(choice->condition, choice->true_value,
                                             simplify(substitute(starts, choice->false_value)));
    }

    const NewValues &new_values_;
    Scope<> bound_;  ///< by lets and loops
    Scope<Filling> fillings_;
};

}  // namespace

Stmt slide_windows(const Stmt &s, LowerContext &ctx) {
    FindSlides finder(ctx, s);
    finder(s);
    return finder.new_values.empty() ? s : ReplaceLets(finder.new_values).mutate(s);
}

}  // namespace calotype
