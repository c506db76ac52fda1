// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_analysis.h"

#include <algorithm>

#include "arith/narrowing.h"
#include "ir/walk/field_walk.h"

namespace calotype {
namespace Internal {

using namespace internal;

namespace {

/// Arithmetic on alignments is what the analysis makes of the same operation on two variables.
template<typename Op>
ModulusRemainder combined(const ModulusRemainder &a, const ModulusRemainder &b, Op op) {
    Scope<Alignment> variables;
    variables.push("a", a);
    variables.push("b", b);
    const Expr result = op(Variable::make(Int(64), "a"), Variable::make(Int(64), "b"));
    return internal::alignment_of(result, variables);
}

SimplifyContext context_of(const Scope<Interval> &bounds, const Scope<ModulusRemainder> &alignments,
                           const std::vector<Expr> &assumptions) {
    SimplifyContext context;
    context.facts = assumptions;
    bounds.for_each([&](const std::string &name, const Interval &range) {
        const internal::ConstantInterval constant = internal::as_constant_interval(range);
        context.bounds[name] = constant;
        if (range.has_lower_bound() && !constant.min) {
            context.fact(Variable::make(range.min.type(), name) >= range.min);
        }
        if (range.has_upper_bound() && !constant.max) {
            context.fact(Variable::make(range.max.type(), name) <= range.max);
        }
    });
    alignments.for_each(
        [&](const std::string &name, const ModulusRemainder &a) { context.alignments[name] = a; });
    return context;
}

/// Compares a pattern with an expression, node by node.
class Matcher {
public:
    explicit Matcher(std::vector<Expr> *in_order) : in_order_(in_order) {
    }
    explicit Matcher(std::map<std::string, Expr> *by_name) : by_name_(by_name) {
    }

    bool operator()(const Expr &pattern, const Expr &e) {
        if (!pattern.defined() || !e.defined()) {
            return pattern.defined() == e.defined();
        }
        if (const Variable *v = pattern.as<Variable>()) {
            if (by_name_ || v->name == "*") {
                return bind(*v, e);
            }
        }
        if (pattern.kind() != e.kind() || !types_agree(pattern.type(), e.type())) {
            return false;
        }
        return internal::dispatch(pattern.get(), [&](const auto *op) {
            bool agree = true;
            internal::for_each_field_pair(
                *op, static_cast<decltype(*op)>(*static_cast<decltype(op)>(e.get())),
                [&](const auto &a, const auto &b) { agree = agree && field(a, b); });
            return agree;
        });
    }

private:
    /// A type of no bits or no lanes in the pattern leaves them open.
    static bool types_agree(const Type &pattern, const Type &t) {
        return (pattern.bits() == 0 || pattern.element_of() == t.element_of()) &&
               (pattern.lanes() == 0 || pattern.lanes() == t.lanes());
    }

    bool bind(const Variable &v, const Expr &e) {
        if (!types_agree(v.type, e.type())) {
            return false;
        }
        if (in_order_) {
            in_order_->push_back(e);
            return true;
        }
        const auto [place, is_new] = by_name_->emplace(v.name, e);
        return is_new || internal::equal(place->second, e);
    }

    bool field(const Expr &a, const Expr &b) {
        return (*this)(a, b);
    }
    bool field(const std::vector<Expr> &a, const std::vector<Expr> &b) {
        for (size_t i = 0; i < a.size() && a.size() == b.size(); i++) {
            if (!(*this)(a[i], b[i])) {
                return false;
            }
        }
        return a.size() == b.size();
    }
    template<typename Data>
    bool field(const Data &a, const Data &b) {
        return a == b;
    }

    std::vector<Expr> *in_order_ = nullptr;
    std::map<std::string, Expr> *by_name_ = nullptr;
};

template<typename Op>
void split_operands(const Expr &e, std::vector<Expr> &operands) {
    if (const Op *op = e.as<Op>()) {
        split_operands<Op>(op->a, operands);
        split_operands<Op>(op->b, operands);
    } else {
        operands.push_back(e);
    }
}

}  // namespace

ModulusRemainder operator+(const ModulusRemainder &a, const ModulusRemainder &b) {
    return combined(a, b, Add::make);
}
ModulusRemainder operator-(const ModulusRemainder &a, const ModulusRemainder &b) {
    return combined(a, b, Sub::make);
}
ModulusRemainder operator*(const ModulusRemainder &a, const ModulusRemainder &b) {
    return combined(a, b, Mul::make);
}
ModulusRemainder operator/(const ModulusRemainder &a, const ModulusRemainder &b) {
    return combined(a, b, Div::make);
}
ModulusRemainder operator%(const ModulusRemainder &a, const ModulusRemainder &b) {
    return combined(a, b, Mod::make);
}

ModulusRemainder modulus_remainder(const Expr &e, const Scope<ModulusRemainder> &variables) {
    Scope<Alignment> alignments;
    variables.for_each(
        [&](const std::string &name, const ModulusRemainder &a) { alignments.push(name, a); });
    return internal::alignment_of(e, alignments);
}

bool reduce_expr_modulo(const Expr &e, int64_t modulus, int64_t *remainder) {
    return internal::reduce_modulo(e, modulus, remainder);
}

Expr simplify(const Expr &e, const Scope<Interval> &bounds,
              const Scope<ModulusRemainder> &alignments, const std::vector<Expr> &assumptions) {
    return internal::simplify(e, context_of(bounds, alignments, assumptions));
}

Stmt simplify(const Stmt &s, const Scope<Interval> &bounds,
              const Scope<ModulusRemainder> &alignments, const std::vector<Expr> &assumptions) {
    return internal::simplify(s, context_of(bounds, alignments, assumptions));
}

bool can_prove(const Expr &condition, const Scope<Interval> &bounds) {
    return internal::can_prove(condition, context_of(bounds, Scope<ModulusRemainder>(), {}));
}

Interval bounds_of_expr_in_scope(const Expr &e, const Scope<Interval> &variables,
                                 const FuncValueBounds &funcs, bool const_bound) {
    return internal::bounds_of_expr(e, variables, funcs, const_bound);
}

ConstantInterval constant_integer_bounds(const Expr &e, const Scope<ConstantInterval> &variables) {
    Scope<Interval> ranges;
    variables.for_each([&](const std::string &name, const ConstantInterval &range) {
        ranges.push(name, internal::make_interval(range, Int(64)));
    });
    return internal::constant_bounds(e, ranges);
}

namespace {

Scope<internal::ConstantInterval> ranges_of(const Scope<ConstantInterval> &variables) {
    Scope<internal::ConstantInterval> ranges;
    variables.for_each(
        [&](const std::string &name, const ConstantInterval &range) { ranges.push(name, range); });
    return ranges;
}

}  // namespace

ConstantInterval derivative_bounds(const Expr &e, const std::string &variable,
                                   const Scope<ConstantInterval> &others) {
    return internal::derivative_bounds(internal::without_promises(e), variable, ranges_of(others));
}

Expr lossless_cast(Type t, const Expr &e) {
    // A scalar type stands for vectors of it, too.
    const bool of_lanes = e.defined() && t.is_scalar();
    return internal::narrow_exactly(of_lanes ? t.with_lanes(e.type().lanes()) : t, e);
}

Monotonic is_monotonic(const Expr &e, const std::string &variable,
                       const Scope<ConstantInterval> &others) {
    return internal::is_monotonic(internal::without_promises(e), variable, ranges_of(others));
}

Expr promise_clamped(const Expr &value, const Expr &min, const Expr &max) {
    return Call::make(value.type(), Call::promise_clamped,
                      {value, min.defined() ? cast(value.type(), min) : value.type().min(),
                       max.defined() ? cast(value.type(), max) : value.type().max()});
}

Expr unreachable(const Type &t) {
    return Call::make(t, Call::unreachable, {});
}

bool expr_match(const Expr &pattern, const Expr &e, std::vector<Expr> &matched) {
    matched.clear();
    if (Matcher(&matched)(pattern, e)) {
        return true;
    }
    matched.clear();
    return false;
}

bool expr_match(const Expr &pattern, const Expr &e, std::map<std::string, Expr> &matched) {
    // What the map holds already must agree.
    std::map<std::string, Expr> found = matched;
    if (Matcher(&found)(pattern, e)) {
        matched = std::move(found);
        return true;
    }
    matched.clear();
    return false;
}

void split_into_ands(const Expr &condition, std::vector<Expr> &operands) {
    split_operands<And>(condition, operands);
}

void split_into_ors(const Expr &condition, std::vector<Expr> &operands) {
    split_operands<Or>(condition, operands);
}

std::map<std::string, Function> find_transitive_calls(const Function &f) {
    return build_environment({f});
}

namespace {

// The Func that a stage of f is computed with; empty if there is none.
std::string computed_with(const Function &f) {
    for (int i = 0; i < f.stages(); i++) {
        if (f.stage(i).defined()) {
            const LoopLevel &level = f.stage(i)->schedule.fuse_level.level;
            if (level.defined() && !level.is_inlined() && !level.is_root() &&
                level.func_name() != f.name()) {
                return level.func_name();
            }
        }
    }
    return "";
}

}  // namespace

std::pair<std::vector<std::string>, std::vector<std::vector<std::string>>>
realization_order(const std::vector<Function> &outputs, std::map<std::string, Function> &env) {
    std::vector<std::string> order;
    for (const Function &f : order_by_calls(outputs, env)) {
        order.push_back(f.name());
    }
    std::vector<std::vector<std::string>> groups;
    for (const std::string &name : order) {
        const auto f = env.find(name);
        const std::string with = f != env.end() ? computed_with(f->second) : "";
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto &members) {
            return std::find(members.begin(), members.end(), with) != members.end() ||
                   std::any_of(members.begin(), members.end(), [&](const std::string &member) {
                       return env.count(member) && computed_with(env.at(member)) == name;
                   });
        });
        if (group == groups.end()) {
            groups.push_back({name});
        } else {
            group->push_back(name);
        }
    }
    return {order, groups};
}

Stmt lower_main_stmt(const std::vector<Function> &outputs, const std::string &name,
                     const Target &target) {
    std::vector<Func> funcs;
    for (const Function &f : outputs) {
        funcs.emplace_back(f);
    }
    Pipeline pipeline(funcs);
    return pipeline.compile_to_module(pipeline.infer_arguments(), name, target)
        .get_function_by_name(name)
        .body;
}

}  // namespace Internal
}  // namespace calotype
