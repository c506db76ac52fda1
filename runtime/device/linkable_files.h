// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of linkables that stay in their files (CALOTYPE_LK_BY_PATH).
#pragma once

#include "runtime/abi/linkables.h"
#include "runtime/host/data/pieces.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

/** Whether there is device code in it, as opposed to callbacks alone. */
bool has_code(const calotype_linkable_desc &linkable);
/** Whether the description says that the device runtime is linked in. */
bool uses_nrt(const calotype_module_desc &desc);

/** A module's description with all images of its linkables in memory, for as long as this lives. */
class LinkableFiles {
public:
    /** Read what is needed. A file that is missing, or not what it was when the module was
     * generated, is an error with CALOTYPE_E_LOAD. */
    calotype_status read(const calotype_module_desc &desc);
    /** After that; the same as given where nothing is in files. */
    const calotype_module_desc &desc() const {
        return *current;
    }

private:
    const calotype_module_desc *current = nullptr;
    calotype_module_desc copy = {};
    Pieces pieces;

    calotype_status read_linkable(const calotype_linkable_desc &linkable,
                                  const calotype_linkable_desc **result);
    calotype_status read_image(const char *linkable, const calotype_image &named,
                               calotype_image *image);
};

}  // namespace calotype::runtime
