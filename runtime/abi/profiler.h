/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The profiler: pipelines compiled with the profile feature say what they are doing; a thread looks
 * now and then and bills the time. Generated code writes to these structures.
 */
#pragma once

#include <stdint.h>

#include "attributes.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Values of calotype_profiler_instance_state::current_func below 0. */
enum { calotype_profiler_outside_of_calotype = -1, calotype_profiler_please_stop = -2 };

/** What kind of work a row of the report is. */
typedef enum calotype_profiler_func_kind {
    calotype_profiler_func_kind_func = 0,
    calotype_profiler_func_kind_overhead = 1,
    calotype_profiler_func_kind_malloc = 2,
    calotype_profiler_func_kind_copy_to_host = 3,
    calotype_profiler_func_kind_copy_to_device = 4
} calotype_profiler_func_kind;

/** One Func of a pipeline. Times are nanoseconds, memory is bytes. */
typedef struct CALOTYPE_ATTRIBUTE_ALIGN(8) calotype_profiler_func_stats {
    uint64_t time;
    uint64_t memory_current, memory_peak, memory_total;
    uint64_t stack_peak;
    /** Average number of threads at work: numerator / denominator. */
    uint64_t active_threads_numerator, active_threads_denominator;
    const char *name;
    int32_t num_allocs;
    int32_t kind; /**< a calotype_profiler_func_kind */
} calotype_profiler_func_stats;

/** One pipeline, all its runs together. */
typedef struct CALOTYPE_ATTRIBUTE_ALIGN(8) calotype_profiler_pipeline_stats {
    uint64_t time;
    uint64_t memory_current, memory_peak, memory_total;
    uint64_t active_threads_numerator, active_threads_denominator;
    const char *name;
    struct calotype_profiler_func_stats *funcs;
    struct calotype_profiler_pipeline_stats *next;
    int32_t num_funcs;
    int32_t runs;
    int32_t samples;
    int32_t num_allocs;
} calotype_profiler_pipeline_stats;

/** One run of a pipeline, on its stack. */
typedef struct CALOTYPE_ATTRIBUTE_ALIGN(8) calotype_profiler_instance_state {
    uint64_t billed_time;
    uint64_t start_time;
    uint64_t memory_current, memory_peak, memory_total;
    uint64_t active_threads_numerator, active_threads_denominator;
    struct calotype_profiler_instance_state *next;
    struct calotype_profiler_instance_state **prev_next;
    struct calotype_profiler_pipeline_stats *pipeline_stats;
    struct calotype_profiler_func_stats *funcs;
    /** Index of the Func that is at work now. */
    int32_t current_func;
    int32_t active_threads;
    int32_t samples;
    int32_t num_allocs;
    int32_t should_collect_statistics;
} calotype_profiler_instance_state;

typedef struct calotype_profiler_state {
    struct calotype_mutex lock; /**< guards all but the counters that pipelines write */
    struct calotype_profiler_pipeline_stats *pipelines;
    struct calotype_thread *sampling_thread;
    struct calotype_profiler_instance_state *instances; /**< runs going on */
    void (*get_remote_profiler_state)(int *func, int *active_workers);
    int32_t sleep_time; /**< microseconds between samples */
    int32_t shutdown;
} calotype_profiler_state;

/** @name For applications */
/**@{*/
extern struct calotype_profiler_state *calotype_profiler_get_state(void);
/** What is known of a pipeline; null if it never ran. The lock must be held. */
extern struct calotype_profiler_pipeline_stats *
calotype_profiler_get_pipeline_state(const char *pipeline_name);
/** Take one sample, billing the time since *prev_t. Returns microseconds to sleep. The lock must be
 * held. */
extern int calotype_profiler_sample(struct calotype_profiler_state *s, uint64_t *prev_t);
/** Forget all figures. No pipeline may be running. */
extern void calotype_profiler_reset(void);
/** Stop sampling and print the report. Runs at exit. */
extern void calotype_profiler_shutdown(void);
/** Print the report: text, or JSON if CT_PROFILER_JSON_OUTPUT is set to a file's name. */
extern void calotype_profiler_report(void *user_context);
extern void calotype_profiler_lock(struct calotype_profiler_state *s);
extern void calotype_profiler_unlock(struct calotype_profiler_state *s);
/**@}*/

/** @name For generated code */
/**@{*/
/** A run begins. `func_names` and `func_kinds` (null: all compute) have num_funcs entries. Returns
 * 0 or an error code. */
extern int calotype_profiler_instance_start(void *user_context, const char *pipeline_name,
                                            int num_funcs, const char *const *func_names,
                                            const int32_t *func_kinds,
                                            struct calotype_profiler_func_stats *funcs,
                                            struct calotype_profiler_instance_state *instance);
extern int calotype_profiler_instance_end(void *user_context,
                                          struct calotype_profiler_instance_state *instance);
/** The run now works on another Func. */
extern void calotype_profiler_set_current_func(struct calotype_profiler_instance_state *instance,
                                               int func);
extern int calotype_profiler_incr_active_threads(struct calotype_profiler_instance_state *instance);
extern int calotype_profiler_decr_active_threads(struct calotype_profiler_instance_state *instance);
extern void calotype_profiler_memory_allocate(void *user_context,
                                              struct calotype_profiler_instance_state *instance,
                                              int func, uint64_t bytes);
extern void calotype_profiler_memory_free(void *user_context,
                                          struct calotype_profiler_instance_state *instance,
                                          int func, uint64_t bytes);
extern void calotype_profiler_stack_peak(void *user_context,
                                         struct calotype_profiler_instance_state *instance,
                                         const uint64_t *peak_of_funcs);
/**@}*/

#ifdef __cplusplus
}
#endif
