// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/partition_loops.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/let_scope.h"
#include "lower/loop_guards.h"
#include "lower/loops/prepare_choices.h"
#include "lower/loops/propagate_likely.h"
#include "lower/loops/steady_state.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Iterations of loops that are kept in one piece, and of all that they run.
constexpr int64_t max_short_extent = 8, max_short_iterations = 32;

/// Iterations of a thread's loop, one or more of which are run each time, that are too few for a steady state.
constexpr int max_brief_extent = 4;

/// How often the innermost statements of a loop run, if that is constant; else a huge number.
class Iterations : private Visitor {
public:
    int64_t of(const For *loop) {
        visit(loop);
        return most_;
    }

private:
    using Visitor::visit;

    void operator()(const Expr &) override {
    }
    void visit(const For *op) override {
        constexpr int64_t huge = int64_t(1) << 31;
        const int64_t around = here_;
        here_ = std::min(huge, around * as_const_int(op->extent).value_or(huge));
        most_ = std::max(most_, here_);
        Visitor::visit(op);
        here_ = around;
    }

    int64_t here_ = 1, most_ = 1;
};

/// Whether all that a loop stores are scalars at places which are the same in all iterations, as a sum does.
class StoresInPlace : private Visitor {
public:
    bool of(const For *loop) {
        const ScopedBinding<> changing(changing_, loop->name);
        Visitor::operator()(loop->body);
        return in_place_;
    }

private:
    using Visitor::visit;

    void operator()(const Expr &) override {
    }
    void visit(const LetStmt *op) override {
        const ScopedBinding<> changing(uses_any_var(op->value, changing_), changing_, op->name);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        in_place_ =
            in_place_ && op->index.type().is_scalar() && !uses_any_var(op->index, changing_);
    }

    Scope<> changing_;
    bool in_place_ = true;
};

class Partitioner : public Mutator {
public:
    explicit Partitioner(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    static Stmt make_loop(const For *op, const Expr &min, const Expr &extent, const Stmt &body) {
        return with(op, &For::min, min, &For::extent, extent, &For::body, body);
    }

    /// Of iterations outside of the steady state.
    Stmt make_border(const For *op, const Expr &min, const Expr &extent, const Stmt &body) const {
        return with(op, &For::min, min, &For::extent, extent, &For::partition,
                    long_borders_ ? op->partition : Partition::Never, &For::body, body);
    }

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type) && !kernel_) {
            kernel_ = op;
            const Stmt result = visit_loop(op);
            kernel_ = nullptr;
            return result;
        }
        const Stmt result = visit_loop(op);
        const For *loop = op->partition == Partition::Never ? result.as<For>() : nullptr;
        return loop && loop->for_type == ForType::Serial
                   ? with(loop, &For::partition, Partition::Auto)
                   : result;
    }

    Stmt visit(const LetStmt *op) override {
        const ScopedBinding<> moving(uses_any_var(op->value, moving_), moving_, op->name);
        const LetScope::Inside inside(lets_, op->name, op->value);
        return Mutator::visit(op);
    }

    Stmt visit_loop(const For *op) {
        const ScopedBinding<> moving(moving_, op->name);
        if (op->for_type == ForType::GPUBlock) {
            return has_choice_of_blocks(op) ? partition_blocks(op) : Mutator::visit(op);
        }
        const bool candidate = (!rare_ || !contains_kind(op->body, NodeKind::For)) &&
                               op->partition != Partition::Never && !is_gpu(op->for_type) &&
                               !runs_once_at_most(op) && !is_brief(op) && contains_likely(op->body);
        const SteadyState steady = candidate ? find_steady_state(op) : SteadyState();
        require_found(op, steady);
        if (!steady.found || stays_whole(op, steady)) {
            return Mutator::visit(op);
        }
        if (is_single(op, steady.range)) {
            return leave_to_inner_loops(op);
        }
        if (steady.range.is_everything() && !steady.condition.defined()) {
            return make_loop(op, op->min, op->extent, mutate(steady.body));
        }
        if (op->for_type != ForType::Serial) {
            return branch_inside(op, steady);
        }
        const bool whole = steady.range.is_everything() || is_short(op, steady.range);
        return whole ? all_or_none(op, steady) : split_in_three(op, steady);
    }

    /// One iteration has no others that it could differ from.
    static bool runs_once_at_most(const For *op) {
        return is_const_one(op->extent) ||
               (op->partition != Partition::Always && can_prove(op->extent <= 1));
    }

    /// Whether it is a loop over what one iteration around adds to a window, in a thread. Its steady state would begin and
    /// end somewhere else each time, and to find out where takes longer than to clamp a few coordinates.
    bool is_brief(const For *op) const {
        LetScope::Limits limits;
        limits.keeps_calls = true;
        return kernel_ && op->partition != Partition::Always && op->for_type == ForType::Serial &&
               !is_const(op->extent) &&
               !contains<For>(op->body, [](const For *loop) { return !is_gpu(loop->for_type); }) &&
               can_prove(lets_.expand_while_small(op->extent, limits) <= max_brief_extent);
    }

    /// Whether the loop is short enough to be unrolled by whoever compiles it, and where its steady
    /// state begins and ends is only known when it runs: then parts of it would be loops of unknown
    /// extent.
    static bool is_short(const For *op, const Interval &range) {
        const auto extent = as_const_int(op->extent);
        const auto known = [&](const Expr &end) {
            return !end.defined() || is_const(simplify(end - op->min));
        };
        return extent && *extent <= max_short_extent &&
               Iterations().of(op) <= max_short_iterations &&
               !(known(range.min) && known(range.max));
    }

    /// The steady state in all iterations, or in none.
    Stmt all_or_none(const For *op, const SteadyState &steady) {
        Expr all = steady.condition.defined() ? steady.condition : const_true();
        if (steady.range.has_lower_bound()) {
            all = all && steady.range.min <= op->min;
        }
        if (steady.range.has_upper_bound()) {
            all = all && op->min + op->extent - 1 <= steady.range.max;
        }
        all = simplify(all);
        if (is_uniform_in_kernel(all)) {
            return make_loop(op, op->min, op->extent, mutate(op->body));
        }
        return IfThenElse::make(all, make_loop(op, op->min, op->extent, mutate(steady.body)),
                                make_border(op, op->min, op->extent, rarely_run(op->body)));
    }

    /// Whether all threads of the kernel around agree. Then so do the values that are clamped: once the
    /// loop is unrolled each is computed once, before all loops, which costs less than a choice for
    /// each access.
    bool is_uniform_in_kernel(const Expr &condition) const {
        if (!kernel_ || is_const(condition)) {
            return false;
        }
        const std::vector<std::string> parameters = free_variables(Stmt(kernel_));
        return !any_free_variable(condition, [&](const std::string &name) {
            return std::find(parameters.begin(), parameters.end(), name) == parameters.end();
        });
    }

    /// PoCL's compiler corrupts memory where barriers stand in branches, so for OpenCL kernels that
    /// compute what they then use, wherever that is stored, stay as they are.
    static bool has_choice_of_blocks(const For *op) {
        return op->device_api != DeviceAPI::OpenCL ||
               !contains_kind(op->body, NodeKind::ProducerConsumer);
    }

    /// Block loops are left as they are. What is likely is looked for from the outermost in, and
    /// all ranges are one condition within, so that a block as a whole chooses. The general code
    /// has no steady states of its own: all of a kernel's code shares its registers, whichever runs.
    Stmt partition_blocks(const For *outermost) {
        std::vector<Stmt> layers;
        Stmt general = propagate_likely(outermost);
        while (is_around_blocks(general)) {
            layers.push_back(general);
            const For *loop = general.as<For>();
            general = loop ? loop->body : general.as<LetStmt>()->body;
        }
        Stmt steady = general;
        Expr condition;
        for (const Stmt &layer : layers) {
            const For *loop = layer.as<For>();
            if (loop) {
                steady = partition_block(loop, steady, &condition);
            }
        }
        Stmt result = mutate(steady);
        if (condition.defined()) {
            result = IfThenElse::make(condition, result, general);
        }
        for (size_t i = layers.size(); i-- > 0;) {
            const For *loop = layers[i].as<For>();
            const LetStmt *let = layers[i].as<LetStmt>();
            result = loop ? make_loop(loop, loop->min, loop->extent, result)
                          : LetStmt::make(let->name, let->value, result);
        }
        return result;
    }

    static bool is_around_blocks(const Stmt &s) {
        const LetStmt *let = s.as<LetStmt>();
        const For *loop = let ? nullptr : s.as<For>();
        return let ? is_around_blocks(let->body) : loop && loop->for_type == ForType::GPUBlock;
    }

    /// The body where what is likely in this loop holds, if anything; *condition says where.
    Stmt partition_block(const For *loop, const Stmt &body, Expr *condition) {
        const bool candidate = loop->partition != Partition::Never && !is_const_one(loop->extent) &&
                               contains_likely(body);
        const SteadyState steady =
            candidate ? find_steady_state(make_loop(loop, loop->min, loop->extent, body).as<For>())
                      : SteadyState();
        require_found(loop, steady);
        if (!steady.found) {
            return body;
        }
        const Expr here = is_within(steady, loop);
        if (here.defined()) {
            *condition = condition->defined() ? *condition && here : here;
        }
        return steady.body;
    }

    void require_found(const For *op, const SteadyState &steady) const {
        user_assert(steady.found || op->partition != Partition::Always || rare_)
            << "Loop Partition Policy is set to Always for " << op->name
            << ", but no loop partitioning was performed. No condition in it is likely to hold in "
            << "a range of its iterations";
    }

    /// True in the steady iterations; undefined if these are all.
    static Expr is_within(const SteadyState &steady, const For *op) {
        const Interval &range = steady.range;
        const Expr i = Variable::make(op->min.type(), op->name);
        Expr condition = steady.condition;
        const auto require = [&](const Expr &e) {
            condition = condition.defined() ? condition && e : e;
        };
        if (range.has_lower_bound()) {
            require(i >= range.min);
        }
        if (range.has_upper_bound()) {
            require(i <= range.max);
        }
        return condition;
    }

    /// The general code. What is rare may still be much (a whole row of tiles at the edge of an
    /// image), so its innermost loops have steady states of their own, unless they are sums of unknown length; loops
    /// around them do not, or there would be a copy for each combination.
    Stmt rarely_run(const Stmt &body) {
        const bool outer = std::exchange(rare_, true);
        const Stmt result = mutate(body);
        rare_ = outer;
        return result;
    }

    /// Iterations of a parallel loop choose for themselves, so that all of them still run at the
    /// same time.
    Stmt branch_inside(const For *op, const SteadyState &steady) {
        const Expr condition = is_within(steady, op);
        const Stmt body = IfThenElse::make(condition, mutate(steady.body), rarely_run(op->body));
        return make_loop(op, op->min, op->extent, body);
    }

    /// Whether iterations outside of the steady state change nothing, as those of a sum that reads zeros there.
    bool does_nothing_else(const For *op, const SteadyState &steady) const {
        if (steady.condition.defined()) {
            return false;
        }
        const Interval useful =
            find_guards(op, true, !ctx_.target.has_feature(Target::StrictFloat)).range;
        const Interval &range = steady.range;
        return (!range.has_lower_bound() ||
                (useful.has_lower_bound() && can_prove(range.min <= useful.min))) &&
               (!range.has_upper_bound() ||
                (useful.has_upper_bound() && can_prove(useful.max <= range.max)));
    }

    Stmt split_in_three(const For *op, const SteadyState &steady) {
        const std::string first_name = ctx_.names.unique(op->name + ".steady_min");
        const std::string end_name = ctx_.names.unique(op->name + ".steady_end");
        const Type t = op->min.type();
        const Expr first = Variable::make(t, first_name), end = Variable::make(t, end_name);
        const Expr loop_end = op->min + op->extent;
        const bool before =
            steady.range.has_lower_bound() && !can_prove(steady.range.min <= op->min);
        const bool after =
            steady.condition.defined() ||
            (steady.range.has_upper_bound() && !can_prove(steady.range.max >= loop_end - 1));

        const bool alone = does_nothing_else(op, steady);
        const Stmt general = alone ? Stmt() : rarely_run(op->body);
        const Expr start = before ? first : op->min, stop = after ? end : loop_end;
        Stmt result = make_loop(op, start, stop - start, mutate(steady.body));
        if (alone) {
            // what is outside of the steady state stays away
        } else if (before && after) {
            result = share_general_code(op, first, end, loop_end, general, result);
        } else if (before) {
            result = Block::make(make_border(op, op->min, first - op->min, general), result);
        } else if (after) {
            result = Block::make(result, make_border(op, end, loop_end - end, general));
        }
        if (after) {
            const Expr last =
                steady.range.has_upper_bound() ? min(steady.range.max + 1, loop_end) : loop_end;
            const Expr wanted = max(last, start);
            result = LetStmt::make(end_name,
                                   simplify(steady.condition.defined()
                                                ? select(steady.condition, wanted, start)
                                                : wanted),
                                   result);
        }
        if (before) {
            result = LetStmt::make(
                first_name, simplify(min(max(steady.range.min, op->min), max(loop_end, op->min))),
                result);
        }
        return result;
    }

    /// Whether parts of an innermost loop in a kernel, or outside of a steady state, are not worth their bounds. Those of
    /// a sum over the elements around a point are others in each iteration of a loop around, and the sum may have few
    /// terms.
    bool stays_whole(const For *op, const SteadyState &steady) const {
        const Interval &range = steady.range;
        return (rare_ || (kernel_ && op->partition != Partition::Always)) &&
               !is_const(op->extent) &&
               (uses_any_var(range.min, moving_) || uses_any_var(range.max, moving_)) &&
               StoresInPlace().of(op) && !does_nothing_else(op, steady);
    }

    /// Whether the steady state is one iteration at most, as where a loop inside goes as far as the buffer that both of
    /// them read. That loop has steady states of its own, then, a long one for most iterations of this one.
    bool is_single(const For *op, const Interval &range) const {
        return op->partition != Partition::Always && range.is_bounded() && !is_const(op->extent) &&
               contains_kind(op->body, NodeKind::For) && can_prove(range.max <= range.min);
    }

    /// Over all iterations of this loop about as much of theirs is outside of steady states as inside.
    Stmt leave_to_inner_loops(const For *op) {
        const bool outer = std::exchange(long_borders_, true);
        const Stmt result = Mutator::visit(op);
        long_borders_ = outer;
        return result;
    }

    /// Part 0: before, part 1: steady, part 2: after. The iterations keep their order.
    Stmt share_general_code(const For *op, const Expr &first, const Expr &end, const Expr &loop_end,
                            const Stmt &general, const Stmt &steady) {
        const std::string part_name = ctx_.names.unique(op->name + ".part");
        const Expr part = Variable::make(Int(32), part_name);
        const Expr start = select(part == 0, op->min, end);
        const Expr stop = select(part == 0, first, loop_end);
        const Stmt other = make_border(op, start, stop - start, general);
        return For::make(part_name, 0, 3, ForType::Serial, Partition::Never, DeviceAPI::None,
                         IfThenElse::make(part == 1, steady, other));
    }

    LowerContext &ctx_;
    const For *kernel_ = nullptr;
    bool rare_ = false;
    bool long_borders_ = false;  ///< iterations outside of steady states are not few
    LetScope lets_;
    Scope<> moving_;  ///< what is another in each iteration of a loop around
};

}  // namespace

Stmt partition_loops(const Stmt &s, LowerContext &ctx) {
    const Stmt tagged = ctx.target.has_gpu_feature() ? s : propagate_guards(s);
    return simplify(Partitioner(ctx).mutate(prepare_choices(tagged)));
}

}  // namespace calotype::internal
