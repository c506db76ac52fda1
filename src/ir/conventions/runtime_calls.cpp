// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/conventions/runtime_calls.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include "ir/stmt_nodes.h"
#include "runtime/abi/debug.h"
#include "runtime/abi/device_interface.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/abi/kernels.h"
#include "runtime/abi/matrix_tiles.h"
#include "runtime/abi/memoization.h"
#include "runtime/abi/memory.h"
#include "runtime/abi/profiler.h"
#include "runtime/abi/recording.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/abi/target_features.h"
#include "runtime/abi/threads.h"
#include "runtime/abi/tracing.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

template<typename T>
Type type_in_ir() {
    constexpr int bits = 8 * int(sizeof(T));
    if constexpr (std::is_pointer_v<T>) {
        return Handle();
    } else if constexpr (std::is_same_v<T, bool>) {
        return Bool();
    } else if constexpr (std::is_floating_point_v<T>) {
        return Float(bits);
    } else {
        return std::is_signed_v<T> ? Int(bits) : UInt(bits);
    }
}

/// A row, with the types of the function's C declaration.
template<typename Result, typename... Parameters>
RuntimeFunctionInfo info(RuntimeFunction f, const char *symbol, DeviceOrder order,
                         Result (*)(Parameters...)) {
    if constexpr (std::is_void_v<Result>) {
        return {f, symbol, order, true, Int(32), {type_in_ir<Parameters>()...}};
    } else {
        return {f, symbol, order, false, type_in_ir<Result>(), {type_in_ir<Parameters>()...}};
    }
}

// No function is linked: the type of a null pointer says what is needed.
const std::vector<RuntimeFunctionInfo> &table() {
    static const std::vector<RuntimeFunctionInfo> rows = {
#define RUNTIME_CALL(name, order)                                                                  \
    info(RuntimeFunction::name, "calotype_" #name, DeviceOrder::order,                             \
         static_cast<decltype(&calotype_##name)>(nullptr)),
#include "ir/conventions/runtime_calls.def"
    };
    return rows;
}

bool agree(const Type &given, const Type &wanted) {
    return given.is_scalar() && given.bits() == wanted.bits() &&
           given.is_handle() == wanted.is_handle() && given.is_float() == wanted.is_float();
}

}  // namespace

bool RuntimeFunctionInfo::accepts(const std::vector<Expr> &args) const {
    return std::equal(args.begin(), args.end(), parameters.begin(), parameters.end(),
                      [](const Expr &e, const Type &t) { return agree(e.type(), t); });
}

const RuntimeFunctionInfo &runtime_function(RuntimeFunction f) {
    return table().at(size_t(f));
}

const RuntimeFunctionInfo *find_runtime_function(const std::string &symbol) {
    static const std::map<std::string, const RuntimeFunctionInfo *> by_symbol = [] {
        std::map<std::string, const RuntimeFunctionInfo *> result;
        for (const RuntimeFunctionInfo &row : table()) {
            result.emplace(row.name, &row);
        }
        return result;
    }();
    const auto row = by_symbol.find(symbol);
    return row == by_symbol.end() ? nullptr : row->second;
}

Expr call_runtime(RuntimeFunction f, std::vector<Expr> args) {
    const RuntimeFunctionInfo &row = runtime_function(f);
    const Expr call = Call::make(row.result, row.name, std::move(args), CallKind::Extern);
    internal_assert(row.accepts(call.as<Call>()->args)) << "wrong arguments of " << row.name;
    return call;
}

bool is_call(const Expr &e, RuntimeFunction f) {
    const Call *call = e.as<Call>();
    return call && call->call_type == CallKind::Extern && call->name == runtime_function(f).name;
}

Stmt at_exit(RuntimeFunction f, const Expr &object) {
    return Evaluate::make(Call::make(Int(32), Intrinsic::register_destructor,
                                     {StringImm::make(runtime_function(f).name), object}));
}

DeviceOrder device_order_of(const std::string &symbol) {
    const RuntimeFunctionInfo *row = find_runtime_function(symbol);
    return row ? row->order : DeviceOrder::Changes;
}

const RuntimeFunctionInfo *device_interface_function(DeviceAPI api, bool of_images) {
    return find_runtime_function(std::string("calotype_") + to_string(api) +
                                 (of_images ? "_image_device_interface" : "_device_interface"));
}

}  // namespace calotype::internal
