// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranges of variables at a place inside of code, kept up to date by a walk over it. The
// boxes are made with it; not for passes.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "arith/bounds/bounds_engine.h"
#include "arith/bounds/correlated_differences.h"

namespace calotype::internal {

/// The intervals of all variables bound around the place where a walk stands, in terms of what is
/// free in the whole code.
///
/// A name that means several things in the code (bound twice, or bound and free) has another name
/// in here each time that it is bound, so that values of lets can be put in place of them anywhere.
class CodeBounds {
public:
    /// `code` is an Expr or Stmt: all that will be walked.
    template<typename Code>
    CodeBounds(const Code &code, const Scope<Interval> &vars, const FuncValueBounds &funcs);

    /// The bounds of e at this place, with a closer look where parts of an index move together.
    /// Ends may use names of `names`: see wrap.
    Interval bounds(const Expr &e);

    /// The ends that bounds() gave, as expressions that stand alone.
    Interval wrap(const Interval &i) const {
        return names_.wrap(i);
    }
    Expr wrap(const Expr &e) const {
        return names_.wrap(e);
    }
    Interval keep_small(const Interval &i) {
        return names_.keep_small(i);
    }

    /// Calls f where `name` is bound to a value from `first` to `last`.
    template<typename F>
    void with_loop(const std::string &name, const Expr &first, const Expr &last, F f) {
        const size_t outer = uneven_.size();
        begin_loop(name, first, last);
        f();
        uneven_.resize(outer);
        end(name);
    }
    /// Calls f where `name` is bound to the value.
    template<typename F>
    void with_let(const std::string &name, const Expr &value, F f) {
        begin_let(name, value);
        f();
        end_let();
        end(name);
    }
    /// Calls f where the condition is known to hold, or not to; not at all if that cannot be. f
    /// asks for no bounds that depend on other names than `needed` (null: on any), so that other
    /// lets keep theirs.
    template<typename F>
    void with_condition(const Expr &condition, bool holds,
                        const std::unordered_set<std::string> *needed, F f) {
        const Expr outer_used = used_;
        const std::set<std::string> outer_limited = limited_;
        const std::unordered_set<std::string> *outer_needed = needed_;
        std::vector<std::string> narrowed;
        needed_ = needed;
        const bool possible = assume_all(condition, holds, &narrowed);
        needed_ = outer_needed;
        if (possible) {
            f();
        }
        for (size_t i = narrowed.size(); i-- > 0;) {
            pop(narrowed[i]);
        }
        used_ = outer_used;
        limited_ = outer_limited;
    }

    /// What all conditions around say that is the same for all of the code; undefined for nothing.
    const Expr &used() const {
        return used_;
    }

private:
    /// A let around the place. All names are those used in here.
    struct Definition {
        std::string name;
        Expr value;
        bool movable = false;                 ///< the value is the same wherever the let is visible
        std::vector<std::string> depends_on;  ///< of the bound variables
        Directions directions;  ///< how the variables other than lets move the value, through
                                ///< other lets, too
    };

    /// A loop that goes further in some iterations of the loops around it than in others.
    struct UnevenLoop {
        std::string name;
        Expr last;
    };

    void begin_loop(const std::string &name, const Expr &first, const Expr &last);
    void find_ambiguous(const std::vector<std::string> &bound, const std::vector<std::string> &free,
                        const Scope<Interval> &vars);
    void begin(const std::string &name, const Interval &i);
    void end(const std::string &name);
    void begin_let(const std::string &name, const Expr &value);
    void end_let();
    bool assume_all(const Expr &condition, bool holds, std::vector<std::string> *narrowed);

    Expr renamed(const Expr &e) const;
    void push(const std::string &name, const Interval &i);
    void pop(const std::string &name);
    bool assume(const Expr &condition, std::vector<std::string> *narrowed);
    bool narrow(const std::vector<std::pair<std::string, Interval>> &found,
                std::vector<std::string> *narrowed);
    void recompute_lets(std::set<std::string> changed, std::vector<std::string> *narrowed);
    std::vector<bool> needed_lets() const;
    Expr expansion_of(const Definition &d) const;
    const Definition *definition_of(const std::string &name) const;
    /// Down to what no let defines, or to lets that conditions limit: what they say is not in the
    /// values of these.
    enum class Expansion { Full, UpToLimited };
    const Definition *innermost_let(const Expr &e, Expansion how) const;
    Directions directions_of(const Expr &e) const;
    bool may_cancel(const Expr &e) const;
    Expr expand_lets(const Expr &e, bool *cancelled, Expansion how = Expansion::Full) const;
    Interval uncorrelated_bounds(const Expr &e);
    bool is_fixed(const Expr &e) const;
    bool is_moved_variable(const Expr &e) const;
    bool depends_only_on_limited_let(const Expr &e) const;
    Interval cancelling_bounds(const Expr &e);
    Interval at_ends_of(const UnevenLoop &loop, const Expr &e, const Interval &known) const;
    Interval correlated_bounds(const Expr &e);

    const FuncValueBounds &funcs_;
    Scope<Interval> scope_;
    EndNames names_;
    std::unique_ptr<BoundsEngine> engine_;  ///< for the current scope, null after it has changed
    std::unordered_set<std::string> ambiguous_;
    Scope<std::string> renames_;
    int next_name_ = 0;
    std::vector<Definition> definitions_;
    std::unordered_map<std::string, size_t> definition_index_;
    std::vector<UnevenLoop> uneven_;  ///< outermost first
    std::set<std::string> limited_;   ///< variables of which a condition around says something
    const std::unordered_set<std::string> *needed_ = nullptr;  ///< while a condition is taken up
    Expr used_;
};

}  // namespace calotype::internal
