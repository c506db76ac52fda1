// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module with a linkable that has callbacks alone.
#pragma once

#include "harness/nothing_module.h"
#include "runtime/abi/linkables.h"

namespace calotype_test {

struct Watched : NothingModule {
    calotype_linkable_desc linkable = {};
    const calotype_linkable_desc *linkables[1] = {&linkable};

    Watched(calotype_module_callback setup, calotype_module_callback teardown) {
        linkable.size = sizeof linkable;
        linkable.name = "watch";
        linkable.setup = setup;
        linkable.teardown = teardown;
        desc.linkables = linkables;
        desc.n_linkables = 1;
        desc.uid.b[1] = 1;
    }
};

}  // namespace calotype_test
