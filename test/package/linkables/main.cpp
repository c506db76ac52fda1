// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <calotype/buffer.h>
#include <calotype/runtime.h>

#include <cstdio>

#include "calls.h"
#include "toned.h"
#include "toned_cpu.h"

int main() {
    calotype::Runtime::Buffer<int32_t, 1> in(40), out(40), out_cpu(40);
    in.for_each_element([&](int x) { in(x) = x; });
    // Twice: the second call finds everything prepared.
    for (int i = 0; i < 2; i++) {
        if (toned(in, out) != 0 || toned_cpu(in, out_cpu) != 0) {
            return 1;
        }
    }
    const bool on_device = out.device_dirty();
    if (out.copy_to_host() != 0) {
        return 1;
    }
    int wrong = 0;
    for (int x = 0; x < 40; x++) {
        // Both are proportional to x, the second with the list's steps added.
        wrong += out(x) != out(1) * x || out_cpu(x) != out(1) * x - 1;
    }
    in.device_free();
    out.device_free();
    if (calotype_shutdown(1000) != CALOTYPE_OK) {
        return 1;
    }
    std::printf("%s: tone of 1 is %d, %d wrong, %d set-ups, %d tear-downs\n",
                on_device ? "on a device" : "on the processor", out(1), wrong, tone_calls.setups,
                tone_calls.teardowns);
    return wrong;
}
