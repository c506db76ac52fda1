// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linking device code in process with the toolkit's library nvJitLink.
#pragma once

#include <string>
#include <vector>

#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/toolkit.h"
#include "runtime/abi/kernels.h"

namespace calotype::internal {

/// What goes into a link, in order.
struct LinkInput {
    calotype_kind kind = CALOTYPE_PTX;
    const std::string *bytes = nullptr;
    std::string name;  ///< that the linker's messages say
    bool holds_lto_ir = false;
};

/// What came of it.
struct LinkResult {
    bool ok = false;
    std::string cubin;       ///< if it went well
    std::string log;         ///< all that the linker said; of each kernel, what it uses
    int code = 0;            ///< the library's
    int refused_input = -1;  ///< the one that it did not take
    std::string crash;       ///< "signal 11 (Segmentation fault)" where the library crashed
};

/// True if the toolkit has the library.
bool can_link(const CudaToolkit &toolkit);

/// PTX, cubins, objects, archives, fatbins and LTO-IR to one complete cubin. LTO is on if an input
/// holds LTO-IR. Never throws for what the linker refuses.
LinkResult link_in_process(const std::vector<LinkInput> &inputs, Capability capability,
                           const CudaToolkit &toolkit);
/// The same in a process of its own, as damaged inputs crash the library.
LinkResult link_in_child(const std::vector<LinkInput> &inputs, Capability capability,
                         const CudaToolkit &toolkit);

}  // namespace calotype::internal
