// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library to be opened and closed while its modules are loaded: a generated pipeline with a
// runtime of its own, and a module with callbacks for the runtime of whoever opens it.
#include "chain_cuda.h"
#include "gpu/scenarios/watched.h"

#include <calotype/buffer.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

/// Runs a pipeline of six kernels; how many values are wrong, or a negative number.
EXPORTED int plugin_run() {
    calotype::Runtime::Buffer<float, 2> in(70, 33), out(70, 33);
    in.for_each_element([&](int x, int y) { in(x, y) = float(x * 3 + y); });
    in.set_host_dirty();
    if (chain_cuda(in, out) != 0 || out.copy_to_host() != 0) {
        return -1;
    }
    int wrong = 0;
    out.for_each_element([&](int x, int y) {
        float value = float(x * 3 + y) + 1;
        for (int i = 1; i < 5; i++) {
            value = value * 0.5f + float(i);
        }
        wrong += out(x, y) != value;
    });
    return wrong;
}

static void (*tell)(const char *);

static int told(const calotype_callback_args *args) {
    tell(args->event == CALOTYPE_EV_SETUP ? "s " : args->module ? "t " : "t- ");
    return 0;
}

/// For the runtime that the interface is of. Callbacks are told of, as "s" and "t".
EXPORTED const calotype_module_desc *
plugin_module(const calotype_device_interface_t *(*device_interface)(),
              void (*tell_whom)(const char *)) {
    static calotype_test::Watched module(told, told);
    module.desc.device_interface = device_interface;
    tell = tell_whom;
    return &module.desc;
}
