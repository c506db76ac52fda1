// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory, which is memory of the host at the same address.
#include <algorithm>
#include <cstring>

#include "harness/fake_cuda/state.h"

using namespace fake_cuda;
using Guard = std::lock_guard<std::mutex>;

namespace {

CUresult allocate(CUctx_st *context, size_t bytes, CUdeviceptr *address, void *pool = nullptr) {
    State &s = state();
    if (bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes > s.memory || s.used_bytes() > s.memory - bytes) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    Allocation piece{context, bytes, std::make_unique<uint8_t[]>(bytes), pool, context->device};
    *address = reinterpret_cast<CUdeviceptr>(piece.memory.get());
    s.allocations.insert_or_assign(*address, std::move(piece));
    return CUDA_SUCCESS;
}

/// What was allocated in a capture is the graph's: it is there in each run of the graph, from this
/// node to the one that frees it. With the lock held.
void give_to_graph(Stream &stream, size_t bytes, CUdeviceptr address) {
    const std::shared_ptr<uint8_t[]> memory(state().allocations.at(address).memory.release());
    CUctx_st *context = stream.context;
    stream.capture->nodes.push_back([=] {
        Guard guard(state().lock);
        state().allocations.insert_or_assign(
            reinterpret_cast<CUdeviceptr>(memory.get()),
            Allocation{context, bytes, nullptr, nullptr, context->device});
    });
}

/// Whether kernels of the device can use the memory, and plain copies in a context of it. With the
/// lock held.
bool is_reachable(const Allocation &piece, int device) {
    return piece.device == device;
}

/// The device of the memory, or of what is current for memory of the host. With the lock held.
CUresult check_device(CUdeviceptr address) {
    const Allocation *piece = state().find(address, 1);
    CUctx_st *context = nullptr;
    const CUresult code = current(&context);
    return code || !piece || is_reachable(*piece, context->device) ? code
                                                                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult misused(CUresult code) {
    state().misuse++;
    return code;
}

/// One side of a strided copy.
struct End {
    CUmemorytype type;
    uint8_t *memory;
    size_t pitch, slice;
};

/// Whether all bytes of a device's end are in one allocation. With the lock held.
bool is_inside(const End &end, size_t width, size_t rows, size_t slices) {
    const size_t extent = (slices - 1) * end.slice + (rows - 1) * end.pitch + width;
    return end.type == CU_MEMORYTYPE_HOST ||
           state().find(reinterpret_cast<CUdeviceptr>(end.memory), extent);
}

/// A context of the device must be given for memory of a device.
CUresult check_peer(const End &end, CUcontext context) {
    const Allocation *piece = state().find(reinterpret_cast<CUdeviceptr>(end.memory), 1);
    return state().contexts.count(context) && piece && piece->device == context->device
               ? CUDA_SUCCESS
               : misused(CUDA_ERROR_INVALID_CONTEXT);
}

struct Peers {
    CUcontext from, to;  ///< null: no copy between peers
};

CUresult check_ends(const End &from, const End &to, const Peers &peers) {
    const End *ends[] = {&from, &to};
    const CUcontext contexts[] = {peers.from, peers.to};
    CUresult code = CUDA_SUCCESS;
    for (int i = 0; i < 2 && code == CUDA_SUCCESS; i++) {
        const End &end = *ends[i];
        code = end.type == CU_MEMORYTYPE_HOST ? CUDA_SUCCESS
               : peers.from                   ? check_peer(end, contexts[i])
                            : check_device(reinterpret_cast<CUdeviceptr>(end.memory));
    }
    return code;
}

CUresult copy(const End &from, const End &to, size_t width, size_t rows, size_t slices,
              CUstream stream, const Peers &peers = {}) {
    {
        Guard guard(state().lock);
        if (CUresult code = check_ends(from, to, peers)) {
            return code;
        }
        if (!is_inside(from, width, rows, slices) || !is_inside(to, width, rows, slices)) {
            return misused(CUDA_ERROR_INVALID_VALUE);
        }
    }
    return submit(stream, [=] {
        for (size_t z = 0; z < slices; z++) {
            for (size_t y = 0; y < rows; y++) {
                memmove(to.memory + z * to.slice + y * to.pitch,
                        from.memory + z * from.slice + y * from.pitch, width);
            }
        }
    });
}

template<typename Copy>
End source_of(const Copy &c, size_t slice) {
    const bool on_host = c.srcMemoryType == CU_MEMORYTYPE_HOST;
    auto *memory = on_host ? static_cast<uint8_t *>(const_cast<void *>(c.srcHost))
                           : reinterpret_cast<uint8_t *>(c.srcDevice);
    return {c.srcMemoryType, memory + c.srcY * c.srcPitch + c.srcXInBytes, c.srcPitch, slice};
}

template<typename Copy>
End destination_of(const Copy &c, size_t slice) {
    const bool on_host = c.dstMemoryType == CU_MEMORYTYPE_HOST;
    auto *memory =
        on_host ? static_cast<uint8_t *>(c.dstHost) : reinterpret_cast<uint8_t *>(c.dstDevice);
    return {c.dstMemoryType, memory + c.dstY * c.dstPitch + c.dstXInBytes, c.dstPitch, slice};
}

}  // namespace

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    FAKE_CUDA_CALL("cuMemAlloc");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    if (breaks_capture(context)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return allocate(context, bytes, address);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    FAKE_CUDA_CALL("cuMemFree");
    Guard guard(state().lock);
    const auto found = state().allocations.find(address);
    const bool is_of_pool = found != state().allocations.end() && found->second.pool;
    CUctx_st *context = nullptr;
    const CUresult code = current(&context);
    if (code && !is_of_pool) {
        return code;
    }
    if (context && breaks_capture(context)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (found == state().allocations.end() || (found->second.context != context && !is_of_pool)) {
        return misused(CUDA_ERROR_INVALID_VALUE);
    }
    state().allocations.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    FAKE_CUDA_CALL("cuMemGetInfo");
    Guard guard(state().lock);
    *total = state().memory;
    *free = state().memory - state().used_bytes();
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    FAKE_CUDA_CALL("cuMemPoolCreate");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    if (properties->alloc_type != 1 || properties->location_type != 1 ||
        properties->location_id != context->device) {
        return misused(CUDA_ERROR_INVALID_VALUE);
    }
    static uintptr_t last_pool = 0x1000;
    *pool = reinterpret_cast<CUmemoryPool>(last_pool += 16);
    state().pools.insert(*pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    FAKE_CUDA_CALL("cuMemPoolDestroy");
    Guard guard(state().lock);
    return state().pools.erase(pool) ? CUDA_SUCCESS : misused(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute, void *) {
    FAKE_CUDA_CALL("cuMemPoolSetAttribute");
    Guard guard(state().lock);
    return state().pools.count(pool) ? CUDA_SUCCESS : misused(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    FAKE_CUDA_CALL("cuMemPoolGetAttribute");
    Guard guard(state().lock);
    if (!state().pools.count(pool)) {
        return misused(CUDA_ERROR_INVALID_HANDLE);
    }
    uint64_t used = 0;
    for (const auto &[address, piece] : state().allocations) {
        used += piece.pool == pool ? piece.bytes : 0;
    }
    // Nothing is kept in this pool but what a test says.
    const bool is_reserved = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
    *static_cast<uint64_t *>(value) = used + (is_reserved ? state().kept_by_pools : 0);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    FAKE_CUDA_CALL("cuMemPoolTrimTo");
    Guard guard(state().lock);
    state().kept_by_pools = std::min(state().kept_by_pools, keep);
    return state().pools.count(pool) ? CUDA_SUCCESS : misused(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                 CUstream handle) {
    FAKE_CUDA_CALL("cuMemAllocFromPoolAsync");
    Guard guard(state().lock);
    Stream *stream = nullptr;
    if (CUresult code = find_stream(handle, &stream)) {
        return code;
    }
    if (!state().pools.count(pool)) {
        return misused(CUDA_ERROR_INVALID_HANDLE);
    }
    const CUresult code = allocate(stream->context, bytes, address, pool);
    if (code == CUDA_SUCCESS && stream->capture) {
        give_to_graph(*stream, bytes, *address);
    }
    return code;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    FAKE_CUDA_CALL("cuMemFreeAsync");
    {
        Guard guard(state().lock);
        Stream *stream = nullptr;
        if (CUresult code = find_stream(handle, &stream)) {
            return code;
        }
        const auto found = state().allocations.find(address);
        // Memory of a pool is its device's, whatever context it was allocated in.
        if (found == state().allocations.end() ||
            (!found->second.pool && found->second.context != stream->context)) {
            return misused(CUDA_ERROR_INVALID_VALUE);
        }
    }
    return submit(handle, [address] {
        Guard guard(state().lock);
        state().allocations.erase(address);
    });
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    FAKE_CUDA_CALL("cuPointerGetAttribute");
    Guard guard(state().lock);
    const Allocation *piece = state().find(address, 1);
    if (!piece) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUctx_st *context = nullptr;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext *>(value) = piece->context;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (current(&context) || !is_reachable(*piece, context->device)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *static_cast<CUdeviceptr *>(value) = address;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int *>(value) = piece->device;
        break;
    default:
        *static_cast<unsigned *>(value) = CU_MEMORYTYPE_DEVICE;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    FAKE_CUDA_CALL("cuMemcpyHtoDAsync");
    return copy(
        {CU_MEMORYTYPE_HOST, static_cast<uint8_t *>(const_cast<void *>(from)), bytes, bytes},
        {CU_MEMORYTYPE_DEVICE, reinterpret_cast<uint8_t *>(to), bytes, bytes}, bytes, 1, 1, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    FAKE_CUDA_CALL("cuMemcpyDtoHAsync");
    return copy({CU_MEMORYTYPE_DEVICE, reinterpret_cast<uint8_t *>(from), bytes, bytes},
                {CU_MEMORYTYPE_HOST, static_cast<uint8_t *>(to), bytes, bytes}, bytes, 1, 1,
                stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    FAKE_CUDA_CALL("cuMemcpyDtoDAsync");
    return copy({CU_MEMORYTYPE_DEVICE, reinterpret_cast<uint8_t *>(from), bytes, bytes},
                {CU_MEMORYTYPE_DEVICE, reinterpret_cast<uint8_t *>(to), bytes, bytes}, bytes, 1, 1,
                stream);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream) {
    FAKE_CUDA_CALL("cuMemcpy3DAsync");
    if (c->srcPitch < c->WidthInBytes || c->dstPitch < c->WidthInBytes ||
        c->srcHeight < c->Height || c->dstHeight < c->Height) {
        Guard guard(state().lock);
        return misused(CUDA_ERROR_INVALID_VALUE);
    }
    return copy(source_of(*c, c->srcPitch * c->srcHeight),
                destination_of(*c, c->dstPitch * c->dstHeight), c->WidthInBytes, c->Height,
                c->Depth, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream) {
    FAKE_CUDA_CALL("cuMemcpyPeerAsync");
    return copy({CU_MEMORYTYPE_DEVICE, reinterpret_cast<uint8_t *>(from), bytes, bytes},
                {CU_MEMORYTYPE_DEVICE, reinterpret_cast<uint8_t *>(to), bytes, bytes}, bytes, 1, 1,
                stream, {from_context, to_context});
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D *c, CUstream stream) {
    FAKE_CUDA_CALL("cuMemcpy3DPeerAsync");
    return copy(source_of(*c, c->srcPitch * c->srcHeight),
                destination_of(*c, c->dstPitch * c->dstHeight), c->WidthInBytes, c->Height,
                c->Depth, stream, {c->srcContext, c->dstContext});
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned) {
    FAKE_CUDA_CALL("cuMemHostRegister");
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    if (CUresult code = current(&context)) {
        return code;
    }
    const auto start = reinterpret_cast<uintptr_t>(memory);
    for (const auto &[other, locked] : state().locked_memory) {
        const auto begin = reinterpret_cast<uintptr_t>(other);
        if (start < begin + locked.bytes && begin < start + bytes) {
            return misused(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        }
    }
    state().locked_memory[memory] = {context, bytes};
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
    FAKE_CUDA_CALL("cuMemHostUnregister");
    Guard guard(state().lock);
    return state().locked_memory.erase(memory) ? CUDA_SUCCESS
                                               : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
