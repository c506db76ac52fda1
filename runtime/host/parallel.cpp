// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The public functions of parallel loops and tasks, on the thread pool.
#include <new>
#include <stdlib.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/abi/threads.h"
#include "runtime/host/text.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

static Hook<calotype_do_par_for_t> do_par_for_hook(calotype_default_do_par_for);
static Hook<calotype_do_task_t> do_task_hook(calotype_default_do_task);
static Hook<calotype_do_loop_task_t> do_loop_task_hook(calotype_default_do_loop_task);
static Hook<calotype_do_parallel_tasks_t>
    do_parallel_tasks_hook(calotype_default_do_parallel_tasks);
static Hook<calotype_semaphore_init_t> semaphore_init_hook(calotype_default_semaphore_init);
static Hook<calotype_semaphore_try_acquire_t>
    semaphore_try_acquire_hook(calotype_default_semaphore_try_acquire);
static Hook<calotype_semaphore_release_t>
    semaphore_release_hook(calotype_default_semaphore_release);

// ---- loops
// ---------------------------------------------------------------------------------------

CALOTYPE_WEAK int calotype_default_do_task(void *user_context, calotype_task_t task,
                                           int task_number, uint8_t *closure) {
    return task(user_context, task_number, closure);
}

CALOTYPE_WEAK int calotype_default_do_loop_task(void *user_context, calotype_loop_task_t task,
                                                int min, int extent, uint8_t *closure,
                                                void *task_parent) {
    return task(user_context, min, extent, closure, task_parent);
}

CALOTYPE_WEAK int calotype_default_do_par_for(void *user_context, calotype_task_t task, int min,
                                              int size, uint8_t *closure) {
    if (size <= 1 || pool.num_threads() == 1) {
        int code = 0;
        for (int i = 0; i < size && code == 0; i++) {
            code = calotype_do_task(user_context, task, min + i, closure);
        }
        return code;
    }
    JobSet set(ThreadPool::current_set(), user_context);
    Job job;
    job.set = &set;
    job.task = task;
    job.closure = closure;
    job.next_index.store(min, std::memory_order_relaxed);
    job.end = int64_t(min) + size;
    job.leaf = true;
    return pool.run_loop(set, job);
}

// ---- tasks
// ---------------------------------------------------------------------------------------

static void init_job(Job &job, JobSet &set, const calotype_parallel_task_t &task) {
    job.set = &set;
    job.loop = task.fn;
    job.closure = task.closure;
    job.next_index.store(task.min, std::memory_order_relaxed);
    job.end = int64_t(task.min) + task.extent;
    job.serial = task.serial;
    job.semaphores = task.semaphores;
    job.num_semaphores = task.num_semaphores;
    job.leaf = task.num_semaphores == 0 && task.min_threads == 0;
}

CALOTYPE_WEAK int calotype_default_do_parallel_tasks(void *user_context, int num_tasks,
                                                     calotype_parallel_task_t *tasks,
                                                     void *task_parent) {
    constexpr int few = 8;
    Job on_stack[few];
    Job *jobs = on_stack;
    if (num_tasks > few) {
        void *memory = malloc(size_t(num_tasks) * sizeof(Job));
        if (!memory) {
            return calotype_error_out_of_memory(user_context);
        }
        jobs = static_cast<Job *>(memory);
    }
    JobSet *parent = task_parent ? static_cast<Job *>(task_parent)->set : ThreadPool::current_set();
    JobSet set(parent, user_context);
    int count = 0;
    for (int i = 0; i < num_tasks; i++) {
        if (tasks[i].extent > 0) {
            init_job(*new (&jobs[count]) Job, set, tasks[i]);
            count++;
        }
    }
    const int code = count ? pool.run_jobs(set, jobs, count) : 0;
    if (jobs != on_stack) {
        free(jobs);
    }
    return code;
}

// ---- semaphores
// ----------------------------------------------------------------------------------

static std::atomic<int> &count_of(calotype_semaphore_t *semaphore) {
    static_assert(sizeof(std::atomic<int>) <= sizeof(calotype_semaphore_t),
                  "the public structure must hold ours");
    return *reinterpret_cast<std::atomic<int> *>(semaphore);
}

CALOTYPE_WEAK int calotype_default_semaphore_init(calotype_semaphore_t *semaphore, int n) {
    count_of(semaphore).store(n, std::memory_order_release);
    return n;
}

CALOTYPE_WEAK int calotype_default_semaphore_release(calotype_semaphore_t *semaphore, int n) {
    const int count = count_of(semaphore).fetch_add(n, std::memory_order_acq_rel) + n;
    pool.semaphore_released();
    return count;
}

CALOTYPE_WEAK bool calotype_default_semaphore_try_acquire(calotype_semaphore_t *semaphore, int n) {
    int count = count_of(semaphore).load(std::memory_order_relaxed);
    while (count >= n) {
        if (count_of(semaphore).compare_exchange_weak(count, count - n, std::memory_order_acq_rel,
                                                      std::memory_order_relaxed)) {
            return true;
        }
    }
    return n == 0;
}

// ---- what generated code calls
// -------------------------------------------------------------------

CALOTYPE_WEAK int calotype_do_task(void *user_context, calotype_task_t task, int task_number,
                                   uint8_t *closure) {
    return do_task_hook.get()(user_context, task, task_number, closure);
}

CALOTYPE_WEAK int calotype_do_loop_task(void *user_context, calotype_loop_task_t task, int min,
                                        int extent, uint8_t *closure, void *task_parent) {
    return do_loop_task_hook.get()(user_context, task, min, extent, closure, task_parent);
}

CALOTYPE_WEAK int calotype_do_par_for(void *user_context, calotype_task_t task, int min, int size,
                                      uint8_t *closure) {
    return do_par_for_hook.get()(user_context, task, min, size, closure);
}

CALOTYPE_WEAK int calotype_do_parallel_tasks(void *user_context, int num_tasks,
                                             calotype_parallel_task_t *tasks, void *task_parent) {
    return do_parallel_tasks_hook.get()(user_context, num_tasks, tasks, task_parent);
}

CALOTYPE_WEAK int calotype_semaphore_init(calotype_semaphore_t *semaphore, int n) {
    return semaphore_init_hook.get()(semaphore, n);
}

CALOTYPE_WEAK int calotype_semaphore_release(calotype_semaphore_t *semaphore, int n) {
    return semaphore_release_hook.get()(semaphore, n);
}

CALOTYPE_WEAK bool calotype_semaphore_try_acquire(calotype_semaphore_t *semaphore, int n) {
    return semaphore_try_acquire_hook.get()(semaphore, n);
}

// ---- setters
// -------------------------------------------------------------------------------------

CALOTYPE_WEAK calotype_do_par_for_t
calotype_set_custom_do_par_for(calotype_do_par_for_t do_par_for) {
    return do_par_for_hook.set(do_par_for);
}

CALOTYPE_WEAK calotype_do_task_t calotype_set_custom_do_task(calotype_do_task_t do_task) {
    return do_task_hook.set(do_task);
}

CALOTYPE_WEAK calotype_do_loop_task_t
calotype_set_custom_do_loop_task(calotype_do_loop_task_t do_task) {
    return do_loop_task_hook.set(do_task);
}

CALOTYPE_WEAK void
calotype_set_custom_parallel_runtime(calotype_do_par_for_t do_par_for, calotype_do_task_t do_task,
                                     calotype_do_loop_task_t do_loop_task,
                                     calotype_do_parallel_tasks_t do_parallel_tasks,
                                     calotype_semaphore_init_t semaphore_init,
                                     calotype_semaphore_try_acquire_t semaphore_try_acquire,
                                     calotype_semaphore_release_t semaphore_release) {
    do_par_for_hook.set(do_par_for);
    do_task_hook.set(do_task);
    do_loop_task_hook.set(do_loop_task);
    do_parallel_tasks_hook.set(do_parallel_tasks);
    semaphore_init_hook.set(semaphore_init);
    semaphore_try_acquire_hook.set(semaphore_try_acquire);
    semaphore_release_hook.set(semaphore_release);
}

// ---- the pool
// ------------------------------------------------------------------------------------

CALOTYPE_WEAK int calotype_get_num_threads(void) {
    return pool.num_threads();
}

CALOTYPE_WEAK int calotype_set_num_threads(int n) {
    if (n < 0) {
        Text t;
        t << "number of threads is " << n << ", must be at least 0";
        calotype_error(nullptr, t.c_str());
        return calotype_error_code_generic_error;
    }
    pool.num_threads();
    return pool.set_num_threads(n);
}

CALOTYPE_WEAK void calotype_shutdown_thread_pool(void) {
    pool.shutdown(no_deadline);
}
