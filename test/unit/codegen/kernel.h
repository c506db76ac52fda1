// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling small functions in process and running them, for tests of code generation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/jit.h"
#include "codegen/module.h"
#include "ir/module.h"
#include "ir/operators.h"

namespace calotype::internal {

/// Targets that this machine can run, from the oldest to its own.
const std::vector<Target> &runnable_targets();

/// A handle argument: loads and stores of buffer `name` go to the address given.
LoweredArgument pointer_argument(const std::string &name);
LoweredArgument scalar_argument(const std::string &name, Type t);
LoweredArgument buffer_argument(const std::string &name, Type t, int dimensions);

/// A module of one function "f".
LoweredModule one_function(const std::vector<LoweredArgument> &args, const Stmt &body,
                           LinkageType linkage = LinkageType::External);

/// Compiles for the target and loads; `symbols` stand for the runtime.
std::shared_ptr<JitLibrary> load_module(const LoweredModule &module, const Target &target,
                                        const JitSymbols &symbols = {});

/// The first lanes of a buffer.
Expr load(Type t, const char *name);
/// What storing an expression of the buffers a, b and c becomes.
std::string assembly(const char *target, const Expr &e);
/// How often the text has `what`.
size_t count(const std::string &text, const std::string &what);

/// A function of vectors: applied to `lanes` elements of its operands at a time.
using VectorFunction = std::function<Expr(const std::vector<Expr> &)>;

/// out[i] = f(operands[0][i], ...) for all i < count, `lanes` at a time; count is a multiple of it.
void map_vectors(const Target &target, int lanes, int count, const VectorFunction &f,
                 const std::vector<std::pair<Type, const void *>> &operands, void *out);

/// The same for one or two operands of C++ types.
template<typename R, typename A>
std::vector<R> map1(const Target &target, int lanes, const std::vector<A> &a,
                    const std::function<Expr(Expr)> &f) {
    std::vector<R> out(a.size());
    map_vectors(
        target, lanes, int(a.size()), [&](const std::vector<Expr> &x) { return f(x[0]); },
        {{type_of<A>(), a.data()}}, out.data());
    return out;
}
template<typename R, typename A, typename B>
std::vector<R> map2(const Target &target, int lanes, const std::vector<A> &a,
                    const std::vector<B> &b, const std::function<Expr(Expr, Expr)> &f) {
    std::vector<R> out(a.size());
    map_vectors(
        target, lanes, int(a.size()), [&](const std::vector<Expr> &x) { return f(x[0], x[1]); },
        {{type_of<A>(), a.data()}, {type_of<B>(), b.data()}}, out.data());
    return out;
}

}  // namespace calotype::internal
