// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lets around a place in the code. Helper of the passes that ask what an index comes from.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

class LetScope {
public:
    /// Inside of what was pushed before. A name with an undefined value stands for itself.
    void push(const std::string &name, const Expr &value);
    void pop();

    /// e in terms of what is outside of the lets; undefined where that is_repetitive, as then no
    /// question about it has an answer worth the time. Values that e does not need are not looked
    /// at.
    Expr expand(const Expr &e) const;

private:
    struct Definition {
        std::string name;
        Expr value;
        std::vector<std::string> uses;  ///< the free variables of the value
    };
    std::vector<Definition> lets_;
};

}  // namespace calotype::internal
