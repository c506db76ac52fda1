/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parallel loops and tasks, semaphores between tasks, locks and threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Locks
 * All zero is the initial state; there is nothing to destroy. */
/**@{*/
typedef struct calotype_mutex {
    uintptr_t _private[1];
} calotype_mutex;
typedef struct calotype_cond {
    uintptr_t _private[1];
} calotype_cond;
extern void calotype_mutex_lock(struct calotype_mutex *mutex);
extern void calotype_mutex_unlock(struct calotype_mutex *mutex);
extern void calotype_cond_signal(struct calotype_cond *cond);
extern void calotype_cond_broadcast(struct calotype_cond *cond);
/** Wake-ups may be spurious: wait in a loop. */
extern void calotype_cond_wait(struct calotype_cond *cond, struct calotype_mutex *mutex);

/** Locks for the elements of a buffer that is updated atomically. Create answers null if there is
 * no memory; the others answer 0 or an error code. */
struct calotype_mutex_array;
extern struct calotype_mutex_array *calotype_mutex_array_create(uint64_t size);
extern void calotype_mutex_array_destroy(void *user_context, void *array);
extern int calotype_mutex_array_lock(struct calotype_mutex_array *array, int entry);
extern int calotype_mutex_array_unlock(struct calotype_mutex_array *array, int entry);
/**@}*/

/** @name Parallel loops */
/**@{*/
/** One iteration. Returns 0 or an error code. */
typedef int (*calotype_task_t)(void *user_context, int task_number, uint8_t *closure);
/** Call `task` for min .. min + size - 1, in any order, on any threads, the caller's among them.
 * Returns when all calls have returned: 0, or the code of one that failed; after a failure
 * iterations not yet begun may be left out. May be called from inside a task. */
extern int calotype_do_par_for(void *user_context, calotype_task_t task, int min, int size,
                               uint8_t *closure);
typedef int (*calotype_do_par_for_t)(void *user_context, calotype_task_t task, int min, int size,
                                     uint8_t *closure);
extern calotype_do_par_for_t calotype_set_custom_do_par_for(calotype_do_par_for_t do_par_for);
/** How the thread pool calls one iteration: a place to wrap it. */
typedef int (*calotype_do_task_t)(void *user_context, calotype_task_t task, int task_number,
                                  uint8_t *closure);
extern calotype_do_task_t calotype_set_custom_do_task(calotype_do_task_t do_task);
extern int calotype_do_task(void *user_context, calotype_task_t task, int task_number,
                            uint8_t *closure);
/**@}*/

/** @name Parallel tasks with dependences (async stages) */
/**@{*/
/** Counts items made and not yet consumed. Not a lock: a task that cannot acquire is set aside. */
typedef struct calotype_semaphore_t {
    uint64_t _private[2];
} calotype_semaphore_t;
typedef struct calotype_semaphore_acquire_t {
    struct calotype_semaphore_t *semaphore;
    int count;
} calotype_semaphore_acquire_t;
/** Set the count to n. Returns n. */
extern int calotype_semaphore_init(struct calotype_semaphore_t *semaphore, int n);
/** Add n to the count and wake whoever can go on. Returns the new count. */
extern int calotype_semaphore_release(struct calotype_semaphore_t *semaphore, int n);
/** Take n off the count if it is at least n. Returns whether it was. Never waits. */
extern bool calotype_semaphore_try_acquire(struct calotype_semaphore_t *semaphore, int n);
typedef int (*calotype_semaphore_init_t)(struct calotype_semaphore_t *semaphore, int n);
typedef int (*calotype_semaphore_release_t)(struct calotype_semaphore_t *semaphore, int n);
typedef bool (*calotype_semaphore_try_acquire_t)(struct calotype_semaphore_t *semaphore, int n);

/** Iterations min .. min + extent - 1 of a loop. `task_parent` is to be given to
 * calotype_do_parallel_tasks by calls from inside. Returns 0 or an error code. */
typedef int (*calotype_loop_task_t)(void *user_context, int min, int extent, uint8_t *closure,
                                    void *task_parent);

/** A loop to be run beside others. */
typedef struct calotype_parallel_task_t {
    calotype_loop_task_t fn;
    uint8_t *closure;
    const char *name; /**< for debugging */
    /** Acquired before each iteration of the loop, in this order. */
    struct calotype_semaphore_acquire_t *semaphores;
    int num_semaphores;
    int min, extent;
    /** Threads that the task needs, its own among them, to be sure of making progress: more than
     * one only if it waits for tasks of its own that wait for each other. */
    int min_threads;
    /** The iterations must run in order, one at a time. */
    bool serial;
} calotype_parallel_task_t;

/** Run all tasks to their end, at the same time where their semaphores demand it. `task_parent` is
 * null at the outermost level. Returns 0 or the code of one that failed. */
extern int calotype_do_parallel_tasks(void *user_context, int num_tasks,
                                      struct calotype_parallel_task_t *tasks, void *task_parent);
typedef int (*calotype_do_parallel_tasks_t)(void *user_context, int num_tasks,
                                            struct calotype_parallel_task_t *tasks,
                                            void *task_parent);
/** How the thread pool calls a piece of a loop: a place to wrap it. */
typedef int (*calotype_do_loop_task_t)(void *user_context, calotype_loop_task_t task, int min,
                                       int extent, uint8_t *closure, void *task_parent);
extern calotype_do_loop_task_t calotype_set_custom_do_loop_task(calotype_do_loop_task_t do_task);
extern int calotype_do_loop_task(void *user_context, calotype_loop_task_t task, int min, int extent,
                                 uint8_t *closure, void *task_parent);
/**@}*/

/** Replace the whole of it at once. The seven belong together. */
extern void
calotype_set_custom_parallel_runtime(calotype_do_par_for_t do_par_for, calotype_do_task_t do_task,
                                     calotype_do_loop_task_t do_loop_task,
                                     calotype_do_parallel_tasks_t do_parallel_tasks,
                                     calotype_semaphore_init_t semaphore_init,
                                     calotype_semaphore_try_acquire_t semaphore_try_acquire,
                                     calotype_semaphore_release_t semaphore_release);

/** @name What stands behind the functions above unless replaced */
/**@{*/
extern int calotype_default_do_par_for(void *user_context, calotype_task_t task, int min, int size,
                                       uint8_t *closure);
extern int calotype_default_do_parallel_tasks(void *user_context, int num_tasks,
                                              struct calotype_parallel_task_t *tasks,
                                              void *task_parent);
extern int calotype_default_do_task(void *user_context, calotype_task_t task, int task_number,
                                    uint8_t *closure);
extern int calotype_default_do_loop_task(void *user_context, calotype_loop_task_t task, int min,
                                         int extent, uint8_t *closure, void *task_parent);
extern int calotype_default_semaphore_init(struct calotype_semaphore_t *semaphore, int n);
extern int calotype_default_semaphore_release(struct calotype_semaphore_t *semaphore, int n);
extern bool calotype_default_semaphore_try_acquire(struct calotype_semaphore_t *semaphore, int n);
/**@}*/

/** @name Threads and the pool */
/**@{*/
/** Number of threads that parallel loops use, the caller's among them: what was set, else
 * CT_NUM_THREADS (or CT_NUMTHREADS), else the processors this process may use; 256 at most. */
extern int calotype_get_num_threads(void);
/** Set it from the next loop on: 1 is serial, 0 means the default above, a negative number is an
 * error (reported; nothing changes). Returns the previous number, or an error code. */
extern int calotype_set_num_threads(int n);
/** End the pool's threads. No pipeline may be running. The next loop starts them anew. */
extern void calotype_shutdown_thread_pool(void);
/** A number for the calling thread, not 0, that no other thread of the process has. */
extern uint64_t calotype_current_thread_id(void);

/** A thread outside the pool. Null if it cannot be started. */
struct calotype_thread;
extern struct calotype_thread *calotype_spawn_thread(void (*f)(void *), void *closure);
/** Wait for its end and free it. Null is allowed. */
extern void calotype_join_thread(struct calotype_thread *thread);
/**@}*/

#ifdef __cplusplus
}
#endif
