// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/checks.h"

#include "runtime/abi/hooks.h"
#include "runtime/device/buffer_lock.h"
#include "runtime/device/failure.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

int report_code(void *user_context, int code) {
    return report_code(user_context, code, take_failure());
}

int report_code(void *user_context, int code, const Text &why) {
    Text message;
    message << calotype_error_code_summary(code);
    if (!why.empty()) {
        message << ": " << why.c_str();
    }
    unlock_thread_buffers();
    report_error(user_context, message.c_str());
    return code;
}

int check_buffer(void *user_context, const calotype_buffer_t *buf, const char *routine) {
    const bool has_memory = buf && buf->device, has_interface = buf && buf->device_interface;
    if (buf && has_memory == has_interface && !(buf->host_dirty() && buf->device_dirty())) {
        return 0;
    }
    unlock_thread_buffers();
    return !buf                          ? calotype_error_buffer_is_null(user_context, routine)
           : has_memory == has_interface ? calotype_error_host_and_device_dirty(user_context)
           : has_memory                  ? calotype_error_no_device_interface(user_context)
                                         : calotype_error_device_interface_no_device(user_context);
}

}  // namespace calotype::runtime
