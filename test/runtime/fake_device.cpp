// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fake_device.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/host_allocation.h"
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

std::mutex counts_lock;

/** Count a call; answers whether it should succeed. */
int count(const char *name) {
    {
        const std::lock_guard<std::mutex> guard(counts_lock);
        fake_device_state().calls[name]++;
    }
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

int copy_own(void *, calotype_buffer_t *buf, bool to_device, bool) {
    if (int code = count(to_device ? "copy_to_device" : "copy_to_host")) {
        return code;
    }
    uint8_t *on_device = allocation_of(buf)->origin;
    copy(*buf, to_device ? buf->host : on_device, to_device ? on_device : buf->host);
    return 0;
}

/** The host shares the device's memory. */
int host_malloc(void *, calotype_buffer_t *buf) {
    if (int code = count("host_malloc")) {
        return code;
    }
    buf->host = allocation_of(buf)->origin;
    return 0;
}

void host_free(void *, calotype_buffer_t *buf) {
    count("host_free");
    buf->host = nullptr;
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

int make_part(void *, const calotype_buffer_t *src, int slice_dim, int slice_pos,
              calotype_buffer_t *dst) {
    if (int code = count(slice_dim < 0 ? "device_crop" : "device_slice")) {
        return code;
    }
    if (!fake_device_state().crops_supported) {
        return calotype_error_code_device_crop_unsupported;
    }
    const ptrdiff_t offset = calotype::runtime::bytes_to_part(*src, *dst, slice_dim, slice_pos);
    dst->device =
        reinterpret_cast<uint64_t>(new Allocation{nullptr, allocation_of(src)->origin + offset});
    return 0;
}

int wrap_native(void *, calotype_buffer_t *buf, uint64_t handle) {
    if (int code = count("wrap_native")) {
        return code;
    }
    buf->device =
        reinterpret_cast<uint64_t>(new Allocation{nullptr, reinterpret_cast<uint8_t *>(handle)});
    return 0;
}

int release_handle(void *, calotype_buffer_t *buf) {
    const int code = count("release_handle");
    delete allocation_of(buf);
    return code;
}

const calotype_device_interface_impl_t impl = {
    .device_malloc = device_malloc,
    .device_free = device_free,
    .device_sync = device_sync,
    .device_release = device_release,
    .copy = copy_own,
    .host_malloc = host_malloc,
    .host_free = host_free,
    .buffer_copy = buffer_copy,
    .make_part = make_part,
    .wrap_native = wrap_native,
    .release_handle = release_handle,
    .kernels = nullptr,
    .locate = nullptr,
};

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
