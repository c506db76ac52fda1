// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/select_gpu_api.h"

#include "ir/mutator.h"
#include "ir/with.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class SelectGpuApi : public StmtMutator {
public:
    explicit SelectGpuApi(const LowerContext &ctx)
        : ctx_(ctx), default_api_(ctx.target.get_required_device_api()) {
    }

private:
    using Mutator::visit;

    std::string func_of(const For *loop) const {
        const auto it = ctx_.loops.find(loop->name);
        return it == ctx_.loops.end() ? loop->name : it->second.func;
    }

    Stmt visit(const For *op) override {
        DeviceAPI api = op->device_api;
        if (api == DeviceAPI::Default_GPU) {
            api = default_api_;
            user_assert(api != DeviceAPI::None)
                << "func " << func_of(op) << " is scheduled on a GPU, but target "
                << ctx_.target.without_implied_features().to_string()
                << " has none: add cuda or opencl to it";
        }
        user_assert(api <= DeviceAPI::Vulkan)
            << "func " << func_of(op) << " is scheduled on " << to_string(api)
            << ", which this build makes no code for: cuda and opencl are the devices it has";
        user_assert(api != DeviceAPI::Host || outer_ == DeviceAPI::None)
            << "func " << func_of(op) << " is scheduled on the host inside of a loop on "
            << to_string(outer_);
        user_assert(ctx_.target.supports_device_api(api))
            << "func " << func_of(op) << " is scheduled on " << to_string(api) << ", but target "
            << ctx_.target.without_implied_features().to_string() << " does not have it";
        if (is_gpu(op->for_type)) {
            user_assert(api == DeviceAPI::CUDA || api == DeviceAPI::OpenCL)
                << "func " << func_of(op) << " has " << to_string(op->for_type) << " loop "
                << op->name << " on " << to_string(api)
                << ", for which no kernels are made: cuda and opencl have them";
            user_assert(outer_ == DeviceAPI::None || outer_ == api)
                << "func " << func_of(op) << " is scheduled on " << to_string(api)
                << " inside of a loop on " << to_string(outer_);
            const DeviceAPI outside = outer_;
            outer_ = api;
            const Stmt body = mutate(op->body);
            outer_ = outside;
            return rebuilt(op, api, body);
        }
        return rebuilt(op, api, mutate(op->body));
    }

    static Stmt rebuilt(const For *op, DeviceAPI api, const Stmt &body) {
        return api == op->device_api && body.same_as(op->body)
                   ? Stmt(op)
                   : with(op, &For::device_api, api, &For::body, body);
    }

    const LowerContext &ctx_;
    const DeviceAPI default_api_;
    DeviceAPI outer_ = DeviceAPI::None;  ///< of the kernel that we are in
};

}  // namespace

Stmt select_gpu_api(const Stmt &s, LowerContext &ctx) {
    return SelectGpuApi(ctx).mutate(s);
}

}  // namespace calotype::internal
