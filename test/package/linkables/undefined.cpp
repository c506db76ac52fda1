// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline whose linkable names callbacks that are defined nowhere.
#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include <cstdio>

#include HEADER

int main() {
    calotype::Runtime::Buffer<int32_t, 1> in(40), out(40);
    in.for_each_element([&](int x) { in(x) = x; });
    if (TONED(in, out) != 0) {
        return 1;
    }
    const bool on_device = out.device_dirty();
    if (out.copy_to_host() != 0) {
        return 1;
    }
    int wrong = 0;
    for (int x = 0; x < 40; x++) {
        wrong += out(x) != 2 * x;
    }
    in.device_free();
    out.device_free();
    const calotype_status status = calotype_shutdown(1000);
    std::printf("%s: %d wrong without callbacks, status %d\n",
                on_device ? "on a device" : "on the processor", wrong, int(status));
    return wrong != 0 || status != CALOTYPE_OK;
}
