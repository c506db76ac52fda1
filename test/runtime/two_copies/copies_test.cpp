// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two runtimes in libraries; the program has none.
#include "copies.h"

namespace calotype_test {

PluginUseFunction *use_of_program() {
    return nullptr;
}

TEST(RuntimeCopies, AreSeparateWhereLibrariesAreLocal) {
    expect("own", "own_too", RTLD_LOCAL, Expected::separate);
    for (const char *mine : {"own", "shared"}) {
        expect(mine, "next", RTLD_LOCAL, Expected::separate);
        expect("next", mine, RTLD_LOCAL, Expected::separate);
    }
    expect("own", "shared", RTLD_LOCAL, Expected::separate);
    expect("shared", "own", RTLD_LOCAL, Expected::separate);
}

TEST(RuntimeCopies, OfASharedLibraryAreOne) {
    expect("shared", "shared_too", RTLD_LOCAL, Expected::shared);
    expect("shared", "shared_too", RTLD_GLOBAL, Expected::shared);
}

TEST(RuntimeCopies, AreOneWhereTheFirstIsGlobal) {
    expect("own", "own_too", RTLD_GLOBAL, Expected::shared);
    expect("own", "shared", RTLD_GLOBAL, Expected::shared);
    expect("shared", "own", RTLD_GLOBAL, Expected::shared);
}

TEST(RuntimeCopies, OfAnotherVersionAreRefusedWhereTheFirstIsGlobal) {
    for (const char *mine : {"own", "shared"}) {
        expect(mine, "next", RTLD_GLOBAL, Expected::refused);
        expect("next", mine, RTLD_GLOBAL, Expected::refused);
    }
}

}  // namespace calotype_test
