// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>
#include <set>

#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

using Replacements = std::map<std::string, Expr>;

/// Replaces free Variables. A binder whose name is replaced, or is free in a replacement, gets a
/// substitution of its own for its body: without that name, or with the binder renamed. What is free
/// in the replacements is asked at the first binder: most code has none.
class Substitution : public GraphMutator {
public:
    /// The replacements must live as long as this.
    explicit Substitution(const Replacements &replacements) : replacements_(replacements) {
    }

protected:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        auto it = replacements_.find(op->name);
        return it == replacements_.end() ? Expr(op) : it->second;
    }
    Expr visit(const Let *op) override {
        Expr value = mutate(op->value), body;
        const std::string name = mutate_body(op->name, op->value.type(), op->body, &body);
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? Expr(op) : Let::make(name, std::move(value), std::move(body));
    }
    Stmt visit(const LetStmt *op) override {
        Expr value = mutate(op->value);
        Stmt body;
        const std::string name = mutate_body(op->name, op->value.type(), op->body, &body);
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? Stmt(op) : LetStmt::make(name, std::move(value), std::move(body));
    }
    Stmt visit(const For *op) override {
        Expr min = mutate(op->min), extent = mutate(op->extent);
        Stmt body;
        const std::string name = mutate_body(op->name, op->min.type(), op->body, &body);
        const bool same =
            min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body);
        return same ? Stmt(op)
                    : For::make(name, std::move(min), std::move(extent), op->for_type,
                                op->partition, op->device_api, std::move(body));
    }

private:
    /// Puts the mutated body of a binder in *result; the binder's name, which is new if the old one
    /// would capture.
    template<typename Handle>
    std::string mutate_body(const std::string &name, Type type, const Handle &body,
                            Handle *result) {
        const bool shadows = replacements_.count(name) != 0;
        const bool may_capture = free_in_replacements().count(name) != 0;
        if (!shadows && !may_capture) {
            *result = mutate(body);
            return name;
        }
        Replacements inner = replacements_;
        inner.erase(name);
        if (may_capture && uses_replaced_name(body, inner)) {
            const std::string fresh = fresh_name(name, body);
            inner[name] = Variable::make(type, fresh);
            *result = Substitution(inner).mutate(body);
            return fresh;
        }
        *result = Substitution(inner).mutate(body);
        return name;
    }

    const std::set<std::string> &free_in_replacements() {
        if (!free_in_replacements_) {
            free_in_replacements_.emplace();
            for (const auto &entry : replacements_) {
                const std::vector<std::string> names = free_variables(entry.second);
                free_in_replacements_->insert(names.begin(), names.end());
            }
        }
        return *free_in_replacements_;
    }

    template<typename Handle>
    static bool uses_replaced_name(const Handle &body, const Replacements &inner) {
        return std::any_of(inner.begin(), inner.end(),
                           [&](const auto &entry) { return uses_var(body, entry.first); });
    }

    template<typename Handle>
    std::string fresh_name(const std::string &name, const Handle &body) {
        const std::vector<std::string> used = free_variables(body);
        for (int i = 1;; i++) {
            std::string candidate = name + "$" + std::to_string(i);
            if (!free_in_replacements().count(candidate) && !replacements_.count(candidate) &&
                !std::binary_search(used.begin(), used.end(), candidate)) {
                return candidate;
            }
        }
    }

    const Replacements &replacements_;
    std::optional<std::set<std::string>> free_in_replacements_;
};

/// Replaces what equals an expression, except under binders of a name that is free in it.
class StructuralSubstitution : public GraphMutator {
public:
    StructuralSubstitution(const Expr &find, const Expr &replacement)
        : find_(find), replacement_(replacement) {
        const std::vector<std::string> names = free_variables(find);
        free_in_find_.insert(names.begin(), names.end());
    }
    using GraphMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e.defined() && equal(e, find_) ? replacement_ : GraphMutator::mutate(e);
    }

protected:
    using GraphMutator::visit;
    Expr visit(const Let *op) override {
        return free_in_find_.count(op->name) ? Let::make(op->name, mutate(op->value), op->body)
                                             : GraphMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        return free_in_find_.count(op->name) ? LetStmt::make(op->name, mutate(op->value), op->body)
                                             : GraphMutator::visit(op);
    }
    Stmt visit(const For *op) override {
        if (!free_in_find_.count(op->name)) {
            return GraphMutator::visit(op);
        }
        Expr min = mutate(op->min), extent = mutate(op->extent);
        return with(op, &For::min, std::move(min), &For::extent, std::move(extent));
    }

private:
    const Expr find_, replacement_;
    std::set<std::string> free_in_find_;
};

/// From the inside out: when a let is met from below, its body has no lets left.
class LetSubstitution : public GraphMutator {
protected:
    using GraphMutator::visit;
    Expr visit(const Let *op) override {
        return substitute(op->name, mutate(op->value), mutate(op->body));
    }
    Stmt visit(const LetStmt *op) override {
        return substitute(op->name, mutate(op->value), mutate(op->body));
    }
};

class LikelyRemoval : public GraphMutator {
protected:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        return op->is_likely() ? mutate(op->args[0]) : GraphMutator::visit(op);
    }
};

class PromiseLowering : public GraphMutator {
protected:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::unsafe_promise_clamped)) {
            return mutate(op->args[0]);
        }
        if (op->is_intrinsic(Intrinsic::promise_clamped)) {
            const Expr value = mutate(op->args[0]), min = mutate(op->args[1]),
                       max = mutate(op->args[2]);
            return Max::make(Min::make(value, max), min);
        }
        return GraphMutator::visit(op);
    }
};

}  // namespace

Expr substitute(const std::string &name, const Expr &replacement, const Expr &e) {
    const Replacements one = {{name, replacement}};
    return Substitution(one).mutate(e);
}

Stmt substitute(const std::string &name, const Expr &replacement, const Stmt &s) {
    const Replacements one = {{name, replacement}};
    return Substitution(one).mutate(s);
}

Expr substitute(const std::map<std::string, Expr> &replacements, const Expr &e) {
    return replacements.empty() ? e : Substitution(replacements).mutate(e);
}

Stmt substitute(const std::map<std::string, Expr> &replacements, const Stmt &s) {
    return replacements.empty() ? s : Substitution(replacements).mutate(s);
}

Expr substitute(const Expr &find, const Expr &replacement, const Expr &e) {
    return StructuralSubstitution(find, replacement).mutate(e);
}

Stmt substitute(const Expr &find, const Expr &replacement, const Stmt &s) {
    return StructuralSubstitution(find, replacement).mutate(s);
}

Expr substitute_in_all_lets(const Expr &e) {
    return LetSubstitution().mutate(e);
}

Stmt substitute_in_all_lets(const Stmt &s) {
    return LetSubstitution().mutate(s);
}

Expr remove_likelies(const Expr &e) {
    return LikelyRemoval().mutate(e);
}

Stmt remove_likelies(const Stmt &s) {
    return LikelyRemoval().mutate(s);
}

Expr lower_promises(const Expr &e) {
    return PromiseLowering().mutate(e);
}

Stmt lower_promises(const Stmt &s) {
    return PromiseLowering().mutate(s);
}

}  // namespace calotype::internal
