// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/text_modules.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/buffer.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/device/cache/launch.h"
#include "runtime/host/data/sha256.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

namespace {

/** Lives until the process ends: holds and loaded modules come and go, texts do not. */
struct TextModule {
    calotype_module_desc desc;
    calotype_image image;
    const TextKind *kind;
    TextModule *next;
};

constinit ForkMutex modules_lock;
TextModule *modules = nullptr;

/** What this thread holds, the latest first. */
struct HeldText {
    const TextModule *module;
    void *user_context;
    calotype_hold hold;
    HeldText *next;
};
constinit thread_local HeldText *held = nullptr;

/** By calls of that user context, which may be in a context of its own. */
HeldText **find_held(const void *state, void *user_context) {
    HeldText **link = &held;
    while (*link && ((*link)->module != state || (*link)->user_context != user_context)) {
        link = &(*link)->next;
    }
    return link;
}

int out_of_memory(void *user_context) {
    return calotype_error_out_of_memory(user_context);
}

/** Collects names; first counts, then copies. */
struct Names {
    calotype_kernel_desc *kernels;
    uint32_t n;
    bool is_complete;  ///< there was memory for all

    static void add(const char *name, size_t length, void *data) {
        Names &names = *static_cast<Names *>(data);
        if (names.kernels) {
            char *copy = static_cast<char *>(calloc(1, length + 1));
            if (copy) {
                memcpy(copy, name, length);
            }
            names.kernels[names.n].name = copy;
            names.is_complete &= copy != nullptr;
        }
        names.n++;
    }
    void drop() {
        for (uint32_t i = 0; kernels && i < n; i++) {
            free(const_cast<char *>(kernels[i].name));
        }
        free(kernels);
    }
};

TextModule *make_module(const char *text, size_t size, const TextKind &kind) {
    TextModule *module = static_cast<TextModule *>(calloc(1, sizeof(TextModule)));
    char *copy = static_cast<char *>(malloc(size + 1));
    Names names = {nullptr, 0, true};
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = 0;
        kind.find_kernels(copy, Names::add, &names);
        names.kernels =
            static_cast<calotype_kernel_desc *>(calloc(names.n + 1, sizeof(calotype_kernel_desc)));
    }
    if (names.kernels) {
        names.n = 0;
        kind.find_kernels(copy, Names::add, &names);
    }
    if (!module || !names.kernels || !names.is_complete) {
        names.drop();
        free(copy);
        free(module);
        return nullptr;
    }
    module->kind = &kind;
    module->image = {kind.kind, kind.sm, 0, copy, size};
    calotype_module_desc &desc = module->desc;
    desc.size = sizeof desc;
    desc.abi = CALOTYPE_ABI_VERSION;
    desc.name = "module of text";
    desc.device_interface = kind.device_interface;
    desc.images = &module->image;
    desc.n_images = 1;
    desc.kernels = names.kernels;
    desc.n_kernels = names.n;
    desc.opt_level = 3;
    return module;
}

/** That of the text, made when it is first met. Null: out of memory. */
TextModule *find_module(const char *text, size_t size, const TextKind &kind) {
    const calotype_uid uid = Sha256().add(&kind.kind, sizeof kind.kind).add(text, size).finish();
    LockGuard guard(modules_lock);
    for (TextModule *m = modules; m; m = m->next) {
        if (memcmp(m->desc.uid.b, uid.b, sizeof uid.b) == 0) {
            return m;
        }
    }
    TextModule *module = make_module(text, size, kind);
    if (module) {
        module->desc.uid = uid;
        module->next = modules;
        modules = module;
    }
    return module;
}

/** The number of kernels for a name that is not there. */
uint32_t index_of(const calotype_module_desc &desc, const char *name) {
    uint32_t i = 0;
    while (i < desc.n_kernels && strcmp(desc.kernels[i].name, name) != 0) {
        i++;
    }
    return i;
}

/** What to launch with: the values that args point at, of buffers their device handles; and how the
 * call describes them, as parameters are not read from the text. */
class Arguments {
    struct Few {
        static constexpr size_t most = 64;
        void *values[most];
        uint64_t handles[most];
        calotype_kernel_arg descs[most];
    };
    Few few;
    void *many = nullptr;

    /** False: out of memory. */
    bool make_room() {
        if (n > Few::most) {
            many = malloc(n * (sizeof(void *) + sizeof(uint64_t) + sizeof(calotype_kernel_arg)));
            handles = static_cast<uint64_t *>(many);
            values = reinterpret_cast<void **>(handles + n);
            descs = reinterpret_cast<calotype_kernel_arg *>(values + n);
        }
        return n <= Few::most || many;
    }

public:
    uint32_t n = 0;
    uint64_t *handles = few.handles;
    void **values = few.values;
    calotype_kernel_arg *descs = few.descs;

    ~Arguments() {
        free(many);
    }
    /** False: out of memory. */
    bool translate(const NamedLaunch &launch) {
        while (launch.arg_sizes[n]) {
            n++;
        }
        if (!make_room()) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            const bool is_buffer = launch.arg_is_buffer[i] != 0;
            if (is_buffer) {
                handles[i] = static_cast<const calotype_buffer_t *>(launch.args[i])->device;
            }
            values[i] = is_buffer ? &handles[i] : launch.args[i];
            descs[i] = {is_buffer, uint8_t(launch.arg_sizes[i]), 0, is_buffer};
        }
        return true;
    }
};

calotype_status launch_as_told(void *user_context, const calotype_hold &hold, uint32_t kernel,
                               const NamedLaunch &launch, const Arguments &arguments) {
    const calotype_kernel_desc desc = {
        launch.entry, arguments.descs, arguments.n, 0, 0, CALOTYPE_KERNEL_PLAIN_BUFFERS};
    const int32_t shape[7] = {launch.grid[0],
                              launch.grid[1],
                              launch.grid[2],
                              launch.block[0],
                              launch.block[1],
                              launch.block[2],
                              launch.dynamic_shared_bytes};
    LaunchShape given;
    const calotype_status status = read_shape(hold, kernel, shape, &given);
    if (status != CALOTYPE_OK || given.is_empty) {
        return status;
    }
    Launch wanted = given.launch(user_context, kernel, arguments.values);
    wanted.as = &desc;
    return launch_held(hold, wanted);
}

int launch_by_name(void *user_context, const TextModule &module, const calotype_hold &hold,
                   const NamedLaunch &launch) {
    const uint32_t kernel = index_of(module.desc, launch.entry);
    if (kernel == module.desc.n_kernels) {
        Text text;
        text << "the module has no kernel " << launch.entry;
        calotype_error(user_context, text.c_str());
        return calotype_error_code_device_run_failed;
    }
    for (uint32_t i = 0; launch.arg_sizes[i]; i++) {
        if (!launch.arg_is_buffer[i] && launch.arg_sizes[i] > UINT8_MAX) {
            Text text;
            text << "argument " << i << " of kernel " << launch.entry << " has "
                 << uint64_t(launch.arg_sizes[i]) << " bytes, at most 255 are passed";
            calotype_error(user_context, text.c_str());
            return calotype_error_code_device_run_failed;
        }
    }
    Arguments arguments;
    if (!arguments.translate(launch)) {
        return out_of_memory(user_context);
    }
    const calotype_status status = launch_as_told(user_context, hold, kernel, launch, arguments);
    return status == CALOTYPE_OK ? 0 : calotype_report_status(user_context, status);
}

}  // namespace

int begin_text_module(void *user_context, void **state, const char *text, int size,
                      const TextKind &kind) {
    if (!state || !text || size < 0) {
        calotype_error(user_context, "a text of kernels and a place for their state are needed");
        return calotype_error_code_internal_error;
    }
    // If the text ends in a NUL that counts, that is not part of it.
    const size_t length = strnlen(text, size_t(size));
    const TextModule *module = static_cast<TextModule *>(__atomic_load_n(state, __ATOMIC_ACQUIRE));
    if (!module) {
        TextModule *found = find_module(text, length, kind);
        if (!found) {
            return out_of_memory(user_context);
        }
        module = found;
        __atomic_store_n(state, static_cast<void *>(found), __ATOMIC_RELEASE);
    }
    HeldText *node = static_cast<HeldText *>(malloc(sizeof(HeldText)));
    if (!node) {
        return out_of_memory(user_context);
    }
    const int code = calotype_begin_kernels(user_context, &module->desc, &node->hold);
    if (code != 0) {
        free(node);
        return code;
    }
    node->module = module;
    node->user_context = user_context;
    node->next = held;
    held = node;
    return 0;
}

int run_text_module(void *user_context, void *state, const NamedLaunch &launch) {
    if (!state) {
        calotype_error(user_context, "the kernels are not initialized");
        return calotype_error_code_device_run_failed;
    }
    const TextModule &module = *static_cast<const TextModule *>(state);
    if (const HeldText *node = *find_held(state, user_context)) {
        return launch_by_name(user_context, module, node->hold, launch);
    }
    calotype_hold hold;
    int code = calotype_begin_kernels(user_context, &module.desc, &hold);
    if (code == 0) {
        code = launch_by_name(user_context, module, hold, launch);
        calotype_end_kernels(user_context, &hold);
    }
    return code;
}

void end_text_module(void *user_context, void *state) {
    HeldText **link = find_held(state, user_context);
    if (HeldText *node = *link) {
        *link = node->next;
        calotype_end_kernels(user_context, &node->hold);
        free(node);
    } else {
        calotype_error(user_context, "kernels are finalized that this thread has not initialized");
    }
}

}  // namespace calotype::runtime
