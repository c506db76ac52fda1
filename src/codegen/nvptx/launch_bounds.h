// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch bounds: the number of blocks of a kernel that a multiprocessor should have room for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/device_code.h"

namespace calotype::internal {

/// Which kernels get a bound, found by trying: as many blocks at once as registers do not spill for.
///
/// Told how large blocks are, the assembler takes what registers it likes, be it 72 where 32 would
/// do, so that a quarter of the threads are there to hide what loads take. Kernels that already have
/// a bound or that spill without one are left alone, and so are those of many registers, which hold
/// tiles in them on purpose.
class LaunchBounds {
public:
    /// By what the kernels of the module use without bounds.
    LaunchBounds(const std::vector<KernelFacts> &facts, const DeviceModule &module);

    /// True if no kernel has one to be tried or kept.
    bool empty() const {
        return levels_.empty();
    }
    /// The module with the bounds that are tried now.
    DeviceModule apply(DeviceModule module) const;
    /// By what the kernels use with these: fewer blocks for those that spill, or no bound. False if
    /// all of them do well.
    bool relax(const std::vector<KernelFacts> &facts);

private:
    std::map<std::string, std::vector<int>> levels_;  ///< of each kernel, the one to be tried last
};

}  // namespace calotype::internal
