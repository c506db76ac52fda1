// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simplification of expressions and statements, and proofs by simplification. docs/simplifier.md
// tells how it works and how to add a rule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arith/simplify/const_range.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// What is known before simplification begins, beyond what the IR itself says.
struct SimplifyContext {
    /// Bounds and alignment of free integer Variables, by name.
    std::map<std::string, ConstRange> bounds;
    std::map<std::string, Alignment> alignments;
    /// Bool expressions that hold.
    std::vector<Expr> facts;
    /// Drop lets whose value is pure and not used, and allocations that nothing touches.
    bool remove_dead_code = true;

    SimplifyContext &bound(const std::string &name, int64_t min, int64_t max) {
        bounds[name] = ConstRange::of(min, max);
        return *this;
    }
    SimplifyContext &align(const std::string &name, int64_t modulus, int64_t remainder = 0) {
        alignments[name] = Alignment{modulus, remainder};
        return *this;
    }
    SimplifyContext &fact(const Expr &condition) {
        facts.push_back(condition);
        return *this;
    }
};

/// An expression of the same type and, wherever the input's own arithmetic does not overflow, the
/// same value. Undefined stays undefined. Idempotent; linear in the number of distinct nodes.
Expr simplify(const Expr &e, const SimplifyContext &context = {});

/// A statement with the same effects. May be undefined, when the statement does nothing.
Stmt simplify(const Stmt &s, const SimplifyContext &context = {});

/// True only if the Bool `condition` holds in every lane for all values of its variables that the
/// context allows. False means "not proven", not "does not hold". Looks through likely().
bool can_prove(const Expr &condition, const SimplifyContext &context = {});

/// Bounds of an integer expression as the simplifier tracks them, and what is known of it modulo
/// something. Vectors: of all lanes together.
ConstRange constant_range(const Expr &e, const SimplifyContext &context = {});
Alignment modulus_remainder(const Expr &e, const SimplifyContext &context = {});

}  // namespace calotype::internal
