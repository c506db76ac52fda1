// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ImageParam: a buffer that a pipeline takes. OutputImageParam: one that it fills, or what both
// have in common.
#pragma once

#include <string>
#include <vector>

#include "ir/argument.h"
#include "lang/buffer.h"
#include "lang/dimension.h"
#include "lang/func_ref.h"
#include "lang/var.h"
#include "pipeline/function.h"
#include "pipeline/parameter.h"

namespace calotype {

class Func;

/// The constraints on a buffer.
class OutputImageParam {
public:
    OutputImageParam() = default;
    OutputImageParam(const Parameter &p, Argument::Kind kind, const internal::Function &f)
        : parameter_(p), kind_(kind), function_(f) {
    }

    const std::string &name() const {
        return parameter_.name();
    }
    Type type() const {
        return parameter_.type();
    }
    bool defined() const {
        return parameter_.defined();
    }
    int dimensions() const {
        return parameter_.dimensions();
    }
    internal::Dimension dim(int i) const {
        return internal::Dimension(parameter_, i);
    }
    /// The host address must be a multiple of so many bytes, a power of two.
    int host_alignment() const {
        return parameter_.host_alignment();
    }
    OutputImageParam &set_host_alignment(int bytes);
    /// What dimension i typically spans.
    OutputImageParam &set_estimates(const Region &estimates);
    OutputImageParam &store_in(MemoryType type);

    /// Lowest and highest coordinate in x and y, and extents of x, y and c.
    Expr left() const {
        return dim(0).min();
    }
    Expr right() const {
        return dim(0).max();
    }
    Expr top() const {
        return dim(1).min();
    }
    Expr bottom() const {
        return dim(1).max();
    }
    Expr width() const {
        return dim(0).extent();
    }
    Expr height() const {
        return dim(1).extent();
    }
    Expr channels() const {
        return dim(2).extent();
    }

    const Parameter &parameter() const {
        return parameter_;
    }
    operator Argument() const;
    operator ExternFuncArgument() const;

protected:
    Parameter parameter_;
    Argument::Kind kind_ = Argument::InputBuffer;
    internal::Function function_;
};

/// A buffer argument of the pipeline.
///
///     ImageParam input(UInt(8), 2, "input");
///     f(x, y) = input(x, y) + 1;
class ImageParam : public OutputImageParam {
public:
    ImageParam() = default;
    ImageParam(Type t, int dimensions);
    ImageParam(Type t, int dimensions, const std::string &name);

    /// The buffer for runs in this process. A CompileError if type or dimensions differ.
    void set(const Buffer<> &b);
    Buffer<> get() const;
    /// Take the buffer away.
    void reset();

    /// The element at these coordinates; `_` stands for those left out.
    Expr operator()(std::vector<Expr> args) const;
    Expr operator()(std::vector<Var> args) const;
    template<typename... Args>
    std::enable_if_t<(std::is_convertible<Args, Expr>::value && ...), Expr>
    operator()(Args &&...args) const {
        return (*this)(std::vector<Expr>{Expr(std::forward<Args>(args))...});
    }
    /// A Func of the same elements.
    operator Func() const;
    /// As Func::in: a copy of the input that `f` (or `fs`, or all) reads in its place.
    Func in(const Func &f);
    Func in(const std::vector<Func> &fs);
    Func in();
    void trace_loads();
    ImageParam &add_trace_tag(const std::string &tag);

private:
    void check_defined() const;
};

}  // namespace calotype
