// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device copies that are parts of others.
#include "runtime/abi/device_interface.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/checks.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

/** Common to crops and slices: 0, an error code, or `nothing_to_do`. */
constexpr int nothing_to_do = 1;

int check_part(void *user_context, const calotype_buffer_t *src, const calotype_buffer_t *dst,
               const char *routine) {
    if (!src || !dst) {
        return calotype_error_buffer_is_null(user_context, routine);
    }
    if (dst->device) {
        return calotype_error_device_crop_failed(user_context);
    }
    if (!src->device) {
        return nothing_to_do;
    }
    return src->device_interface ? 0 : calotype_error_no_device_interface(user_context);
}

int finish_part(void *user_context, const calotype_buffer_t *src, calotype_buffer_t *dst,
                int code) {
    if (code != 0) {
        dst->device = 0;
        dst->device_interface = nullptr;
        return code == calotype_error_code_device_crop_unsupported
                   ? report_code(user_context, code)
                   : calotype_error_device_crop_failed(user_context);
    }
    dst->device_interface = src->device_interface;
    dst->set_device_dirty(src->device_dirty());
    return 0;
}

}  // namespace

CALOTYPE_WEAK int calotype_device_crop(void *user_context, const calotype_buffer_t *src,
                                       calotype_buffer_t *dst) {
    const int code = check_part(user_context, src, dst, "calotype_device_crop");
    if (code != 0) {
        return code == nothing_to_do ? 0 : code;
    }
    if (src->dimensions != dst->dimensions) {
        return calotype_error_device_crop_failed(user_context);
    }
    const int result = src->device_interface->impl->device_crop(user_context, src, dst);
    return finish_part(user_context, src, dst, result);
}

CALOTYPE_WEAK int calotype_device_slice(void *user_context, const calotype_buffer_t *src,
                                        int slice_dim, int slice_pos, calotype_buffer_t *dst) {
    const int code = check_part(user_context, src, dst, "calotype_device_slice");
    if (code != 0) {
        return code == nothing_to_do ? 0 : code;
    }
    if (src->dimensions != dst->dimensions + 1) {
        return calotype_error_device_crop_failed(user_context);
    }
    const int result =
        src->device_interface->impl->device_slice(user_context, src, slice_dim, slice_pos, dst);
    return finish_part(user_context, src, dst, result);
}

CALOTYPE_WEAK int calotype_device_release_crop(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_buffer(user_context, buf, "calotype_device_release_crop")) {
        return code;
    }
    if (!buf->device) {
        return 0;
    }
    const int code = buf->device_interface->impl->device_release_crop(user_context, buf);
    buf->device = 0;
    buf->device_interface = nullptr;
    buf->set_device_dirty(false);
    return code ? report_code(user_context, calotype_error_code_device_free_failed) : 0;
}
