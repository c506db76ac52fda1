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
#include <numeric>
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
#include "lower/storage/warm_up.h"
#include "lower/storage/written_size.h"
#include "pipeline/loop_graph.h"
#include "pipeline/tails.h"

namespace calotype::internal {

namespace {

/// New values of lets, by the node that makes the let.
using NewValues = std::map<const LetStmt *, Expr>;

/// The largest that counts.
constexpr int64_t largest_block = 1 << 20;

/// The extents with which regions are computed and nothing else: multiples of `size`. 0: there are
/// none.
struct Block {
    int64_t size = 1;
    bool shifts = true;  ///< all extents from `size` on are such, too: the last block is shifted
    bool may_repeat = true;  ///< values that are there may be computed once more

    void join(const Block &other) {
        size = std::lcm(size, other.size);
        size = size > largest_block ? 0 : size;
        shifts = shifts && other.shifts;
    }
};

/// Of the loops that were made of `loop`.
Block block_of(const LoopGraph &graph, int loop) {
    Block block;
    for (const LoopStep &s : graph.steps()) {
        if (s.kind == Split::Kind::Split && !is_guarded(s.tail) && graph.is_made_of(s.old, loop)) {
            const auto factor = as_const_int(s.factor);
            const bool is_known = factor && *factor > 0 && *factor <= largest_block;
            block.size = is_known ? block.size * *factor : 0;
            block.shifts = block.shifts && s.tail == TailStrategy::ShiftInwards;
        }
        if (block.size == 0 || block.size > largest_block) {
            return {0, false};
        }
    }
    return block;
}

/// Of the stage, if dimension d is a pure variable, in its place, in all specializations.
Block block_to_slide(const Function &f, const Definition &def, bool is_update, int d) {
    if (is_update) {
        const Variable *v = def.args[size_t(d)].as<Variable>();
        if (!v || v->symbol || v->name != f.args()[size_t(d)]) {
            return {0, false};
        }
    }
    Block block = block_of(LoopGraph(f.args(), def.schedule), d);
    for (const Specialization &s : def.specializations) {
        if (s.definition) {
            block.join(block_to_slide(f, *s.definition, is_update, d));
        }
    }
    return block;
}

/// True where a schedule gives or rounds the extent, counted from where a region begins: what a definition
/// computes for its updates is then another region if theirs begin later.
bool ends_follow_beginnings(const Function &f, int d) {
    const std::vector<Bound> &bounds = f.schedule().bounds;
    return std::any_of(bounds.begin(), bounds.end(), [&](const Bound &b) {
        const bool rounded = b.modulus.defined() && !b.remainder.defined();
        const bool given = b.extent.defined() && !b.min.defined();
        return b.var == f.args()[size_t(d)] && (rounded || given);
    });
}

/// Of all stages; of size 0 if the dimension cannot slide.
Block block_to_slide(const Function &f, int d) {
    Block block;
    if (f.stages() > 1 && ends_follow_beginnings(f, d)) {
        block.size = 0;
        return block;
    }
    for (int stage = 0; stage < f.stages(); stage++) {
        if (f.stage(stage)) {
            block.join(block_to_slide(f, *f.stage(stage), stage > 0, d));
        }
    }
    return block;
}

/// True where updates have places of their own in some dimension: each time, they write all of those, of which not all is
/// needed, and so finished, there.
bool has_places_of_updates(const Function &f) {
    for (int d = 0; f.stages() > 1 && d < f.dimensions(); d++) {
        if (block_to_slide(f, d).size == 0) {
            return true;
        }
    }
    return false;
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

/// A value as it is where no end of a loop around is near: of a minimum or maximum the side that
/// moves with the loop.
class MovingPart : public GraphMutator {
public:
    explicit MovingPart(const std::string &var) : var_(var) {
    }

private:
    using GraphMutator::visit;
    template<typename MinMax>
    Expr moving(const MinMax *op) {
        const bool in_a = uses_var(op->a, var_), in_b = uses_var(op->b, var_);
        return in_a == in_b ? GraphMutator::visit(op) : mutate(in_a ? op->a : op->b);
    }
    Expr visit(const Min *op) override {
        return moving(op);
    }
    Expr visit(const Max *op) override {
        return moving(op);
    }
    const std::string &var_;
};

using Values = std::map<std::string, Expr>;

/// Finds for each production the loops along which it slides.
class FindSlides : public Visitor {
public:
    FindSlides(const LowerContext &ctx, const Stmt &s) : ctx_(ctx) {
        holds_production_(s);
    }
    NewValues new_values;
    std::map<const For *, WarmUp> warm_ups;
    std::map<std::string, std::set<std::string>> moves_on;  ///< LowerContext::moves_on

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

    /// Then its variable is no more than a let.
    static bool has_one_iteration(const For *loop, const Values &values) {
        return is_const_one(simplify(substitute(values, loop->extent)));
    }

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

    /// Lets the name stand for `values`, one for each of the statements around, or for nothing known
    /// where one is undefined. Returns what it stood for: a specialization has lets of names that
    /// stand for something around it.
    std::vector<Expr> bind(const std::string &name, const std::vector<Expr> &values) {
        std::vector<Expr> before(values.size());
        for (size_t i = 0; i < values.size(); i++) {
            Values &known = enclosing_[i].values;
            if (const auto it = known.find(name); it != known.end()) {
                before[i] = it->second;
                known.erase(it);
            }
            if (values[i].defined()) {
                known.emplace(name, values[i]);
            }
        }
        return before;
    }

    void visit(const For *op) override {
        std::vector<Expr> values(enclosing_.size());
        for (size_t i = 0; i < enclosing_.size(); i++) {
            const Enclosing &e = enclosing_[i];
            if (e.kind == Enclosing::Loop && in_order(e.loop) && has_one_iteration(op, e.values)) {
                values[i] = simplify(substitute(e.values, op->min));
                single_.insert(op);
            }
        }
        const std::vector<Expr> before = bind(op->name, values);
        enter({Enclosing::Loop, op, nullptr, "", Expr(), {}}, op->body);
        bind(op->name, before);
        const auto slides = slides_.find(op);
        if (slides != slides_.end() && op->for_type == ForType::Serial && !in_kernel() &&
            has_given_folds(op, ctx_)) {
            warm_up(op, slides->second);
        }
    }

    void visit(const LetStmt *op) override {
        std::vector<Expr> values(enclosing_.size());
        for (size_t i = 0; i < enclosing_.size(); i++) {
            const Enclosing &e = enclosing_[i];
            if (e.kind == Enclosing::Loop && in_order(e.loop)) {
                values[i] = simplify(substitute(e.values, op->value));
            }
        }
        const std::vector<Expr> before = bind(op->name, values);
        enter({Enclosing::Let, nullptr, op, "", Expr(), {}}, op->body);
        bind(op->name, before);
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

    /// A window that slides along a loop, as new values of lets say that are in new_values.
    struct Slide {
        SlidingWindow window;
        bool forward = true;
        /// The lets at the end of it from which it is computed, what they are now, and what they
        /// are in all iterations but the first.
        std::map<const LetStmt *, Expr> starts;
        Expr next;  ///< the same in terms of the loop variable
    };

    /// Fills the windows in iterations before the first of the loop, where that can be done.
    void warm_up(const For *loop, const std::vector<Slide> &slides) {
        std::vector<SlidingWindow> windows;
        for (const Slide &s : slides) {
            if (!s.forward) {
                return;
            }
            windows.push_back(s.window);
        }
        Values outside;
        for (const Enclosing &e : enclosing_) {
            if (e.kind == Enclosing::Let) {
                outside[e.let->name] = simplify(substitute(outside, e.let->value));
            }
        }
        const auto plan = plan_warm_up(loop, windows, outside, ctx_);
        if (!plan) {
            return;
        }
        const Expr i = Variable::make(loop->min.type(), loop->name);
        for (const Slide &s : slides) {
            if (!s.window.moves) {
                continue;
            }
            const auto exact = plan->exact.find(s.window.func);
            const bool begins_at_once = exact != plan->exact.end() && exact->second &&
                                        plan->starts.at(s.window.func) == plan->iterations;
            const Expr first = substitute(loop->name, loop->min, s.window.min);
            for (const auto &start : s.starts) {
                new_values[start.first] = begins_at_once ? start.second
                                                         : select(likely(loop->min <= i),
                                                                  start.second, max(s.next, first));
            }
        }
        warm_ups[loop] = *plan;
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
        bool is_innermost = true;
        for (size_t i = enclosing_.size(); i-- > storage + 1;) {
            const Enclosing &e = enclosing_[i];
            if (e.kind == Enclosing::Unordered) {
                return;
            }
            if (e.kind == Enclosing::Loop && in_order(e.loop) && !runs_once(e.loop) &&
                !single_.count(e.loop)) {
                if (!is_innermost && has_places_of_updates(f)) {
                    return;  // later iterations of loops inside may undo what is to stay
                }
                is_innermost = false;
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
            if (e.kind == Enclosing::Loop && !has_one_iteration(e.loop, values) &&
                (uses_var(substitute(values, e.loop->min), var) ||
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
            moving = done.count(d) || block_to_slide(f, d).size != 1 ? -1 : d;
        }
        if (moving < 0 || done.count(moving) || block_to_slide(f, moving).size == 0 ||
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

    /// The value, in all iterations but the first, of the let that stands at one end of a window,
    /// where only what begins at `next` is computed, `next` being in terms of the loop variable.
    /// Where `next` is a constant away from the window's other end, or from this one, it is written
    /// so: then the extent is a constant in all iterations but the first.
    struct NewStart {
        Expr value;
        bool is_empty = false;   ///< nothing is computed at all
        bool is_inside = false;  ///< it is inside of the window for sure
    };

    NewStart new_start(const LetStmt &let, bool forward, const Expr &next,
                       const std::string &other_end, size_t at) const {
        const Values &values = enclosing_[at].values;
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
        const Distance from_own = stays(let.value, at) ? from(let.name) : Distance();
        const Distance from_other = other.defined() ? from(other_end) : Distance();
        const auto moved = [](const Expr &e, int64_t by) {
            return by == 0 ? e : e + int(by);
        };
        const auto own = values.find(let.name);
        NewStart result;
        result.value = from_other.is_known ? moved(other, from_other.by)
                       : from_own.is_known ? moved(let.value, from_own.by)
                                           : next;
        result.is_empty = forward ? from_other.by > 0 : from_other.by < 0;
        result.is_inside =
            own != values.end() && can_prove(forward ? next >= own->second : next <= own->second);
        return result;
    }

    /// Whether the value is made of no ends of other windows that may slide along loop number `at`:
    /// they are not what the loop's values say any more.
    bool stays(const Expr &value, size_t at) const {
        std::vector<std::string> moving;
        for (size_t i = 0; i < enclosing_.size(); i++) {
            const Enclosing &e = enclosing_[i];
            if (e.kind == Enclosing::Storage && i < at) {
                add_ends(e.storage, &moving);
            } else if (e.kind == Enclosing::Let && uses_any_var(e.let->value, moving)) {
                moving.push_back(e.let->name);
            }
        }
        return !uses_any_var(value, moving);
    }

    void add_ends(const std::string &func, std::vector<std::string> *names) const {
        const auto it = ctx_.env.find(func);
        if (it == ctx_.env.end()) {
            return;
        }
        const Function &f = it->second;
        for (int stage = 0; stage < f.stages(); stage++) {
            for (const std::string &arg : f.args()) {
                names->push_back(names::stage_min(func, stage, arg));
                names->push_back(names::stage_max(func, stage, arg));
            }
        }
    }

    /// The let's value where the first iteration fills the window.
    Expr reduced(const LetStmt &let, bool forward, const NewStart &start, const For *loop) const {
        const Expr i = Variable::make(loop->min.type(), loop->name);
        // Kernels keep one version of the loop, whose barriers then stand in no branch.
        const Expr is_later = loop->min < i;
        const Expr result =
            select(in_kernel() ? is_later : likely(is_later), start.value, let.value);
        if (start.is_empty || start.is_inside) {
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

    /// Where a window begins to be computed, of which what is new begins at `next`, if it is computed
    /// in blocks: there, if the extent is a multiple of the block; where the extent is another
    /// number, as much earlier as makes it one, so that some of what is there is computed again.
    /// Where it is a multiple in all iterations but those at the ends of a loop around, and the last
    /// block of all may be shifted, not so near to the other end that it is less than a block.
    static Expr in_blocks(const Block &block, const DimensionRegion &window, const Expr &next,
                          bool forward, const std::string &var) {
        const Expr &end = forward ? window.max : window.min;
        const auto is_multiple = [&](const Expr &extent) {
            const auto n = as_const_int(simplify(extent));
            return n && *n > 0 && *n % block.size == 0;
        };
        const Expr extent = forward ? end - next + 1 : next - end + 1;
        if (block.size == 1 || is_multiple(extent)) {
            return next;
        }
        if (!block.may_repeat) {
            return Expr();
        }
        if (const auto n = as_const_int(simplify(extent)); n && *n > 0) {
            const Expr more =
                make_const(end.type(), (*n + block.size - 1) / block.size * block.size - 1);
            const Expr begin = simplify(forward ? end - more : end + more);
            const bool is_less = can_prove(forward ? window.min < begin : begin < window.max);
            return is_less ? begin : Expr();
        }
        if (!block.shifts || !is_multiple(MovingPart(var).mutate(extent))) {
            return Expr();
        }
        const Expr whole = make_const(end.type(), block.size - 1);
        return simplify(forward ? min(next, end - whole) : max(next, end + whole));
    }

    /// Whether new lets could be made for all stages.
    bool shrink(const Function &f, int d, size_t at, const DimensionRegion &window) {
        const For *loop = enclosing_[at].loop;
        if (!has_at_most(largest_end, window.min) || !has_at_most(largest_end, window.max)) {
            return false;
        }
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
            moves_on[f.name()].insert(loop->name);
            return false;  // successive regions do not overlap
        }
        Block block = block_to_slide(f, d);
        block.may_repeat = !f.schedule().async;  // nobody reads what is computed again
        const Expr begin = in_blocks(block, window, next, forward, loop->name);
        if (!begin.defined()) {
            return false;  // more would be computed than is needed
        }
        NewValues changes;
        Slide slide;
        slide.forward = forward;
        slide.next = begin;
        slide.window = {f.name(), window.min, window.max, window.depends, {}};
        for (int stage = 0; stage < f.stages(); stage++) {
            const std::string ends[] = {names::stage_min(f.name(), stage, f.args()[d]),
                                        names::stage_max(f.name(), stage, f.args()[d])};
            const LetStmt *let = find_let(ends[!forward]);
            if (!let) {
                return false;
            }
            const NewStart start = new_start(*let, forward, begin, ends[forward], at);
            changes[let] = reduced(*let, forward, start, loop);
            slide.starts[let] = start.value;
            slide.window.lets.insert(slide.window.lets.end(), std::begin(ends), std::end(ends));
        }
        for (const auto &change : changes) {
            new_values[change.first] = change.second;
        }
        slides_[loop].push_back(std::move(slide));
        moves_on[f.name()].insert(loop->name);
        return true;
    }

    const LowerContext &ctx_;
    HoldsProduction holds_production_;
    std::vector<Enclosing> enclosing_;
    std::set<const For *> single_;  ///< loops of one iteration, in each of a loop around them
    std::map<const For *, std::vector<Slide>> slides_;
};

/// Puts in the new values. A window that begins at another one's end begins, in the iteration that
/// fills both, where that one does then:
///
///     let g.min = select(y0 < y, g.max, g.max - 4)
///     let h.min = select(y0 < y, h.max, g.min - 2)   ->   select(y0 < y, h.max, g.max - 4 - 2)
///
/// so that along a chain of windows none has Selects in Selects.
class Rewrite : public StmtMutator {
public:
    Rewrite(const FindSlides &found, const LowerContext &ctx) : found_(found), ctx_(ctx) {
    }

private:
    using Mutator::visit;

    /// What a new let is in the iteration that fills the window.
    struct Filling {
        Expr is_later, value;
        std::map<std::string, size_t> bindings;  ///< of the variables in both, when it was made
    };

    Stmt visit(const LetStmt *op) override {
        auto it = found_.new_values.find(op);
        const Expr value = it == found_.new_values.end() ? op->value : resolved(it->second);
        const Select *choice = it == found_.new_values.end() ? nullptr : value.as<Select>();
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
        const auto it = found_.warm_ups.find(op);
        const Stmt s = it == found_.warm_ups.end()
                           ? Mutator::visit(op)
                           : with_warm_up(op, mutate(op->body), it->second, ctx_);
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

    const FindSlides &found_;
    const LowerContext &ctx_;
    Scope<> bound_;  ///< by lets and loops
    Scope<Filling> fillings_;
};

}  // namespace

Stmt slide_windows(const Stmt &s, LowerContext &ctx) {
    FindSlides finder(ctx, s);
    finder(s);
    ctx.moves_on = std::move(finder.moves_on);
    return finder.new_values.empty() ? s : Rewrite(finder, ctx).mutate(s);
}

}  // namespace calotype::internal
