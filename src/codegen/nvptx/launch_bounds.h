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
/// An object that may be linked with others is assembled without a look at how large blocks are: a
/// kernel takes what registers it likes, be it 107 where 72 would do for twice as many blocks. Kernels
/// that already have a bound or that spill without one are left alone, and so are those of many
/// registers that compute more than they load, or multiply matrices by instructions for that.
///
///     .visible .entry k(...)             .visible .entry k(...)
///     .reqntid 448, 1, 1          ->     .reqntid 448, 1, 1
///     {                                  .minnctapersm 2
///                                        {
///
/// The directive is put into the text: LLVM does nothing else with it, and to have it make the text
/// again for each number that is tried takes several times as long as to assemble that.
class LaunchBounds {
public:
    /// By what the kernels of the module use without bounds, and their PTX.
    LaunchBounds(const std::vector<KernelFacts> &facts, const DeviceModule &module,
                 const std::string &ptx);

    /// True if no kernel has one to be tried or kept.
    bool empty() const;
    /// PTX of these kernels without bounds, with those that are tried now.
    std::string apply(std::string ptx) const;
    /// By what the kernels use with these: fewer blocks for those that spill, more for those that do
    /// not. False if these bounds are the ones to keep.
    bool refine(const std::vector<KernelFacts> &facts);

private:
    /// The bounds that one kernel may have, the fewest blocks first. Before `good` they are known not to
    /// spill, from `bad` on they are taken to do so.
    struct Search {
        std::vector<int> levels;
        size_t good, bad;

        /// What is tried, or kept in the end. 0: no bound.
        int level() const;
    };
    std::map<std::string, Search> searches_;
};

}  // namespace calotype::internal
