/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of nvJitLink in C, for the compiler and for the program that links files of others
 * (link_worker.c). */
#pragma once

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What goes into a link. */
struct ct_link_input {
    int32_t kind; /* the library's number */
    const char *name;
    const void *bytes;
    size_t size;
};

/* What came of it. `log` and `cubin` are the caller's to free. */
struct ct_link_output {
    int32_t ok;
    int32_t code;          /* the library's */
    int32_t refused_input; /* the one that it did not take; -1: none */
    char *log, *cubin;
    size_t log_size, cubin_size;
};

/* The library's functions, as its headers declare them: results are 0 if all went well. */
struct ct_nvjitlink {
    int (*create)(void **, uint32_t option_count, const char **options);
    int (*destroy)(void **);
    int (*add_data)(void *, int kind, const void *data, size_t size, const char *name);
    int (*complete)(void *);
    int (*cubin_size)(void *, size_t *);
    int (*cubin)(void *, void *);
    int (*error_log_size)(void *, size_t *);
    int (*error_log)(void *, char *);
    int (*info_log_size)(void *, size_t *);
    int (*info_log)(void *, char *);
};

/* Zero unless the library is there and has them all. It stays loaded. */
static inline int ct_load_nvjitlink(struct ct_nvjitlink *link, const char *path) {
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct {
        const char *name;
        void *function;
    } rows[] = {
        {"nvJitLinkCreate", &link->create},
        {"nvJitLinkDestroy", &link->destroy},
        {"nvJitLinkAddData", &link->add_data},
        {"nvJitLinkComplete", &link->complete},
        {"nvJitLinkGetLinkedCubinSize", &link->cubin_size},
        {"nvJitLinkGetLinkedCubin", &link->cubin},
        {"nvJitLinkGetErrorLogSize", &link->error_log_size},
        {"nvJitLinkGetErrorLog", &link->error_log},
        {"nvJitLinkGetInfoLogSize", &link->info_log_size},
        {"nvJitLinkGetInfoLog", &link->info_log},
    };
    for (size_t i = 0; library && i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].name);
        if (!symbol) {
            return 0;
        }
        memcpy(rows[i].function, &symbol, sizeof symbol);
    }
    return library != NULL;
}

/* Appends a log of the library, up to its first zero. */
static inline void ct_append_log(struct ct_link_output *out, void *handle,
                                 int (*size_of)(void *, size_t *), int (*get)(void *, char *)) {
    size_t size = 0;
    if (size_of(handle, &size) != 0 || size == 0) {
        return;
    }
    char *log = (char *)realloc(out->log, out->log_size + size + 1);
    if (!log) {
        return;
    }
    out->log = log;
    memset(log + out->log_size, 0, size + 1);
    if (get(handle, log + out->log_size) == 0) {
        out->log_size += strlen(log + out->log_size);
    }
}

static inline void ct_link_inputs(const struct ct_nvjitlink *link, void *handle,
                                  const struct ct_link_input *inputs, size_t count,
                                  struct ct_link_output *out) {
    for (size_t i = 0; i < count; i++) {
        out->code =
            link->add_data(handle, inputs[i].kind, inputs[i].bytes, inputs[i].size, inputs[i].name);
        if (out->code != 0) {
            out->refused_input = (int32_t)i;
            return;
        }
    }
    size_t size = 0;
    out->code = link->complete(handle);
    if (out->code == 0 && link->cubin_size(handle, &size) == 0 && size > 0) {
        out->cubin = (char *)malloc(size);
        out->cubin_size = out->cubin ? size : 0;
        out->ok = out->cubin && link->cubin(handle, out->cubin) == 0;
    }
}

/* Links; false where the library does not even begin with these options. */
static inline int ct_link(const struct ct_nvjitlink *link, const char **options,
                          uint32_t option_count, const struct ct_link_input *inputs, size_t count,
                          struct ct_link_output *out) {
    memset(out, 0, sizeof *out);
    out->refused_input = -1;
    void *handle = NULL;
    out->code = link->create(&handle, option_count, options);
    if (out->code != 0) {
        return 0;
    }
    ct_link_inputs(link, handle, inputs, count, out);
    ct_append_log(out, handle, link->error_log_size, link->error_log);
    ct_append_log(out, handle, link->info_log_size, link->info_log);
    link->destroy(&handle);
    return 1;
}
