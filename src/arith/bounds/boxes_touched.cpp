// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the code. CodeBounds keeps the intervals of the variables that are bound around the
// place where the walk stands; conditions narrow them for as long as the walk is under them.
//
// Code is a DAG: what was already seen under the same (or wider) intervals is not walked again.
//
// Most lets of a pipeline say nothing about the boxes that are asked for: a walk before that one
// finds which names the accesses and the conditions around them depend on, and which code has none.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "arith/bounds/code_bounds.h"
#include "arith/bounds/ends.h"
#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

enum class Access { Reads, Writes, Both };

/// The accesses that are asked for: of these names, or of all.
struct Wanted {
    Access access;
    const std::set<std::string> *names;  ///< null for all

    bool is_read(const Call *op) const {
        const bool reads = op->call_type == CallKind::Func || op->call_type == CallKind::Image;
        return reads && access != Access::Writes && has(op->name);
    }
    bool is_written(const Provide *op) const {
        return access != Access::Reads && has(op->name);
    }
    bool has(const std::string &name) const {
        return !names || names->count(name);
    }
};

/// Which code holds wanted accesses, and the names that bounds of these depend on. Lets and loops
/// are asked after their bodies, so that all uses of a name are known by then.
class Relevance : public Visitor {
public:
    explicit Relevance(const Wanted &wanted) : wanted_(wanted) {
    }

    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined()) {
            enter(e.get(), [&] { Visitor::operator()(e); });
        }
    }
    void operator()(const Stmt &s) override {
        if (s.defined()) {
            enter(s.get(), [&] { Visitor::operator()(s); });
        }
    }

    bool has_access(const void *node) const {
        const auto it = holds_.find(node);
        return it != holds_.end() && it->second;
    }
    bool depends_on(const std::string &name) const {
        return names_.count(name);
    }
    const std::unordered_set<std::string> &names() const {
        return names_;
    }

protected:
    using Visitor::visit;

    void visit(const Call *op) override {
        const bool declares = op->is_intrinsic(Intrinsic::declare_box_touched);
        Visitor::visit(op);
        if (wanted_.is_read(op) || declares) {
            found_ = true;
            need_all(op->args);
            for (const Expr &corner : declares ? op->args : std::vector<Expr>()) {
                const Call *call = corner.as<Call>();
                need_all(call ? call->args : std::vector<Expr>());
            }
        }
        if (op->is_intrinsic(Intrinsic::if_then_else) && found_) {
            need(op->args[0]);
        }
    }
    void visit(const Let *op) override {
        let(op);
    }
    void visit(const LetStmt *op) override {
        let(op);
    }
    void visit(const For *op) override {
        (*this)(op->body);
        if (depends_on(op->name)) {
            need(op->min);
            need(op->extent);
        }
        (*this)(op->min);
        (*this)(op->extent);
    }
    void visit(const IfThenElse *op) override {
        (*this)(op->then_case);
        (*this)(op->else_case);
        if (found_) {
            need(op->condition);
        }
        (*this)(op->condition);
    }
    void visit(const Provide *op) override {
        Visitor::visit(op);
        if (wanted_.is_written(op)) {
            found_ = true;
            need_all(op->args);
            need(op->predicate);
        }
    }

private:
    template<typename F>
    void enter(const void *node, F walk) {
        const auto [it, is_new] = holds_.emplace(node, false);
        if (!is_new) {
            found_ = found_ || it->second;
            return;
        }
        const bool before = found_;
        found_ = false;
        walk();
        holds_[node] = found_;
        found_ = found_ || before;
    }

    template<typename T>
    void let(const T *op) {
        (*this)(op->body);
        if (depends_on(op->name)) {
            need(op->value);
        }
        (*this)(op->value);
    }

    void need(const Expr &e) {
        if (e.defined()) {
            const std::vector<std::string> names = free_variables(e);
            names_.insert(names.begin(), names.end());
        }
    }
    void need_all(const std::vector<Expr> &all) {
        for (const Expr &e : all) {
            need(e);
        }
    }

    const Wanted wanted_;
    bool found_ = false;  ///< in the node that the walk is in, so far
    std::unordered_map<const void *, bool> holds_;
    std::unordered_set<std::string> names_;
};

/// So many conditions of what is touched of one Func are kept apart.
constexpr size_t most_parts = 16;

class BoxFinder : public Visitor {
public:
    template<typename Code>
    BoxFinder(const Code &code, const Wanted &wanted, const Scope<Interval> &vars,
              const FuncValueBounds &funcs)
        : wanted_(wanted), relevance_(wanted), at_(code, vars, funcs) {
        relevance_(code);
        seen_.emplace_back();
        (*this)(code);
    }

    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && relevance_.has_access(e.get()) && first_time(e)) {
            Visitor::operator()(e);
        }
    }
    void operator()(const Stmt &s) override {
        if (s.defined() && relevance_.has_access(s.get())) {
            Visitor::operator()(s);
        }
    }

    std::map<std::string, Box> result() {
        std::map<std::string, Box> result;
        for (const auto &[name, parts] : boxes_) {
            Box wrapped = united(parts);
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
            branch(op->args[0], true, op->args[1]);
            if (op->args.size() > 2) {
                branch(op->args[0], false, op->args[2]);
            }
            return;
        }
        if (op->is_intrinsic(Intrinsic::declare_box_touched)) {
            declared(op);
            return;
        }
        Visitor::visit(op);
        if (wanted_.is_read(op)) {
            touch(op->name, op->args);
        }
    }

    void visit(const Let *op) override {
        let(op);
    }

    void visit(const LetStmt *op) override {
        let(op);
    }

    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        if (is_known_empty(op->extent)) {
            return;
        }
        if (!relevance_.depends_on(op->name)) {
            with_fresh_seen(false, [&] { (*this)(op->body); });
            return;
        }
        const Expr last = Sub::make(Add::make(op->min, op->extent), make_one(op->min.type()));
        at_.with_loop(op->name, op->min, last,
                      [&] { with_fresh_seen(false, [&] { (*this)(op->body); }); });
    }

    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
        branch(op->condition, true, op->then_case);
        branch(op->condition, false, op->else_case);
    }

    void visit(const Provide *op) override {
        Visitor::visit(op);
        if (!wanted_.is_written(op)) {
            return;
        }
        if (!op->predicate.defined() || is_trivially_true(op->predicate)) {
            touch(op->name, op->args);
        } else {
            under(op->predicate, true, nullptr, [&] { touch(op->name, op->args); });
        }
    }

private:
    /// Nodes already walked. `sees_outer`: what an outer level has seen need not be walked here
    /// either.
    struct Seen {
        std::unordered_set<const ExprNode *> nodes;
        std::map<Expr, Interval, ExprDeepLess> ranges;  ///< of coordinates, as range_of has them
        bool sees_outer = true;
    };

    template<typename T>
    void let(const T *op) {
        (*this)(op->value);
        const auto walk = [&] {
            with_fresh_seen(false, [&] { (*this)(op->body); });
        };
        if (relevance_.depends_on(op->name)) {
            at_.with_let(op->name, op->value, walk);
        } else {
            walk();
        }
    }

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

    /// Walk code where the condition is known to hold, or not to.
    template<typename Code>
    void branch(const Expr &condition, bool holds, const Code &code) {
        if (code.defined() && relevance_.has_access(code.get())) {
            Relevance inside(wanted_);
            inside(code);
            std::unordered_set<std::string> names = inside.names();
            const std::vector<std::string> asked = free_variables(condition);
            names.insert(asked.begin(), asked.end());
            under(condition, holds, &names, [&] { (*this)(code); });
        }
    }

    /// Calls f there. Of lets, those of these names are looked at there; of all, if null.
    template<typename F>
    void under(const Expr &condition, bool holds, const std::unordered_set<std::string> *names,
               F f) {
        const size_t before = multiples_.size();
        if (holds) {
            add_multiples(simplify(remove_likelies(condition)));
        }
        at_.with_condition(condition, holds, names, [&] { with_fresh_seen(true, f); });
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

    SimplifyContext known_multiples() const {
        SimplifyContext context;
        for (const Expr &m : multiples_) {
            context.fact(m);
        }
        return context;
    }

    /// Of a loop, as the one over what is left of a multiple: n - n / 16 * 16 where n % 16 == 0.
    bool is_known_empty(const Expr &extent) {
        if (multiples_.empty()) {
            return is_const_zero(extent);
        }
        const Interval range = simplified(at_.bounds(extent));
        return range.has_upper_bound() && is_const_zero(range.max);
    }

    Interval simplified(const Interval &i) const {
        if (multiples_.empty()) {
            return simplify(i);
        }
        const SimplifyContext context = known_multiples();
        Interval result = at_.wrap(i);
        result.min = result.has_lower_bound() ? simplify(result.min, context) : result.min;
        result.max = result.has_upper_bound() ? simplify(result.max, context) : result.max;
        return result;
    }

    void touch(const std::string &name, const std::vector<Expr> &args) {
        if (!wanted_.has(name)) {
            return;
        }
        Box box;
        for (const Expr &arg : args) {
            box.push_back(range_of(arg));
        }
        add(name, box);
    }

    /// Stencils read at few different coordinates in each dimension.
    Interval range_of(const Expr &coordinate) {
        const auto [it, is_new] = seen_.back().ranges.try_emplace(coordinate);
        if (is_new) {
            it->second = at_.keep_small(simplified(at_.bounds(coordinate)));
        }
        return it->second;
    }

    /// declare_box_touched(f(corner), f(other corner), ...) of Funcs or images: what lies between
    /// the corners may be both read and written.
    void declared(const Call *op) {
        for (const Expr &arg : op->args) {
            const Call *corner = arg.as<Call>();
            internal_assert(corner && (corner->call_type == CallKind::Func ||
                                       corner->call_type == CallKind::Image))
                << "declare_box_touched of " << arg << ", which is not a call of a Func";
            for (const Expr &coordinate : corner->args) {
                (*this)(coordinate);
            }
            touch(corner->name, corner->args);
        }
    }

    void add(const std::string &name, Box &box) {
        box.used = at_.used();
        std::vector<Box> &parts = boxes_[name];
        const auto alike = std::find_if(parts.rbegin(), parts.rend(),
                                        [&](const Box &part) { return same_use(part, box); });
        if (alike != parts.rend()) {
            merge(*alike, box);
        } else if (parts.size() < most_parts) {
            parts.push_back(box);
        } else {
            merge(parts.back(), box);
        }
    }

    void merge(Box &into, const Box &box) {
        merge_boxes(into, box);
        for (Interval &i : into.bounds) {
            i = at_.keep_small(i);
        }
    }

    static bool same_use(const Box &a, const Box &b) {
        return a.maybe_unused() ? b.maybe_unused() && equal(a.used, b.used) : !b.maybe_unused();
    }

    /// Whether one of the two is used under a condition that is no longer than theirs, as it is
    /// where a branch and its else part are.
    static bool use_joins(const Box &a, const Box &b) {
        if (!a.maybe_unused() || !b.maybe_unused()) {
            return false;
        }
        constexpr int largest = 200;
        const int size =
            std::max(ends::tree_size(a.used, largest), ends::tree_size(b.used, largest));
        return size < largest &&
               ends::tree_size(simplify(ends::logical_or(a.used, b.used)), largest) <= size;
    }

    /// Branches of the same choice first: their union is a choice by that condition alone, and it
    /// stays one whatever else is touched.
    Box united(const std::vector<Box> &parts) {
        std::vector<Box> joined;
        for (const Box &part : parts) {
            joined.push_back(part);
            while (joined.size() > 1 && use_joins(joined[joined.size() - 2], joined.back())) {
                const Box last = joined.back();
                joined.pop_back();
                merge(joined.back(), last);
            }
        }
        for (size_t i = 1; i < joined.size(); i++) {
            merge(joined[0], joined[i]);
        }
        return joined[0];
    }

    const Wanted wanted_;
    Relevance relevance_;
    CodeBounds at_;
    /// Of each name, what is touched under each condition.
    std::map<std::string, std::vector<Box>> boxes_;
    std::vector<Seen> seen_;
    std::vector<Expr> multiples_;  ///< x % 8 == 0: what is known of the place where the walk stands
};

template<typename T>
std::map<std::string, Box> find_boxes(const T &code, Access access, const Scope<Interval> &vars,
                                      const FuncValueBounds &funcs) {
    return BoxFinder(code, {access, nullptr}, vars, funcs).result();
}

template<typename T>
Box find_box(const T &code, const std::string &name, Access access, const Scope<Interval> &vars,
             const FuncValueBounds &funcs) {
    const std::set<std::string> names = {name};
    const auto boxes = BoxFinder(code, {access, &names}, vars, funcs).result();
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

std::map<std::string, Box> boxes_required(const Stmt &s, const std::set<std::string> &names,
                                          const Scope<Interval> &vars,
                                          const FuncValueBounds &funcs) {
    return BoxFinder(s, {Access::Reads, &names}, vars, funcs).result();
}

std::map<std::string, Box> boxes_provided(const Stmt &s, const std::set<std::string> &names,
                                          const Scope<Interval> &vars,
                                          const FuncValueBounds &funcs) {
    return BoxFinder(s, {Access::Writes, &names}, vars, funcs).result();
}

std::map<std::string, Box> boxes_touched(const Stmt &s, const std::set<std::string> &names,
                                         const Scope<Interval> &vars,
                                         const FuncValueBounds &funcs) {
    return BoxFinder(s, {Access::Both, &names}, vars, funcs).result();
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
