/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The device runtime. Every block begins with a Header, which knows the block's size: for counters
 * of bytes and for NRT_Reallocate(), since the device's heap does not tell.
 *
 * Counters are those of TheMSys, which the host points at the context's when a module is loaded;
 * until then, and while statistics are off, nothing is counted.
 */
#include "platform.cuh"

#include "calotype_nrt.cuh"

#include "runtime/abi/nrt.h"

/** Found by the host under this name, so it must stay what others can see. */
extern "C" {
CALOTYPE_NRT_DEVICE calotype_nrt_memsys *TheMSys;
}

namespace calotype_nrt {

// Inline, and not of this file alone: compilers then name them the same in every build. What stands
// beside a search of the heap need not be fast, but small: it is in every program that is linked.
#define OUT_OF_LINE __attribute__((noinline))

struct Header {
    size_t size;   ///< of what follows
    size_t state;  ///< with CALOTYPE_NRT_DEBUG
};
constexpr size_t alive = 0x6e72745f6c697665, dead = 0x6e72745f64656164;
constexpr size_t largest = ~size_t(0);
constexpr size_t block_alignment = 16;

CALOTYPE_NRT_DEVICE inline Header *header_of(void *ptr) {
    return static_cast<Header *>(ptr) - 1;
}

OUT_OF_LINE CALOTYPE_NRT_DEVICE inline void count(uint64_t calotype_nrt_memsys::*counter,
                                                  size_t n = 1) {
    calotype_nrt_memsys *memsys = TheMSys;
    if (memsys && load_relaxed(&memsys->enabled)) {
        add_relaxed(&(memsys->*counter), n);
    }
}

CALOTYPE_NRT_DEVICE inline void check_alive(void *ptr) {
#ifdef CALOTYPE_NRT_DEBUG
    if (ptr && header_of(ptr)->state != alive) {
        trap();
    }
#else
    (void)ptr;
#endif
}

CALOTYPE_NRT_DEVICE inline void set_state(Header *header, size_t state) {
#ifdef CALOTYPE_NRT_DEBUG
    header->state = state;
#else
    (void)header, (void)state;
#endif
}

/** Null also where the sum is more than there can be. */
OUT_OF_LINE CALOTYPE_NRT_DEVICE inline void *allocate(size_t size, size_t more) {
    const size_t overhead = sizeof(Header) + more;
    Header *header = nullptr;
    if (overhead >= more && size <= largest - overhead) {
        header = static_cast<Header *>(heap_allocate(overhead + size));
    }
    if (!header) {
        count(&calotype_nrt_memsys::failed);
        return nullptr;
    }
    header->size = size + more;
    set_state(header, alive);
    count(&calotype_nrt_memsys::alloc);
    count(&calotype_nrt_memsys::alloc_bytes, size + more);
    return header + 1;
}

OUT_OF_LINE CALOTYPE_NRT_DEVICE inline void release(void *ptr) {
    if (ptr) {
        check_alive(ptr);
        Header *header = header_of(ptr);
        count(&calotype_nrt_memsys::free_);
        count(&calotype_nrt_memsys::free_bytes, header->size);
        set_state(header, dead);
        heap_free(header);
    }
}

CALOTYPE_NRT_DEVICE inline void *align_up(void *ptr, size_t align) {
    const size_t beyond = reinterpret_cast<size_t>(ptr) % align;
    return static_cast<char *>(ptr) + (beyond ? align - beyond : 0);
}

/** One block for both. */
OUT_OF_LINE CALOTYPE_NRT_DEVICE inline NRT_MemInfo *
allocate_object(size_t size, size_t align, NRT_dtor_function dtor, void *dtor_info) {
    align = align ? align : 1;
    void *block = allocate(size, sizeof(NRT_MemInfo) + align - 1);
    NRT_MemInfo *mi = static_cast<NRT_MemInfo *>(block);
    if (mi) {
        NRT_MemInfo_init(mi, align_up(mi + 1, align), size, dtor, dtor_info);
    }
    return mi;
}

/** What shows that memory was not written, or is not one's own any more. */
CALOTYPE_NRT_DEVICE inline void fill(void *data, size_t size, unsigned char value) {
    constexpr size_t most = 256;
    for (size_t i = 0; i < size && i < most; i++) {
        static_cast<volatile unsigned char *>(data)[i] = value;
    }
}
constexpr unsigned char fresh = 0xcb, gone = 0xde;

CALOTYPE_NRT_DEVICE inline void end_safe(void *data, size_t size, void *info) {
    if (info) {
        reinterpret_cast<NRT_dtor_function>(info)(data, size, nullptr);
    }
    fill(data, size, gone);
}

OUT_OF_LINE CALOTYPE_NRT_DEVICE inline NRT_MemInfo *allocate_safe(size_t size, size_t align,
                                                                  NRT_dtor_function dtor) {
    NRT_MemInfo *mi = allocate_object(size, align, end_safe, reinterpret_cast<void *>(dtor));
    if (mi) {
        fill(mi->data, size, fresh);
    }
    return mi;
}

CALOTYPE_NRT_DEVICE inline void end_varsize(void *data, size_t size, void *info) {
    if (info) {
        reinterpret_cast<NRT_dtor_function>(info)(data, size, nullptr);
    }
    release(data);
}

OUT_OF_LINE CALOTYPE_NRT_DEVICE inline NRT_MemInfo *new_varsize(size_t size,
                                                                NRT_dtor_function dtor) {
    void *data = allocate(size, 0);
    if (!data) {
        return nullptr;
    }
    NRT_MemInfo *mi = NRT_MemInfo_new(data, size, end_varsize, reinterpret_cast<void *>(dtor));
    if (!mi) {
        release(data);
    }
    return mi;
}

}  // namespace calotype_nrt
using namespace calotype_nrt;

// ---- raw memory --------------------------------------------------------------------------------

CALOTYPE_NRT_API void *NRT_Allocate(size_t size) {
    return allocate(size, 0);
}

CALOTYPE_NRT_API void *NRT_Allocate_External(size_t size) {
    return allocate(size, 0);
}

CALOTYPE_NRT_API void *NRT_Reallocate(void *ptr, size_t size) {
    check_alive(ptr);
    void *moved = allocate(size, 0);
    if (moved && ptr) {
        const size_t before = header_of(ptr)->size;
        __builtin_memcpy(moved, ptr, before < size ? before : size);
        NRT_Free(ptr);
    }
    return moved;
}

CALOTYPE_NRT_API void NRT_Free(void *ptr) {
    release(ptr);
}

// ---- objects -----------------------------------------------------------------------------------

CALOTYPE_NRT_API void NRT_MemInfo_init(NRT_MemInfo *mi, void *data, size_t size,
                                       NRT_dtor_function dtor, void *dtor_info) {
    mi->refct = 1;
    mi->dtor = dtor;
    mi->dtor_info = dtor_info;
    mi->data = data;
    mi->size = size;
    count(&calotype_nrt_memsys::mi_alloc);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_new(void *data, size_t size, NRT_dtor_function dtor,
                                              void *dtor_info) {
    NRT_MemInfo *mi = static_cast<NRT_MemInfo *>(NRT_Allocate(sizeof(NRT_MemInfo)));
    if (mi) {
        NRT_MemInfo_init(mi, data, size, dtor, dtor_info);
    }
    return mi;
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc(size_t size) {
    return allocate_object(size, block_alignment, nullptr, nullptr);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_dtor(size_t size, NRT_dtor_function dtor) {
    return allocate_object(size, block_alignment, dtor, nullptr);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_safe(size_t size) {
    return allocate_safe(size, block_alignment, nullptr);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_dtor_safe(size_t size, NRT_dtor_function dtor) {
    return allocate_safe(size, block_alignment, dtor);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_aligned(size_t size, unsigned align) {
    return allocate_object(size, align, nullptr, nullptr);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned align) {
    return allocate_safe(size, align, nullptr);
}

CALOTYPE_NRT_API void *NRT_MemInfo_data_fast(NRT_MemInfo *mi) {
    check_alive(mi);
    return mi->data;
}

CALOTYPE_NRT_API void *NRT_MemInfo_data(NRT_MemInfo *mi) {
    check_alive(mi);
    return mi->data;
}

CALOTYPE_NRT_API size_t NRT_MemInfo_size(NRT_MemInfo *mi) {
    check_alive(mi);
    return mi->size;
}

CALOTYPE_NRT_API size_t NRT_MemInfo_refcount(NRT_MemInfo *mi) {
    check_alive(mi);
    return mi ? load_relaxed(&mi->refct) : largest;
}

CALOTYPE_NRT_API void *NRT_MemInfo_external_allocator(NRT_MemInfo *mi) {
    (void)mi;
    return nullptr;
}

// ---- objects whose payload can be replaced -----------------------------------------------------

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_new_varsize(size_t size) {
    return new_varsize(size, nullptr);
}

CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_new_varsize_dtor(size_t size, NRT_dtor_function dtor) {
    return new_varsize(size, dtor);
}

CALOTYPE_NRT_API void *NRT_MemInfo_varsize_alloc(NRT_MemInfo *mi, size_t size) {
    check_alive(mi);
    void *data = NRT_Allocate(size);
    if (data) {
        mi->data = data;
        mi->size = size;
    }
    return data;
}

CALOTYPE_NRT_API void *NRT_MemInfo_varsize_realloc(NRT_MemInfo *mi, size_t size) {
    check_alive(mi);
    void *data = NRT_Reallocate(mi->data, size);
    if (data) {
        mi->data = data;
        mi->size = size;
    }
    return data;
}

CALOTYPE_NRT_API void NRT_MemInfo_varsize_free(NRT_MemInfo *mi, void *ptr) {
    check_alive(mi);
    NRT_Free(ptr);
    if (mi->data == ptr) {
        mi->data = nullptr;
    }
}

// ---- references --------------------------------------------------------------------------------

CALOTYPE_NRT_API void NRT_incref(NRT_MemInfo *mi) {
    check_alive(mi);
    if (mi) {
        add_relaxed(&mi->refct, 1);
    }
}

CALOTYPE_NRT_API void NRT_decref(NRT_MemInfo *mi) {
    check_alive(mi);
    if (mi && take_one(&mi->refct) == 1) {
        NRT_MemInfo_call_dtor(mi);
    }
}

CALOTYPE_NRT_API void NRT_MemInfo_call_dtor(NRT_MemInfo *mi) {
    check_alive(mi);
    if (mi->dtor) {
        mi->dtor(mi->data, mi->size, mi->dtor_info);
    }
    NRT_MemInfo_destroy(mi);
}

CALOTYPE_NRT_API void NRT_MemInfo_destroy(NRT_MemInfo *mi) {
    if (mi) {
        NRT_dealloc(mi);
        count(&calotype_nrt_memsys::mi_free);
    }
}

CALOTYPE_NRT_API void NRT_dealloc(NRT_MemInfo *mi) {
    NRT_Free(mi);
}

CALOTYPE_NRT_API void NRT_Check(NRT_MemInfo *mi) {
    check_alive(mi);
}
