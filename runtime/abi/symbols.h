/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How the runtime finds functions of the process and of shared libraries (device drivers).
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** Address of a symbol of the process; null if there is none. */
extern void *calotype_get_symbol(const char *name);
/** Load a shared library by file name; null if there is none. It stays loaded. */
extern void *calotype_load_library(const char *name);
/** Address of a symbol of a loaded library; null if there is none. */
extern void *calotype_get_library_symbol(void *lib, const char *name);

extern void *calotype_default_get_symbol(const char *name);
extern void *calotype_default_load_library(const char *name);
extern void *calotype_default_get_library_symbol(void *lib, const char *name);

typedef void *(*calotype_get_symbol_t)(const char *name);
typedef void *(*calotype_load_library_t)(const char *name);
typedef void *(*calotype_get_library_symbol_t)(void *lib, const char *name);
extern calotype_get_symbol_t calotype_set_custom_get_symbol(calotype_get_symbol_t get_symbol);
extern calotype_load_library_t
calotype_set_custom_load_library(calotype_load_library_t load_library);
extern calotype_get_library_symbol_t
calotype_set_custom_get_library_symbol(calotype_get_library_symbol_t get_library_symbol);

#ifdef __cplusplus
}
#endif
