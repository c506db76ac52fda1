// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/launch_bounds.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/cubin.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/occupancy.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Kernels with more hold a tile in them.
constexpr int most_registers = 80;

/// Kernels by the names of their code: those whose blocks have one size, of which nothing says yet how
/// many are wanted.
std::map<std::string, const DeviceKernel *> boundable(const DeviceModule &module) {
    std::map<std::string, const DeviceKernel *> result;
    const std::vector<std::string> symbols = kernel_symbols(module);
    for (size_t i = 0; i < symbols.size(); i++) {
        const DeviceKernel &kernel = module.kernels[i];
        const auto &size = kernel.block_size;
        if (size[0] > 0 && size[1] > 0 && size[2] > 0 && wanted_blocks(kernel) == 0) {
            result[symbols[i]] = &kernel;
        }
    }
    return result;
}

/// Shared memory of blocks is taken from the cache: more blocks gain nothing where they
/// take most of both.
bool leaves_cache(const KernelFacts &f, int blocks) {
    return blocks * f.static_shared_bytes * 2 <= architecture(int(f.sm)).shared_kib_per_sm * 1024;
}

/// All that other limits than registers allow.
int blocks_without_registers(KernelFacts f) {
    f.registers = 0;
    fill_occupancy(f);
    return f.blocks_per_sm;
}

/// Numbers of blocks that may do better than what registers leave room for. Once half of the threads are
/// there, a loop does more with its registers, which hold the loads of its next iterations, than the other
/// half could. A tile is worth half of the blocks at most, and a third as many again at the least.
std::vector<int> levels_of(const KernelFacts &f, bool has_loops) {
    const int all = blocks_without_registers(f);
    const bool has_tile = f.registers > most_registers;
    const int threads = has_tile ? all * f.threads : architecture(int(f.sm)).threads_per_sm;
    const int least = f.blocks_per_sm + (has_tile ? (f.blocks_per_sm + 2) / 3 : 1);
    std::vector<int> levels;
    for (const int eighths : has_loops || has_tile ? std::array{2, 3, 4} : std::array{4, 6, 8}) {
        const int wanted = threads * eighths / 8;
        const int level = std::min((wanted + f.threads - 1) / f.threads, all);
        if (level >= least && leaves_cache(f, level) && (levels.empty() || level > levels.back())) {
            levels.push_back(level);
        }
    }
    return levels;
}

int count(std::string_view text, std::string_view what) {
    int result = 0;
    for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) {
        result++;
    }
    return result;
}

/// Whether LLVM left a loop of it: a branch to a label further up.
bool has_loop(std::string_view code) {
    for (size_t at = code.find("\n$L_"); at != code.npos; at = code.find("\n$L_", at + 1)) {
        const std::string_view label = code.substr(at + 1, code.find(':', at) - at - 1);
        const std::string target = "\t" + std::string(label) + ";";
        if (code.find(target, at) != code.npos) {
            return true;
        }
    }
    return false;
}

/// Whether a kernel multiplies and adds several times for each load, as a product of matrices does that keeps a tile
/// in registers: those are what it is fast with, and more threads would get no more done.
bool computes_more_than_it_loads(std::string_view code) {
    constexpr int several = 2;
    const int products = count(code, "\tfma.") + count(code, "\tmad.");
    return products > several * (count(code, "\tld.global.") + count(code, "\tld.shared."));
}

/// Whether registers are what a kernel is fast with. Instructions that multiply matrices have their tiles there, and with
/// too few those of warpgroups are refused, and the whole module with them.
bool needs_registers(const KernelFacts &f, std::string_view code) {
    const bool has_tile = f.registers > most_registers;
    return count(code, "wgmma.") > 0 ||
           (has_tile && (count(code, "mma.sync.") > 0 || computes_more_than_it_loads(code)));
}

/// Behind the directive that says how large the blocks of a kernel are.
void insert_bound(const std::string &kernel, int blocks, std::string &ptx) {
    const size_t entry = ptx.find(".entry " + kernel + "(");
    const size_t size = ptx.find(".reqntid", entry);
    internal_assert(size != std::string::npos) << "PTX of no kernel " << kernel;
    ptx.insert(ptx.find('\n', size), "\n.minnctapersm " + std::to_string(blocks));
}

}  // namespace

int LaunchBounds::Search::level() const {
    const size_t tried = good < bad ? (good + bad) / 2 + 1 : good;
    return tried == 0 ? 0 : levels[tried - 1];
}

LaunchBounds::LaunchBounds(const std::vector<KernelFacts> &facts, const DeviceModule &module,
                           const std::string &ptx) {
    const std::map<std::string, const DeviceKernel *> kernels = boundable(module);
    for (const KernelFacts &f : facts) {
        const auto kernel = kernels.find(f.kernel);
        if (kernel == kernels.end() || f.limited_by != "registers" || f.spill_store_bytes != 0) {
            continue;
        }
        const auto code = entry_text(ptx, f.kernel);
        if (needs_registers(f, code)) {
            continue;
        }
        std::vector<int> levels = levels_of(f, has_loop(code));
        const size_t count = levels.size();
        searches_[f.kernel] = {std::move(levels), 0, count};
    }
}

bool LaunchBounds::empty() const {
    return std::all_of(searches_.begin(), searches_.end(),
                       [](const auto &search) { return search.second.level() == 0; });
}

std::string LaunchBounds::apply(std::string ptx) const {
    for (const auto &[kernel, search] : searches_) {
        if (const int blocks = search.level()) {
            insert_bound(kernel, blocks, ptx);
        }
    }
    return ptx;
}

bool LaunchBounds::refine(const std::vector<KernelFacts> &facts) {
    bool changed = false;
    for (const KernelFacts &f : facts) {
        const auto found = searches_.find(f.kernel);
        if (found == searches_.end() || found->second.good == found->second.bad) {
            continue;
        }
        Search &search = found->second;
        const int tried = search.level();
        const size_t middle = (search.good + search.bad) / 2;
        f.spill_store_bytes > 0 ? search.bad = middle : search.good = middle + 1;
        changed |= search.level() != tried;
    }
    return changed;
}

}  // namespace calotype::internal
