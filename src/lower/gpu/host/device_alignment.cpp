// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/device_alignment.h"

#include "ir/expr_nodes.h"
#include "pipeline/parameter.h"

namespace calotype::internal {

bool has_runtime_device_memory(const Allocate *op) {
    const Call *given = op->new_expr.defined() ? op->new_expr.as<Call>() : nullptr;
    const bool is_null =
        given && given->is_intrinsic(Intrinsic::make_struct) && given->args.empty();
    return !op->new_expr.defined() || is_null;
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
