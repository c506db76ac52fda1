// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mutate(e) is undefined where e is undef(). On the way, `alive_` collects the condition under
// which e is not: a value is undef() only in part if it is so on one side of a select. What one
// side of a select requires is required only where that side is chosen.
#include "lower/nest/remove_undef.h"

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

class RemoveUndef : public Mutator {
public:
    using Mutator::mutate;

    /// Undefined in, or any operand undef: undefined out.
    Expr mutate(const Expr &e) override {
        const bool touched = e.defined() && (contains_intrinsic(e, Intrinsic::undef) ||
                                             uses_any_var(e, undef_names_));
        return touched ? Mutator::mutate(e) : e;
    }

protected:
    using Mutator::visit;

    bool is_alive(const std::vector<Expr> &v) {
        for (const Expr &e : v) {
            if (!e.defined()) {
                return false;
            }
        }
        return true;
    }

    template<typename T>
    Expr visit_binary(const T *op) {
        const Expr a = mutate(op->a), b = mutate(op->b);
        return a.defined() && b.defined() ? T::make(a, b) : Expr();
    }
#define ARITH(Name, symbol)                                                                        \
    Expr visit(const Name *op) override {                                                          \
        return visit_binary(op);                                                                   \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"

    Expr visit(const Variable *op) override {
        const int *in_part = undef_names_.find(op->name);
        if (in_part && !*in_part) {
            return Expr();
        }
        if (in_part) {
            require(defined_name(op->name));
        }
        return op;
    }
    Expr visit(const Cast *op) override {
        const Expr value = mutate(op->value);
        return value.defined() ? Cast::make(op->type, value) : Expr();
    }
    Expr visit(const Reinterpret *op) override {
        const Expr value = mutate(op->value);
        return value.defined() ? Reinterpret::make(op->type, value) : Expr();
    }
    Expr visit(const Broadcast *op) override {
        const Expr value = mutate(op->value);
        return value.defined() ? Broadcast::make(value, op->lanes) : Expr();
    }
    Expr visit(const Not *op) override {
        const Expr a = mutate(op->a);
        return a.defined() ? Not::make(a) : Expr();
    }

    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::undef)) {
            return Expr();
        }
        if (op->is_intrinsic(Intrinsic::if_then_else) && op->args.size() == 3) {
            return choice(op->args[0], op->args[1], op->args[2],
                          [&](const Expr &condition, const Expr &t, const Expr &f) {
                              return Call::make(op->type, op->intrinsic, {condition, t, f});
                          });
        }
        const std::vector<Expr> args = mutate(op->args);
        if (!is_alive(args)) {
            return Expr();
        }
        return op->is_intrinsic() ? Call::make(op->type, op->intrinsic, args)
                                  : Call::make(op->type, op->name, args, op->call_type,
                                               op->value_index, op->symbol);
    }

    /// A value, and where it is not undef(): everywhere if `alive` is undefined. Nowhere if the
    /// value is undefined.
    struct Part {
        Expr value, alive;
    };

    Part part(const Expr &e) {
        const Expr outer = std::exchange(alive_, Expr());
        const Expr value = mutate(e);
        const Expr alive = std::exchange(alive_, outer);
        return {value, value.defined() ? alive : Expr()};
    }

    /// Both conditions, of which one that is undefined holds everywhere.
    static Expr both(const Expr &a, const Expr &b) {
        return a.defined() && b.defined() ? a && b : a.defined() ? a : b;
    }

    void require(const Expr &condition) {
        // A name that is used often is required once.
        if (const Variable *v = condition.as<Variable>();
            !v || !alive_.defined() || !is_required(alive_, v->name)) {
            alive_ = both(alive_, condition);
        }
    }

    static bool is_required(const Expr &all, const std::string &name) {
        const And *op = all.as<And>();
        const Variable *last = (op ? op->b : all).as<Variable>();
        return (last && last->name == name) || (op && is_required(op->a, name));
    }

    /// Stands for the condition under which a let that is undef() in part is not.
    static Expr defined_name(const std::string &let) {
        return Variable::make(Bool(), names::part(let, "is_defined"));
    }

    template<typename Make>
    Expr choice(const Expr &original, const Expr &true_value, const Expr &false_value, Make make) {
        const Expr condition = mutate(original);
        const Part t = part(true_value), f = part(false_value);
        if (!condition.defined() || (!t.value.defined() && !f.value.defined())) {
            return Expr();
        }
        if (!f.value.defined()) {
            require(both(condition, t.alive));
            return t.value;
        }
        if (!t.value.defined()) {
            require(both(!condition, f.alive));
            return f.value;
        }
        if (t.alive.defined() && f.alive.defined()) {
            require(Select::make(condition, t.alive, f.alive));
        } else if (t.alive.defined()) {
            require(!condition || t.alive);
        } else if (f.alive.defined()) {
            require(condition || f.alive);
        }
        return make(condition, t.value, f.value);
    }

    Expr visit(const Select *op) override {
        return choice(op->condition, op->true_value, op->false_value,
                      [](const Expr &condition, const Expr &t, const Expr &f) {
                          return Select::make(condition, t, f);
                      });
    }

    /// The body of a let, inside of which its name may be undef() in part or as a whole.
    template<typename Body>
    Body mutate_body(const std::string &name, const Part &value, const Body &body) {
        const bool in_part = value.value.defined() && value.alive.defined();
        ScopedBinding<int> bind(in_part || !value.value.defined(), undef_names_, name, in_part);
        return mutate(body);
    }

    /// Code inside of a let, with what it uses of it.
    template<typename LetNode, typename Body>
    static Body in_let(const std::string &name, const Part &value, const Body &body) {
        Body result = body;
        const Expr is_defined = defined_name(name);
        if (value.alive.defined() && uses_var(result, is_defined.as<Variable>()->name)) {
            result = LetNode::make(is_defined.as<Variable>()->name, value.alive, result);
        }
        return result;
    }

    Expr visit(const Let *op) override {
        const Part value = part(op->value);
        const Expr outer = std::exchange(alive_, Expr());
        const Expr body = mutate_body(op->name, value, op->body);
        const Expr inner = std::exchange(alive_, outer);
        if (inner.defined()) {
            // What was required of the body may use the name.
            const Expr condition = in_let<Let>(op->name, value, inner);
            require(value.value.defined() && uses_var(condition, op->name)
                        ? Let::make(op->name, value.value, condition)
                        : condition);
        }
        return !body.defined() || !value.value.defined() ? body
                                                         : Let::make(op->name, value.value, body);
    }

    Stmt visit(const LetStmt *op) override {
        const Part value = part(op->value);
        const Stmt body = mutate_body(op->name, value, op->body);
        return value.value.defined() && body.defined()
                   ? LetStmt::make(op->name, value.value, in_let<LetStmt>(op->name, value, body))
                   : body;
    }

    /// The values of a Provide where any of them is defined: those that are not keep what is there.
    /// *alive says where that is; false if it is nowhere.
    bool defined_values(const Provide *op, const std::vector<Expr> &args, std::vector<Expr> *values,
                        Expr *alive) {
        std::vector<Part> parts;
        bool any = false, always = false;
        for (const Expr &e : op->values) {
            parts.push_back(part(e));
            const Part &p = parts.back();
            if (p.value.defined()) {
                any = true;
                always = always || !p.alive.defined();
                const bool is_new =
                    p.alive.defined() && !(alive->defined() && equal(*alive, p.alive));
                *alive = !is_new ? *alive : alive->defined() ? *alive || p.alive : p.alive;
            }
        }
        *alive = always ? Expr() : *alive;
        for (size_t i = 0; i < parts.size(); i++) {
            const Part &p = parts[i];
            const Expr old =
                Call::make(op->values[i].type(), op->name, args, CallKind::Func, int(i));
            const bool as_all = !p.alive.defined() || (alive->defined() && equal(*alive, p.alive));
            values->push_back(!p.value.defined() ? old
                              : as_all           ? p.value
                                                 : Select::make(p.alive, p.value, old));
        }
        return any;
    }

    Stmt visit(const Provide *op) override {
        alive_ = Expr();
        const std::vector<Expr> args = mutate(op->args);
        const Expr predicate = mutate(op->predicate);
        const Expr place = std::exchange(alive_, Expr());
        if (!is_alive(args) || !predicate.defined()) {
            return Stmt();
        }
        std::vector<Expr> values;
        Expr alive;
        if (!defined_values(op, args, &values, &alive)) {
            return Stmt();
        }
        const Stmt provide = Provide::make(op->name, values, args, predicate);
        const Expr condition = both(place, alive);
        return condition.defined() ? IfThenElse::make(condition, provide) : provide;
    }

    Stmt visit(const IfThenElse *op) override {
        const Expr condition = mutate(op->condition);
        const Expr alive = std::exchange(alive_, Expr());
        const Stmt then_case = mutate(op->then_case), else_case = mutate(op->else_case);
        if (!condition.defined()) {
            return Stmt();
        }
        if (!then_case.defined() && !else_case.defined()) {
            return Stmt();
        }
        const Stmt s = then_case.defined() ? IfThenElse::make(condition, then_case, else_case)
                                           : IfThenElse::make(!condition, else_case);
        return alive.defined() ? IfThenElse::make(alive, s) : s;
    }

    Stmt visit(const Atomic *op) override {
        const Stmt body = mutate(op->body);
        return body.defined() ? Atomic::make(op->producer_name, op->mutex_name, body) : body;
    }

    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        if (!body.defined() || body.same_as(op->body)) {
            return body;
        }
        return with(op, &For::body, body);
    }

private:
    Expr alive_;
    Scope<int> undef_names_;  ///< lets that are undef(): in part?
};

}  // namespace

Stmt remove_undef(const Stmt &s, LowerContext &) {
    return contains_intrinsic(s, Intrinsic::undef) ? RemoveUndef().mutate(s) : s;
}

}  // namespace calotype::internal
