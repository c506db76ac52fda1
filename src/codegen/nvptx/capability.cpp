// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/capability.h"

namespace calotype::internal {

namespace {

const Architecture architectures[] = {
#define ARCHITECTURE(sm, ptx, llvm_sm, threads, blocks, shared_sm, reserved)                       \
    {sm, ptx, llvm_sm, threads, blocks, shared_sm, reserved},
#include "codegen/nvptx/architectures.def"
};

/// Drivers older than what knows this do not have what the runtime needs.
constexpr int oldest_capability = 50;

struct NamedCapability {
    Target::Feature feature;
    Capability capability;
};

/// The highest first.
const NamedCapability named_capabilities[] = {
    {Target::CUDACapability120, {120, 0}},  {Target::CUDACapability100, {100, 0}},
    {Target::CUDACapability90a, {90, 'a'}}, {Target::CUDACapability90, {90, 0}},
    {Target::CUDACapability89, {89, 0}},    {Target::CUDACapability86, {86, 0}},
    {Target::CUDACapability80, {80, 0}},    {Target::CUDACapability75, {75, 0}},
    {Target::CUDACapability70, {70, 0}},    {Target::CUDACapability61, {61, 0}},
    {Target::CUDACapability50, {50, 0}},    {Target::CUDACapability35, {35, 0}},
    {Target::CUDACapability32, {32, 0}},    {Target::CUDACapability30, {30, 0}},
};

/// Those that the target names, the lowest first. A target with all up to the highest is one to
/// which implied features were added: it names the highest.
std::vector<Capability> named(const Target &target) {
    std::vector<Capability> list;
    bool has_all = true;
    for (const NamedCapability &n : named_capabilities) {
        const bool is_named = target.has_feature(n.feature);
        has_all &= is_named || list.empty() || n.capability.suffix;
        if (is_named) {
            list.insert(list.begin(), n.capability);
        }
    }
    return has_all && list.size() > 1 ? std::vector<Capability>{list.back()} : list;
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

bool names_capability(const Target &target) {
    return !named(target).empty();
}

Capability ptx_capability(const Target &target) {
    const std::vector<Capability> list = named(target);
    return list.empty() ? Capability{oldest_capability, 0} : list[0];
}

std::vector<Capability> cubin_capabilities(const Target &target) {
    const std::vector<Capability> list = named(target);
    return list.empty() ? std::vector<Capability>{{80, 0}, {90, 0}} : list;
}

}  // namespace calotype::internal
