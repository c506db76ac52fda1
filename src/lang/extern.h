// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Macros that declare C functions to be called from pipelines, at namespace scope:
//
//     CalotypeExtern_2(float, hypotf, float, float)     // may have effects
//     CalotypePureExtern_1(float, sqrtf, float)         // depends on its arguments alone
//     f(x) = hypotf(g(x), 1.0f);
#pragma once

#include <string>
#include <vector>

#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "support/error.h"

namespace calotype::internal {

/// A call of the C function; each argument must have the type of its parameter.
inline Expr make_extern_call(const char *name, const Type &result,
                             const std::vector<Type> &parameters, const std::vector<Expr> &args,
                             CallKind kind) {
    for (size_t i = 0; i < args.size(); i++) {
        user_assert(args[i].type() == parameters[i])
            << "argument " << i << " of extern function " << name << " has type " << args[i].type()
            << ", must be " << parameters[i];
    }
    return Call::make(result, name, args, kind);
}

}  // namespace calotype::internal

#define CALOTYPE_EXTERN_CALL(kind, rt, name, types, args)                                          \
    return calotype::internal::make_extern_call(#name, calotype::type_of<rt>(), types, args,       \
                                                calotype::internal::CallKind::kind);
#define CALOTYPE_LIST(...)                                                                         \
    { __VA_ARGS__ }

#define CALOTYPE_EXTERN_1(kind, rt, name, t1)                                                      \
    inline calotype::Expr name(const calotype::Expr &a1) {                                         \
        CALOTYPE_EXTERN_CALL(kind, rt, name, CALOTYPE_LIST(calotype::type_of<t1>()),               \
                             CALOTYPE_LIST(a1))                                                    \
    }
#define CALOTYPE_EXTERN_2(kind, rt, name, t1, t2)                                                  \
    inline calotype::Expr name(const calotype::Expr &a1, const calotype::Expr &a2) {               \
        CALOTYPE_EXTERN_CALL(kind, rt, name,                                                       \
                             CALOTYPE_LIST(calotype::type_of<t1>(), calotype::type_of<t2>()),      \
                             CALOTYPE_LIST(a1, a2))                                                \
    }
#define CALOTYPE_EXTERN_3(kind, rt, name, t1, t2, t3)                                              \
    inline calotype::Expr name(const calotype::Expr &a1, const calotype::Expr &a2,                 \
                               const calotype::Expr &a3) {                                         \
        CALOTYPE_EXTERN_CALL(kind, rt, name,                                                       \
                             CALOTYPE_LIST(calotype::type_of<t1>(), calotype::type_of<t2>(),       \
                                           calotype::type_of<t3>()),                               \
                             CALOTYPE_LIST(a1, a2, a3))                                            \
    }
#define CALOTYPE_EXTERN_4(kind, rt, name, t1, t2, t3, t4)                                          \
    inline calotype::Expr name(const calotype::Expr &a1, const calotype::Expr &a2,                 \
                               const calotype::Expr &a3, const calotype::Expr &a4) {               \
        CALOTYPE_EXTERN_CALL(kind, rt, name,                                                       \
                             CALOTYPE_LIST(calotype::type_of<t1>(), calotype::type_of<t2>(),       \
                                           calotype::type_of<t3>(), calotype::type_of<t4>()),      \
                             CALOTYPE_LIST(a1, a2, a3, a4))                                        \
    }
#define CALOTYPE_EXTERN_5(kind, rt, name, t1, t2, t3, t4, t5)                                      \
    inline calotype::Expr name(const calotype::Expr &a1, const calotype::Expr &a2,                 \
                               const calotype::Expr &a3, const calotype::Expr &a4,                 \
                               const calotype::Expr &a5) {                                         \
        CALOTYPE_EXTERN_CALL(kind, rt, name,                                                       \
                             CALOTYPE_LIST(calotype::type_of<t1>(), calotype::type_of<t2>(),       \
                                           calotype::type_of<t3>(), calotype::type_of<t4>(),       \
                                           calotype::type_of<t5>()),                               \
                             CALOTYPE_LIST(a1, a2, a3, a4, a5))                                    \
    }

#define CalotypeExtern_1(rt, name, t1) CALOTYPE_EXTERN_1(Extern, rt, name, t1)
#define CalotypeExtern_2(rt, name, t1, t2) CALOTYPE_EXTERN_2(Extern, rt, name, t1, t2)
#define CalotypeExtern_3(rt, name, t1, t2, t3) CALOTYPE_EXTERN_3(Extern, rt, name, t1, t2, t3)
#define CalotypeExtern_4(rt, name, t1, t2, t3, t4)                                                 \
    CALOTYPE_EXTERN_4(Extern, rt, name, t1, t2, t3, t4)
#define CalotypeExtern_5(rt, name, t1, t2, t3, t4, t5)                                             \
    CALOTYPE_EXTERN_5(Extern, rt, name, t1, t2, t3, t4, t5)
#define CalotypePureExtern_1(rt, name, t1) CALOTYPE_EXTERN_1(PureExtern, rt, name, t1)
#define CalotypePureExtern_2(rt, name, t1, t2) CALOTYPE_EXTERN_2(PureExtern, rt, name, t1, t2)
#define CalotypePureExtern_3(rt, name, t1, t2, t3)                                                 \
    CALOTYPE_EXTERN_3(PureExtern, rt, name, t1, t2, t3)
#define CalotypePureExtern_4(rt, name, t1, t2, t3, t4)                                             \
    CALOTYPE_EXTERN_4(PureExtern, rt, name, t1, t2, t3, t4)
#define CalotypePureExtern_5(rt, name, t1, t2, t3, t4, t5)                                         \
    CALOTYPE_EXTERN_5(PureExtern, rt, name, t1, t2, t3, t4, t5)
