// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/capability.h"

namespace calotype::internal {

namespace {

const Architecture architectures[] = {
#define ARCHITECTURE(sm, ptx, llvm_sm, threads, blocks, shared_sm, shared_block, reserved)         \
    {sm, ptx, llvm_sm, threads, blocks, shared_sm, shared_block, reserved},
#include "codegen/nvptx/architectures.def"
};

/// Drivers older than what knows this do not have what the runtime needs.
constexpr int oldest_capability = 50;

struct NamedCapability {
    Target::Feature feature;
    int sm;
};

/// The highest first: a target with one has all below it by implication.
const NamedCapability named_capabilities[] = {
    {Target::CUDACapability120, 120}, {Target::CUDACapability100, 100},
    {Target::CUDACapability90, 90},   {Target::CUDACapability89, 89},
    {Target::CUDACapability86, 86},   {Target::CUDACapability80, 80},
    {Target::CUDACapability75, 75},   {Target::CUDACapability70, 70},
    {Target::CUDACapability61, 61},   {Target::CUDACapability50, 50},
    {Target::CUDACapability35, 35},   {Target::CUDACapability32, 32},
    {Target::CUDACapability30, 30},
};

/// 0 if it names none.
int named_capability(const Target &target) {
    for (const NamedCapability &named : named_capabilities) {
        if (target.has_feature(named.feature)) {
            return named.sm;
        }
    }
    return 0;
}

}  // namespace

std::string to_string(Capability capability) {
    std::string text = "sm_" + std::to_string(capability.sm);
    return capability.suffix ? text + capability.suffix : text;
}

const Architecture &architecture(int sm) {
    const Architecture *best = &architectures[0];
    for (const Architecture &a : architectures) {
        if (a.sm <= sm) {
            best = &a;
        }
    }
    return *best;
}

Capability ptx_capability(const Target &target) {
    int named = named_capability(target);
    return {named ? named : oldest_capability, 0};
}

std::vector<Capability> cubin_capabilities(const Target &target) {
    if (int named = named_capability(target)) {
        return {{named, 0}};
    }
    return {{80, 0}, {90, 0}};
}

}  // namespace calotype::internal
