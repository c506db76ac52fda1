// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts about integers at a place, taken from the code around it.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arith/const_bounds.h"
#include "arith/interval.h"
#include "ir/stmt_nodes.h"
#include "lower/let_scope.h"
#include "support/scope.h"

namespace calotype::internal {

/// Lets, loops and conditions around a place. Nothing is computed before it is asked for.
class KnownHere {
public:
    /// For the length of a C++ block, the code is inside of a let, of a loop, or where a condition
    /// holds.
    class Inside {
    public:
        Inside(KnownHere &known, const LetStmt *op);
        Inside(KnownHere &known, const Let *op);
        Inside(KnownHere &known, const For *op);
        Inside(KnownHere &known, const Expr &condition);
        /// `name` counts from 0 up to extent, which is known outside of all of this.
        Inside(KnownHere &known, const std::string &name, const Expr &extent);
        ~Inside();
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

    private:
        KnownHere &known_;
    };

    KnownHere() = default;
    /// Of int32 that are defined outside of all of this.
    explicit KnownHere(ConstantRanges given) : given_(std::move(given)) {
    }

    /// Says of an int32 that is defined outside of all of this what values it has, from now on.
    void given(const std::string &name, const ConstantInterval &range) {
        given_[name] = range;
    }
    /// All that follows is inside of a let.
    void given(const std::string &name, const Expr &value) {
        push(name, value, value);
    }

    /// The values of integer e, by the ranges of its variables, which conditions narrow.
    ConstantInterval range(const Expr &e) const {
        return range(e, around_.size());
    }
    /// False if the conditions around are never met together, by the ranges of their variables.
    bool is_reachable() const;
    /// A constant that integer e never exceeds. Looks harder than range(): lets are expanded, since
    /// differences of them may cancel, and where nothing else bounds e, conditions are used.
    std::optional<int64_t> upper_bound(const Expr &e) const;
    /// The same, by what e is with each answer to what its Selects ask: several may ask the same,
    /// and what they choose between may cancel with what stands beside them. Of a bound above
    /// `most` no more is known than that it is.
    std::optional<int64_t>
    upper_bound_in_all_cases(const Expr &e,
                             int64_t most = std::numeric_limits<int64_t>::max()) const;

    /// The values of e in terms of what is outside of all of this, whatever the conditions.
    Interval interval(const Expr &e) const {
        return interval(e, around_.size());
    }
    /// True of integers that are loops' or lets' here.
    bool binds(const std::string &name) const;
    /// The pure lets around.
    const LetScope &lets() const {
        return lets_;
    }

private:
    /// A let has first and last the same; a condition has no name and is `first`.
    struct Around {
        std::string name;
        Expr first, last;
        mutable std::optional<ConstantInterval> range;
        mutable std::optional<Interval> interval;
        /// What the condition leaves of the ranges of those of its variables that it narrows; an
        /// empty range: it is never met.
        mutable std::optional<ConstantRanges> narrowed;
        bool is_condition() const {
            return name.empty();
        }
        bool is_let() const {
            return !is_condition() && last.same_as(first);
        }
        bool is_integer() const;
    };
    enum class Of { Lets, All };

    void push(const std::string &name, const Expr &first, const Expr &last);
    // By what is outside of around_[end].
    const Around *find(const std::string &name, size_t end, size_t *index) const;
    struct VariableRange {
        ConstantInterval range;
        Type type;
    };
    std::optional<VariableRange> range_of_variable(const std::string &name, size_t end,
                                                   Of of = Of::All) const;
    Scope<Interval> ranges_of_variables(const Expr &e, size_t end, Of of = Of::All) const;
    const ConstantRanges &narrowed(size_t index) const;
    ConstantInterval range(const Expr &e, size_t end) const;
    Interval interval(const Expr &e, size_t end) const;
    Expr expanded(const Expr &e, size_t end) const;
    std::optional<int64_t> upper_bound_by_ranges(const Expr &e) const;
    std::optional<int64_t> upper_bound_under_conditions(const Expr &e) const;

    ConstantRanges given_;
    std::vector<Around> around_;  ///< outermost first
    LetScope lets_;               ///< the same: those of them that have pure values
};

/// The branches of an `if` as `rewrite` makes them, each where `known` has the condition that it runs under.
Stmt rewrite_branches(const IfThenElse *op, KnownHere &known,
                      const std::function<Stmt(const Stmt &)> &rewrite);

}  // namespace calotype::internal
