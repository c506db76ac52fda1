// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// What a use came to, and what the runtime has counted by then.
struct PluginUse {
    int status, sum;
    uint64_t misses, hits;
};
using PluginUseFunction = void(PluginUse *use);

extern "C" void plugin_use(PluginUse *use);
