// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/plugin.h"

#include <dlfcn.h>

#include "support/error.h"

namespace calotype {

namespace {

/// The library of an autoscheduler that is part of the compiler: there need be no file.
bool is_built_in(const std::string &name) {
    return name == "libautoschedule_mullapudi2016.so";
}

}  // namespace

void load_plugin(const std::string &library) {
    const bool is_bare =
        library.find('/') == std::string::npos && library.find('.') == std::string::npos;
    const std::string name = is_bare ? "lib" + library + ".so" : library;
    user_assert(is_built_in(name) || dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL))
        << "cannot load " << library << ": " << dlerror();
}

}  // namespace calotype
