/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that links device code with nvJitLink, which crashes on damaged files: the compiler
 * runs it (child_process.h) and is told. */
#define _GNU_SOURCE
#include "codegen/nvptx/link_worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "codegen/nvptx/nvjitlink_core.h"

/* Work that takes longer hangs. */
enum { patience_s = 600 };

static char *request;
static size_t request_size, at;

static int read_request(void) {
    size_t room = 1 << 16;
    request = (char *)malloc(room);
    for (;;) {
        if (request && request_size == room) {
            room *= 2;
            request = (char *)realloc(request, room);
        }
        if (!request) {
            return 0;
        }
        const ssize_t n = read(STDIN_FILENO, request + request_size, room - request_size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0;
        }
        request_size += (size_t)n;
    }
}

/* The next bytes of the request; NULL if there are not so many. */
static const void *take(size_t size) {
    if (size > request_size - at) {
        return NULL;
    }
    at += size;
    return request + at - size;
}

static const char *take_text(void) {
    const char *end = (const char *)memchr(request + at, 0, request_size - at);
    return end ? (const char *)take((size_t)(end - (request + at)) + 1) : NULL;
}

static int write_all(const void *bytes, size_t size) {
    const char *next = (const char *)bytes;
    while (size > 0) {
        const ssize_t n = write(ct_worker_answer_file, next, size);
        if (n < 0 && errno != EINTR) {
            return 0;
        }
        next += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* The handlers that a sanitizer may have put there go; no core is left. */
static void prepare(void) {
    const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_DFL);
    }
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(patience_s);
}

int main(void) {
    prepare();
    struct ct_worker_request head;
    const void *begin = read_request() ? take(sizeof head) : NULL;
    if (!begin) {
        return 2;
    }
    memcpy(&head, begin, sizeof head);
    const char *library = take_text();
    const char **options = (const char **)calloc(head.options + 1, sizeof *options);
    struct ct_link_input *inputs = (struct ct_link_input *)calloc(head.inputs + 1, sizeof *inputs);
    if (!library || !options || !inputs) {
        return 2;
    }
    for (uint32_t i = 0; i < head.options; i++) {
        if (!(options[i] = take_text())) {
            return 2;
        }
    }
    for (uint32_t i = 0; i < head.inputs; i++) {
        struct ct_worker_input input;
        const void *row = take(sizeof input);
        if (!row) {
            return 2;
        }
        memcpy(&input, row, sizeof input);
        inputs[i].kind = input.kind;
        inputs[i].size = (size_t)input.size;
        inputs[i].name = take_text();
        inputs[i].bytes = inputs[i].name ? take(inputs[i].size) : NULL;
        if (!inputs[i].bytes) {
            return 2;
        }
    }
    struct ct_nvjitlink link;
    if (!ct_load_nvjitlink(&link, library)) {
        return 2;
    }
    struct ct_link_output out;
    const int created = ct_link(&link, options, head.options, inputs, head.inputs, &out);
    const struct ct_worker_answer answer = {out.ok,  out.code,     out.refused_input,
                                            created, out.log_size, out.cubin_size};
    const int is_told = write_all(&answer, sizeof answer) && write_all(out.log, out.log_size) &&
                        write_all(out.cubin, out.cubin_size);
    /* Memory goes with the process: where a sanitizer looks for leaks as programs end, it is told of none. */
    _exit(is_told ? 0 : 2);
}
