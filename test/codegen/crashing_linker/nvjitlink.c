/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A library with the functions of nvJitLink that crashes on inputs of some names. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char cubin[] = "cubin", log_text[] = "log";

int nvJitLinkCreate(void **handle, uint32_t count, const char **options) {
    *handle = NULL;
    return 0;
}
int nvJitLinkDestroy(void **handle) {
    return 0;
}
int nvJitLinkAddData(void *handle, int kind, const void *data, size_t size, const char *name) {
    if (strcmp(name, "fault") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(name, "abort") == 0) {
        abort();
    } else if (strcmp(name, "exit") == 0) {
        _exit(3);
    }
    return strcmp(name, "refused") == 0 ? 7 : 0;
}
int nvJitLinkComplete(void *handle) {
    return 0;
}
int nvJitLinkGetLinkedCubinSize(void *handle, size_t *size) {
    *size = sizeof cubin;
    return 0;
}
int nvJitLinkGetLinkedCubin(void *handle, void *bytes) {
    memcpy(bytes, cubin, sizeof cubin);
    return 0;
}
int nvJitLinkGetErrorLogSize(void *handle, size_t *size) {
    *size = sizeof log_text;
    return 0;
}
int nvJitLinkGetErrorLog(void *handle, char *text) {
    memcpy(text, log_text, sizeof log_text);
    return 0;
}
int nvJitLinkGetInfoLogSize(void *handle, size_t *size) {
    *size = 0;
    return 0;
}
int nvJitLinkGetInfoLog(void *handle, char *text) {
    return 0;
}
