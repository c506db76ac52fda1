// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the runtime that generated code calls: runtime_calls.def.
#pragma once

#include <string>
#include <vector>

#include "ir/enums.h"
#include "ir/expr.h"

namespace calotype::internal {

enum class RuntimeFunction : uint8_t {
#define RUNTIME_CALL(name, order) name,
#include "ir/conventions/runtime_calls.def"
};

/// What a call means for work on devices.
enum class DeviceOrder : uint8_t {
    Keeps,     ///< it queues nothing and waits for nothing there
    Changes,   ///< it may
    Releases,  ///< it lets other threads go on, which may
};

struct RuntimeFunctionInfo {
    RuntimeFunction function;
    std::string name;  ///< the symbol
    DeviceOrder order;
    bool is_void;                  ///< a call of it is an int32 in the IR all the same
    Type result;                   ///< of a call
    std::vector<Type> parameters;  ///< pointers of all kinds are handles

    /// True if it can be called with such arguments; signs of integers do not count.
    bool accepts(const std::vector<Expr> &args) const;
};

const RuntimeFunctionInfo &runtime_function(RuntimeFunction f);
/// Null if no function of the table has that symbol.
const RuntimeFunctionInfo *find_runtime_function(const std::string &symbol);

/// A call of f. The arguments must be what it takes.
Expr call_runtime(RuntimeFunction f, std::vector<Expr> args);
/// True for calls of f.
bool is_call(const Expr &e, RuntimeFunction f);
/// What has f(user_context, object) called when the function is left.
Stmt at_exit(RuntimeFunction f, const Expr &object);

/// Of a function with that symbol. Functions that are not in the table may do anything.
DeviceOrder device_order_of(const std::string &symbol);
/// The function that gives the device interface of an API, or of images there; null if the runtime
/// has none.
const RuntimeFunctionInfo *device_interface_function(DeviceAPI api, bool of_images = false);

}  // namespace calotype::internal
