/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Printing and error reporting, and how to replace them.
 *
 * As with every function of the runtime there are two ways to replace one: define a function of the
 * same name in the application (the runtime's own is weak), or install one with the setter. A
 * setter answers with what was installed before; null brings back the default.
 *
 * `user_context` is whatever the caller gave to the pipeline, null if nothing; the runtime hands it
 * on and never looks inside.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** Print text that a pipeline writes (print(), tracing, profiles). By default to stderr. */
extern void calotype_print(void *user_context, const char *text);
extern void calotype_default_print(void *user_context, const char *text);
typedef void (*calotype_print_t)(void *user_context, const char *text);
extern calotype_print_t calotype_set_custom_print(calotype_print_t print);

/** Told of every run-time error, once, with its message, before the pipeline returns the error's
 * code. By default it prints "error: MESSAGE" to stderr. It returns; nothing ends the process. */
extern void calotype_error(void *user_context, const char *message);
extern void calotype_default_error(void *user_context, const char *message);
typedef void (*calotype_error_handler_t)(void *user_context, const char *message);
extern calotype_error_handler_t calotype_set_error_handler(calotype_error_handler_t handler);

#ifdef __cplusplus
}
#endif
