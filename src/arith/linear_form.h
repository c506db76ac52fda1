// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinearForm: an integer expression as a sum of multiples.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

///     coefficient * value + coefficient * value + ... + constant
///
/// Sums, differences and products with constants are taken apart, and equal values are one term.
/// What a value is (a variable, the index of a thread, a product with a stride, ...) is for the
/// caller to see. Meant for types that do not wrap.
class LinearForm {
public:
    struct Term {
        Expr value;
        int64_t coefficient;
    };

    LinearForm() = default;
    explicit LinearForm(const Expr &e) {
        add(e, 1);
    }

    /// Adds scale * e.
    void add(const Expr &e, int64_t scale);

    /// False after an overflow of a coefficient or of the constant, or with more terms than are
    /// worth comparing with each other: the form says nothing then.
    bool is_valid() const {
        return valid_ && terms.size() <= max_terms;
    }
    /// True if equal values met.
    bool has_merged() const {
        return merged_;
    }
    /// True if it is 0 for sure.
    bool is_zero() const;
    /// Removes terms whose coefficient is 0.
    void drop_zeros();

    /// The sum in type t, in the order of the terms; undefined if a coefficient or the constant
    /// does not fit. Not simplified.
    Expr to_expr(Type t) const;

    std::vector<Term> terms;
    int64_t constant = 0;

private:
    static constexpr size_t max_terms = 24;

    void add_constant(int64_t value, int64_t scale);
    void add_term(const Expr &e, int64_t scale);

    bool valid_ = true, merged_ = false;
};

}  // namespace calotype::internal
