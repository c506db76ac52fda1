// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/device_calls.h"

#include "ir/constants.h"
#include "ir/operators.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "support/error.h"

namespace calotype::internal {

Expr header_of(const std::string &name) {
    return Variable::make(header_type(), names::buffer(name));
}

Expr device_interface(const std::string &name, DeviceAPI api, const LowerContext &ctx) {
    const bool is_image = api == DeviceAPI::OpenCL && ctx.is_texture(name);
    const RuntimeFunctionInfo *get = device_interface_function(api, is_image);
    internal_assert(get) << "the runtime has no devices of " << to_string(api);
    return Call::make(get->result, get->name, {}, CallKind::PureExtern);
}

Stmt checked_call(RuntimeFunction function, std::vector<Expr> args, LowerContext &ctx) {
    args.insert(args.begin(), user_context());
    const std::string name = ctx.names.unique(runtime_function(function).name + ".result");
    const Expr result = names::var(name);
    return LetStmt::make(name, call_runtime(function, std::move(args)),
                         AssertStmt::make(result == 0, result));
}

Stmt copy_to_host(const std::string &name, LowerContext &ctx) {
    return checked_call(RuntimeFunction::copy_to_host, {header_of(name)}, ctx);
}

Stmt copy_to_device(const std::string &name, DeviceAPI api, LowerContext &ctx) {
    return checked_call(RuntimeFunction::copy_to_device,
                        {header_of(name), device_interface(name, api, ctx)}, ctx);
}

Stmt device_malloc(const std::string &name, DeviceAPI api, LowerContext &ctx) {
    return checked_call(RuntimeFunction::device_malloc,
                        {header_of(name), device_interface(name, api, ctx)}, ctx);
}

Stmt device_free_at_end(const std::string &name) {
    return at_exit(RuntimeFunction::device_free_as_destructor, header_of(name));
}

Stmt device_free(const std::string &name) {
    return Evaluate::make(
        call_runtime(RuntimeFunction::device_free, {user_context(), header_of(name)}));
}

namespace {

Stmt set_flag(Intrinsic flag, const std::string &name) {
    return Evaluate::make(Call::make(Int(32), flag, {header_of(name), const_true()}));
}

}  // namespace

Stmt set_host_dirty(const std::string &name) {
    return set_flag(Intrinsic::buffer_set_host_dirty, name);
}

Stmt set_device_dirty(const std::string &name) {
    return set_flag(Intrinsic::buffer_set_device_dirty, name);
}

}  // namespace calotype::internal
