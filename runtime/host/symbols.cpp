// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbols of the process and of shared libraries.
#include "runtime/abi/symbols.h"

#include <dlfcn.h>

#include "runtime/host/weak.h"

using namespace calotype::runtime;

static Hook<calotype_get_symbol_t> get_symbol_hook(calotype_default_get_symbol);
static Hook<calotype_load_library_t> load_library_hook(calotype_default_load_library);
static Hook<calotype_get_library_symbol_t>
    get_library_symbol_hook(calotype_default_get_library_symbol);

CALOTYPE_WEAK void *calotype_default_get_symbol(const char *name) {
    return dlsym(nullptr, name);
}

CALOTYPE_WEAK void *calotype_default_load_library(const char *name) {
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

CALOTYPE_WEAK void *calotype_default_get_library_symbol(void *lib, const char *name) {
    return dlsym(lib, name);
}

CALOTYPE_WEAK void *calotype_get_symbol(const char *name) {
    return get_symbol_hook.get()(name);
}

CALOTYPE_WEAK void *calotype_load_library(const char *name) {
    return load_library_hook.get()(name);
}

CALOTYPE_WEAK void *calotype_get_library_symbol(void *lib, const char *name) {
    return get_library_symbol_hook.get()(lib, name);
}

CALOTYPE_WEAK calotype_get_symbol_t
calotype_set_custom_get_symbol(calotype_get_symbol_t get_symbol) {
    return get_symbol_hook.set(get_symbol);
}

CALOTYPE_WEAK calotype_load_library_t
calotype_set_custom_load_library(calotype_load_library_t load_library) {
    return load_library_hook.set(load_library);
}

CALOTYPE_WEAK calotype_get_library_symbol_t
calotype_set_custom_get_library_symbol(calotype_get_library_symbol_t get_library_symbol) {
    return get_library_symbol_hook.set(get_library_symbol);
}
