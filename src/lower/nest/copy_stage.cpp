// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/copy_stage.h"

#include "lower/checks/error_call.h"
#include "lower/gpu/device_calls.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

DeviceAPI destination(const Function &f, const LowerContext &ctx) {
    DeviceAPI api = *f->copy_to;
    if (api == DeviceAPI::Default_GPU) {
        api = ctx.target.get_required_device_api();
        user_assert(api != DeviceAPI::None)
            << "func " << f.name() << " is to be copied to a GPU, but target "
            << ctx.target.to_string() << " has none: add cuda or opencl to it";
    }
    user_assert(ctx.target.supports_device_api(api))
        << "func " << f.name() << " is to be copied to " << to_string(api) << ", but target "
        << ctx.target.to_string() << " does not have it";
    return api;
}

/// What the copied call is of.
ExternFuncArgument source_of(const Function &f, const Call *call) {
    if (call->call_kind == CallKind::Func) {
        const Function source(call->symbol);
        user_assert(source.outputs() == 1)
            << "func " << f.name() << " is to be copied from func " << source.name()
            << ", which has " << source.outputs() << " values, must have 1";
        return ExternFuncArgument(source.contents());
    }
    if (call->symbol->kind == SymbolKind::Parameter) {
        return ExternFuncArgument(Parameter(call->symbol));
    }
    return ExternFuncArgument(Image(static_cast<ImageContents *>(call->symbol.get())));
}

void make_copy_stage(Function f, const LowerContext &ctx) {
    const DeviceAPI api = destination(f, ctx);
    const std::vector<Expr> values = f->init->values;
    user_assert(values.size() == 1) << "func " << f.name() << " has " << values.size()
                                    << " values: copy_to_device and copy_to_host copy one";
    const Call *call = values[0].as<Call>();
    internal_assert(call) << "func " << f.name() << " copies no call";
    const Expr interface = api == DeviceAPI::Host ? Call::make(Handle(), Intrinsic::make_struct, {})
                                                  : device_interface(api);
    FunctionContents &contents = *f.contents();
    const auto storage = f.schedule().storage_dims;
    const auto output_buffers = contents.output_buffers;
    contents.init = DefinitionPtr();
    f.define_extern(
        "calotype_buffer_copy",
        {ExternFuncArgument(user_context()), source_of(f, call), ExternFuncArgument(interface)},
        f.output_types(), f.args(), NameMangling::C, api);
    contents.extern_proxy_expr = values[0];
    f.schedule().storage_dims = storage;
    contents.output_buffers = output_buffers;
}

}  // namespace

void make_copy_stages(LowerContext &ctx) {
    for (const auto &entry : ctx.env) {
        if (entry.second->copy_to) {
            make_copy_stage(entry.second, ctx);
        }
    }
}

bool is_copy_stage(const Function &f) {
    return f->copy_to.has_value() && f.has_extern_definition();
}

}  // namespace calotype
