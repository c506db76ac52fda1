// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fake_device.h"

#include <cstdlib>
#include <cstring>

#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/make_interface.h"

namespace calotype_test {

namespace {

/** What a handle stands for. */
struct Allocation {
    uint8_t *memory;  ///< lowest address
    uint8_t *origin;  ///< of the element at the mins
};

Allocation *allocation_of(const calotype_buffer_t *buf) {
    return reinterpret_cast<Allocation *>(buf->device);
}

/** Count a call; answers whether it should succeed. */
int count(const char *name) {
    fake_device_state().calls[name]++;
    if (const auto hook = fake_device_state().hook) {
        hook(name);  // which may put another in its place
    }
    return fake_device_state().failing == name ? -29 : 0;
}

void copy(const calotype_buffer_t &buf, const uint8_t *from, uint8_t *to) {
    const ptrdiff_t offset = buf.begin_offset() * buf.type.bytes();
    memcpy(to + offset, from + offset, buf.size_in_bytes());
}

int device_malloc(void *, calotype_buffer_t *buf) {
    if (int code = count("device_malloc")) {
        return code;
    }
    auto *memory = static_cast<uint8_t *>(malloc(buf->size_in_bytes()));
    buf->device = reinterpret_cast<uint64_t>(
        new Allocation{memory, memory - buf->begin_offset() * buf->type.bytes()});
    fake_device_state().live++;
    return 0;
}

int device_free(void *, calotype_buffer_t *buf) {
    const int code = count("device_free");
    free(allocation_of(buf)->memory);
    delete allocation_of(buf);
    fake_device_state().live--;
    return code;
}

int device_sync(void *, calotype_buffer_t *) {
    return count("device_sync");
}

int device_release(void *) {
    return count("device_release");
}

int copy_to_host(void *, calotype_buffer_t *buf) {
    if (int code = count("copy_to_host")) {
        return code;
    }
    copy(*buf, allocation_of(buf)->origin, buf->host);
    return 0;
}

int copy_to_device(void *, calotype_buffer_t *buf) {
    if (int code = count("copy_to_device")) {
        return code;
    }
    copy(*buf, buf->host, allocation_of(buf)->origin);
    return 0;
}

int device_and_host_malloc(void *user_context, calotype_buffer_t *buf) {
    if (int code = count("device_and_host_malloc")) {
        return code;
    }
    device_malloc(user_context, buf);
    buf->host = allocation_of(buf)->origin;
    return 0;
}

int device_and_host_free(void *user_context, calotype_buffer_t *buf) {
    const int code = count("device_and_host_free");
    device_free(user_context, buf);
    buf->host = nullptr;
    return code;
}

/** Knows how to copy from the host or its own kind, to its own kind or the host; same shapes. */
int buffer_copy(void *, calotype_buffer_t *src, const calotype_device_interface_t *to,
                calotype_buffer_t *dst) {
    if (int code = count("buffer_copy")) {
        return code;
    }
    const bool from_device = src->device && (src->device_dirty() || !src->host);
    if (from_device && to && src->device_interface != to) {
        return calotype_error_code_incompatible_device_interface;
    }
    copy(*src, from_device ? allocation_of(src)->origin : src->host,
         to ? allocation_of(dst)->origin : dst->host);
    return 0;
}

int device_crop(void *, const calotype_buffer_t *src, calotype_buffer_t *dst) {
    if (int code = count("device_crop")) {
        return code;
    }
    if (!fake_device_state().crops_supported) {
        return calotype_error_code_device_crop_unsupported;
    }
    ptrdiff_t offset = 0;
    for (int d = 0; d < src->dimensions; d++) {
        offset += ptrdiff_t(dst->dim[d].min - src->dim[d].min) * src->dim[d].stride;
    }
    uint8_t *origin = allocation_of(src)->origin + offset * src->type.bytes();
    dst->device = reinterpret_cast<uint64_t>(new Allocation{nullptr, origin});
    return 0;
}

int device_slice(void *, const calotype_buffer_t *src, int d, int pos, calotype_buffer_t *dst) {
    if (int code = count("device_slice")) {
        return code;
    }
    const ptrdiff_t offset = ptrdiff_t(pos - src->dim[d].min) * src->dim[d].stride;
    uint8_t *origin = allocation_of(src)->origin + offset * src->type.bytes();
    dst->device = reinterpret_cast<uint64_t>(new Allocation{nullptr, origin});
    return 0;
}

int device_release_crop(void *, calotype_buffer_t *buf) {
    const int code = count("device_release_crop");
    delete allocation_of(buf);
    return code;
}

int wrap_native(void *, calotype_buffer_t *buf, uint64_t handle) {
    if (int code = count("wrap_native")) {
        return code;
    }
    buf->device =
        reinterpret_cast<uint64_t>(new Allocation{nullptr, reinterpret_cast<uint8_t *>(handle)});
    return 0;
}

int detach_native(void *, calotype_buffer_t *buf) {
    const int code = count("detach_native");
    delete allocation_of(buf);
    return code;
}

void use_module() {
    fake_device_state().calls["use_module"]++;
}

void release_module() {
    fake_device_state().calls["release_module"]++;
}

const calotype_device_interface_impl_t impl = {
    use_module,           release_module,      device_malloc,
    device_free,          device_sync,         device_release,
    copy_to_host,         copy_to_device,      device_and_host_malloc,
    device_and_host_free, buffer_copy,         device_crop,
    device_slice,         device_release_crop, wrap_native,
    detach_native};

const calotype_device_interface_t table = calotype::runtime::make_device_interface(nullptr, &impl);
const calotype_device_interface_t other_table = table;

}  // namespace

const calotype_device_interface_t *fake_device() {
    return &table;
}

const calotype_device_interface_t *other_fake_device() {
    return &other_table;
}

FakeDeviceState &fake_device_state() {
    static FakeDeviceState state;
    return state;
}

uint8_t *fake_device_memory(const calotype_buffer_t &buf) {
    return allocation_of(&buf)->origin;
}

}  // namespace calotype_test
