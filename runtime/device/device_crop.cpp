// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device copies that are parts of others.
#include "runtime/abi/device_interface.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/checks.h"
#include "runtime/device/device_buffer.h"
#include "runtime/device/failure.h"
#include "runtime/host/text.h"
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

int refuse(void *user_context, const Text &why) {
    return report_code(user_context, calotype_error_code_device_crop_failed, why);
}

/** Elements of a part that are none of the source's would be other memory. Dimension `skipped` of
 * the source is none of the part's; negative: all are. */
int check_shape(void *user_context, const calotype_buffer_t *src, int skipped,
                const calotype_buffer_t *dst) {
    const int dimensions = src->dimensions - (skipped >= 0);
    if (dst->dimensions != dimensions) {
        return refuse(user_context, Text() << "dimensions of the part: " << dst->dimensions
                                           << ", must be " << dimensions);
    }
    for (int d = 0; d < dst->dimensions; d++) {
        const calotype_dimension_t &part = dst->dim[d];
        const calotype_dimension_t &whole = src->dim[skipped >= 0 && d >= skipped ? d + 1 : d];
        const int64_t end = int64_t(part.min) + part.extent;
        const int64_t whole_end = int64_t(whole.min) + whole.extent;
        if (part.extent > 0 && (part.min < whole.min || end > whole_end)) {
            return refuse(user_context, Text()
                                            << "dimension " << d << " of the part is " << part.min
                                            << " to " << end - 1 << ", that of the whole "
                                            << whole.min << " to " << whole_end - 1);
        }
    }
    return 0;
}

int check_slice(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos) {
    if (slice_dim < 0 || slice_dim >= src->dimensions) {
        return refuse(user_context,
                      Text() << "a slice at dimension " << slice_dim << " of " << src->dimensions);
    }
    const calotype_dimension_t &dim = src->dim[slice_dim];
    if (slice_pos < dim.min || slice_pos >= int64_t(dim.min) + dim.extent) {
        return refuse(user_context, Text() << "a slice at " << slice_pos << " of dimension "
                                           << slice_dim << ", which is " << dim.min << " to "
                                           << int64_t(dim.min) + dim.extent - 1);
    }
    return 0;
}

int finish_part(void *user_context, const calotype_buffer_t *src, calotype_buffer_t *dst,
                int code) {
    if (code != 0) {
        dst->device = 0;
        dst->device_interface = nullptr;
        return report_code(user_context, code == calotype_error_code_device_crop_unsupported
                                             ? code
                                             : calotype_error_code_device_crop_failed);
    }
    dst->device_interface = src->device_interface;
    dst->set_device_dirty(src->device_dirty());
    return 0;
}

}  // namespace

static int make_part(void *user_context, const calotype_buffer_t *src, int slice_dim, int slice_pos,
                     calotype_buffer_t *dst) {
    const FailureScope failures;
    int code = check_shape(user_context, src, slice_dim, dst);
    if (code == 0) {
        code = src->device_interface->impl->make_part(user_context, src, slice_dim, slice_pos, dst);
        code = finish_part(user_context, src, dst, code);
    }
    return code;
}

CALOTYPE_WEAK int calotype_device_crop(void *user_context, const calotype_buffer_t *src,
                                       calotype_buffer_t *dst) {
    const int code = check_part(user_context, src, dst, "calotype_device_crop");
    return code == nothing_to_do ? 0 : code ? code : make_part(user_context, src, -1, 0, dst);
}

CALOTYPE_WEAK int calotype_device_slice(void *user_context, const calotype_buffer_t *src,
                                        int slice_dim, int slice_pos, calotype_buffer_t *dst) {
    int code = check_part(user_context, src, dst, "calotype_device_slice");
    code = code ? code : check_slice(user_context, src, slice_dim, slice_pos);
    return code == nothing_to_do ? 0
           : code                ? code
                                 : make_part(user_context, src, slice_dim, slice_pos, dst);
}

CALOTYPE_WEAK int calotype_device_release_crop(void *user_context, calotype_buffer_t *buf) {
    if (int code = check_buffer(user_context, buf, "calotype_device_release_crop")) {
        return code;
    }
    const FailureScope failures;
    const int code = buf->device ? release_handle(user_context, buf) : 0;
    return code ? report_code(user_context, calotype_error_code_device_free_failed) : 0;
}
