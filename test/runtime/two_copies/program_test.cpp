// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A runtime in the program, from the archive, and another in a library that it opens. A program
// shares its runtime with libraries only if it exports its symbols (-rdynamic).
#include "copies.h"

namespace calotype_test {

PluginUseFunction *use_of_program() {
    return plugin_use;
}

#ifdef PROGRAM_EXPORTS
TEST(RuntimeOfAProgram, ThatExportsItIsThatOfLibraries) {
    for (const char *library : {"own", "shared"}) {
        expect(program, library, RTLD_LOCAL, Expected::shared);
    }
}

TEST(RuntimeOfAProgram, RefusesLibrariesOfAnotherVersion) {
    expect(program, "next", RTLD_LOCAL, Expected::refused);
}
#else
TEST(RuntimeOfAProgram, IsApartFromThatOfLibraries) {
    for (const char *library : {"own", "shared", "next"}) {
        expect(program, library, RTLD_LOCAL, Expected::separate);
    }
}
#endif

}  // namespace calotype_test
