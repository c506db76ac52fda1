// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of the kernel cache: made once where something fails, shared by all who waited for it,
// kept as each thread's last error.
#pragma once

#include "runtime/device/cache/threads.h"
#include "runtime/device/failure.h"
#include "runtime/device/kernel_backend.h"

namespace calotype::runtime {

/** Constant once made; counted, because several threads have it. */
struct FlightError {
    std::atomic<uint32_t> references;
    calotype_error_info info;  ///< strings stand behind it in the same allocation
};

/** What went wrong, where. */
struct Failure {
    calotype_status status = CALOTYPE_OK;
    calotype_stage stage = CALOTYPE_ST_NONE;
    int32_t callback_rc = 0;
    int32_t linkable_index = -1;
    const char *module_name = "";
    const char *linkable_name = "";
};

/** With what was told in the innermost scope (failure.h) as its log. Null: out of memory. One
 * reference, the caller's. */
FlightError *make_error(const Failure &failure);
/** The same about device code of a module; the log then begins with "kernel blur and 2 others,
 * NVIDIA H200 (sm_90), driver 13.0: ", where the back end names devices. */
FlightError *make_code_error(const KernelBackend &backend, const DeviceScope &scope,
                             const calotype_module_desc &desc, const Failure &failure);
FlightError *share_error(FlightError *error);
/** Null is allowed. */
void drop_error(FlightError *error);

/** Make it the last error of this thread, which gets the caller's reference; null stands for one
 * that found no memory. Answers `status`. */
calotype_status set_last_error(FlightError *error, calotype_status status);
/** make_error() and that in one step. */
__attribute__((cold)) calotype_status fail(const Failure &failure);
/** The same with a sentence, whatever was told. */
__attribute__((cold)) calotype_status fail(calotype_status status, calotype_stage stage,
                                           const char *module_name, const Text &text);
inline calotype_status fail(calotype_status status, const Text &text) {
    return fail(status, CALOTYPE_ST_NONE, nullptr, text);
}
/** "release policy 7, must be 0 to 2": an argument that names none of the choices. */
calotype_status refuse_choice(const char *what, uint32_t given, uint32_t last);
/** Whether it would be the same the next time. */
inline bool is_for_good(calotype_status status) {
    return status == CALOTYPE_E_COMPILE || status == CALOTYPE_E_LINK ||
           status == CALOTYPE_E_NO_IMAGE;
}
/** Where this_thread() is null. */
calotype_status fail_without_block();
/** "compiling" and "compiled"; both null for anything that is not a step. */
struct StageName {
    const char *doing, *done;
};
StageName name_of(calotype_stage stage);

}  // namespace calotype::runtime
