// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/launch_bounds.h"

#include <set>

#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/occupancy.h"

namespace calotype::internal {

namespace {

constexpr int most_registers = 80;

/// Of kernels by the names of their code: those whose blocks have one size, of which nothing says
/// yet how many are wanted.
std::set<std::string> boundable(const DeviceModule &module) {
    std::set<std::string> result;
    const std::vector<std::string> symbols = kernel_symbols(module);
    for (size_t i = 0; i < symbols.size(); i++) {
        const DeviceKernel &kernel = module.kernels[i];
        const auto &size = kernel.block_size;
        if (size[0] > 0 && size[1] > 0 && size[2] > 0 && wanted_blocks(kernel) == 0) {
            result.insert(symbols[i]);
        }
    }
    return result;
}

/// Shared memory of blocks is taken from the cache: more blocks gain nothing where they
/// take most of both.
bool leaves_cache(const KernelFacts &f, int blocks) {
    return blocks * f.static_shared_bytes * 2 <= architecture(int(f.sm)).shared_kib_per_sm * 1024;
}

/// All that other limits than registers allow, three quarters and half of it.
std::vector<int> levels_of(const KernelFacts &f) {
    KernelFacts unlimited = f;
    unlimited.registers = 0;
    fill_occupancy(unlimited);
    const int all = unlimited.blocks_per_sm;
    std::vector<int> levels;
    for (const int level : {all / 2, all * 3 / 4, all}) {
        if (level > f.blocks_per_sm && leaves_cache(f, level) &&
            (levels.empty() || level > levels.back())) {
            levels.push_back(level);
        }
    }
    return levels;
}

}  // namespace

LaunchBounds::LaunchBounds(const std::vector<KernelFacts> &facts, const DeviceModule &module) {
    const std::set<std::string> kernels = boundable(module);
    for (const KernelFacts &f : facts) {
        if (f.limited_by == "registers" && f.registers <= most_registers &&
            f.spill_store_bytes == 0 && kernels.count(f.kernel)) {
            std::vector<int> levels = levels_of(f);
            if (!levels.empty()) {
                levels_[f.kernel] = std::move(levels);
            }
        }
    }
}

DeviceModule LaunchBounds::apply(DeviceModule module) const {
    const std::vector<std::string> symbols = kernel_symbols(module);
    for (size_t i = 0; i < symbols.size(); i++) {
        const auto found = levels_.find(symbols[i]);
        if (found != levels_.end()) {
            module.kernels[i].min_blocks = found->second.back();
        }
    }
    return module;
}

bool LaunchBounds::relax(const std::vector<KernelFacts> &facts) {
    bool changed = false;
    for (const KernelFacts &f : facts) {
        const auto found = levels_.find(f.kernel);
        if (found == levels_.end() || f.spill_store_bytes == 0) {
            continue;
        }
        changed = true;
        found->second.pop_back();
        if (found->second.empty()) {
            levels_.erase(found);
        }
    }
    return changed;
}

}  // namespace calotype::internal
