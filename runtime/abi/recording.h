/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Launches that are kept until they are launched together: what code generated for targets with
 * `cuda_graphs` calls. Where the driver can, they become one graph, which is made once a shape and
 * from then on is given only the arguments that changed.
 */
#pragma once

#include "buffer.h"
#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** On the stack of one call of a pipeline and of one thread. */
typedef struct calotype_recording {
    calotype_hold hold; /**< of the kernels; whoever holds them gives it back */
    void *pending;      /**< opaque; null: nothing is pending */
} calotype_recording;

extern int calotype_begin_recording(void *user_context, const calotype_hold *hold,
                                    calotype_recording *out);
/** As calotype_run_kernel(), but the kernel is launched by calotype_launch_recording(). */
extern int calotype_record_kernel(void *user_context, calotype_recording *recording,
                                  uint32_t kernel, const int32_t shape[7], void **args);
/** As calotype_device_malloc() and calotype_device_free(), in the order of the kernels: memory that
 * is freed serves later allocations of the recording, and is given back after its launch. */
/**@{*/
extern int calotype_record_malloc(void *user_context, calotype_recording *recording,
                                  struct calotype_buffer_t *buf,
                                  const calotype_device_interface_t *device_interface);
extern int calotype_record_free(void *user_context, calotype_recording *recording,
                                struct calotype_buffer_t *buf);
/**@}*/
/** Queue what is pending; nothing is pending then, whatever the answer. */
extern int calotype_launch_recording(void *user_context, calotype_recording *recording);
/** Drop what is pending, as after an error. */
extern void calotype_end_recording(void *user_context, void *recording);

#ifdef __cplusplus
}
#endif
