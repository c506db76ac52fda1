// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper of passes that bound an expression whatever its Selects choose.
#pragma once

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr.h"
#include "ir/queries.h"

namespace calotype::internal {

/// A comparison that a Select in e asks, by itself or beside others; undefined if there is none.
/// Put in the place of all that are equal to it, an answer decides all Selects that ask the same.
Expr select_question(const Expr &e);

/// combine(e, question, with yes, with no) for the first question that Selects in e ask, of what e
/// gives with either answer, in which the other questions have been combined before; of_rest(e) if
/// it asks none, or too many. Where is_settled(with yes), that is what is given, and e is not looked
/// at with no.
template<typename Rest, typename Combine, typename Settled>
auto by_answers(const Expr &e, const Rest &of_rest, const Combine &combine,
                const Settled &is_settled, int questions = 4) -> decltype(of_rest(e)) {
    const Expr question = questions > 0 ? select_question(e) : Expr();
    if (!question.defined()) {
        return of_rest(e);
    }
    const auto with = [&](const Expr &answer) {
        return by_answers(simplify(substitute(question, answer, e)), of_rest, combine, is_settled,
                          questions - 1);
    };
    const auto with_yes = with(const_true());
    return is_settled(with_yes) ? with_yes : combine(e, question, with_yes, with(const_false()));
}

}  // namespace calotype::internal
