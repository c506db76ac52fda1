// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// S46: two runtimes in one process, of the same version or not, opened and closed in every order.
// Whatever binds to what, nothing of one runs on the other's data: at worst a library is told that
// its objects were made for another version.
#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "plugin.h"
#include "runtime/abi/kernels.h"

namespace calotype_test {

/// The test's own runtime, where it has one.
constexpr const char *program = "program";
PluginUseFunction *use_of_program();

struct Copy {
    void *library = nullptr;
    PluginUseFunction *function = nullptr;

    Copy(const std::string &name, int scope) {
        if (name == program) {
            function = use_of_program();
            return;
        }
        const std::string path = COPIES_FOLDER "/libcopy_" + name + ".so";
        library = dlopen(path.c_str(), RTLD_NOW | scope);
        function =
            library ? reinterpret_cast<PluginUseFunction *>(dlsym(library, "plugin_use")) : nullptr;
    }
    PluginUse use() const {
        PluginUse use = {-1, 0, 0, 0};
        if (function) {
            function(&use);
        }
        return use;
    }
    void close() const {
        if (library) {
            dlclose(library);
        }
    }
};

/// What the second one is to the first: on its own, the same runtime, or refused by it.
enum class Expected { separate, shared, refused };

[[noreturn]] inline void fail(const char *what, const PluginUse &use) {
    fprintf(stderr, "%s: status %d, sum %d, misses %lu, hits %lu\n", what, use.status, use.sum,
            static_cast<unsigned long>(use.misses), static_cast<unsigned long>(use.hits));
    _exit(1);
}

/// In a process of its own, to its end, where the handlers of both run.
[[noreturn]] inline void run(const std::string &one, const std::string &other, int scope,
                             Expected expected, bool first_closes_first) {
    setenv("CT_CUDA_DRIVER_LIBRARY", CALOTYPE_FAKE_CUDA, 1);
    setenv("CT_NUM_THREADS", "3", 1);
    const Copy first(one, scope), second(other, RTLD_LOCAL);
    const PluginUse used = first.use();
    if (used.status != CALOTYPE_OK || used.sum != 4950 || used.misses != 1) {
        fail("first", used);
    }
    const PluginUse then = second.use();
    const bool is_refused = expected == Expected::refused;
    if (then.status != (is_refused ? CALOTYPE_E_ABI : CALOTYPE_OK) || then.sum != 4950 ||
        then.misses != 1 || then.hits != (expected == Expected::shared ? 1u : 0u)) {
        fail("second", then);
    }
    (first_closes_first ? first : second).close();
    const PluginUse last = (first_closes_first ? second : first).use();
    if (last.sum != 4950 || (last.status != CALOTYPE_OK && !is_refused)) {
        fail("what is left", last);
    }
    if (!first_closes_first) {
        first.close();
    }
    exit(0);
}

inline void expect(const std::string &one, const std::string &other, int scope, Expected expected) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer calls handlers of exit that went with a closed library";
#endif
    for (const bool first_closes_first : {false, true}) {
        if (one == program && first_closes_first) {
            continue;  // which it never does
        }
        EXPECT_EXIT(run(one, other, scope, expected, first_closes_first),
                    testing::ExitedWithCode(0), "")
            << one << ", then " << other << (scope == RTLD_GLOBAL ? ", global" : "")
            << (first_closes_first ? ", first closed first" : "");
    }
}

}  // namespace calotype_test
