// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/plugin.h"

#include <dlfcn.h>

#include "support/error.h"

namespace calotype {

void load_plugin(const std::string &library) {
    const bool is_bare =
        library.find('/') == std::string::npos && library.find('.') == std::string::npos;
    const std::string name = is_bare ? "lib" + library + ".so" : library;
    user_assert(dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL))
        << "cannot load " << library << ": " << dlerror();
}

}  // namespace calotype
