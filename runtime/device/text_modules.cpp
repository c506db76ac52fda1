// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/text_modules.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/abi/buffer.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/device/sha256.h"
#include "runtime/host/sync.h"
#include "runtime/host/text.h"

namespace calotype {
namespace runtime {

namespace {

/** Lives until the process ends: holds and loaded modules come and go, texts do not. */
struct TextModule {
    calotype_module_desc desc;
    calotype_image image;
    const TextKind *kind;
    TextModule *next;
};

constinit Mutex modules_lock;
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

/** The values to launch with: what args point at, and of buffers their device handles. */
class Arguments {
    static constexpr size_t usual = 64;
    void *few[usual];
    uint64_t few_handles[usual];
    void **values = few;
    uint64_t *handles = few_handles;

public:
    ~Arguments() {
        if (values != few) {
            free(values);
            free(handles);
        }
    }
    /** Null: out of memory. */
    void **translate(const NamedLaunch &launch) {
        size_t n = 0;
        while (launch.arg_sizes[n]) {
            n++;
        }
        if (n > usual) {
            values = static_cast<void **>(malloc(n * sizeof(void *)));
            handles = static_cast<uint64_t *>(malloc(n * sizeof(uint64_t)));
        }
        for (size_t i = 0; values && handles && i < n; i++) {
            if (launch.arg_is_buffer[i]) {
                handles[i] = static_cast<const calotype_buffer_t *>(launch.args[i])->device;
            }
            values[i] = launch.arg_is_buffer[i] ? &handles[i] : launch.args[i];
        }
        return handles ? values : nullptr;
    }
};

int launch_held(void *user_context, const TextModule &module, const calotype_hold &hold,
                const NamedLaunch &launch) {
    const uint32_t kernel = index_of(module.desc, launch.entry);
    if (kernel == module.desc.n_kernels) {
        Text text;
        text << "the module has no kernel " << launch.entry;
        calotype_error(user_context, text.c_str());
        return calotype_error_code_device_run_failed;
    }
    Arguments arguments;
    void **values = arguments.translate(launch);
    if (!values) {
        return out_of_memory(user_context);
    }
    const int32_t shape[7] = {launch.grid[0],
                              launch.grid[1],
                              launch.grid[2],
                              launch.block[0],
                              launch.block[1],
                              launch.block[2],
                              launch.dynamic_shared_bytes};
    return calotype_run_kernel(user_context, &hold, kernel, shape, values);
}

}  // namespace

int begin_text_module(void *user_context, void **state, const char *text, int size,
                      const TextKind &kind) {
    if (!state || !text || size < 0) {
        calotype_error(user_context, "a text of kernels and a place for their state are needed");
        return calotype_error_code_internal_error;
    }
    // Where the text ends in a NUL that counts, that is no part of it.
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
        return launch_held(user_context, module, node->hold, launch);
    }
    calotype_hold hold;
    int code = calotype_begin_kernels(user_context, &module.desc, &hold);
    if (code == 0) {
        code = launch_held(user_context, module, hold, launch);
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

}  // namespace runtime
}  // namespace calotype
