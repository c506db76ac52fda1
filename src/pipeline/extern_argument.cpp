// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/extern_argument.h"

#include "pipeline/function.h"

namespace calotype {

using namespace internal;

ExternFuncArgument::ExternFuncArgument(IntrusivePtr<FunctionContents> f)
    : arg_type(FuncArg), func(std::move(f)) {
}

ExternFuncArgument::ExternFuncArgument(Image b) : arg_type(BufferArg), buffer(std::move(b)) {
}

ExternFuncArgument::ExternFuncArgument(Expr e) : arg_type(ExprArg), expr(std::move(e)) {
}

ExternFuncArgument::ExternFuncArgument(int e) : arg_type(ExprArg), expr(e) {
}

ExternFuncArgument::ExternFuncArgument(float e) : arg_type(ExprArg), expr(e) {
}

ExternFuncArgument::ExternFuncArgument(Parameter p)
    // A scalar argument is simply an expression.
    : arg_type(p.is_buffer() ? ImageParamArg : ExprArg) {
    if (p.is_buffer()) {
        image_param = std::move(p);
    } else {
        expr = p.as_expr();
    }
}

ExternFuncArgument::~ExternFuncArgument() = default;
ExternFuncArgument::ExternFuncArgument(const ExternFuncArgument &) = default;
ExternFuncArgument &ExternFuncArgument::operator=(const ExternFuncArgument &) = default;

}  // namespace calotype
