// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why it is right. Let [a(i), b(i)] be what iteration i touches along the dimension, with a never
// decreasing, and b(i) - a(i) < factor. Within an iteration no two coordinates share a place. A
// value at c that iteration j overwrites was at c = c' - k * factor with c' <= b(j), so c < a(j);
// later iterations do not read it, as a does not decrease. All accesses must be inside of the loop,
// and its iterations in order.
//
// Loops are tried from the outside in. Folding along an inner loop forgets what earlier iterations
// of loops around it left in storage, so those must read nothing but what they provide themselves.
#include "lower/storage/fold_storage.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arith/box.h"
#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/checks/error_call.h"
#include "lower/func_slice.h"
#include "lower/known_here.h"
#include "lower/names.h"
#include "lower/nest/fork_async_producers.h"
#include "lower/select_question.h"
#include "lower/storage/fold_headers.h"
#include "lower/storage/handle_names.h"
#include "lower/storage/loop_boxes.h"
#include "lower/storage/written_size.h"
#include "runtime/abi/threads.h"

namespace calotype::internal {

namespace {

/// Automatic folds are no larger.
constexpr int64_t max_automatic_factor = 1024;

/// One dimension of one realization, made circular.
struct Fold {
    int dimension;
    Expr factor;
};

/// True if f is produced before any loop is entered: then all of it is there before it is used.
bool produced_at_once(const Stmt &s, const std::string &func) {
    if (const auto *op = s.as<LetStmt>()) {
        return produced_at_once(op->body, func);
    } else if (const auto *op = s.as<Realize>()) {
        return produced_at_once(op->body, func);
    } else if (const auto *op = s.as<Block>()) {
        return produced_at_once(op->first, func);
    }
    const auto *op = s.as<ProducerConsumer>();
    return op && (op->name == func ? op->is_producer : produced_at_once(op->body, func));
}

/// by_answers() of an expression, which stays where it asks nothing.
template<typename Combine>
Expr rebuilt_by_answers(const Expr &e, const Combine &combine) {
    return by_answers(
        e, [](const Expr &rest) { return rest; }, combine, [](const Expr &) { return false; });
}

/// The expression without the Selects whose answers make no difference.
Expr without_idle_questions(const Expr &e) {
    return rebuilt_by_answers(e, [](const Expr &all, const Expr &, const Expr &yes,
                                    const Expr &no) { return equal(yes, no) ? yes : all; });
}

/// The expression with one Select for each comparison that its Selects ask: those of a chain of
/// windows ask the same.
Expr with_one_select_each(const Expr &e) {
    return rebuilt_by_answers(e,
                              [](const Expr &, const Expr &question, const Expr &yes,
                                 const Expr &no) { return simplify(select(question, yes, no)); });
}

/// What the expression is at least, or at most, whatever answers its Selects get.
Expr bound_of_answers(const Expr &e, bool least) {
    return rebuilt_by_answers(e, [=](const Expr &, const Expr &, const Expr &yes, const Expr &no) {
        return simplify(least ? min(yes, no) : max(yes, no));
    });
}

/// Coordinates of `func` modulo the factor.
class FoldAccesses : public GraphMutator {
public:
    FoldAccesses(const std::string &func, const Fold &fold) : func_(func), fold_(fold) {
    }

private:
    using GraphMutator::visit;

    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        op = e.as<Call>();
        if (op->call_type != CallKind::Func || op->name != func_) {
            return e;
        }
        return Call::make(op->type, op->name, folded(op->args), op->call_type, op->value_index,
                          op->symbol);
    }

    Stmt visit(const Provide *op) override {
        const Stmt s = GraphMutator::visit(op);
        op = s.as<Provide>();
        return op->name == func_ ? with(op, &Provide::args, folded(op->args)) : s;
    }

    Stmt visit(const Prefetch *op) override {
        const Stmt s = GraphMutator::visit(op);
        // The region may wrap around: then it is not a rectangle.
        return op->name == func_ ? s.as<Prefetch>()->body : s;
    }

    std::vector<Expr> folded(std::vector<Expr> args) const {
        Expr &arg = args[fold_.dimension];
        arg = is_const_one(fold_.factor) ? make_zero(arg.type()) : arg % fold_.factor;
        return args;
    }

    const std::string &func_;
    const Fold &fold_;
};

/// Dimensions of `func` in which vectors lie: a lane of a vectorised loop is part of the coordinate.
class FindLaneDimensions : public Visitor {
public:
    explicit FindLaneDimensions(const std::string &func) : func_(func) {
    }
    std::set<int> found;

private:
    using Visitor::visit;

    void visit(const For *op) override {
        with_name(op->name, op->for_type == ForType::Vectorized, [&] { Visitor::visit(op); });
    }
    void visit(const LetStmt *op) override {
        with_name(op->name, uses_any_var(op->value, lanes_), [&] { Visitor::visit(op); });
    }
    void visit(const Let *op) override {
        with_name(op->name, uses_any_var(op->value, lanes_), [&] { Visitor::visit(op); });
    }
    void visit(const Provide *op) override {
        if (op->name == func_) {
            look_at(op->args);
        }
        Visitor::visit(op);
    }
    void visit(const Call *op) override {
        if (op->call_type == CallKind::Func && op->name == func_) {
            look_at(op->args);
        }
        Visitor::visit(op);
    }

    template<typename Body>
    void with_name(const std::string &name, bool is_lane, const Body &body) {
        if (is_lane) {
            lanes_.push_back(name);
        }
        body();
        if (is_lane) {
            lanes_.pop_back();
        }
    }
    void look_at(const std::vector<Expr> &args) {
        for (size_t d = 0; d < args.size(); d++) {
            if (uses_any_var(args[d], lanes_)) {
                found.insert(int(d));
            }
        }
    }

    const std::string &func_;
    std::vector<std::string> lanes_;
};

/// Looks for a loop along which the storage of one Func can be folded.
class FoldFunc {
public:
    /// If `explicit_only`, only dimensions for which the schedule gives a factor are folded.
    /// `known`: around the storage.
    FoldFunc(const Function &f, const Realize *storage, const KnownHere &known, bool explicit_only,
             LoopBoxes &boxes, LowerContext &ctx)
        : f_(f), storage_(storage), known_(known), explicit_only_(explicit_only), boxes_(boxes),
          ctx_(ctx) {
    }

    std::optional<Fold> fold;
    std::set<int> folded_already;  ///< dimensions

    /// What has to be remembered from one iteration to the next, for checks.
    bool has_memory() const {
        return !last_window_.empty();
    }

    /// Whether there is a dimension that any loop could be folded along. `s` holds all accesses.
    bool has_candidates(const Stmt &s) const {
        FindLaneDimensions lanes(f_.name());
        lanes(s);
        for (int d = 0; d < f_.dimensions(); d++) {
            const StorageDim *schedule = schedule_of(d);
            const bool is_asked = schedule && schedule->fold_factor.defined(),
                       may_be = !explicit_only_ && !lanes.found.count(d);
            if (!folded_already.count(d) && (is_asked || may_be)) {
                return true;
            }
        }
        return false;
    }

    /// The statement with checks, and the fold that was found. `s` holds all accesses.
    Stmt search(const Stmt &s) {
        if (const auto *op = s.as<LetStmt>()) {
            if (uses_buffer(op->value, f_.name())) {
                return s;
            }
            const KnownHere::Inside inside(known_, op);
            return LetStmt::make(op->name, op->value, search(op->body));
        } else if (const auto *op = s.as<ProducerConsumer>()) {
            return ProducerConsumer::make(op->name, op->is_producer, search(op->body));
        } else if (const auto *op = s.as<Realize>()) {
            return with(op, &Realize::body, search(op->body));
        } else if (const auto *op = s.as<HoistedStorage>()) {
            return HoistedStorage::make(op->name, search(op->body));
        } else if (const auto *op = s.as<Allocate>()) {  // what the checks of another fold remember
            return with(op, &Allocate::body, search(op->body));
        } else if (const auto *op = s.as<Block>()) {
            return search_block(op);
        } else if (const auto *op = s.as<IfThenElse>()) {
            return search_branches(op);
        } else if (const auto *op = s.as<For>()) {
            return search_loop(op);
        }
        return s;
    }

private:
    Stmt search_block(const Block *op) {
        const bool in_first = uses_buffer(op->first, f_.name()),
                   in_rest = uses_buffer(op->rest, f_.name());
        if (in_first && in_rest) {
            return op;
        }
        return in_first ? Block::make(search(op->first), op->rest)
                        : Block::make(op->first, search(op->rest));
    }

    Stmt search_under(const Expr &condition, const Stmt &s) {
        const KnownHere::Inside inside(known_, condition);
        return search(s);
    }

    Stmt search_branches(const IfThenElse *op) {
        if (uses_buffer(op->condition, f_.name())) {
            return op;
        }
        if (!op->else_case.defined() || !uses_buffer(op->else_case, f_.name())) {
            return IfThenElse::make(op->condition, search_under(op->condition, op->then_case),
                                    op->else_case);
        }
        return uses_buffer(op->then_case, f_.name())
                   ? search_both(op)
                   : IfThenElse::make(op->condition, op->then_case,
                                      search_under(!op->condition, op->else_case));
    }

    /// Branches with the Func's production and uses in each are folded if both can be, in the same
    /// dimension: one of them runs, and the larger factor has room for either window.
    Stmt search_both(const IfThenElse *op) {
        if (f_.schedule().async) {
            return op;
        }
        const Stmt first = search_under(op->condition, op->then_case);
        const std::optional<Fold> found = std::exchange(fold, std::nullopt);
        if (!found) {
            return op;
        }
        const Stmt second = search_under(!op->condition, op->else_case);
        if (!fold || fold->dimension != found->dimension) {
            fold = std::nullopt;
            last_window_.clear();
            return op;
        }
        if (!equal(fold->factor, found->factor)) {
            fold->factor = simplify(max(fold->factor, found->factor));
        }
        return IfThenElse::make(op->condition, first, second);
    }

    static Stmt with_body(const For *op, const Stmt &body) {
        return with(op, &For::body, body);
    }

    bool runs_once(const For *loop) const {
        auto it = ctx_.loops.find(loop->name);
        return is_const_one(loop->extent) ||
               (it != ctx_.loops.end() && it->second.var == outermost_name);
    }

    Stmt search_loop(const For *op) {
        if (op->for_type != ForType::Serial && op->for_type != ForType::Unrolled) {
            return op;
        }
        const KnownHere::Inside inside(known_, op);
        if (runs_once(op)) {
            return with_body(op, search(op->body));
        }
        const auto [provided, required] = boxes_.of(op, f_.name());
        const Box touched = box_union(provided, required);
        const auto is_self_contained = [&, &provided = provided, &required = required] {
            return contains_all(provided, required);
        };
        if (scheduled_windows_rest(op, touched) && is_self_contained()) {
            if (const Stmt body = search_inner(op->body); fold) {
                return with_body(op, body);
            }
        }
        bool proven = true;
        for (int d = f_.dimensions() - 1; d >= 0 && !fold; d--) {
            if (size_t(d) < touched.size() && touched[d].is_bounded() && !folded_already.count(d)) {
                proven = fold_along(op, d, touched[d]);
            }
        }
        if (fold) {
            return with_body(op, f_.schedule().async ? in_room(op, touched)
                                 : proven            ? op->body
                                                     : checked(op->body, op, touched));
        }
        return is_self_contained() ? with_body(op, search_inner(op->body)) : Stmt(op);
    }

    bool contains_all(const Box &provided, const Box &required) const {
        for (size_t d = 0; d < required.size() && !provided.empty(); d++) {
            const Box outer({provided[d]}), inner({required[d]});
            if (!box_contains(outer, inner) && !box_contains(expanded(outer), expanded(inner))) {
                return false;
            }
        }
        return !provided.empty();
    }

    /// In terms of what is outside of the lets around.
    Box expanded(const Box &box) const {
        Box result = box;
        for (size_t d = 0; d < result.size(); d++) {
            if (result[d].is_bounded()) {
                result[d] = Interval(simplify(known_.lets().expand_while_small(result[d].min)),
                                     simplify(known_.lets().expand_while_small(result[d].max)));
            }
        }
        return result;
    }

    /// Searches the body of a loop around the one to fold along: each of its iterations begins
    /// anew, and so does what checks remember.
    Stmt search_inner(const Stmt &body) {
        const Stmt found = search(body);
        return last_window_.empty() ? found : Block::make(forget_window(), found);
    }

    Stmt forget_window() const {
        return Store::make(last_window_, initial_window_, 0, const_true(), Alignment());
    }

    /// True if the schedule gives factors, and each iteration of the loop touches the same in those
    /// dimensions: a loop inside of it is the one that moves.
    bool scheduled_windows_rest(const For *loop, const Box &touched) const {
        bool any = false;
        for (size_t d = 0; d < touched.size(); d++) {
            const StorageDim *schedule = schedule_of(int(d));
            if (schedule && schedule->fold_factor.defined()) {
                any = true;
                if (!touched[d].is_bounded() || uses_var(touched[d].min, loop->name) ||
                    uses_var(touched[d].max, loop->name)) {
                    return false;
                }
            }
        }
        return any;
    }

    /// A window that holds that of each iteration and moves only in the direction that the schedule says, for storage that
    /// an asynchronous producer fills.
    Interval window_with_room(const For *loop, const Interval &window) const {
        const bool forward = schedule_of(fold->dimension)->fold_forward;
        const Monotonic direction = forward ? Monotonic::Increasing : Monotonic::Decreasing;
        const auto moving = [&](const Expr &end, bool least) {
            const Expr e = without_idle_questions(with_one_select_each(simplify(end)));
            return moves_along(loop, e, direction) ? e : bound_of_answers(e, least);
        };
        const Interval result(moving(window.min, true), moving(window.max, false));
        user_assert(moves_along(loop, result.min, direction) &&
                    moves_along(loop, result.max, direction))
            << "func " << f_.name()
            << " cannot be folded: it is async, and what iterations of loop " << loop->name
            << " touch in dimension " << f_.args()[size_t(fold->dimension)]
            << " could not be shown to move in one direction";
        return result;
    }

    /// The body, for which there is room for each iteration: else its producer would wait for ever.
    Stmt in_room(const For *loop, const Box &touched) const {
        const Interval window = window_with_room(loop, touched[size_t(fold->dimension)]);
        return Block::make(room_check(loop, expanded(Box({window}))[0]),
                           waiting_for_room(loop, window));
    }

    /// The producer may be ahead of the consumer as far as there is room. With [a(i), b(i)] for
    /// what iteration i touches, it takes room up to b(i) when it comes there, and what is below
    /// a(i + 1) is given back after i. The first iteration takes all there is, and the last gives
    /// all back, as the loop may be run again, and then begins elsewhere.
    Stmt waiting_for_room(const For *loop, const Interval &window) const {
        const bool forward = schedule_of(fold->dimension)->fold_forward;
        const Expr a = forward ? window.min : simplify(-window.max),
                   b = forward ? window.max : simplify(-window.min);
        const Expr i = Variable::make(Int(32), loop->name), first = loop->min,
                   last = loop->min + loop->extent - 1;
        const auto in = [&](const Expr &e, const Expr &iteration) {
            return substitute(loop->name, iteration, e);
        };
        const Expr start = in(a, first);
        const Expr taken = max(b - start + 1, fold->factor);
        const Expr acquired = simplify(taken - select(i == first, 0, in(taken, i - 1)));
        const Expr released = simplify(select(i == last, taken - (a - start), in(a, i + 1) - a));
        return Acquire::make(Variable::make(type_of<calotype_semaphore_t *>(),
                                            names::folding_semaphore(f_.name(), 0)),
                             acquired,
                             Block::make(loop->body, release_places(f_.name(), released)));
    }

    const StorageDim *schedule_of(int d) const {
        for (const StorageDim &s : f_.schedule().storage_dims) {
            if (s.var == f_.args()[d]) {
                return &s;
            }
        }
        return nullptr;
    }

    static bool moves_along(const For *loop, const Expr &e, Monotonic direction) {
        const Monotonic m = is_monotonic(e, loop->name);
        return m == direction || m == Monotonic::Constant;
    }

    /// A window that holds that of each iteration, and moves in one direction if that can be had.
    static Interval moving_window(const For *loop, const Interval &window) {
        Expr first = with_one_select_each(simplify(window.min)),
             last = with_one_select_each(simplify(window.max));
        const Expr least = bound_of_answers(first, true), most = bound_of_answers(last, false);
        if (!moves_along(loop, first, Monotonic::Increasing) &&
            moves_along(loop, least, Monotonic::Increasing)) {
            first = least;
        }
        if (!moves_along(loop, last, Monotonic::Decreasing) &&
            moves_along(loop, most, Monotonic::Decreasing)) {
            last = most;
        }
        return Interval(first, last);
    }

    /// Sets `fold` if the dimension can be folded along the loop. False if each iteration must be
    /// checked.
    bool fold_along(const For *loop, int d, const Interval &window) {
        const StorageDim *schedule = schedule_of(d);
        const bool is_asked = schedule && schedule->fold_factor.defined();
        const bool is_small =
            has_at_most(largest_end, window.min) && has_at_most(largest_end, window.max);
        return !(is_asked || is_small) || fold_moving(loop, d, moving_window(loop, window));
    }

    /// Which way the window goes: as the schedule says, or the other way where that can be shown.
    /// Storage that an asynchronous producer fills is given back as the schedule says.
    bool goes_forward(const For *loop, const Interval &moving, const StorageDim &schedule) const {
        const bool forward = moves_along(loop, moving.min, Monotonic::Increasing),
                   backward = moves_along(loop, moving.max, Monotonic::Decreasing);
        return f_.schedule().async || forward == backward ? schedule.fold_forward : forward;
    }

    bool fold_moving(const For *loop, int d, const Interval &moving) {
        const Expr first = moving.min, last = moving.max;
        const auto moves = [&](const Expr &e, Monotonic direction) {
            return moves_along(loop, e, direction);
        };
        const Expr extent = simplify(last - first + 1);
        const StorageDim *schedule = schedule_of(d);
        if (schedule && schedule->fold_factor.defined()) {
            const bool proven = goes_forward(loop, moving, *schedule)
                                    ? moves(first, Monotonic::Increasing)
                                    : moves(last, Monotonic::Decreasing);
            const Expr factor = cast(Int(32), schedule->fold_factor);
            fold = Fold{d, factor};
            return proven && fits(extent, factor);
        }
        if (!explicit_only_ && !f_.schedule().async && !has_lanes(loop, d) &&
            (moves(first, Monotonic::Increasing) || moves(last, Monotonic::Decreasing))) {
            fold_automatically(d, extent);
        }
        return true;
    }

    /// Vectors that may wrap around would be loaded and stored lane by lane.
    bool has_lanes(const For *loop, int d) const {
        FindLaneDimensions lanes(f_.name());
        lanes(loop->body);
        return lanes.found.count(d) != 0;
    }

    void fold_automatically(int d, const Expr &extent) {
        const std::optional<int64_t> size =
            known_.upper_bound_in_all_cases(extent, max_automatic_factor);
        if (!size || *size > max_automatic_factor) {
            return;
        }
        int64_t factor = 1;
        while (factor < *size) {
            factor *= 2;
        }
        const StorageDim *schedule = schedule_of(d);
        const auto bound =
            schedule && schedule->bound.defined() ? as_const_int(schedule->bound) : std::nullopt;
        factor = bound && *bound >= *size ? std::min(factor, *bound) : factor;
        // Where the extent is what bound_storage gives, it says nothing of how much is touched.
        const std::optional<int64_t> whole = known_.upper_bound(storage_->bounds[size_t(d)].extent);
        if (bound || !whole || *whole > factor) {
            fold = Fold{d, Expr(int(factor))};
        }
    }

    bool fits(const Expr &extent, const Expr &factor) const {
        const std::optional<int64_t> size = known_.upper_bound_in_all_cases(extent),
                                     given = as_const_int(factor);
        return (size && given && *size <= *given) || can_prove(extent <= factor);
    }

    /// The body of the loop along which the storage is folded, with checks where all lets stand
    /// that are made before the Func is used: what an extern stage answers is known there, and what
    /// the loop as a whole touches, before it.
    Stmt checked(const Stmt &s, const For *loop, const Box &touched,
                 std::vector<std::string> lets = {}) {
        const LetStmt *let = s.as<LetStmt>();
        if (let && !uses_buffer(let->value, f_.name())) {
            const KnownHere::Inside inside(known_, let);
            lets.push_back(let->name);
            return LetStmt::make(let->name, let->value,
                                 checked(let->body, loop, touched, std::move(lets)));
        }
        const Block *block = s.as<Block>();
        if (block && !uses_buffer(block->first, f_.name())) {
            return Block::make(block->first, checked(block->rest, loop, touched, std::move(lets)));
        }
        const size_t d = size_t(fold->dimension);
        const Box here = box_touched(slice_for_func(f_.name(), s), f_.name(), Scope<Interval>(),
                                     ctx_.func_bounds);
        const bool known = d < here.size() && here[d].is_bounded();
        return Block::make(checks(loop, known ? here[d] : touched[d], lets), s);
    }

    Expr folded_var() const {
        return StringImm::make(f_.args()[size_t(fold->dimension)]);
    }

    /// That the window, which an iteration touches, fits; nothing where that is known.
    Stmt room_check(const For *loop, const Interval &window) const {
        const Expr extent = simplify(window.max - window.min + 1);
        return fits(extent, fold->factor)
                   ? Stmt()
                   : check(extent <= fold->factor, "fold_factor_too_small",
                           {StringImm::make(f_.name()), folded_var(), fold->factor,
                            StringImm::make(loop->name), extent});
    }

    /// Of one iteration that touches the window, which may be in terms of lets in the loop.
    Stmt checks(const For *loop, const Interval &window, const std::vector<std::string> &lets) {
        LetScope::Limits pure;
        pure.keeps_calls = true;
        const auto expand = [&](const Expr &e) {
            return known_.lets().expand_while_small(e, pure);
        };
        const Interval moving =
            moving_window(loop, Interval(expand(window.min), expand(window.max)));
        const bool forward = goes_forward(loop, moving, *schedule_of(fold->dimension));
        const Expr leading = forward ? moving.min : moving.max;
        Stmt result = room_check(loop, moving);
        if (uses_any_var(leading, lets) ||
            !moves_along(loop, leading, forward ? Monotonic::Increasing : Monotonic::Decreasing)) {
            if (last_window_.empty()) {
                last_window_ = ctx_.names.unique(f_.name() + ".last_window");
            }
            const Expr last = Load::make(Int(32), last_window_, 0, const_true(), Alignment());
            const Stmt monotonic =
                check(forward ? leading >= last : leading <= last, "bad_fold",
                      {StringImm::make(f_.name()), folded_var(), StringImm::make(loop->name)});
            const Stmt remember = Store::make(last_window_, leading, 0, const_true(), Alignment());
            result = Block::make({result, monotonic, remember});
        }
        initial_window_ = forward ? Int(32).min() : Int(32).max();
        return result;
    }

public:
    /// Storage for what the checks remember, around the whole.
    Stmt with_memory(const Stmt &s) const {
        if (last_window_.empty()) {
            return s;
        }
        return Allocate::make(last_window_, Int(32), MemoryType::Stack, {1}, const_true(),
                              Block::make(forget_window(), s));
    }

private:
    const Function &f_;
    const Realize *storage_;
    KnownHere known_;
    const bool explicit_only_;
    LoopBoxes &boxes_;
    LowerContext &ctx_;
    std::string last_window_;
    Expr initial_window_;
};

class Folder : public StmtMutator {
public:
    Folder(LowerContext &ctx, std::unordered_set<std::string> handles)
        : ctx_(ctx), handles_(std::move(handles)), known_(ctx.ranges_of_parameters()),
          boxes_(ctx.func_bounds) {
    }

private:
    using Mutator::visit;

    Stmt visit(const LetStmt *op) override {
        const KnownHere::Inside inside(known_, op);
        return Mutator::visit(op);
    }

    Stmt visit(const For *op) override {
        const KnownHere::Inside inside(known_, op);
        return Mutator::visit(op);
    }

    /// Where storage was folded, what bound_storage gives has to hold one fold of it.
    Stmt visit(const Block *op) override {
        const Stmt s = Mutator::visit(op);
        const Call *error = storage_bound_error(op->first);
        const auto fold =
            error ? folds_.find({text(error->args[1]), text(error->args[2])}) : folds_.end();
        if (fold == folds_.end()) {
            return s;
        }
        const Expr bound = error->args[3], factor = fold->second;
        const Stmt enough = check(simplify(factor <= bound), "storage_bound_too_small",
                                  {error->args[1], error->args[2], bound, factor});
        return Block::make(enough, s.as<Block>()->rest);
    }

    Stmt visit(const Realize *op) override {
        auto it = ctx_.env.find(op->name);
        const bool explicit_only = it != ctx_.env.end() && has_explicit_fold(it->second);
        if (it == ctx_.env.end() || !can_fold(it->second, op->body, explicit_only)) {
            return with_body(op, op->bounds, mutate(op->body));
        }
        boxes_.begin(op->name);
        const Stmt result = folded(op, it->second, explicit_only, mutate(op->body));
        boxes_.end(op->name);
        return result;
    }

    Stmt folded(const Realize *op, const Function &f, bool explicit_only, const Stmt &body) {
        FoldFunc folding(f, op, known_, explicit_only, boxes_, ctx_);
        Stmt searched = folding.search(body);
        if (!folding.fold) {
            if (explicit_only) {
                user_warning << "func " << op->name << " is not folded: there is no serial loop "
                             << "between its storage and all its uses";
            }
            return with_body(op, op->bounds, body);
        }
        std::vector<Fold> folds = {*folding.fold};
        while (!f.schedule().async && fold_another(op, f, &folds, &searched)) {
        }
        Region bounds = op->bounds;
        for (const Fold &fold : folds) {
            if (uses_header(f)) {
                searched = fold_headers(searched, f, fold.dimension, fold.factor, ctx_);
            }
            searched = FoldAccesses(op->name, fold).mutate(searched);
            bounds[fold.dimension] = Range(make_zero(Int(32)), fold.factor);
            folds_[{f.name(), f.args()[size_t(fold.dimension)]}] = fold.factor;
        }
        const Stmt result = folding.with_memory(with_body(op, bounds, searched));
        return f.schedule().async
                   ? LetStmt::make(names::folding_places(op->name), folds[0].factor, result)
                   : result;
    }

    /// Looks for a further dimension. Each alone holds, in every iteration of its loop, all that is
    /// alive then, so that both together do.
    bool fold_another(const Realize *op, const Function &f, std::vector<Fold> *folds, Stmt *s) {
        const bool explicit_only = has_explicit_fold(f) && !can_fold(f, *s, false);
        FoldFunc folding(f, op, known_, explicit_only, boxes_, ctx_);
        for (const Fold &fold : *folds) {
            folding.folded_already.insert(fold.dimension);
        }
        if (!folding.has_candidates(*s)) {
            return false;
        }
        const Stmt searched = folding.search(*s);
        if (!folding.fold || folding.has_memory()) {
            return false;
        }
        folds->push_back(*folding.fold);
        *s = searched;
        return true;
    }

    static Stmt with_body(const Realize *op, const Region &bounds, const Stmt &body) {
        return with(op, &Realize::bounds, bounds, &Realize::body, body);
    }

    static bool has_explicit_fold(const Function &f) {
        for (const StorageDim &s : f.schedule().storage_dims) {
            if (s.fold_factor.defined()) {
                return true;
            }
        }
        return false;
    }

    bool uses_header(const Function &f) const {
        for (int i = 0; i < f.outputs(); i++) {
            if (handles_.count(names::buffer(f.buffer_name(i)))) {
                return true;
            }
        }
        return false;
    }

    /// What extern stages touch is folded where the schedule says so: they may not take it in
    /// parts.
    bool can_fold(const Function &f, const Stmt &body, bool explicit_only) const {
        user_assert(!explicit_only || !f.schedule().async ||
                    f.schedule().hoist_storage_level == f.schedule().store_level)
            << "func " << f.name()
            << " cannot be folded: it is async, and its storage is hoisted out of loops; give it a "
               "ring_buffer instead";
        user_assert(!explicit_only || !f.schedule().memoized)
            << "func " << f.name() << " cannot be folded: it is memoized";
        return !f.schedule().memoized &&
               (explicit_only || (!uses_header(f) && !produced_at_once(body, f.name())));
    }

    /// The error of bound_storage's check, as bound_allocations makes it; null for what is none.
    static const Call *storage_bound_error(const Stmt &s) {
        const auto *assertion = s.as<AssertStmt>();
        const auto *error = assertion ? assertion->message.as<Call>() : nullptr;
        return error && is_error_call(error, "storage_bound_too_small") ? error : nullptr;
    }

    static std::string text(const Expr &e) {
        return e.as<StringImm>()->value;
    }

    LowerContext &ctx_;
    const std::unordered_set<std::string> handles_;
    KnownHere known_;
    LoopBoxes boxes_;
    std::map<std::pair<std::string, std::string>, Expr> folds_;  ///< factors, by Func and dimension
};

}  // namespace

Stmt fold_storage(const Stmt &s, LowerContext &ctx) {
    return Folder(ctx, handle_names(s)).mutate(s);
}

}  // namespace calotype::internal
