// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_plugin: shared libraries that register something when they are loaded, such as generators.
#pragma once

#include <string>

namespace calotype {

/// Loads the library for the rest of the process: a path, or a name that the system finds ("foo" is
/// tried as libfoo.so too). A CompileError with the reason if it cannot be loaded. The autoscheduler
/// Mullapudi2016 is there without that; "autoschedule_mullapudi2016" may be loaded all the same.
void load_plugin(const std::string &library);

}  // namespace calotype
