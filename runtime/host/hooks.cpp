// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing and error reporting.
#include "runtime/abi/hooks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/host/text.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

static Hook<calotype_print_t> print_hook(calotype_default_print);
static Hook<calotype_error_handler_t> error_hook(calotype_default_error);

/** One write, so that lines from several threads do not mix. */
static void write_to_stderr(const char *text, size_t size) {
    while (size > 0) {
        const ssize_t written = write(STDERR_FILENO, text, size);
        if (written < 0 && errno != EINTR) {
            return;
        }
        text += written > 0 ? written : 0;
        size -= written > 0 ? size_t(written) : 0;
    }
}

CALOTYPE_WEAK void calotype_default_print(void *user_context, const char *text) {
    (void)user_context;
    write_to_stderr(text, strlen(text));
}

CALOTYPE_WEAK void calotype_print(void *user_context, const char *text) {
    print_hook.get()(user_context, text);
}

CALOTYPE_WEAK calotype_print_t calotype_set_custom_print(calotype_print_t print) {
    return print_hook.set(print);
}

CALOTYPE_WEAK void calotype_default_error(void *user_context, const char *message) {
    Text line;
    line << "error: " << message;
    const bool ends_line = line.c_str()[line.size() - 1] == '\n';
    line << (ends_line ? "" : "\n");
    calotype_print(user_context, line.c_str());
}

CALOTYPE_WEAK void calotype_error(void *user_context, const char *message) {
    error_hook.get()(user_context, message);
}

CALOTYPE_WEAK calotype_error_handler_t
calotype_set_error_handler(calotype_error_handler_t handler) {
    return error_hook.set(handler);
}
