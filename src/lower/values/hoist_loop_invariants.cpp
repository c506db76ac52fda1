// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/values/hoist_loop_invariants.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/loop_reads.h"

namespace calotype::internal {

namespace {

std::set<std::string> names_bound_in(const Stmt &s) {
    const std::vector<std::string> names = bound_names(s);
    return {names.begin(), names.end()};
}

/// Names that do not mean one value wherever they stand in it.
std::set<std::string> ambiguous_names(const Stmt &s) {
    std::set<std::string> seen, result;
    for (const std::string &name : free_variables(s)) {
        seen.insert(name);
    }
    for (const std::string &name : bound_names(s)) {
        if (!seen.insert(name).second) {
            result.insert(name);
        }
    }
    return result;
}

/// Of one node, whatever its operands: what moving gains something for.
bool is_work(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::IntImm:
    case NodeKind::UIntImm:
    case NodeKind::FloatImm:
    case NodeKind::StringImm:
    case NodeKind::Variable:
    case NodeKind::Broadcast:
    case NodeKind::Ramp:
    case NodeKind::Shuffle:
    case NodeKind::Reinterpret:
    case NodeKind::Cast:
        return false;
    default:
        return true;
    }
}

/// Which expressions mean the same within a loop and in front of it. Not those that read memory (but
/// for `reads`) or fields of buffers (which copies to a device change), ask which thread this is, or
/// hold Lets (whose names would be bound twice). Whether a node does not depend on where it stands,
/// so it is asked once a node.
class CanMove : private Visitor {
public:
    /// `leaves_kernel`: from a kernel into the host's code, where functions of linkables may not
    /// be.
    CanMove(const std::set<std::string> &bound, bool leaves_kernel,
            const LoopReads *reads = nullptr)
        : bound_(bound), leaves_kernel_(leaves_kernel), reads_(reads) {
    }

    bool ask(const Expr &e) {
        can_move_ = true;
        (*this)(e);
        return can_move_;
    }

private:
    using Visitor::visit;

    void operator()(const Expr &e) override {
        auto known = memo_.find(e.get());
        if (known != memo_.end()) {
            can_move_ = can_move_ && known->second.second;
            return;
        }
        const bool before = can_move_;
        can_move_ = !e.type().is_handle();
        Visitor::operator()(e);
        memo_.emplace(e.get(), std::make_pair(e, can_move_));
        can_move_ = can_move_ && before;
    }

    void visit(const Variable *op) override {
        can_move_ = can_move_ && !bound_.count(op->name);
    }
    void visit(const Load *op) override {
        can_move_ = can_move_ && reads_ && reads_->is_unwritten(op->name);
        Visitor::visit(op);
    }
    void visit(const Let *) override {
        can_move_ = false;
    }
    void visit(const Call *op) override {
        switch (op->intrinsic) {
        case Intrinsic::gpu_block_index:
        case Intrinsic::gpu_thread_index:
        case Intrinsic::buffer_get_host:
        case Intrinsic::buffer_get_device:
        case Intrinsic::buffer_get_device_interface:
        case Intrinsic::buffer_get_min:
        case Intrinsic::buffer_get_extent:
        case Intrinsic::buffer_get_stride:
        case Intrinsic::size_of_buffer:  // alloca takes it as a constant
        case Intrinsic::undef:
        case Intrinsic::signed_integer_overflow:
        case Intrinsic::load_struct_member:
        case Intrinsic::require:
        case Intrinsic::bundle:  // is the index of an image as it stands
            can_move_ = false;
            return;
        case Intrinsic::if_then_else:  // what it reads may not be there
            can_move_ = can_move_ && !contains_kind(op, NodeKind::Load);
            Visitor::visit(op);
            return;
        default:
            Visitor::visit(op);
            can_move_ = can_move_ && op->is_pure() && !(leaves_kernel_ && is_linked(op));
        }
    }

    const std::set<std::string> &bound_;
    const bool leaves_kernel_;
    const LoopReads *const reads_;
    bool can_move_ = true;
    /// The Expr keeps the node alive, so that no other gets its address.
    std::unordered_map<const void *, std::pair<Expr, bool>> memo_;
};

/// A term of a sum: added, or taken away.
struct Term {
    Expr value;
    bool is_negative;
};

/// Of at least one term; those that are taken away come last.
Expr sum_of(std::vector<Term> terms) {
    std::stable_partition(terms.begin(), terms.end(), [](const Term &t) { return !t.is_negative; });
    const Expr &first = terms.front().value;
    Expr result = terms.front().is_negative ? Sub::make(make_zero(first.type()), first) : first;
    for (size_t i = 1; i < terms.size(); i++) {
        result = terms[i].is_negative ? Sub::make(result, terms[i].value)
                                      : Add::make(result, terms[i].value);
    }
    return result;
}

/// Names the parts of a loop's body that are the same in all iterations.
class Hoist : public Mutator {
public:
    Hoist(const For *loop, bool has_kernels, LowerContext &ctx)
        : loop_(loop), ctx_(ctx), bound_(names_bound_in(Stmt(loop))),
          ambiguous_(ambiguous_names(Stmt(loop))), has_kernels_(has_kernels), reads_(loop),
          reads_move_(reads_.feed_functions() && !has_kernels), not_outside_(bound_),
          is_total_(not_outside_, has_kernels), can_move_(bound_, has_kernels, &reads_) {
    }

    Stmt run() {
        const Stmt body = mutate(loop_->body);
        if (body.same_as(loop_->body)) {
            return loop_;
        }
        Stmt s = in_lets(reading_, with(loop_, &For::body, body));
        if (!reading_.empty() && !is_positive_const(loop_->extent)) {
            s = IfThenElse::make(LT::make(make_zero(loop_->extent.type()), loop_->extent), s);
        }
        return in_lets(lifted_, s);
    }

    Expr mutate(const Expr &e) override {
        if (!e.defined() || in_expression_) {
            return e.defined() ? hoisted(e) : e;
        }
        in_expression_ = true;
        const Expr result = hoisted(known_.empty() ? e : substitute(known_, e));
        in_expression_ = false;
        return result;
    }
    using Mutator::mutate;

private:
    using Mutator::visit;

    struct Named {
        std::string name;
        Expr value;
    };

    Expr hoisted(const Expr &e) {
        // No kernel takes vectors from the host.
        const bool moves =
            is_work(e) && (e.type().is_scalar() || (!has_kernels_ && is_costly(e))) && can_move(e);
        if (moves) {
            return lift(e);
        }
        // A sum is looked at once, as a whole.
        const bool is_part = std::exchange(in_sum_, is_index_sum(e));
        const Expr result = in_sum_ && !is_part ? regrouped(e) : Mutator::mutate(e);
        in_sum_ = is_part;
        return result;
    }

    static bool is_index_sum(const Expr &e) {
        return e.type() == Int(32) && (e.as<Add>() || e.as<Sub>());
    }

    struct Sum {
        std::vector<Term> moving, staying, constant;
    };

    /// The terms of a sum: parts of it, as it is written, that move, and others.
    void add_terms(const Expr &e, bool is_negative, Sum &sum) {
        const Add *add = e.as<Add>();
        const Sub *sub = e.as<Sub>();
        if (is_const(e)) {
            sum.constant.push_back({e, is_negative});
        } else if (can_move(e)) {
            sum.moving.push_back({e, is_negative});
        } else if (add) {
            add_terms(add->a, is_negative, sum);
            add_terms(add->b, is_negative, sum);
        } else if (sub) {
            add_terms(sub->a, is_negative, sum);
            add_terms(sub->b, !is_negative, sum);
        } else {
            sum.staying.push_back({e, is_negative});
        }
    }

    /// What lets around call parts of the sum, unless they are sums of many parts that stay. Two ways to write a sum, with
    /// and without a let, thereby become one: LLVM does not see that they are equal where a value of theirs is from outside.
    void look_through_lets(Sum &sum) {
        constexpr size_t most_parts = 2;
        const std::vector<Term> staying = std::exchange(sum.staying, {});
        for (const Term &t : staying) {
            const Variable *let = t.value.as<Variable>();
            const auto known = let ? sums_.find(let->name) : sums_.end();
            Sum parts;
            if (known != sums_.end()) {
                add_terms(known->second, t.is_negative, parts);
            }
            if (parts.staying.empty() || parts.staying.size() > most_parts) {
                parts = {{}, {t}, {}};
            }
            append(parts.moving, sum.moving);
            append(parts.staying, sum.staying);
            append(parts.constant, sum.constant);
        }
    }

    /// Means the same wherever its names are known: no store is in between that changes what it reads.
    bool is_same_later(const Expr &e) {
        const std::set<std::string> names = names_used(e);
        const bool is_clear =
            std::none_of(names.begin(), names.end(),
                         [&](const std::string &name) { return ambiguous_.count(name) > 0; });
        const std::set<std::string> bound;
        return is_clear && CanMove(bound, false, &reads_).ask(e) &&
               (reads_.stores_are_all() || !contains_kind(e, NodeKind::Load));
    }

    static void append(const std::vector<Term> &terms, std::vector<Term> &to) {
        to.insert(to.end(), terms.begin(), terms.end());
    }

    /// What moves of a sum moves as one value: of x + a - b, a - b. It comes first, as LLVM's loop strength reduction makes
    /// pointers of such sums. Constants come last, where addresses hold them.
    Expr regrouped(const Expr &e) {
        Sum sum;
        add_terms(e, false, sum);
        if (!sum.moving.empty()) {
            look_through_lets(sum);
        }
        if (sum.moving.size() < 2) {
            return Mutator::mutate(e);
        }
        const bool is_negative = std::all_of(sum.moving.begin(), sum.moving.end(),
                                             [](const Term &t) { return t.is_negative; });
        if (is_negative) {
            for (Term &t : sum.moving) {
                t.is_negative = false;
            }
        }
        std::vector<Term> terms = {{lift(sum_of(sum.moving)), is_negative}};
        for (const Term &t : sum.staying) {
            terms.push_back({hoisted(t.value), t.is_negative});
        }
        terms.insert(terms.end(), sum.constant.begin(), sum.constant.end());
        return sum_of(terms);
    }

    bool can_move(const Expr &e) {
        return is_total_.ask(e) || (reads_.feed_functions() && can_move_.ask(e) &&
                                    (reads_move_ || !contains_kind(e, NodeKind::Load)));
    }

    static Stmt in_lets(const std::vector<Named> &lets, Stmt s) {
        for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
            s = LetStmt::make(it->name, it->value, s);
        }
        return s;
    }

    /// What `f` gives of a part that is come to in each iteration if what is around it is and it is `always`.
    template<typename F>
    auto reached(bool always, const F &f) {
        const bool around = std::exchange(reads_move_, reads_move_ && always);
        auto result = f();
        reads_move_ = around;
        return result;
    }

    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        if (!is_known_outside(value)) {
            const Expr body = mutate(op->body);
            const bool same = value.same_as(op->value) && body.same_as(op->body);
            return same ? Expr(op) : Let::make(op->name, value, body);
        }
        return mutate(substitute(op->name, value, op->body));
    }

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        const bool is_known = is_known_outside(value);
        if (is_index_sum(value) && !ambiguous_.count(op->name) && is_same_later(value)) {
            sums_[op->name] = value;
        }
        const Stmt body = with_meaning(op->name, is_known ? value : Expr(), op->body);
        if (is_known) {
            return body;
        }
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? Stmt(op) : LetStmt::make(op->name, value, body);
    }

    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        const Stmt body = reached(is_positive_const(extent) && !is_gpu(op->for_type),
                                  [&] { return with_meaning(op->name, Expr(), op->body); });
        const bool same =
            min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body);
        return same ? Stmt(op) : with(op, &For::min, min, &For::extent, extent, &For::body, body);
    }

    // Reads stay under their conditions.
    Stmt visit(const IfThenElse *op) override {
        const Expr condition = mutate(op->condition);
        const Stmt then_case = reached(false, [&] { return mutate(op->then_case); });
        const Stmt else_case = reached(false, [&] { return mutate(op->else_case); });
        const bool same = condition.same_as(op->condition) && then_case.same_as(op->then_case) &&
                          else_case.same_as(op->else_case);
        return same ? Stmt(op) : IfThenElse::make(condition, then_case, else_case);
    }
    Expr visit(const Call *op) override {
        return reached(!op->is_intrinsic(Intrinsic::if_then_else),
                       [&] { return Mutator::visit(op); });
    }
    Stmt visit(const Store *op) override {
        return reached(is_trivially_true(op->predicate), [&] { return Mutator::visit(op); });
    }
    Expr visit(const Load *op) override {
        return reached(is_trivially_true(op->predicate), [&] { return Mutator::visit(op); });
    }

    /// The body of a let or loop, in which the name means a value of the outside, or itself.
    Stmt with_meaning(const std::string &name, const Expr &value, const Stmt &body) {
        const auto around = known_.find(name);
        const Expr before = around == known_.end() ? Expr() : around->second;
        set_meaning(name, value);
        const Stmt result = mutate(body);
        set_meaning(name, before);
        return result;
    }

    void set_meaning(const std::string &name, const Expr &value) {
        if (value.defined()) {
            known_[name] = value;
        } else {
            known_.erase(name);
        }
    }

    /// A name of the outside or a constant: it can stand for the name of a let.
    bool is_known_outside(const Expr &value) {
        return is_trivial(value) && value.type().is_scalar() && !value.type().is_handle() &&
               can_move_.ask(value);
    }

    /// Worth a vector register for the length of the loop.
    static bool is_costly(const Expr &e) {
        return contains_kind(e, NodeKind::Call) || contains_kind(e, NodeKind::Div) ||
               contains_kind(e, NodeKind::Mod);
    }

    Expr lift(const Expr &e) {
        const auto [known, is_new] = names_.emplace(e, std::string());
        if (is_new) {
            known->second = ctx_.names.unique(loop_->name + ".invariant");
            if (is_total_.ask(e)) {
                lifted_.push_back({known->second, e});
            } else {
                reading_.push_back({known->second, e});
                not_outside_.insert(known->second);
            }
        }
        return Variable::make(e.type(), known->second);
    }

    const For *loop_;
    LowerContext &ctx_;
    const std::set<std::string> bound_;
    const std::set<std::string> ambiguous_;
    std::vector<Named> lifted_;
    std::vector<Named> reading_;  ///< from memory, which only a loop that runs at all may do
    std::map<Expr, std::string, ExprDeepLess> names_;  ///< of what is lifted
    /// Lets whose values are names of the outside or constants. They are put into each expression of
    /// a statement when it is come to: into all that follows a let, it would be once for each let.
    std::map<std::string, Expr> known_;
    std::unordered_map<std::string, Expr> sums_;  ///< that lets name
    bool in_expression_ = false;
    bool in_sum_ = false;     ///< around the expression
    const bool has_kernels_;  ///< in the loop, as wholes
    const LoopReads reads_;
    bool reads_move_;                    ///< of what is come to in each iteration
    std::set<std::string> not_outside_;  ///< names that the loop binds, or that are of reading_
    CanMove is_total_, can_move_;
};

/// From the innermost loop outwards, so that values leave as many loops as they can.
class HoistAll : public StmtMutator {
public:
    explicit HoistAll(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool is_block = op->for_type == ForType::GPUBlock;
        const bool had_kernels = std::exchange(has_kernels_, false);
        blocks_ += is_block;
        const Stmt s = Mutator::visit(op);
        blocks_ -= is_block;
        has_kernels_ = (has_kernels_ || is_block) && blocks_ == 0;
        const bool stays = is_gpu(op->for_type) && (blocks_ > 0 || !is_block);
        const Stmt hoisted = stays ? s : Hoist(s.as<For>(), has_kernels_, ctx_).run();
        has_kernels_ = has_kernels_ || had_kernels;
        return hoisted;
    }

    LowerContext &ctx_;
    int blocks_ = 0;            ///< block loops around this place
    bool has_kernels_ = false;  ///< whole kernels were seen within the loop
};

}  // namespace

Stmt hoist_loop_invariants(const Stmt &s, LowerContext &ctx) {
    return HoistAll(ctx).mutate(s);
}

}  // namespace calotype::internal
