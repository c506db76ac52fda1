// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Box: a rectangle of coordinates of a Func or image; and the boxes that a piece of code reads and
// writes.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arith/bounds.h"

namespace calotype::internal {

/// One interval a dimension, and the condition under which any of it is touched.
struct Box {
    std::vector<Interval> bounds;
    Expr used;  ///< undefined: always (as far as known); never depends on variables bound inside of
                ///< the code

    Box() = default;
    explicit Box(size_t dimensions) : bounds(dimensions) {
    }
    explicit Box(std::vector<Interval> bounds) : bounds(std::move(bounds)) {
    }

    size_t size() const {
        return bounds.size();
    }
    bool empty() const {
        return bounds.empty();
    }
    Interval &operator[](size_t i) {
        return bounds[i];
    }
    const Interval &operator[](size_t i) const {
        return bounds[i];
    }
    void resize(size_t n) {
        bounds.resize(n);
    }
    void push_back(const Interval &i) {
        bounds.push_back(i);
    }
    auto begin() const {
        return bounds.begin();
    }
    auto end() const {
        return bounds.end();
    }
    /// `used` is a real condition.
    bool maybe_unused() const;
};

/// Grow `a` to contain `b`; dimensions must agree unless `a` is empty. Where a box is not used, its
/// bounds do not count.
void merge_boxes(Box &a, const Box &b);
Box box_union(const Box &a, const Box &b);
/// The coordinates in both; used where both are.
Box box_intersection(const Box &a, const Box &b);
/// False only if it is provable that no coordinate is in both.
bool boxes_overlap(const Box &a, const Box &b);
/// True only if it is provable that every coordinate of `inner` is in `outer`.
bool box_contains(const Box &outer, const Box &inner);
/// Ends simplified.
Box simplify(const Box &b);

/// What each Func or image is touched at: reads (Call of kind Func or Image), writes (Provide), or
/// both.
///
/// `vars` gives the ranges of variables that the result must not contain; other free variables of
/// the code stay symbolic. Loop variables and lets inside are ranged over, conditions (IfThenElse,
/// the if_then_else intrinsic, predicates of Provide) narrow them, and a condition that is the same
/// for all of the code becomes the box's `used`. Ends are simplified. They are missing where the
/// code touches coordinates without a bound.
/// An extern stage says what it touches by declare_box_touched(f(corner), f(other corner), ...),
/// which counts as read and written.
std::map<std::string, Box> boxes_required(const Expr &e,
                                          const Scope<Interval> &vars = Scope<Interval>(),
                                          const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_required(const Stmt &s,
                                          const Scope<Interval> &vars = Scope<Interval>(),
                                          const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_provided(const Expr &e,
                                          const Scope<Interval> &vars = Scope<Interval>(),
                                          const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_provided(const Stmt &s,
                                          const Scope<Interval> &vars = Scope<Interval>(),
                                          const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_touched(const Expr &e,
                                         const Scope<Interval> &vars = Scope<Interval>(),
                                         const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_touched(const Stmt &s,
                                         const Scope<Interval> &vars = Scope<Interval>(),
                                         const FuncValueBounds &funcs = {});

/// The same for some names; costs no more than what these depend on.
std::map<std::string, Box> boxes_required(const Stmt &s, const std::set<std::string> &names,
                                          const Scope<Interval> &vars = Scope<Interval>(),
                                          const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_provided(const Stmt &s, const std::set<std::string> &names,
                                          const Scope<Interval> &vars = Scope<Interval>(),
                                          const FuncValueBounds &funcs = {});
std::map<std::string, Box> boxes_touched(const Stmt &s, const std::set<std::string> &names,
                                         const Scope<Interval> &vars = Scope<Interval>(),
                                         const FuncValueBounds &funcs = {});

/// The same for one name; an empty Box (no dimensions) if it is not touched.
Box box_required(const Expr &e, const std::string &name,
                 const Scope<Interval> &vars = Scope<Interval>(),
                 const FuncValueBounds &funcs = {});
Box box_required(const Stmt &s, const std::string &name,
                 const Scope<Interval> &vars = Scope<Interval>(),
                 const FuncValueBounds &funcs = {});
Box box_provided(const Expr &e, const std::string &name,
                 const Scope<Interval> &vars = Scope<Interval>(),
                 const FuncValueBounds &funcs = {});
Box box_provided(const Stmt &s, const std::string &name,
                 const Scope<Interval> &vars = Scope<Interval>(),
                 const FuncValueBounds &funcs = {});
Box box_touched(const Expr &e, const std::string &name,
                const Scope<Interval> &vars = Scope<Interval>(), const FuncValueBounds &funcs = {});
Box box_touched(const Stmt &s, const std::string &name,
                const Scope<Interval> &vars = Scope<Interval>(), const FuncValueBounds &funcs = {});

std::ostream &operator<<(std::ostream &out, const Box &b);

}  // namespace calotype::internal
