// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/device_alignment.h"

#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "pipeline/parameter.h"

namespace calotype::internal {

Expr no_host_memory() {
    return Call::make(Handle(), Intrinsic::make_struct, {});
}

bool has_runtime_device_memory(const Allocate *op) {
    return !op->new_expr.defined() || equal(op->new_expr, no_host_memory());
}

Alignment promised_alignment(const LowerContext &ctx, const std::string &buffer, Type t) {
    const auto input = ctx.used.parameters.find(buffer);
    if (input != ctx.used.parameters.end()) {
        return {input->second.host_alignment(), 0};
    }
    for (const Function &f : ctx.outputs) {
        for (int i = 0; i < f.outputs(); i++) {
            if (f.buffer_name(i) == buffer) {
                return {f->output_buffers.at(size_t(i)).host_alignment(), 0};
            }
        }
    }
    return {t.bytes(), 0};
}

}  // namespace calotype::internal
