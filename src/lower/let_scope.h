// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lets around a place in the code. For passes that ask what an index comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

class LetScope {
public:
    /// For the length of a C++ block, the code is inside of a let.
    class Inside {
    public:
        Inside(LetScope &lets, const std::string &name, const Expr &value) : lets_(lets) {
            lets.push(name, value);
        }
        ~Inside() {
            lets_.pop();
        }
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

    private:
        LetScope &lets_;
    };

    /// Inside of what was pushed before. A name with an undefined value stands for itself.
    void push(const std::string &name, const Expr &value);
    void pop();
    bool binds(const std::string &name) const;

    /// e in terms of what is outside of the lets; undefined where that is_repetitive, as then no
    /// question about it has an answer worth the time. Values that e does not need are not looked
    /// at.
    Expr expand(const Expr &e) const;

    struct Limits {
        int small = 2048;          ///< nodes: more than that must not be repetitive
        size_t end = SIZE_MAX;     ///< lets from there on are not looked at
        bool keeps_calls = false;  ///< what a call gives stays a name
    };
    /// The same as far as it stays small.
    Expr expand_while_small(const Expr &e, const Limits &limits) const;
    Expr expand_while_small(const Expr &e) const {
        return expand_while_small(e, Limits());
    }

private:
    struct Definition {
        std::string name;
        Expr value;
        mutable std::optional<std::vector<std::string>>
            uses;  ///< free variables of the value, once asked for
    };
    static const std::vector<std::string> &uses_of(const Definition &let);
    /// The lets that e depends on, innermost first.
    std::vector<size_t> needed_by(const Expr &e, const Limits &limits) const;
    /// e with the values of the first `count` of these.
    Expr with_values(const Expr &e, const std::vector<size_t> &needed, size_t count) const;
    Expr largest_that_is_small(const Expr &e, const Limits &limits,
                               const std::vector<size_t> &needed) const;
    Expr expand(const Expr &e, const Limits &limits, bool *is_whole) const;

    std::vector<Definition> lets_;
};

}  // namespace calotype::internal
