// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kind of device in this process that only the kernel cache uses: contexts and modules are
// objects of ours, every call is counted, and can take long or fail. The user context of a call is
// a FakeContext.
//
// An image is text. Lines `kernel NAME` and `global NAME BYTES` say what is in it; one with the
// word `error` does not compile, and a CALOTYPE_CUBIN is loaded as it is. The kernel `read` copies
// the global `value` to where its first argument points; others do nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "harness/fake_calls.h"
#include "runtime/abi/kernel_cache.h"

namespace calotype_test {

struct FakeStream {
    std::atomic<bool> is_held{false};  ///< events recorded while it is have not passed
    std::atomic<bool> is_capturing{false};
};

struct FakeContext {
    std::atomic<uint64_t> uid{0};  ///< its identity; never used again
    uint32_t sm = 90;              ///< which images it takes
    bool is_alive = true;
    FakeStream stream;
};

/** As the functions of KernelBackend are called: "build", "load", "unload" and so on. */
FakeCalls &fake_backend_calls();
const calotype_device_interface_t *fake_backend_interface();
/** The same driver under another name, as a second kind of device. */
const calotype_device_interface_t *other_fake_backend_interface();

FakeContext *make_fake_context();
/** Its modules go with it. */
void destroy_fake_context(FakeContext *context);
/** The same, and a new one at its address. */
void replace_fake_context(FakeContext *context);

/** Let every nth load fail; 0: none. */
void fail_fake_loads(int one_in);

/** Modules that are loaded now. */
int fake_modules();
/** Unloads of what is not loaded, calls with no context current, calls on dead contexts. */
int fake_misuse();
/** At most so many threads were in `build` at once since the last call of this. */
int fake_builds_at_once();

}  // namespace calotype_test
