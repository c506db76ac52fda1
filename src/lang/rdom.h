// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RDom and RVar: the loops of a reduction.
#pragma once

#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/expr.h"
#include "pipeline/reduction.h"

namespace calotype {

class OutputImageParam;
template<typename T, int Dims>
class Buffer;

/// One loop of a reduction: dimension `i` of an RDom, or a name for a loop made by a schedule.
class RVar {
public:
    /// A loop made by split, fuse, rename or rfactor, with a name of its own making.
    RVar();
    explicit RVar(const std::string &name);
    RVar(const internal::ReductionDomain &domain, int index);

    /// Lowest value and number of values; undefined for a loop that is not of an RDom.
    Expr min() const;
    Expr extent() const;
    const std::string &name() const {
        return name_;
    }
    internal::ReductionDomain domain() const {
        return domain_;
    }
    /// A CompileError if the RVar is not of an RDom.
    operator Expr() const;

private:
    std::string name_;
    internal::ReductionDomain domain_;
    int index_ = -1;
};

inline bool is_reduction_variable(const RVar &) {
    return true;
}

/// A reduction domain of any number of dimensions: x innermost, then y, z and w.
///
///     RDom r(0, width, 0, height);          // r.x in [0, width), r.y in [0, height)
///     r.where(r.x < r.y);                   // only there
///     histogram(image(r.x, r.y)) += 1;
///
/// The bounds must be int32 and must not depend on Vars or other RVars.
class RDom {
public:
    RDom() = default;
    /// A range a dimension.
    RDom(const Region &region, const std::string &name = "");
    /// Pairs of min and extent, at the end perhaps a name.
    template<typename... Args>
    RDom(const Expr &min, const Expr &extent, Args &&...args) {
        std::vector<Expr> bounds{min, extent};
        std::string name;
        (add_argument(bounds, name, std::forward<Args>(args)), ...);
        init(bounds, name);
    }
    /// All coordinates of a buffer.
    RDom(const Buffer<void, -1> &buffer);
    RDom(const OutputImageParam &buffer);
    template<typename T, int Dims>
    RDom(const Buffer<T, Dims> &buffer) : RDom(Buffer<void, -1>(buffer)) {
    }
    explicit RDom(const internal::ReductionDomain &domain);

    internal::ReductionDomain domain() const {
        return domain_;
    }
    bool defined() const {
        return domain_.defined();
    }
    bool same_as(const RDom &other) const {
        return domain_.same_as(other.domain_);
    }
    int dimensions() const;
    /// Dimension i, innermost first.
    RVar operator[](int i) const;
    /// The only dimension of a one-dimensional domain.
    operator RVar() const;
    operator Expr() const;
    /// Restrict the domain to points where the condition holds. Only before the first use in a
    /// definition.
    void where(Expr condition);

    /// The first four dimensions, as far as there are so many.
    RVar x, y, z, w;

private:
    void init(const std::vector<Expr> &bounds, const std::string &name);
    void init(const Region &region, const std::string &name);
    void init_vars();
    template<typename T>
    static void add_argument(std::vector<Expr> &bounds, std::string &name, T &&arg) {
        if constexpr (std::is_convertible<T, std::string>::value) {
            name = std::forward<T>(arg);
        } else {
            bounds.push_back(Expr(std::forward<T>(arg)));
        }
    }

    internal::ReductionDomain domain_;
};

/// As "r$x in [0, 10)"; of a loop that is not of an RDom, its name.
std::ostream &operator<<(std::ostream &out, const RVar &v);
/// As "RDom(r$x in [0, 10), r$y in [0, 5))".
std::ostream &operator<<(std::ostream &out, const RDom &r);

}  // namespace calotype
