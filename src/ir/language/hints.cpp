// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/language/hints.h"

#include <atomic>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/language/match_types.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

using internal::check_defined;

Expr likely(Expr e) {
    check_defined("likely", e);
    const Type t = e.type();
    return Call::make(t, Intrinsic::likely, {std::move(e)});
}

Expr likely_if_innermost(Expr e) {
    check_defined("likely_if_innermost", e);
    const Type t = e.type();
    return Call::make(t, Intrinsic::likely_if_innermost, {std::move(e)});
}

Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max) {
    check_defined("unsafe_promise_clamped", value);
    const Type t = value.type();
    const auto bound = [&](const Expr &given, const char *which, const Expr &of_type) {
        if (!given.defined()) {
            return of_type;
        }
        Expr result = internal::lossless_cast(t, given);
        user_assert(result.defined())
            << "unsafe_promise_clamped of type " << t << " with a " << which << " of type "
            << given.type() << ", which may not fit; cast it";
        return result;
    };
    Expr low = bound(min, "minimum", t.min()), high = bound(max, "maximum", t.max());
    return Call::make(t, Intrinsic::unsafe_promise_clamped,
                      {value, std::move(low), std::move(high)});
}

namespace {

/// Replaces each float operation by its strict intrinsic.
class StrictFloat : public GraphMutator {
    template<typename T>
    Expr strict(const T *op, Intrinsic id, bool swap = false) {
        if (!op->a.type().is_float()) {
            return Mutator::visit(op);
        }
        Expr a = mutate(op->a), b = mutate(op->b);
        if (swap) {
            std::swap(a, b);
        }
        return Call::make(op->type, id, {std::move(a), std::move(b)});
    }

protected:
    using Mutator::visit;
    Expr visit(const Add *op) override {
        return strict(op, Intrinsic::strict_add);
    }
    Expr visit(const Sub *op) override {
        return strict(op, Intrinsic::strict_sub);
    }
    Expr visit(const Mul *op) override {
        return strict(op, Intrinsic::strict_mul);
    }
    Expr visit(const Div *op) override {
        return strict(op, Intrinsic::strict_div);
    }
    Expr visit(const Min *op) override {
        return strict(op, Intrinsic::strict_min);
    }
    Expr visit(const Max *op) override {
        return strict(op, Intrinsic::strict_max);
    }
    Expr visit(const EQ *op) override {
        return strict(op, Intrinsic::strict_eq);
    }
    Expr visit(const NE *op) override {
        return op->a.type().is_float() ? !strict(op, Intrinsic::strict_eq) : Mutator::visit(op);
    }
    Expr visit(const LT *op) override {
        return strict(op, Intrinsic::strict_lt);
    }
    Expr visit(const LE *op) override {
        return strict(op, Intrinsic::strict_le);
    }
    Expr visit(const GT *op) override {
        return strict(op, Intrinsic::strict_lt, true);
    }
    Expr visit(const GE *op) override {
        return strict(op, Intrinsic::strict_le, true);
    }
    Expr visit(const Cast *op) override {
        if (!op->type.is_float() && !op->value.type().is_float()) {
            return Mutator::visit(op);
        }
        return Call::make(op->type, Intrinsic::strict_cast, {mutate(op->value)});
    }
    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::fma)) {
            return Call::make(op->type, Intrinsic::strict_fma, mutate(op->args));
        }
        return Mutator::visit(op);
    }
};

}  // namespace

Expr strict_float(const Expr &e) {
    check_defined("strict_float", e);
    return StrictFloat().mutate(e);
}

Expr undef(Type t) {
    return Call::make(t, Intrinsic::undef, {});
}

Expr internal::memoize_tag_of(Expr result, const std::vector<Expr> &cache_key_values) {
    check_defined("memoize_tag", result);
    for (const Expr &value : cache_key_values) {
        check_defined("memoize_tag", value);
    }
    std::vector<Expr> args = {result};
    args.insert(args.end(), cache_key_values.begin(), cache_key_values.end());
    return Call::make(result.type(), Intrinsic::memoize_expr, std::move(args));
}

namespace {

void check_printable(const char *op, const std::vector<Expr> &values) {
    user_assert(!values.empty()) << op << " of no values, must have at least 1";
    for (const Expr &value : values) {
        check_defined(op, value);
    }
}

}  // namespace

Expr print(const std::vector<Expr> &values) {
    check_printable("print", values);
    const Type t = values[0].type();
    Expr effect = Call::make(t, Intrinsic::print, values);
    return Call::make(t, Intrinsic::return_second, {std::move(effect), values[0]});
}

Expr print_when(Expr condition, const std::vector<Expr> &values) {
    check_defined("print_when", condition);
    user_assert(condition.type().is_bool())
        << "the condition of print_when has type " << condition.type() << ", must be bool";
    check_printable("print_when", values);
    const Type t = values[0].type();
    std::vector<Expr> args = {std::move(condition)};
    args.insert(args.end(), values.begin(), values.end());
    Expr effect = Call::make(t, Intrinsic::print_when, std::move(args));
    return Call::make(t, Intrinsic::return_second, {std::move(effect), values[0]});
}

Expr require(Expr condition, const std::vector<Expr> &values) {
    check_defined("require", condition);
    user_assert(condition.type().is_bool())
        << "the condition of require has type " << condition.type() << ", must be bool";
    check_printable("require", values);
    // The condition as it was written, and the rest of the values, are the text of the error.
    std::vector<Expr> message = {Expr("")};
    for (size_t i = 1; i < values.size(); i++) {
        message.push_back(values[i]);
        if (i + 1 < values.size()) {
            message.push_back(Expr(" "));
        }
    }
    Expr message_text =
        Call::make(type_of<const char *>(), Intrinsic::stringify, std::move(message));
    Expr condition_text(to_string(condition));
    return Call::make(values[0].type(), Intrinsic::require,
                      {likely(std::move(condition)), values[0], std::move(condition_text),
                       std::move(message_text)});
}

namespace {

/// The call gets a number of its own, so that two calls differ. The numbers mean nothing: lowering
/// replaces them by the place of the call in its Func's definition.
Expr random(const char *op, Type t, const Expr &seed) {
    static std::atomic<int> calls{0};
    std::vector<Expr> args;
    if (seed.defined()) {
        user_assert(seed.type() == Int(32) || seed.type() == UInt(32))
            << "the seed of " << op << " has type " << seed.type() << ", must be int32 or uint32";
        args.push_back(seed);
    }
    args.push_back(Expr(calls++));
    return Call::make(t, Intrinsic::random, std::move(args));
}

}  // namespace

Expr random_float(Expr seed) {
    return random("random_float", Float(32), seed);
}

Expr random_uint(Expr seed) {
    return random("random_uint", UInt(32), seed);
}

Expr random_int(Expr seed) {
    return random("random_int", Int(32), seed);
}

namespace {

Expr scatter_gather(const char *op, const std::vector<Expr> &args) {
    user_assert(!args.empty()) << op << " of no values, must have at least 1";
    for (const Expr &arg : args) {
        check_defined(op, arg);
        user_assert(arg.type() == args[0].type()) << op << " of types " << args[0].type() << " and "
                                                  << arg.type() << ", must be one type";
    }
    return args.size() == 1 ? args[0] : Call::make(args[0].type(), Intrinsic::scatter_gather, args);
}

}  // namespace

Expr scatter(const std::vector<Expr> &args) {
    return scatter_gather("scatter", args);
}

Expr gather(const std::vector<Expr> &args) {
    return scatter_gather("gather", args);
}

Expr target_bits() {
    return Call::make(Int(32), Intrinsic::target_bits, {});
}

Expr target_natural_vector_size(Type t) {
    return Call::make(Int(32), Intrinsic::target_natural_vector_size, {make_zero(t)});
}

}  // namespace calotype
