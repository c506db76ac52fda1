// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/context.h"

#include "arith/finite_floats.h"
#include "ir/constants.h"

namespace calotype::internal {

bool LowerContext::is_output(const std::string &name) const {
    for (const Function &f : outputs) {
        if (f.name() == name) {
            return true;
        }
    }
    return false;
}

bool LowerContext::is_inlined(const Function &f) const {
    return !is_output(f.name()) && f.schedule().compute_level.is_inlined() && f.can_be_inlined();
}

const Function *LowerContext::function_of_buffer(const std::string &buffer) const {
    auto it = env.find(buffer);
    if (it != env.end()) {
        return &it->second;
    }
    for (const auto &[name, f] : env) {
        for (int i = 0; i < f.outputs() && f.outputs() > 1; i++) {
            if (f.buffer_name(i) == buffer) {
                return &f;
            }
        }
    }
    return nullptr;
}

bool LowerContext::is_texture(const std::string &buffer) const {
    const auto input = used.parameters.find(buffer);
    if (input != used.parameters.end()) {
        return input->second.memory_type() == MemoryType::GPUTexture;
    }
    const Function *f = function_of_buffer(buffer);
    if (!f || f->schedule().memory_type == MemoryType::GPUTexture) {
        return f != nullptr;
    }
    const std::vector<Parameter> &outputs = (*f)->output_buffers;
    for (int i = 0; i < int(outputs.size()); i++) {
        if (f->buffer_name(i) == buffer) {
            return outputs[i].memory_type() == MemoryType::GPUTexture;
        }
    }
    return false;
}

Stmt LowerContext::simplified(const Stmt &s) const {
    return target.has_feature(Target::StrictFloat) ? simplify(s) : simplify_finite(s);
}

ConstantRanges LowerContext::ranges_of_parameters() const {
    ConstantRanges ranges;
    for (const auto &[name, p] : used.parameters) {
        if (!p.is_buffer() && p.type() == Int(32)) {
            const ConstantInterval range(as_const_int(p.min_value()), as_const_int(p.max_value()));
            if (range.min || range.max) {
                ranges[name] = range;
            }
        }
    }
    return ranges;
}

}  // namespace calotype::internal
