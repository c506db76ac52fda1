// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compute capabilities: what is known of each architecture, and which of them code is made for.
#pragma once

#include <string>
#include <vector>

#include "target/target.h"

namespace calotype::internal {

/// "sm_90a" is {90, 'a'}.
struct Capability {
    int sm = 0;
    char suffix = 0;  ///< 0, 'a' or 'f'

    bool operator==(const Capability &other) const {
        return sm == other.sm && suffix == other.suffix;
    }
};
/// "sm_90a"
std::string to_string(Capability capability);

/// An architecture: one row of architectures.def.
struct Architecture {
    int sm;
    int ptx_isa;  ///< times ten; the lowest that has all we use on it
    int llvm_sm;  ///< the newest below or at it that LLVM knows
    int threads_per_sm, blocks_per_sm;
    int shared_kib_per_sm;
    int reserved_shared;  ///< bytes of each block that the system uses
};
/// The row of that capability or the newest below it.
const Architecture &architecture(int sm);

/// @name What code is made for. `target` is as the user named it, without implied features.
/// @{
/// True if the target says for which architectures.
bool names_capability(const Target &target);
/// The capability that the PTX is made for: the lowest that the target names, or what every device
/// that the runtime can use has.
Capability ptx_capability(const Target &target);
/// Those that cubins are made for, if there is a toolkit, the lowest first: what the target names,
/// or a choice that serves the devices in use.
std::vector<Capability> cubin_capabilities(const Target &target);
/// @}

}  // namespace calotype::internal
