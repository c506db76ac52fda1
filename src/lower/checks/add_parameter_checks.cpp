// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/checks/add_parameter_checks.h"

#include "ir/operators.h"
#include "lower/checks/error_call.h"
#include "lower/nest/resolve_language.h"

namespace calotype::internal {

namespace {

/// The widest type of the same kind, and its suffix in the names of error functions.
Type widest(Type t, const char **suffix) {
    if (t.is_float()) {
        *suffix = "f64";
        return Float(64);
    }
    *suffix = t.is_int() ? "i64" : "u64";
    return t.is_int() ? Int(64) : UInt(64);
}

Stmt range_check(const Parameter &p, const Expr &limit, bool is_min) {
    const char *suffix = nullptr;
    Type wide = widest(p.type(), &suffix);
    Expr value = p.as_expr(), bound = cast(p.type(), limit);
    Expr holds = is_min ? value >= bound : value <= bound;
    return check(holds, std::string(is_min ? "param_too_small_" : "param_too_large_") + suffix,
                 {p.name(), cast(wide, value), cast(wide, bound)});
}

Stmt requirement_check(const Requirement &r) {
    Expr message = Call::make(type_of<const char *>(), Intrinsic::stringify, r.message_parts);
    return check(r.condition, "requirement_failed", {to_text(r.condition), message});
}

}  // namespace

Stmt add_parameter_checks(const Stmt &s, LowerContext &ctx) {
    if (ctx.target.has_feature(Target::NoAsserts)) {
        return s;
    }
    std::vector<Stmt> checks;
    for (const auto &entry : ctx.used.parameters) {
        const Parameter &p = entry.second;
        if (p.is_buffer()) {
            continue;
        }
        if (p.min_value().defined()) {
            checks.push_back(range_check(p, resolve_language(p.min_value(), ctx.target), true));
        }
        if (p.max_value().defined()) {
            checks.push_back(range_check(p, resolve_language(p.max_value(), ctx.target), false));
        }
    }
    for (const Requirement &r : ctx.requirements) {
        checks.push_back(requirement_check(r));
    }
    checks.push_back(s);
    return Block::make(checks);
}

}  // namespace calotype::internal
