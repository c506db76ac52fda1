// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mutate(e) is undefined where e is undef(). On the way, `alive_` collects the condition under
// which e is not: a value is undef() only in part if it is so on one side of a select.
#include "lower/nest/remove_undef.h"

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"

namespace calotype {

using namespace internal;

namespace {

class RemoveUndef : public Mutator {
public:
    using Mutator::mutate;

    /// Undefined in, or any operand undef: undefined out.
    Expr mutate(const Expr &e) override {
        const bool touched =
            e.defined() && (contains_intrinsic(e, Intrinsic::undef) || uses_undef_name(e));
        return touched ? Mutator::mutate(e) : e;
    }

protected:
    using Mutator::visit;

    bool uses_undef_name(const Expr &e) const {
        bool any = false;
        undef_names_.for_each(
            [&](const std::string &name, const Nothing &) { any = any || uses_var(e, name); });
        return any;
    }

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
        return undef_names_.contains(op->name) ? Expr() : Expr(op);
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
        const std::vector<Expr> args = mutate(op->args);
        if (!is_alive(args)) {
            return Expr();
        }
        return op->is_intrinsic() ? Call::make(op->type, op->intrinsic, args)
                                  : Call::make(op->type, op->name, args, op->call_kind,
                                               op->value_index, op->symbol);
    }

    void require(const Expr &condition) {
        alive_ = alive_.defined() ? alive_ && condition : condition;
    }

    Expr visit(const Select *op) override {
        const Expr condition = mutate(op->condition);
        const Expr t = mutate(op->true_value), f = mutate(op->false_value);
        if (!condition.defined() || (!t.defined() && !f.defined())) {
            return Expr();
        }
        if (t.defined() && f.defined()) {
            return Select::make(condition, t, f);
        }
        require(t.defined() ? condition : !condition);
        return t.defined() ? t : f;
    }

    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        ScopedBinding<> bind(!value.defined(), undef_names_, op->name);
        const Expr outer = std::exchange(alive_, Expr());
        const Expr body = mutate(op->body);
        // What was required of the body may use the name.
        const Expr inner = std::exchange(alive_, outer);
        if (inner.defined()) {
            require(value.defined() && uses_var(inner, op->name) ? Let::make(op->name, value, inner)
                                                                 : inner);
        }
        return !body.defined() || !value.defined() ? body : Let::make(op->name, value, body);
    }

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        internal_assert(!alive_.defined()) << "let " << op->name << " is undefined in part";
        ScopedBinding<> bind(!value.defined(), undef_names_, op->name);
        const Stmt body = mutate(op->body);
        return value.defined() && body.defined() ? LetStmt::make(op->name, value, body) : body;
    }

    Stmt visit(const Provide *op) override {
        alive_ = Expr();
        const std::vector<Expr> args = mutate(op->args);
        const Expr predicate = mutate(op->predicate);
        if (!is_alive(args) || !predicate.defined()) {
            alive_ = Expr();
            return Stmt();
        }
        std::vector<Expr> values;
        bool any = false;
        for (size_t i = 0; i < op->values.size(); i++) {
            Expr value = mutate(op->values[i]);
            any = any || value.defined();
            if (!value.defined()) {
                value = Call::make(op->values[i].type(), op->name, args, CallKind::Func, int(i));
            }
            values.push_back(value);
        }
        const Expr alive = std::exchange(alive_, Expr());
        if (!any) {
            return Stmt();
        }
        const Stmt provide = Provide::make(op->name, values, args, predicate);
        return alive.defined() ? IfThenElse::make(alive, provide) : provide;
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
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition, op->device_api,
                         body);
    }

private:
    Expr alive_;
    Scope<> undef_names_;
};

}  // namespace

Stmt remove_undef(const Stmt &s, LowerContext &) {
    return contains_intrinsic(s, Intrinsic::undef) ? RemoveUndef().mutate(s) : s;
}

}  // namespace calotype
