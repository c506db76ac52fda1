// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/copy_stage.h"

#include "ir/conventions/runtime_calls.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/host/device_calls.h"
#include "lower/nest/extern_stage.h"
#include "pipeline/inlined_calls.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

DeviceAPI destination(const Function &f, const LowerContext &ctx) {
    DeviceAPI api = *f->copy_to;
    if (api == DeviceAPI::Default_GPU) {
        api = ctx.target.get_required_device_api();
        user_assert(api != DeviceAPI::None)
            << "func " << f.name() << " is to be copied to a GPU, but target "
            << ctx.target.without_implied_features().to_string()
            << " has none: add cuda or opencl to it";
    }
    user_assert(ctx.target.supports_device_api(api))
        << "func " << f.name() << " is to be copied to " << to_string(api) << ", but target "
        << ctx.target.without_implied_features().to_string() << " does not have it";
    return api;
}

/// What the copied call is of.
ExternFuncArgument source_of(const Function &f, const Call *call, const LowerContext &ctx) {
    if (call->call_type == CallKind::Func) {
        const Function &source = ctx.env.at(call->name);
        user_assert(source.outputs() == 1)
            << "func " << f.name() << " is to be copied from func " << source.name()
            << ", which has " << source.outputs() << " values, must have 1";
        return ExternFuncArgument(source.contents());
    }
    return image_argument(*call);
}

/// A Func that is inlined and is itself a call at the same coordinates, as the Func that stands for
/// an input: that call, with the arguments of `e`.
Expr through_inlined(Expr e, const LowerContext &ctx) {
    for (;;) {
        const Call *call = e.as<Call>();
        internal_assert(call) << "what is to be copied is no call";
        const auto callee = ctx.env.find(call->name);
        if (call->call_type != CallKind::Func || callee == ctx.env.end() ||
            !ctx.is_inlined(callee->second) || callee->second.outputs() != 1) {
            return e;
        }
        const Function &g = callee->second;
        const Call *inner = wrapped_call(g->init->values[0], g.args());
        user_assert(inner) << "func " << g.name() << " is to be copied to or from a device, but is "
                           << "computed inline: give it storage with compute_root or compute_at";
        e = Call::make(inner->type, inner->name, call->args, inner->call_type, inner->value_index,
                       inner->symbol);
    }
}

void make_copy_stage(Function f, const LowerContext &ctx) {
    const DeviceAPI api = destination(f, ctx);
    const std::vector<Expr> values = f->init->values;
    user_assert(values.size() == 1) << "func " << f.name() << " has " << values.size()
                                    << " values: copy_to_device and copy_to_host copy one";
    const Expr copied = through_inlined(values[0], ctx);
    const Call *call = copied.as<Call>();
    const Expr interface = api == DeviceAPI::Host ? Call::make(Handle(), Intrinsic::make_struct, {})
                                                  : device_interface(f.name(), api, ctx);
    FunctionContents &contents = *f.edit();
    const auto storage = f.schedule().storage_dims;
    const auto output_buffers = contents.output_buffers;
    contents.init = DefinitionPtr();
    f.define_extern(runtime_function(RuntimeFunction::buffer_copy).name,
                    {ExternFuncArgument(user_context()), source_of(f, call, ctx),
                     ExternFuncArgument(interface)},
                    f.output_types(), f.args(), NameMangling::C, api);
    contents.extern_proxy_expr = copied;
    contents.schedule.storage_dims = storage;
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

}  // namespace calotype::internal
