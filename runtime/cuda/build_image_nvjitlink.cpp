// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvJitLink, found with dlopen. A link is a handle of its own, so threads link at the same time.
#include <dlfcn.h>
#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/build_image_link.h"
#include "runtime/host/environment.h"
#include "runtime/host/sync.h"

namespace calotype::runtime {

namespace {

/** nvJitLink's functions by their names without versions, which every release has. */
struct Library {
    int (*create)(void **handle, uint32_t n_options, const char *const *options);
    int (*destroy)(void **handle);
    int (*add)(void *handle, int type, const void *data, size_t size, const char *name);
    int (*complete)(void *handle);
    int (*cubin_size)(void *handle, size_t *size);
    int (*cubin)(void *handle, void *cubin);
    int (*error_log_size)(void *handle, size_t *size);
    int (*error_log)(void *handle, char *log);
    int (*info_log_size)(void *handle, size_t *size);
    int (*info_log)(void *handle, char *log);
    int (*version)(unsigned *major, unsigned *minor);
    unsigned major, minor;
};

struct State {
    Mutex mutex;
    bool searched;
    bool found;
    Library library;
};
constinit State state = {};

template<typename Fn>
bool resolve(void *library, const char *name, Fn *fn) {
    *fn = reinterpret_cast<Fn>(dlsym(library, name));
    return *fn != nullptr;
}

bool resolve_all(void *library, Library *l) {
    return resolve(library, "nvJitLinkCreate", &l->create) &&
           resolve(library, "nvJitLinkDestroy", &l->destroy) &&
           resolve(library, "nvJitLinkAddData", &l->add) &&
           resolve(library, "nvJitLinkComplete", &l->complete) &&
           resolve(library, "nvJitLinkGetLinkedCubinSize", &l->cubin_size) &&
           resolve(library, "nvJitLinkGetLinkedCubin", &l->cubin) &&
           resolve(library, "nvJitLinkGetErrorLogSize", &l->error_log_size) &&
           resolve(library, "nvJitLinkGetErrorLog", &l->error_log) &&
           resolve(library, "nvJitLinkGetInfoLogSize", &l->info_log_size) &&
           resolve(library, "nvJitLinkGetInfoLog", &l->info_log) &&
           resolve(library, "nvJitLinkVersion", &l->version);
}

/** `major` 0: any. */
bool load(const char *path, unsigned major, Library *library) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return false;
    }
    if (resolve_all(handle, library) && library->version(&library->major, &library->minor) == 0 &&
        (major == 0 || library->major == major)) {
        return true;
    }
    dlclose(handle);
    return false;
}

bool load_from_folder(const char *folder, unsigned major, Library *library) {
    char path[1024];
    const int length = snprintf(path, sizeof path, "%s/libnvJitLink.so.%u", folder, major);
    return length > 0 && size_t(length) < sizeof path && load(path, major, library);
}

/** On the loader's path, then in the toolkit. */
bool load_version(unsigned major, Library *library) {
    char name[64];
    snprintf(name, sizeof name, "libnvJitLink.so.%u", major);
    if (load(name, major, library)) {
        return true;
    }
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char *home = environment(variable);
        char folder[900];
        if (home && size_t(snprintf(folder, sizeof folder, "%s/lib64", home)) < sizeof folder &&
            load_from_folder(folder, major, library)) {
            return true;
        }
    }
    return load_from_folder("/usr/local/cuda/lib64", major, library);
}

bool search(unsigned major, Library *library) {
    const char *path = environment("CT_NVJITLINK");
    if (path && path[0]) {
        return load(path, major, library);
    }
    if (major) {
        return load_version(major, library);
    }
    return load_version(13, library) || load_version(12, library);
}

const char *const off = "off";

int input_type(calotype_kind kind) {
    switch (kind) {
#define CALOTYPE_IMAGE_KIND(kind, title, nvjitlink)                                                \
    case kind:                                                                                     \
        return nvjitlink;
#include "runtime/abi/image_kinds.def"
#undef CALOTYPE_IMAGE_KIND
    }
    return 0;
}

/** Options as text, in memory of their own. */
class Options {
    static constexpr uint32_t capacity = 8;
    char text[capacity][32];
    const char *pointers[capacity];
    uint32_t used = 0;

    template<typename... Args>
    void add(const char *format, Args... args) {
        snprintf(text[used], sizeof text[used], format, args...);
        pointers[used] = text[used];
        used++;
    }

public:
    explicit Options(const LinkPlan &plan) {
        const uint32_t flags = plan.desc->flags;
        const char suffix[2] = {plan.arch.suffix, 0};
        add("-arch=sm_%u%s", unsigned(plan.arch.sm), suffix);
        if (plan.lto) {
            add("%s", "-lto");
        }
        if (flags & CALOTYPE_MOD_LINEINFO) {
            add("%s", "-lineinfo");
        }
        if (flags & CALOTYPE_MOD_DEBUG) {
            add("%s", "-g");
        }
        if (plan.desc->max_registers > 0) {
            add("-maxrregcount=%d", int(plan.desc->max_registers));
        }
        if (plan.desc->opt_level == 1 || plan.desc->opt_level == 2) {
            add("-O%d", int(plan.desc->opt_level));
        }
    }
    const char *const *get() const {
        return pointers;
    }
    uint32_t count() const {
        return used;
    }
};

/** Errors, then remarks, in one text. */
char *read_logs(const Library &library, void *handle) {
    size_t errors = 0, remarks = 0;
    library.error_log_size(handle, &errors);
    library.info_log_size(handle, &remarks);
    char *text = static_cast<char *>(calloc(errors + remarks + 1, 1));
    if (text && errors) {
        library.error_log(handle, text);
    }
    if (text && remarks) {
        library.info_log(handle, text + strlen(text));
    }
    return text;
}

/** Runs a link up to its first failure. */
void run(const Library &library, void *handle, const LinkPlan &plan, LinkResult *result) {
    const bool are_added = add_inputs(plan, result, [&](const LinkInput &input, size_t size) {
        return library.add(handle, input_type(input.image->kind), input.image->data, size,
                           input.name);
    });
    if (!are_added) {
        return;
    }
    result->code = library.complete(handle);
    if (result->code) {
        return;
    }
    result->code = library.cubin_size(handle, &result->size);
    result->cubin = result->code ? nullptr : malloc(result->size);
    if (result->cubin) {
        result->code = library.cubin(handle, result->cubin);
    }
}

}  // namespace

void name_nvjitlink(char *name, size_t room) {
    const Library &library = state.library;
    const int length = snprintf(name, room, "nvJitLink %u.%u", library.major, library.minor);
    // Update releases have the same version: the file's own name, as libnvJitLink.so.12.4.131, says
    // which it is.
    Dl_info info;
    char *file = dladdr(reinterpret_cast<void *>(library.create), &info) && info.dli_fname
                     ? realpath(info.dli_fname, nullptr)
                     : nullptr;
    const char *slash = file ? strrchr(file, '/') : nullptr;
    if (slash) {
        snprintf(name + length, room - size_t(length), ", %s", slash + 1);
    }
    free(file);
}

bool find_nvjitlink(int driver_version) {
    const char *path = environment("CT_NVJITLINK");
    if (path && strcmp(path, off) == 0) {
        return false;
    }
    const unsigned wanted = unsigned(driver_version / 1000);
    LockGuard lock(state.mutex);
    if (!state.searched) {
        state.found = search(wanted, &state.library);
        state.searched = true;
    }
    return state.found && (wanted == 0 || state.library.major == wanted);
}

void link_by_nvjitlink(const LinkPlan &plan, LinkResult *result) {
    const Library &library = state.library;  // Not written any more.
    const Options options(plan);
    void *handle = nullptr;
    result->step = LinkResult::create;
    result->code = library.create(&handle, options.count(), options.get());
    if (result->code == 0) {
        run(library, handle, plan, result);
    }
    if (result->code && handle) {
        result->linker_log = read_logs(library, handle);
    }
    if (handle) {
        library.destroy(&handle);
    }
}

}  // namespace calotype::runtime
