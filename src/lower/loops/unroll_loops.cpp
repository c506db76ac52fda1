// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/unroll_loops.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "support/environment.h"

namespace calotype::internal {

namespace {

/// What the body is in the iteration where the loop's variable has that value: of Selects whose
/// conditions compare it with constants, as a mux makes them, one branch stays. A mux of n values in
/// n copies would be n * n values otherwise.
class ChooseBranches : public GraphMutator {
public:
    ChooseBranches(const std::string &var, int64_t value) : var_(var), value_(value) {
    }

private:
    using GraphMutator::visit;

    /// The value of an expression of constants and the variable alone.
    std::optional<int64_t> value_of(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        const Add *sum = e.as<Add>();
        if (v) {
            return v->name == var_ ? std::optional(value_) : std::nullopt;
        }
        if (!sum) {
            return e.type().is_int_or_uint() ? as_const_int(e) : std::nullopt;
        }
        const auto a = value_of(sum->a), b = value_of(sum->b);
        int64_t result = 0;
        const bool known = a && b && !__builtin_add_overflow(*a, *b, &result);
        return known && e.type().can_represent(result) ? std::optional(result) : std::nullopt;
    }

    template<typename Op, typename Compare>
    std::optional<bool> compare(const Expr &e, const Compare &compare) const {
        const Op *op = e.as<Op>();
        if (!op || op->a.type() != Int(32)) {
            return std::nullopt;
        }
        const auto a = value_of(op->a), b = value_of(op->b);
        return a && b ? std::optional(compare(*a, *b)) : std::nullopt;
    }

    std::optional<bool> answer_of(const Expr &condition) const {
        if (const auto equal = compare<EQ>(condition, std::equal_to<>())) {
            return equal;
        }
        if (const auto less = compare<LT>(condition, std::less<>())) {
            return less;
        }
        return compare<LE>(condition, std::less_equal<>());
    }

    Expr visit(const Select *op) override {
        Expr chosen = op;
        for (const Select *s = op; s; s = chosen.as<Select>()) {
            const auto answer = answer_of(s->condition);
            if (!answer) {
                return s == op ? GraphMutator::visit(op) : mutate(chosen);
            }
            chosen = *answer ? s->true_value : s->false_value;
        }
        return mutate(chosen);
    }

    // Another variable of that name.
    Expr visit(const Let *op) override {
        return op->name == var_ ? Expr(op) : GraphMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        return op->name == var_ ? Stmt(op) : GraphMutator::visit(op);
    }
    Stmt visit(const For *op) override {
        return op->name == var_ ? Stmt(op) : GraphMutator::visit(op);
    }

    const std::string &var_;
    int64_t value_;
};

/// How large code is; what it has several times over counts once.
int64_t size_of(const Stmt &s) {
    struct Size : GraphVisitor {
        using GraphVisitor::operator();
        void operator()(const Expr &e) override {
            size++;
            GraphVisitor::operator()(e);
        }
        int64_t size = 0;
    } walk;
    walk(s);
    return walk.size;
}

/// There is a choice that each iteration settles.
bool chooses_by(const std::string &var, const Stmt &body) {
    bool found = false;
    for_each<Select>(body, [&](const Select *op) {
        const EQ *equal = op->condition.as<EQ>();
        found |= equal && is_const(equal->b) && uses_var(equal->a, var);
    });
    return found;
}

/// No loops but those that become vectors.
bool is_innermost(const Stmt &body) {
    bool has_loop = false;
    for_each<For>(body, [&](const For *op) { has_loop |= op->for_type != ForType::Vectorized; });
    return !has_loop;
}

/// More code than that takes hours to compile, if memory suffices.
constexpr int64_t most_unrolled = 65536;

class Unroller : public Mutator {
private:
    using Mutator::visit;

    /// CT_PERMIT_FAILED_UNROLL=1: what cannot be unrolled is a warning.
    static bool may_stay_a_loop() {
        const char *permitted = environment("PERMIT_FAILED_UNROLL");
        return permitted && std::string(permitted) == "1";
    }

    /// Of the body of a loop, in those around it.
    int64_t all_copies(const For *op, int64_t copies) const {
        user_assert(copies <= most_unrolled)
            << "loop " << op->name << " cannot be unrolled: its extent is " << copies
            << ", must be at most " << most_unrolled;
        user_assert(copies * copies_around_ <= most_unrolled)
            << "loop " << op->name << " cannot be unrolled: its extent is " << copies
            << ", which with the unrolled loops around it makes " << copies * copies_around_
            << " copies, must be at most " << most_unrolled;
        return copies * copies_around_;
    }

    static std::vector<Stmt> copies_of(const For *op, const Stmt &body, int64_t copies) {
        const bool has_choices = contains_kind(body, NodeKind::Select);
        std::vector<Stmt> result;
        for (int64_t i = 0; i < copies; i++) {
            const Expr offset = make_const(op->min.type(), i);
            const Expr at = i == 0 ? op->min : simplify(op->min + offset);
            const auto value = as_const_int(at);
            const Stmt copy =
                has_choices && value ? ChooseBranches(op->name, *value).mutate(body) : body;
            result.push_back(substitute(op->name, at, copy));
        }
        return result;
    }

    /// Loops that their schedule leaves alone: short ones are unrolled if each iteration has so few
    /// of the branches of their choices that all together are at most twice as large as the body.
    Stmt visit_serial(const For *op) {
        const Stmt body = mutate(op->body);
        const std::optional<int64_t> copies = as_const_int(op->extent);
        if (copies && *copies > 1 && *copies <= most_copies && is_const(op->min) &&
            is_innermost(body) && chooses_by(op->name, body)) {
            const Stmt all = Block::make(copies_of(op, body, *copies));
            if (size_of(all) <= 2 * size_of(body)) {
                return all;
            }
        }
        return body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
    }

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::Serial && !in_kernel_) {
            return visit_serial(op);
        }
        if (op->for_type != ForType::Unrolled) {
            const bool around = std::exchange(in_kernel_, in_kernel_ || is_gpu(op->for_type));
            const Stmt s = Mutator::visit(op);
            in_kernel_ = around;
            return s;
        }
        const Expr extent = simplify(op->extent);
        const std::optional<int64_t> copies = as_const_int(extent);
        const int64_t around = copies_around_;
        if (copies) {
            copies_around_ = all_copies(op, std::max<int64_t>(1, *copies));
        }
        const Stmt body = mutate(op->body);
        copies_around_ = around;
        if (!copies && may_stay_a_loop()) {
            user_warning << "loop " << op->name << " is not unrolled: its extent " << extent
                         << " is not constant";
            return with(op, &For::for_type, ForType::Serial, &For::body, body);
        }
        user_assert(copies) << "loop " << op->name << " cannot be unrolled: its extent " << extent
                            << " is not constant and has no constant bound";
        return Block::make(copies_of(op, body, *copies));
    }

    static constexpr int64_t most_copies = 16;
    int64_t copies_around_ = 1;  ///< that the unrolled loops around make
    bool in_kernel_ = false;
};

}  // namespace

Stmt unroll_loops(const Stmt &s, LowerContext &) {
    return Unroller().mutate(s);
}

}  // namespace calotype::internal
