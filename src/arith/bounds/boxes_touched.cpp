// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the code. CodeBounds keeps the intervals of the variables that are bound around the
// place where the walk stands; conditions narrow them for as long as the walk is under them.
//
// Code is a DAG: what was already seen under the same (or wider) intervals is not walked again.
#include <unordered_set>

#include "arith/bounds/code_bounds.h"
#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

enum class Access { Reads, Writes, Both };

class BoxFinder : public Visitor {
public:
    template<typename Code>
    BoxFinder(const Code &code, Access access, const std::string *only, const Scope<Interval> &vars,
              const FuncValueBounds &funcs)
        : access_(access), only_(only), at_(code, vars, funcs) {
        seen_.emplace_back();
        (*this)(code);
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
                i = at_.wrap(i);
            }
            wrapped.used = at_.wrap(wrapped.used);
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
        at_.with_let(op->name, op->value,
                     [&] { with_fresh_seen(false, [&] { (*this)(op->body); }); });
    }

    void visit(const LetStmt *op) override {
        (*this)(op->value);
        at_.with_let(op->name, op->value,
                     [&] { with_fresh_seen(false, [&] { (*this)(op->body); }); });
    }

    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        if (is_const_zero(op->extent)) {
            return;
        }
        const Expr last = Sub::make(Add::make(op->min, op->extent), make_one(op->min.type()));
        const Interval range(at_.bounds(op->min).min, at_.bounds(last).max);
        at_.with_loop(op->name, range, [&] { with_fresh_seen(false, [&] { (*this)(op->body); }); });
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

    /// Walk with f where the condition is known to hold, or not to.
    template<typename F>
    void under(const Expr &condition, bool holds, F f) {
        const size_t before = multiples_.size();
        if (holds) {
            add_multiples(remove_likelies(condition));
        }
        at_.with_condition(condition, holds, [&] { with_fresh_seen(true, f); });
        multiples_.resize(before);
    }

    /// Parts of a condition by which something is a multiple of a constant.
    void add_multiples(const Expr &condition) {
        if (const And *both = condition.as<And>()) {
            add_multiples(both->a);
            add_multiples(both->b);
        } else if (const EQ *same = condition.as<EQ>()) {
            const Mod *rest = same->a.as<Mod>();
            if (rest && is_const(rest->b) && is_const(same->b)) {
                multiples_.push_back(condition);
            }
        }
    }

    Interval simplified(const Interval &i) const {
        if (multiples_.empty()) {
            return simplify(i);
        }
        SimplifyContext context;
        for (const Expr &m : multiples_) {
            context.fact(m);
        }
        Interval result = at_.wrap(i);
        result.min = result.has_lower_bound() ? simplify(result.min, context) : result.min;
        result.max = result.has_upper_bound() ? simplify(result.max, context) : result.max;
        return result;
    }

    void touch(const std::string &name, const std::vector<Expr> &args) {
        if (only_ && name != *only_) {
            return;
        }
        Box box;
        for (const Expr &arg : args) {
            box.push_back(at_.keep_small(simplified(at_.bounds(arg))));
        }
        add(name, box);
    }

    /// declare_box_touched(f(corner), f(other corner), ...) of Funcs or images: what lies between
    /// the corners may be both read and written.
    void declared(const Call *op) {
        for (const Expr &arg : op->args) {
            const Call *corner = arg.as<Call>();
            internal_assert(corner && (corner->call_kind == CallKind::Func ||
                                       corner->call_kind == CallKind::Image))
                << "declare_box_touched of " << arg << ", which is not a call of a Func";
            for (const Expr &coordinate : corner->args) {
                (*this)(coordinate);
            }
            touch(corner->name, corner->args);
        }
    }

    void add(const std::string &name, Box &box) {
        box.used = at_.used();
        auto [it, is_new] = boxes_.emplace(name, box);
        if (!is_new) {
            merge_boxes(it->second, box);
            for (Interval &i : it->second.bounds) {
                i = at_.keep_small(i);
            }
        }
    }

    const Access access_;
    const std::string *only_;
    CodeBounds at_;
    std::map<std::string, Box> boxes_;
    std::vector<Seen> seen_;
    std::vector<Expr> multiples_;  ///< x % 8 == 0: what is known of the place where the walk stands
};

template<typename T>
std::map<std::string, Box> find_boxes(const T &code, Access access, const Scope<Interval> &vars,
                                      const FuncValueBounds &funcs) {
    return BoxFinder(code, access, nullptr, vars, funcs).result();
}

template<typename T>
Box find_box(const T &code, const std::string &name, Access access, const Scope<Interval> &vars,
             const FuncValueBounds &funcs) {
    const auto boxes = BoxFinder(code, access, &name, vars, funcs).result();
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
