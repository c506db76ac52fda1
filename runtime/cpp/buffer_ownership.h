// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ownership of the memory behind a Buffer: the reference counts that copies of one Buffer share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../abi/device_interface.h"

namespace calotype {
namespace Runtime {

/** What the last owner of a device allocation does with it. */
enum class BufferDeviceOwnership : int {
    Allocated,               ///< free it
    WrappedNative,           ///< detach the native handle, which is not ours
    Unmanaged,               ///< nothing, somebody else sees to it
    AllocatedDeviceAndHost,  ///< free it together with the host memory
    Cropped,                 ///< release the crop, then the buffer it was cropped from
};

/** Alignment in bytes of the host memory that a Buffer allocates: a power of two. */
#ifdef CALOTYPE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
constexpr size_t buffer_alignment = CALOTYPE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT;
#else
constexpr size_t buffer_alignment = 128;
#endif

namespace internal {

using AllocateFn = void *(*)(size_t);
using DeallocateFn = void (*)(void *);

/** Stands at the start of each host allocation that Buffers own. */
struct HostAllocation {
    DeallocateFn deallocate;
    std::atomic<int> ref_count{1};

    explicit HostAllocation(DeallocateFn deallocate) : deallocate(deallocate) {
    }
};

/** What the Buffers that share a device allocation share beside it. */
struct DeviceAllocation {
    std::atomic<int> ref_count{1};
    BufferDeviceOwnership ownership;

    explicit DeviceAllocation(BufferDeviceOwnership ownership) : ownership(ownership) {
    }
    virtual ~DeviceAllocation() = default;
};

/** Bytes to ask for so that `size` aligned ones come after the header; 0 if there is no such
 * number. */
inline size_t size_with_header(size_t size) {
    constexpr size_t extra = sizeof(HostAllocation) + 2 * buffer_alignment;
    return size > SIZE_MAX - extra ? 0 : size + extra;
}

/** First aligned address behind a header at `start`. */
inline uint8_t *aligned_after_header(void *start) {
    uintptr_t address = reinterpret_cast<uintptr_t>(start) + sizeof(HostAllocation);
    address = (address + buffer_alignment - 1) & ~uintptr_t(buffer_alignment - 1);
    return reinterpret_cast<uint8_t *>(address);
}

struct DefaultAllocator {
    AllocateFn allocate = nullptr;
    DeallocateFn deallocate = nullptr;
};

/** The functions that allocate host memory unless others are given; null means malloc and free. */
inline DefaultAllocator &default_allocator() {
    static DefaultAllocator allocator;
    return allocator;
}

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype
