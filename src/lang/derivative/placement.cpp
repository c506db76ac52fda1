// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each coordinate e(loop variables) == u is solved for one of its variables by undoing its
// operations from the outside in. What a solution needs to be one (that it is in the loop's range,
// that a multiple divides) becomes a condition; a division gives a loop over its remainders.
#include "lang/derivative/placement.h"

#include <algorithm>
#include <map>
#include <set>

#include "arith/bounds.h"
#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lang/var.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

// Variables in the coordinates of what is read, other than the adjoint.
class VarsOfReads : public GraphVisitor {
public:
    explicit VarsOfReads(const std::string &adjoint) : adjoint_(adjoint) {
    }
    std::set<std::string> names;

private:
    using GraphVisitor::visit;
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        const bool is_read = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        if (is_read && op->name != adjoint_) {
            for (const Expr &arg : op->args) {
                for (const std::string &name : free_variables(arg)) {
                    names.insert(name);
                }
            }
        }
    }
    const std::string &adjoint_;
};

Expr conjoin(const Expr &a, const Expr &b) {
    return is_trivially_true(a) ? b : is_trivially_true(b) ? a : a && b;
}

class Solver {
public:
    Solver(const Contribution &c, const std::vector<std::string> &target_args) : loops_(c.loops) {
        for (const Expr &e : c.place) {
            place_.push_back(Var(target_args[place_.size()]));
            solve_coordinate(e, place_.back());
        }
    }

    /// Loops that are not solved for, those over remainders included.
    std::vector<AdjointLoop> remaining() const {
        std::vector<AdjointLoop> result;
        for (const AdjointLoop &loop : loops_) {
            if (!solutions_.count(loop.name)) {
                result.push_back(loop);
            }
        }
        return result;
    }
    const std::map<std::string, Expr> &solutions() const {
        return solutions_;
    }
    /// Multiples that must divide.
    const Expr &condition() const {
        return condition_;
    }
    /// A coordinate of the target, or the expression that could not be solved for it.
    std::vector<Expr> place() const {
        std::vector<Expr> result;
        for (size_t j = 0; j < place_.size(); j++) {
            const auto open = unsolved_.find(j);
            result.push_back(open == unsolved_.end() ? place_[j] : open->second);
        }
        return result;
    }
    /// That those expressions equal their coordinates.
    Expr equations() const {
        Expr all = const_true();
        for (const auto &[j, e] : unsolved_) {
            all = conjoin(all, e == place_[j]);
        }
        return all;
    }

private:
    void solve_coordinate(const Expr &e, const Expr &u) {
        const Expr rest = simplify(substitute(solutions_, e));
        for (const bool pure : {true, false}) {
            for (size_t i = 0; i < loops_.size(); i++) {
                const std::string name = loops_[i].name;
                if (loops_[i].is_pure == pure && !solutions_.count(name) && uses_var(rest, name) &&
                    solve(rest, u, name)) {
                    return;
                }
            }
        }
        unsolved_[place_.size() - 1] = e;
    }

    bool solve(const Expr &e, const Expr &u, const std::string &name) {
        std::vector<AdjointLoop> remainders;
        Expr divisible = const_true();
        const Expr solution = simplify(invert(e, name, u, remainders, divisible));
        if (!solution.defined()) {
            return false;
        }
        for (auto &other : solutions_) {
            other.second = substitute(name, solution, other.second);
        }
        condition_ = substitute(name, solution, condition_);
        condition_ = conjoin(condition_, divisible);
        solutions_[name] = solution;
        loops_.insert(loops_.end(), remainders.begin(), remainders.end());
        return true;
    }

    // The value of variable `name` where e == t; undefined if none is found.
    Expr invert(const Expr &e, const std::string &name, const Expr &t,
                std::vector<AdjointLoop> &remainders, Expr &divisible) const {
        if (const Variable *v = e.as<Variable>()) {
            return v->name == name ? t : Expr();
        }
        if (const Call *call = e.as<Call>(); call && call->is_likely()) {
            return invert(call->args[0], name, t, remainders, divisible);
        }
        const auto only_in = [&](const Expr &a, const Expr &b) {
            return uses_var(a, name) && !uses_var(b, name);
        };
        if (const Add *op = e.as<Add>()) {
            if (only_in(op->a, op->b)) {
                return invert(op->a, name, t - op->b, remainders, divisible);
            }
            return only_in(op->b, op->a) ? invert(op->b, name, t - op->a, remainders, divisible)
                                         : Expr();
        }
        if (const Sub *op = e.as<Sub>()) {
            if (only_in(op->a, op->b)) {
                return invert(op->a, name, t + op->b, remainders, divisible);
            }
            return only_in(op->b, op->a) ? invert(op->b, name, op->a - t, remainders, divisible)
                                         : Expr();
        }
        if (const Mul *op = e.as<Mul>()) {
            const auto factor = as_const_int(op->b);
            if (!factor || *factor == 0) {
                return Expr();
            }
            divisible = conjoin(divisible, t % op->b == 0);
            return invert(op->a, name, t / op->b, remainders, divisible);
        }
        if (const Div *op = e.as<Div>()) {
            const auto divisor = as_const_int(op->b);
            if (!divisor || *divisor <= 0) {
                return Expr();
            }
            const std::string rest = unique_name("remainder");
            remainders.push_back({rest, Interval(0, op->b - 1), false});
            return invert(op->a, name, t * op->b + Variable::make(Int(32), rest), remainders,
                          divisible);
        }
        return Expr();
    }

    std::vector<AdjointLoop> loops_;
    std::map<std::string, Expr> solutions_;
    Expr condition_ = const_true();
    std::vector<Expr> place_;
    std::map<size_t, Expr> unsolved_;
};

// The loops as an RDom, in place of their variables.
std::map<std::string, Expr> make_domain(const std::vector<AdjointLoop> &loops,
                                        const std::string &what) {
    std::map<std::string, Expr> rvars;
    if (loops.empty()) {
        return rvars;
    }
    Region region;
    for (const AdjointLoop &loop : loops) {
        user_assert(loop.range.is_bounded())
            << what << " is differentiated over coordinates that have no bounds";
        region.emplace_back(simplify(loop.range.min), loop.range.extent());
    }
    const RDom domain(region);
    for (size_t i = 0; i < loops.size(); i++) {
        rvars[loops[i].name] = domain[int(i)];
    }
    return rvars;
}

}  // namespace

Placement place_contribution(const Contribution &c, const std::vector<std::string> &target_args,
                             const std::string &adjoint, const std::string &what) {
    const Solver solver(c, target_args);
    VarsOfReads reads(adjoint);
    for (const Expr &e : c.place) {
        reads(e);
    }
    reads(c.condition);
    reads(c.value);
    std::map<std::string, Expr> inside;
    Expr in_range = solver.condition();
    for (const AdjointLoop &loop : c.loops) {
        const auto found = solver.solutions().find(loop.name);
        if (found == solver.solutions().end()) {
            continue;
        }
        const Expr v = found->second;
        const bool is_read = reads.names.count(loop.name) != 0;
        inside[loop.name] = v;
        if ((loop.is_pure && !is_read) || !loop.range.is_bounded()) {
            continue;  // the adjoint is 0 outside
        }
        in_range = conjoin(in_range, v >= loop.range.min && v <= loop.range.max);
        if (is_read) {
            inside[loop.name] = clamp(v, loop.range.min, loop.range.max);
        }
    }
    const std::vector<AdjointLoop> remaining = solver.remaining();
    const std::map<std::string, Expr> rvars = make_domain(remaining, what);
    const auto finish = [&](const Expr &e) {
        return substitute(rvars, substitute(inside, e));
    };

    Placement result;
    result.is_gather = remaining.empty();
    result.condition = conjoin(substitute(rvars, in_range), finish(c.condition));
    result.value = finish(c.value);
    if (result.is_gather) {
        result.condition = conjoin(result.condition, finish(solver.equations()));
    }
    for (size_t j = 0; j < target_args.size(); j++) {
        result.place.push_back(result.is_gather ? Expr(Var(target_args[j]))
                                                : finish(solver.place()[j]));
    }
    result.condition = simplify(result.condition);
    return result;
}

namespace {

std::vector<std::string> used_of(const std::vector<std::string> &vars, const Expr &e) {
    std::vector<std::string> result;
    std::copy_if(vars.begin(), vars.end(), std::back_inserter(result),
                 [&](const std::string &var) { return uses_var(e, var); });
    return result;
}

// True if what a takes in all iterations is known to differ from what b takes. Pure Vars stay the
// same: iterations of different ones do not touch each other's elements.
bool are_disjoint(const Expr &a, const Expr &b, const std::vector<AdjointLoop> &loops) {
    Scope<Interval> ranges;
    for (const AdjointLoop &loop : loops) {
        if (!loop.is_pure) {
            ranges.push(loop.name, loop.range);
        }
    }
    const Interval of_a = bounds_of_expr(a, ranges), of_b = bounds_of_expr(b, ranges);
    const auto is_below = [](const Interval &low, const Interval &high) {
        return low.has_upper_bound() && high.has_lower_bound() && can_prove(low.max < high.min);
    };
    return is_below(of_a, of_b) || is_below(of_b, of_a);
}

}  // namespace

bool is_injective(const std::vector<Expr> &place, const std::vector<std::string> &vars) {
    return std::all_of(vars.begin(), vars.end(), [&](const std::string &var) {
        return std::any_of(place.begin(), place.end(), [&](const Expr &e) {
            return used_of(vars, e) == std::vector<std::string>{var} &&
                   internal::constant_step_of(e, var).value_or(0);
        });
    });
}

SelfRead classify_self_read(const std::vector<Expr> &place, const std::vector<Expr> &read,
                            const std::vector<AdjointLoop> &loops,
                            const std::vector<std::string> &vars) {
    for (size_t j = 0; j < place.size(); j++) {
        if (are_disjoint(place[j], read[j], loops)) {
            return SelfRead::Separate;
        }
    }
    std::map<std::string, int64_t> distance;  // in iterations, from the write to the read
    bool is_known = true;
    for (size_t j = 0; j < place.size(); j++) {
        const auto difference = as_const_int(simplify(read[j] - place[j]));
        const std::vector<std::string> used = used_of(vars, place[j]);
        const int64_t step =
            used.size() == 1 ? internal::constant_step_of(place[j], used[0]).value_or(0) : 0;
        if (!difference || (!used.empty() && step == 0)) {
            is_known = is_known && difference && *difference == 0;
        } else if (used.empty() || *difference % step != 0) {
            if (*difference != 0) {
                return SelfRead::Separate;
            }
        } else {
            const auto inserted = distance.emplace(used[0], *difference / step);
            if (!inserted.second && inserted.first->second != *difference / step) {
                return SelfRead::Separate;
            }
        }
    }
    if (!is_known) {
        return SelfRead::Unknown;
    }
    for (auto var = vars.rbegin(); var != vars.rend(); ++var) {  // the outermost decides
        const auto found = distance.find(*var);
        if (found != distance.end() && found->second != 0) {
            return found->second > 0 ? SelfRead::Before : SelfRead::Scan;
        }
    }
    return SelfRead::Same;
}

}  // namespace calotype::internal
