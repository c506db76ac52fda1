// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the code, with a scope that holds the interval of every variable bound so far. A
// condition narrows intervals for as long as the walk is under it: those of the variables it
// mentions, then those of the lets computed from them.
//
// Code is a DAG: what was already seen under the same (or wider) intervals is not walked again.
#include <memory>
#include <set>
#include <unordered_set>

#include "arith/bounds_engine.h"
#include "arith/box.h"
#include "arith/correlated_differences.h"
#include "arith/ends.h"
#include "arith/order.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

enum class Access { Reads, Writes, Both };

/// The parts that all hold if `e` does (or if it does not, for not positive).
void collect_conjuncts(const Expr &e, bool positive, std::vector<Expr> *result) {
    if (const Call *c = e.as<Call>(); c && (c->is_intrinsic(Intrinsic::likely) ||
                                            c->is_intrinsic(Intrinsic::likely_if_innermost))) {
        collect_conjuncts(c->args[0], positive, result);
    } else if (const Not *n = e.as<Not>()) {
        collect_conjuncts(n->a, !positive, result);
    } else if (const And *a = e.as<And>(); a && positive) {
        collect_conjuncts(a->a, true, result);
        collect_conjuncts(a->b, true, result);
    } else if (const Or *o = e.as<Or>(); o && !positive) {
        collect_conjuncts(o->a, false, result);
        collect_conjuncts(o->b, false, result);
    } else {
        result->push_back(positive ? e : ends::logical_not(e));
    }
}

bool reads_images(const Expr &e) {
    struct Finder : GraphVisitor {
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || op->call_kind == CallKind::Image || op->call_kind == CallKind::Func;
            GraphVisitor::visit(op);
        }
        bool found = false;
    } finder;
    finder(e);
    return finder.found;
}

class BoxFinder : public Visitor {
public:
    BoxFinder(Access access, const std::string *only, const Scope<Interval> &vars,
              const FuncValueBounds &funcs)
        : access_(access), only_(only), funcs_(funcs) {
        scope_.set_containing_scope(&vars);
        seen_.emplace_back();
    }

    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && first_time(e)) {
            Visitor::operator()(e);
        }
    }

    std::map<std::string, Box> result() const {
        std::map<std::string, Box> result;
        for (const auto &[name, box] : boxes_) {
            Box wrapped = box;
            for (Interval &i : wrapped.bounds) {
                i = names_.wrap(i);
            }
            wrapped.used = names_.wrap(wrapped.used);
            result.emplace(name, simplify(wrapped));
        }
        return result;
    }

protected:
    using Visitor::visit;

    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::if_then_else)) {
            (*this)(op->args[0]);
            under(op->args[0], true, [&] { (*this)(op->args[1]); });
            if (op->args.size() > 2) {
                under(op->args[0], false, [&] { (*this)(op->args[2]); });
            }
            return;
        }
        if (op->is_intrinsic(Intrinsic::declare_box_touched)) {
            declared(op);
            return;
        }
        Visitor::visit(op);
        const bool reads = op->call_kind == CallKind::Func || op->call_kind == CallKind::Image;
        if (reads && access_ != Access::Writes) {
            touch(op->name, op->args);
        }
    }

    void visit(const Let *op) override {
        (*this)(op->value);
        bind_let(op->name, op->value, [&] { (*this)(op->body); });
    }

    void visit(const LetStmt *op) override {
        (*this)(op->value);
        bind_let(op->name, op->value, [&] { (*this)(op->body); });
    }

    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        if (is_const_zero(op->extent)) {
            return;
        }
        const Expr last =
            simplify(Sub::make(Add::make(op->min, op->extent), make_one(op->min.type())));
        bind(op->name, {bounds(op->min).min, bounds(last).max}, [&] { (*this)(op->body); });
    }

    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
        under(op->condition, true, [&] { (*this)(op->then_case); });
        if (op->else_case.defined()) {
            under(op->condition, false, [&] { (*this)(op->else_case); });
        }
    }

    void visit(const Provide *op) override {
        Visitor::visit(op);
        if (access_ == Access::Reads) {
            return;
        }
        if (!op->predicate.defined() || is_trivially_true(op->predicate)) {
            touch(op->name, op->args);
        } else {
            under(op->predicate, true, [&] { touch(op->name, op->args); });
        }
    }

private:
    /// A let that encloses the walk, and the bound variables that its value depends on.
    struct Definition {
        std::string name;
        Expr value;
        std::vector<std::string> depends_on;
    };

    /// Nodes already walked. `sees_outer`: what an outer level has seen need not be walked here
    /// either.
    struct Seen {
        std::unordered_set<const ExprNode *> nodes;
        bool sees_outer = true;
    };

    bool first_time(const Expr &e) {
        for (size_t i = seen_.size(); i-- > 0;) {
            if (seen_[i].nodes.count(e.get())) {
                return false;
            }
            if (!seen_[i].sees_outer) {
                break;
            }
        }
        seen_.back().nodes.insert(e.get());
        return true;
    }

    template<typename F>
    void with_fresh_seen(bool sees_outer, F f) {
        seen_.emplace_back().sees_outer = sees_outer;
        f();
        seen_.pop_back();
    }

    Interval bounds(const Expr &e) {
        if (!engine_) {
            engine_ = std::make_unique<BoundsEngine>(scope_, funcs_, false, names_);
        }
        return engine_->bounds(e).ends;
    }

    void push(const std::string &name, const Interval &i) {
        scope_.push(name, i);
        engine_.reset();
    }

    void pop(const std::string &name) {
        scope_.pop(name);
        engine_.reset();
    }

    /// Walk with f where `name` is bound.
    template<typename F>
    void bind(const std::string &name, const Interval &i, F f) {
        const bool shadows = scope_.contains(name) || free_in_definitions_.count(name);
        shadowed_ += shadows;
        push(name, i);
        with_fresh_seen(false, f);
        pop(name);
        shadowed_ -= shadows;
    }

    template<typename F>
    void bind_let(const std::string &name, const Expr &value, F f) {
        Definition d{name, value, {}};
        for (const std::string &used : free_variables(value)) {
            if (scope_.contains(used)) {
                d.depends_on.push_back(used);
            } else {
                free_in_definitions_.insert(used);
            }
        }
        const Interval i = bounds(value);
        definitions_.push_back(std::move(d));
        bind(name, i, f);
        definitions_.pop_back();
    }

    /// Walk with f where the condition is known to hold, or not to.
    template<typename F>
    void under(const Expr &condition, bool holds, F f) {
        std::vector<Expr> conjuncts;
        collect_conjuncts(condition, holds, &conjuncts);
        const Expr outer_used = used_;
        const std::set<std::string> outer_limited = limited_;
        std::vector<std::string> narrowed;
        bool reachable = true;
        for (const Expr &c : conjuncts) {
            reachable = reachable && assume(c, &narrowed);
        }
        if (reachable) {
            with_fresh_seen(true, f);
        }
        for (size_t i = narrowed.size(); i-- > 0;) {
            pop(narrowed[i]);
        }
        used_ = outer_used;
        limited_ = outer_limited;
    }

    /// Take one condition for true. False if it cannot be.
    bool assume(const Expr &c, std::vector<std::string> *narrowed) {
        const Interval value = bounds(c);
        if (is_const_zero(value.max)) {
            return false;
        }
        if (value.is_single_point()) {
            // What a condition reads from memory may not be there yet where the box is used.
            const bool reads = contains_kind(value.min, NodeKind::Load) || reads_images(value.min);
            if (!is_const(value.min) && !reads) {
                used_ = used_.defined() ? ends::logical_and(used_, value.min) : value.min;
            }
            return true;
        }
        if (!narrow(narrow_by_condition(c, scope_, funcs_), narrowed)) {
            return false;
        }
        // The same condition in terms of what its lets were computed from.
        const Expr expanded = shadowed_ ? c : expand_lets(c);
        return expanded.same_as(c) ||
               narrow(narrow_by_condition(expanded, scope_, funcs_), narrowed);
    }

    bool narrow(const std::vector<std::pair<std::string, Interval>> &found,
                std::vector<std::string> *narrowed) {
        std::set<std::string> changed;
        for (const auto &[name, i] : found) {
            if (i.is_empty()) {
                return false;
            }
            push(name, i);
            narrowed->push_back(name);
            changed.insert(name);
            limited_.insert(name);
        }
        if (!changed.empty() && !shadowed_) {
            recompute_lets(changed, narrowed);
        }
        return true;
    }

    /// The intervals of lets whose operands have new ones.
    void recompute_lets(std::set<std::string> changed, std::vector<std::string> *narrowed) {
        for (const Definition &d : definitions_) {
            bool affected = false;
            for (const std::string &name : d.depends_on) {
                affected = affected || changed.count(name);
            }
            if (!affected) {
                continue;
            }
            const Interval i = bounds(d.value), &before = scope_.get(d.name);
            if (i.same_as(before)) {
                continue;
            }
            // What a condition said of the let itself still holds.
            push(d.name, limited_.count(d.name) ? tighter(before, i) : i);
            narrowed->push_back(d.name);
            changed.insert(d.name);
        }
    }

    /// e with the lets that enclose it replaced by their values, if it stays small.
    Expr expand_lets(const Expr &e) const {
        constexpr int largest = 200;
        Expr result = e;
        for (size_t i = definitions_.size(); i-- > 0;) {
            const Definition &d = definitions_[i];
            if (d.depends_on.empty() || !uses_var(result, d.name)) {
                continue;
            }
            const Expr next = substitute(d.name, d.value, result);
            if (ends::tree_size(next, largest) == largest) {
                return e;
            }
            result = next;
        }
        return result;
    }

    Interval bounds_of_arg(const Expr &e) {
        const Interval plain = bounds(e);
        if (plain.is_single_point() || shadowed_ || !e.type().is_scalar()) {
            return plain;
        }
        int varying = 0;
        for (const std::string &name : free_variables(e)) {
            varying += scope_.contains(name);
        }
        const Expr expanded = varying > 1 ? expand_lets(e) : e;
        if (!has_repeated_variable(expanded, scope_)) {
            return plain;
        }
        return tighter(simplify(bounds_of_correlated(expanded, scope_, funcs_)), plain);
    }

    /// The ends of a, but those of b where they are provably tighter; both hold.
    static Interval tighter(const Interval &a, const Interval &b) {
        const auto provable = [](const Expr &x, const Expr &y) {
            return x.defined() && y.defined() && !known_less_equal(y, x) &&
                   (known_less_equal(x, y) || can_prove(ends::less(x, y)));
        };
        return {!a.min.defined() || provable(a.min, b.min) ? b.min : a.min,
                !a.max.defined() || provable(b.max, a.max) ? b.max : a.max};
    }

    void touch(const std::string &name, const std::vector<Expr> &args) {
        if (only_ && name != *only_) {
            return;
        }
        Box box;
        for (const Expr &arg : args) {
            box.push_back(names_.keep_small(simplify(bounds_of_arg(arg))));
        }
        add(name, box);
    }

    /// declare_box_touched(f(corner), f(other corner), ...): what lies between the corners may be
    /// both read and written.
    void declared(const Call *op) {
        for (const Expr &arg : op->args) {
            const Call *corner = arg.as<Call>();
            internal_assert(corner && corner->call_kind == CallKind::Func)
                << "declare_box_touched of " << arg << ", which is not a call of a Func";
            for (const Expr &coordinate : corner->args) {
                (*this)(coordinate);
            }
            touch(corner->name, corner->args);
        }
    }

    void add(const std::string &name, Box &box) {
        box.used = used_;
        auto [it, is_new] = boxes_.emplace(name, box);
        if (!is_new) {
            merge_boxes(it->second, box);
            for (Interval &i : it->second.bounds) {
                i = names_.keep_small(i);
            }
        }
    }

    const Access access_;
    const std::string *only_;
    const FuncValueBounds &funcs_;
    Scope<Interval> scope_;
    EndNames names_;
    std::unique_ptr<BoundsEngine> engine_;
    std::map<std::string, Box> boxes_;
    std::vector<Definition> definitions_;
    std::unordered_set<std::string> free_in_definitions_;
    int shadowed_ = 0;  ///< bindings around the walk that hide a name which a definition may mean
    std::set<std::string>
        limited_;  ///< variables of which a condition around the walk says something
    Expr used_;    ///< under what condition the walk is, as far as it is the same for all of it
    std::vector<Seen> seen_;
};

template<typename T>
std::map<std::string, Box> find_boxes(const T &code, Access access, const Scope<Interval> &vars,
                                      const FuncValueBounds &funcs) {
    BoxFinder finder(access, nullptr, vars, funcs);
    finder(code);
    return finder.result();
}

template<typename T>
Box find_box(const T &code, const std::string &name, Access access, const Scope<Interval> &vars,
             const FuncValueBounds &funcs) {
    BoxFinder finder(access, &name, vars, funcs);
    finder(code);
    const auto boxes = finder.result();
    const auto it = boxes.find(name);
    return it == boxes.end() ? Box() : it->second;
}

}  // namespace

std::map<std::string, Box> boxes_required(const Expr &e, const Scope<Interval> &vars,
                                          const FuncValueBounds &funcs) {
    return find_boxes(e, Access::Reads, vars, funcs);
}

std::map<std::string, Box> boxes_required(const Stmt &s, const Scope<Interval> &vars,
                                          const FuncValueBounds &funcs) {
    return find_boxes(s, Access::Reads, vars, funcs);
}

std::map<std::string, Box> boxes_provided(const Expr &e, const Scope<Interval> &vars,
                                          const FuncValueBounds &funcs) {
    return find_boxes(e, Access::Writes, vars, funcs);
}

std::map<std::string, Box> boxes_provided(const Stmt &s, const Scope<Interval> &vars,
                                          const FuncValueBounds &funcs) {
    return find_boxes(s, Access::Writes, vars, funcs);
}

std::map<std::string, Box> boxes_touched(const Expr &e, const Scope<Interval> &vars,
                                         const FuncValueBounds &funcs) {
    return find_boxes(e, Access::Both, vars, funcs);
}

std::map<std::string, Box> boxes_touched(const Stmt &s, const Scope<Interval> &vars,
                                         const FuncValueBounds &funcs) {
    return find_boxes(s, Access::Both, vars, funcs);
}

Box box_required(const Expr &e, const std::string &name, const Scope<Interval> &vars,
                 const FuncValueBounds &funcs) {
    return find_box(e, name, Access::Reads, vars, funcs);
}

Box box_required(const Stmt &s, const std::string &name, const Scope<Interval> &vars,
                 const FuncValueBounds &funcs) {
    return find_box(s, name, Access::Reads, vars, funcs);
}

Box box_provided(const Expr &e, const std::string &name, const Scope<Interval> &vars,
                 const FuncValueBounds &funcs) {
    return find_box(e, name, Access::Writes, vars, funcs);
}

Box box_provided(const Stmt &s, const std::string &name, const Scope<Interval> &vars,
                 const FuncValueBounds &funcs) {
    return find_box(s, name, Access::Writes, vars, funcs);
}

Box box_touched(const Expr &e, const std::string &name, const Scope<Interval> &vars,
                const FuncValueBounds &funcs) {
    return find_box(e, name, Access::Both, vars, funcs);
}

Box box_touched(const Stmt &s, const std::string &name, const Scope<Interval> &vars,
                const FuncValueBounds &funcs) {
    return find_box(s, name, Access::Both, vars, funcs);
}

}  // namespace calotype::internal
