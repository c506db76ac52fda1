// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/occupancy.h"

#include <algorithm>

#include "codegen/nvptx/capability.h"
#include "ir/conventions/kernels.h"

namespace calotype::internal {

namespace {

// The same on all architectures in the table.
constexpr int registers_per_sm = 65536;
constexpr int register_unit = 256;  ///< of which a warp gets a multiple
constexpr int warp_unit = 4;        ///< warps are placed on so many parts of a multiprocessor

int round_up(int x, int unit) {
    return (x + unit - 1) / unit * unit;
}

}  // namespace

void fill_occupancy(KernelFacts &f, int dynamic_shared) {
    if (f.registers < 0 || f.static_shared_bytes < 0 || f.threads <= 0) {
        return;
    }
    const Architecture &a = architecture(int(f.sm));
    const int warps = (f.threads + warp_size - 1) / warp_size;
    const int warps_per_sm = a.threads_per_sm / warp_size;
    const int shared_unit = a.sm >= 80 ? 128 : 256;
    // What the file says of shared memory includes what the system reserves from sm_90 on.
    int own_shared = f.static_shared_bytes + dynamic_shared;
    int shared = own_shared + (a.sm >= 80 && a.sm < 90 ? a.reserved_shared : 0);
    if (a.sm >= 90 && f.static_shared_bytes == 0) {
        shared += a.reserved_shared;
    }
    shared = round_up(shared, shared_unit);

    struct Limit {
        const char *name;
        int blocks;
    };
    std::vector<Limit> limits = {{"threads", warps_per_sm / warps}, {"blocks", a.blocks_per_sm}};
    if (f.registers > 0) {
        int of_warp = round_up(f.registers * warp_size, register_unit);
        int resident = registers_per_sm / of_warp / warp_unit * warp_unit;
        limits.push_back({"registers", resident / warps});
    }
    if (shared > 0) {
        limits.push_back({"shared memory", a.shared_kib_per_sm * 1024 / shared});
    }
    const Limit &least =
        *std::min_element(limits.begin(), limits.end(),
                          [](const Limit &x, const Limit &y) { return x.blocks < y.blocks; });
    f.blocks_per_sm = least.blocks;
    f.occupancy_percent = 100 * least.blocks * warps / warps_per_sm;
    f.limited_by = least.name;
}

}  // namespace calotype::internal
