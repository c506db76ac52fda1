/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The device runtime: memory that threads of a device allocate, with reference counts. For device
 * code of libraries that are linked into kernels (docs/device_runtime.md).
 *
 * Names, signatures and the layout of MemInfo are those of numba-cuda's nrt.cuh, so that a library
 * that was compiled with either header links with the other's runtime. All functions run on the
 * device and may be called by any number of threads. A null result is memory that was not there.
 */
#ifndef CALOTYPE_NRT_CUH
#define CALOTYPE_NRT_CUH

#include <stddef.h>

#ifndef CALOTYPE_NRT_DEVICE
#define CALOTYPE_NRT_DEVICE __device__
#endif
#define CALOTYPE_NRT_API extern "C" CALOTYPE_NRT_DEVICE

/** Called once with the payload, before its memory goes. */
typedef void (*NRT_dtor_function)(void *ptr, size_t size, void *info);
typedef void (*NRT_dealloc_func)(void *ptr, void *dealloc_info);

/** The owner of a payload. A library may embed one at the front of a block of NRT_Allocate(). */
struct MemInfo {
    size_t refct;  ///< changed by NRT_incref() and NRT_decref() alone
    NRT_dtor_function dtor;
    void *dtor_info;
    void *data;
    size_t size;
};
typedef struct MemInfo NRT_MemInfo;

/** @name Raw memory
 * Aligned to 16 bytes. What NRT_Allocate() or NRT_Reallocate() gave is freed by NRT_Free() alone,
 * never by free(). */
/**@{*/
CALOTYPE_NRT_API void *NRT_Allocate(size_t size);
/** The same. */
CALOTYPE_NRT_API void *NRT_Allocate_External(size_t size);
/** A block of that size with what fits of the old one's content, which is freed. Null: there is no
 * memory, and the old block is as it was. Of null: NRT_Allocate(). */
CALOTYPE_NRT_API void *NRT_Reallocate(void *ptr, size_t size);
/** Null is allowed. */
CALOTYPE_NRT_API void NRT_Free(void *ptr);
/**@}*/

/** @name Objects
 * Each begins with one reference. */
/**@{*/
/** Of memory that the caller has. */
CALOTYPE_NRT_API void NRT_MemInfo_init(NRT_MemInfo *mi, void *data, size_t size,
                                       NRT_dtor_function dtor, void *dtor_info);
/** Of a payload that is the caller's, who is told by the destructor when nobody needs it. */
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_new(void *data, size_t size, NRT_dtor_function dtor,
                                              void *dtor_info);
/** Object and payload in one block; the payload is aligned to 16 bytes, or as asked for: any
 * alignment but 0, which means 1. The `safe` ones fill its first 256 bytes with 0xCB, and with 0xDE
 * when it goes, so that uses of uninitialized and freed memory show. */
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc(size_t size);
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_dtor(size_t size, NRT_dtor_function dtor);
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_safe(size_t size);
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_dtor_safe(size_t size, NRT_dtor_function dtor);
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_aligned(size_t size, unsigned align);
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned align);

CALOTYPE_NRT_API void *NRT_MemInfo_data_fast(NRT_MemInfo *mi);
CALOTYPE_NRT_API void *NRT_MemInfo_data(NRT_MemInfo *mi);
CALOTYPE_NRT_API size_t NRT_MemInfo_size(NRT_MemInfo *mi);
/** Of null: size_t(-1). */
CALOTYPE_NRT_API size_t NRT_MemInfo_refcount(NRT_MemInfo *mi);
/** Null: there are no others on a device. */
CALOTYPE_NRT_API void *NRT_MemInfo_external_allocator(NRT_MemInfo *mi);
/**@}*/

/** @name Objects whose payload can be replaced
 * The payload is a block of its own. The element destructor is called with the payload and its
 * size, and null as `info`; then the payload is freed. */
/**@{*/
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_new_varsize(size_t size);
CALOTYPE_NRT_API NRT_MemInfo *NRT_MemInfo_new_varsize_dtor(size_t size, NRT_dtor_function dtor);
/** A new payload; the old one is the caller's, for NRT_MemInfo_varsize_free(). Null: there is no
 * memory, and the object is as it was. */
CALOTYPE_NRT_API void *NRT_MemInfo_varsize_alloc(NRT_MemInfo *mi, size_t size);
/** The same with what fits of the old payload's content; the old one is freed. */
CALOTYPE_NRT_API void *NRT_MemInfo_varsize_realloc(NRT_MemInfo *mi, size_t size);
CALOTYPE_NRT_API void NRT_MemInfo_varsize_free(NRT_MemInfo *mi, void *ptr);
/**@}*/

/** @name References
 * Null is allowed. The last NRT_decref() sees all that other threads wrote before theirs, calls the
 * destructor and frees the object. */
/**@{*/
CALOTYPE_NRT_API void NRT_incref(NRT_MemInfo *mi);
CALOTYPE_NRT_API void NRT_decref(NRT_MemInfo *mi);
/** What the last NRT_decref() does. */
CALOTYPE_NRT_API void NRT_MemInfo_call_dtor(NRT_MemInfo *mi);
/** The same without the destructor. */
CALOTYPE_NRT_API void NRT_MemInfo_destroy(NRT_MemInfo *mi);
/** Give the object's memory back; it is not counted as destroyed. */
CALOTYPE_NRT_API void NRT_dealloc(NRT_MemInfo *mi);
/**@}*/

/** Trap if the object, one at the front of a block, has been destroyed. Does nothing unless the
 * runtime was compiled with CALOTYPE_NRT_DEBUG; then all functions check their arguments so. */
CALOTYPE_NRT_API void NRT_Check(NRT_MemInfo *mi);

#endif
