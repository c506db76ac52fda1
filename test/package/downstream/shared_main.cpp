// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plugin sets of the runtime is set for the program: there is one.
#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include <cstdio>

#include <dlfcn.h>

#include "brighten_shared.h"

int main() {
    using Image = calotype::Runtime::Buffer<uint8_t, 2>;
    void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        std::puts(dlerror());
        return 1;
    }
    auto *call = reinterpret_cast<int (*)(calotype_buffer_t *, calotype_buffer_t *)>(
        dlsym(plugin, "plugin_brighten"));
    auto *set = reinterpret_cast<void (*)(int)>(dlsym(plugin, "plugin_set_num_threads"));
    set(calotype_get_num_threads() + 3);
    const int seen = calotype_get_num_threads();
    Image in(50, 20), mine(50, 20), its(50, 20);
    in.fill(7);
    if (brighten_shared(in, 2, mine) != 0 || call(in, its) != 0 || mine(49, 19) != 19 ||
        its(49, 19) != 19) {
        return 1;
    }
    set(seen + 1);
    std::puts(calotype_get_num_threads() == seen + 1 ? "one runtime" : "two runtimes");
    return 0;
}
