// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/checks.h"

#include "runtime/abi/hooks.h"

namespace calotype {
namespace runtime {

int report_code(void *user_context, int code) {
    calotype_error(user_context, calotype_error_code_summary(code));
    return code;
}

int check_buffer(void *user_context, const calotype_buffer_t *buf, const char *routine) {
    if (!buf) {
        return calotype_error_buffer_is_null(user_context, routine);
    }
    if (buf->device && !buf->device_interface) {
        return calotype_error_no_device_interface(user_context);
    }
    if (buf->device_interface && !buf->device) {
        return calotype_error_device_interface_no_device(user_context);
    }
    if (buf->host_dirty() && buf->device_dirty()) {
        return calotype_error_host_and_device_dirty(user_context);
    }
    return 0;
}

}  // namespace runtime
}  // namespace calotype
