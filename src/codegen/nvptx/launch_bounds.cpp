// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/launch_bounds.h"

#include "codegen/nvptx/occupancy.h"

namespace calotype::internal {

namespace {

constexpr int most_registers = 80;

/// Where the directives of a kernel's entry end; npos if there is no such entry, or none of its
/// directives says how large blocks are, or one of them says already how many are wanted.
size_t end_of_directives(const std::string &ptx, const std::string &kernel) {
    const size_t entry = ptx.find(".entry " + kernel + "(");
    const size_t body = entry == std::string::npos ? entry : ptx.find("\n{", entry);
    if (body == std::string::npos) {
        return body;
    }
    const std::string head = ptx.substr(entry, body - entry);
    const bool has_size = head.find(".reqntid") != std::string::npos;
    const bool has_bound = head.find(".minnctapersm") != std::string::npos;
    return has_size && !has_bound ? body : std::string::npos;
}

/// All that other limits than registers allow, three quarters and half of it.
std::vector<int> levels_of(const KernelFacts &f) {
    KernelFacts unlimited = f;
    unlimited.registers = 0;
    fill_occupancy(unlimited);
    const int all = unlimited.blocks_per_sm;
    std::vector<int> levels;
    for (const int level : {all / 2, all * 3 / 4, all}) {
        if (level > f.blocks_per_sm && (levels.empty() || level > levels.back())) {
            levels.push_back(level);
        }
    }
    return levels;
}

}  // namespace

LaunchBounds::LaunchBounds(const std::vector<KernelFacts> &facts, const std::string &ptx) {
    for (const KernelFacts &f : facts) {
        if (f.limited_by == "registers" && f.registers <= most_registers &&
            f.spill_store_bytes == 0 && end_of_directives(ptx, f.kernel) != std::string::npos) {
            std::vector<int> levels = levels_of(f);
            if (!levels.empty()) {
                levels_[f.kernel] = std::move(levels);
            }
        }
    }
}

std::string LaunchBounds::apply(const std::string &ptx) const {
    std::string result = ptx;
    for (const auto &[kernel, levels] : levels_) {
        const size_t end = end_of_directives(result, kernel);
        if (end != std::string::npos) {
            result.insert(end, "\n.minnctapersm " + std::to_string(levels.back()));
        }
    }
    return result;
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
