// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of Buffer that depends on neither element type nor number of dimensions: the raw buffer,
// shared ownership of its memory, and the operations on devices.
#pragma once

#include <cassert>
#include <new>

#include "buffer_ownership.h"

namespace calotype {
namespace Runtime {
namespace internal {

class BufferState {
public:
    /** The buffer as generated code takes it. Belongs to this object. */
    calotype_buffer_t *raw_buffer() {
        return &buf;
    }
    const calotype_buffer_t *raw_buffer() const {
        return &buf;
    }
    operator calotype_buffer_t *() {
        return &buf;
    }

    calotype_type_t type() const {
        return buf.type;
    }
    int dimensions() const {
        return buf.dimensions;
    }
    size_t number_of_elements() const {
        return buf.number_of_elements();
    }
    size_t size_in_bytes() const {
        return buf.size_in_bytes();
    }
    /** Whether the host memory is shared by Buffers and goes with the last of them. */
    bool owns_host_memory() const {
        return host_allocation != nullptr;
    }
    /** Whether this asks a pipeline for its region rather than carrying data. */
    bool is_bounds_query() const {
        return buf.is_bounds_query();
    }

    /** Tell the memory sanitizer that the memory should have been written. No effect without it. */
    void msan_check_mem_is_initialized(bool entire = false) const {
        (void)entire;
    }

    /** @name Which copy is newer */
    /**@{*/
    bool host_dirty() const {
        return buf.host_dirty();
    }
    bool device_dirty() const {
        return buf.device_dirty();
    }
    void set_host_dirty(bool v = true) {
        assert((!v || !device_dirty()) && "the device copy is newer: call copy_to_host first");
        buf.set_host_dirty(v);
    }
    void set_device_dirty(bool v = true) {
        assert((!v || !host_dirty()) && "the host copy is newer: call copy_to_device first");
        buf.set_device_dirty(v);
    }
    /**@}*/

    /** @name Device copies
     * All that return an int return 0 or an error code. */
    /**@{*/
    bool has_device_allocation() const {
        return buf.device != 0;
    }
    BufferDeviceOwnership device_ownership() const {
        return device_allocation ? device_allocation->ownership : BufferDeviceOwnership::Allocated;
    }
    /** Bring the host copy up to date. */
    int copy_to_host(void *user_context = nullptr) {
        return device_dirty() ? buf.device_interface->copy_to_host(user_context, &buf) : 0;
    }
    /** Bring the device copy up to date, making one if there is none. */
    int copy_to_device(const calotype_device_interface_t *device_interface,
                       void *user_context = nullptr) {
        return host_dirty() ? device_interface->copy_to_device(user_context, &buf, device_interface)
                            : 0;
    }
    int device_malloc(const calotype_device_interface_t *device_interface,
                      void *user_context = nullptr) {
        return device_interface->device_malloc(user_context, &buf, device_interface);
    }
    /** Free the device copy, which must not be shared. */
    int device_free(void *user_context = nullptr) {
        assert_sole_device_owner(BufferDeviceOwnership::Allocated);
        int result =
            buf.device_interface ? buf.device_interface->device_free(user_context, &buf) : 0;
        drop_device_allocation();
        return result;
    }
    /** Use a handle of the device's own as device copy. */
    int device_wrap_native(const calotype_device_interface_t *device_interface, uint64_t handle,
                           void *user_context = nullptr) {
        assert(buf.device == 0 && "there is a device copy already");
        set_device_ownership(BufferDeviceOwnership::WrappedNative);
        return device_interface->wrap_native(user_context, &buf, handle, device_interface);
    }
    int device_detach_native(void *user_context = nullptr) {
        assert_sole_device_owner(BufferDeviceOwnership::WrappedNative);
        int result =
            buf.device_interface ? buf.device_interface->detach_native(user_context, &buf) : 0;
        drop_device_allocation();
        return result;
    }
    int device_and_host_malloc(const calotype_device_interface_t *device_interface,
                               void *user_context = nullptr) {
        assert(buf.device == 0 && "there is a device copy already");
        set_device_ownership(BufferDeviceOwnership::AllocatedDeviceAndHost);
        int result = device_interface->device_and_host_malloc(user_context, &buf, device_interface);
        if (result != 0) {
            drop_device_allocation();
        }
        return result;
    }
    /** The device interface is the buffer's own, whatever is given. */
    int device_and_host_free(const calotype_device_interface_t * /*device_interface*/ = nullptr,
                             void *user_context = nullptr) {
        assert_sole_device_owner(BufferDeviceOwnership::AllocatedDeviceAndHost);
        int result = buf.device_interface
                         ? buf.device_interface->device_and_host_free(user_context, &buf)
                         : 0;
        drop_device_allocation();
        return result;
    }
    int device_sync(void *user_context = nullptr) {
        return buf.device_sync(user_context);
    }
    /** Give up this object's share of the device copy, or of the host copy. */
    void device_deallocate() {
        release_device();
    }
    void deallocate() {
        release_host();
    }
    /**@}*/

    /** Functions that allocate host memory for Buffers from now on; null brings back malloc. */
    static void set_default_allocate_fn(void *(*allocate)(size_t)) {
        default_allocator().allocate = allocate;
    }
    static void set_default_deallocate_fn(void (*deallocate)(void *)) {
        default_allocator().deallocate = deallocate;
    }

protected:
    calotype_buffer_t buf = {};
    HostAllocation *host_allocation = nullptr;
    mutable DeviceAllocation *device_allocation = nullptr;

    BufferState() = default;
    ~BufferState() = default;

    /** Take a share of what `other` owns. The raw buffer must have been copied. */
    void share_memory(const BufferState &other) {
        uint64_t device = buf.device;
        const calotype_device_interface_t *device_interface = buf.device_interface;
        bool device_is_newer = buf.device_dirty();
        share_host_memory(other);
        buf.device = device;
        buf.device_interface = device_interface;
        buf.set_device_dirty(device_is_newer);
        if (other.buf.device && !other.device_allocation) {
            other.device_allocation = new DeviceAllocation(BufferDeviceOwnership::Allocated);
        }
        device_allocation = other.device_allocation;
        if (device_allocation) {
            device_allocation->ref_count.fetch_add(1, std::memory_order_relaxed);
        }
    }

    /** The same without the device copy, of which this object then knows nothing. */
    void share_host_memory(const BufferState &other) {
        host_allocation = other.host_allocation;
        if (host_allocation) {
            host_allocation->ref_count.fetch_add(1, std::memory_order_relaxed);
        }
        forget_device();
    }

    /** Take what `other` owns away from it. The raw buffer must have been copied. */
    void take_memory(BufferState &other) {
        host_allocation = other.host_allocation;
        device_allocation = other.device_allocation;
        other.host_allocation = nullptr;
        other.device_allocation = nullptr;
        other.buf.host = nullptr;
        other.forget_device();
    }

    void release_memory() {
        release_device();
        release_host();
    }

    void set_device_ownership(BufferDeviceOwnership ownership) {
        delete device_allocation;
        device_allocation = new DeviceAllocation(ownership);
    }

    /** Allocate host memory for the shape. On failure the host pointer is null. */
    void allocate_host(AllocateFn allocate, DeallocateFn deallocate) {
        const DefaultAllocator &standard = default_allocator();
        allocate = allocate ? allocate : standard.allocate ? standard.allocate : malloc;
        deallocate = deallocate ? deallocate : standard.deallocate ? standard.deallocate : free;
        size_t size = size_with_header(buf.size_in_bytes());
        void *start = size ? allocate(size) : nullptr;
        if (!start) {
            buf.host = nullptr;
            return;
        }
        host_allocation = new (start) HostAllocation(deallocate);
        buf.host = aligned_after_header(start) - buf.begin_offset() * buf.type.bytes();
    }

private:
    void assert_sole_device_owner(BufferDeviceOwnership ownership) const {
        assert((!device_allocation || device_allocation->ref_count == 1) &&
               "the device copy is shared with another Buffer");
        assert((!device_allocation || device_allocation->ownership == ownership) &&
               "the device copy was not made that way");
        (void)ownership;
    }

    void forget_device() {
        buf.device = 0;
        buf.device_interface = nullptr;
        buf.set_device_dirty(false);
    }

    void drop_device_allocation() {
        delete device_allocation;
        device_allocation = nullptr;
    }

    void release_host() {
        if (host_allocation &&
            host_allocation->ref_count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            DeallocateFn deallocate = host_allocation->deallocate;
            host_allocation->~HostAllocation();
            deallocate(host_allocation);
        }
        host_allocation = nullptr;
        buf.host = nullptr;
        buf.set_host_dirty(false);
    }

    void release_device() {
        bool last = !device_allocation ||
                    device_allocation->ref_count.fetch_sub(1, std::memory_order_acq_rel) == 1;
        if (last) {
            end_device_allocation();
            delete device_allocation;
        }
        device_allocation = nullptr;
        forget_device();
    }

    void end_device_allocation() {
        const calotype_device_interface_t *device_interface = buf.device_interface;
        if (!buf.device || !device_interface) {
            return;
        }
        switch (device_ownership()) {
        case BufferDeviceOwnership::Allocated:
            device_interface->device_free(nullptr, &buf);
            return;
        case BufferDeviceOwnership::WrappedNative:
            device_interface->detach_native(nullptr, &buf);
            return;
        case BufferDeviceOwnership::AllocatedDeviceAndHost:
            device_interface->device_and_host_free(nullptr, &buf);
            return;
        case BufferDeviceOwnership::Cropped:
            device_interface->device_release_crop(nullptr, &buf);
            return;
        case BufferDeviceOwnership::Unmanaged:
            return;
        }
    }
};

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
