// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExternFuncArgument: what may be passed to an extern stage.
#pragma once

#include <utility>

#include "ir/expr.h"
#include "pipeline/parameter.h"

namespace calotype {

namespace internal {
class FunctionContents;
}

struct ExternFuncArgument {
    enum ArgType { UndefinedArg = 0, FuncArg, BufferArg, ExprArg, ImageParamArg };
    ArgType arg_type = UndefinedArg;
    internal::IntrusivePtr<internal::FunctionContents> func;
    /// In a pipeline that is being lowered: the one value of the Func that is passed; -1: all.
    int value = -1;
    internal::Image buffer;
    Expr expr;
    Parameter image_param;

    ExternFuncArgument() = default;
    ExternFuncArgument(internal::IntrusivePtr<internal::FunctionContents> f);
    ExternFuncArgument(internal::Image b);
    /// A buffer of the language.
    template<typename B, typename = decltype(internal::Image(std::declval<const B &>().image()))>
    ExternFuncArgument(const B &b) : ExternFuncArgument(b.image()) {
    }
    ExternFuncArgument(Expr e);
    ExternFuncArgument(int e);
    ExternFuncArgument(float e);
    ExternFuncArgument(Parameter p);
    ~ExternFuncArgument();
    ExternFuncArgument(const ExternFuncArgument &);
    ExternFuncArgument &operator=(const ExternFuncArgument &);

    bool is_func() const {
        return arg_type == FuncArg;
    }
    bool is_expr() const {
        return arg_type == ExprArg;
    }
    bool is_buffer() const {
        return arg_type == BufferArg;
    }
    bool is_image_param() const {
        return arg_type == ImageParamArg;
    }
    bool defined() const {
        return arg_type != UndefinedArg;
    }
};

}  // namespace calotype
