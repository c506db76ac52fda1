// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread pool: one for the process, shared by every pipeline in it. thread_pool.cpp says how it
// works.
#pragma once

#include <stddef.h>

#include "runtime/abi/threads.h"
#include "runtime/host/sync.h"

namespace calotype::runtime {

/** What two threads change or watch is kept this far apart. */
constexpr int cache_line = 64;

/** One fork and join: the jobs of one call, on the stack of the thread that waits for them. */
struct JobSet {
    JobSet(JobSet *parent, void *user_context)
        : user_context(user_context), parent(parent), root(parent ? parent->root : this),
          depth(parent ? parent->depth + 1 : 0) {
    }

    /** 0, or the error code of this set or of one that it is nested in. */
    int failure() const {
        for (const JobSet *set = this; set; set = set->parent) {
            if (int code = set->status.load(std::memory_order_relaxed)) {
                return code;
            }
        }
        return 0;
    }
    bool is_within(const JobSet &other) const {
        const JobSet *set = this;
        while (set && set->depth > other.depth) {
            set = set->parent;
        }
        return set == &other;
    }

    void *const user_context;
    JobSet *const parent;  ///< the set whose job made this call
    JobSet *const root;
    const int depth;
    std::atomic<int> status{0};  ///< error code of the first iteration that failed
    FutexWord changed{0};        ///< the owner sleeps on it

    // Guarded by the pool's mutex.
    int unfinished = 0;    ///< jobs
    bool blocked = false;  ///< the owner sleeps
    JobSet *next_blocked = nullptr, *prev_blocked = nullptr;
};

/** A loop to be run. */
struct Job {
    JobSet *set = nullptr;
    calotype_task_t task = nullptr;       ///< this one ...
    calotype_loop_task_t loop = nullptr;  ///< ... or that one
    uint8_t *closure = nullptr;
    std::atomic<int64_t> next_index{0};
    int64_t end = 0;
    bool serial = false;
    /** Its iterations wait for nothing but loops of their own: any waiting thread may run them. */
    bool leaf = false;
    calotype_semaphore_acquire_t *semaphores = nullptr;
    int num_semaphores = 0;

    // Guarded by the pool's mutex.
    int acquired = 0;  ///< semaphores already taken for the next iteration
    int active = 0;    ///< threads at work on it
    bool listed = false;
    Job *next = nullptr, *prev = nullptr;

    bool exhausted() const {
        return next_index.load(std::memory_order_relaxed) >= end;
    }
};

class ThreadPool {
public:
    /** Run a loop of more than one iteration to its end. The set holds only this job. */
    int run_loop(JobSet &set, Job &job);
    /** Run jobs to their end. None is empty. */
    int run_jobs(JobSet &set, Job *jobs, int count);
    /** A semaphore that jobs may be waiting for has been released. */
    void semaphore_released();
    /** Threads that a loop uses. */
    int num_threads();
    int set_num_threads(int n);
    /** End all workers. No set may be unfinished. Those that have not ended by the deadline are
     * left to themselves. */
    void shutdown(uint64_t deadline_ns);
    /** The same if no set is, with 200 ms. */
    void shutdown_if_unused();

    /** Around a fork(): the child has none of the workers. */
    void before_fork();
    void after_fork_in_parent();
    void after_fork_in_child();

    /** The set whose job the calling thread is at work on; null outside. */
    static JobSet *current_set();

private:
    struct Worker;

    Mutex mutex;
    std::atomic<int> desired_threads{0};  ///< 0: not yet known

    // What idle workers look at, apart from what those at work change.
    alignas(cache_line) FutexWord work{0};  ///< idle workers sleep on it
    std::atomic<int> wanted{0};             ///< of those that spin, how many are to look for work
    std::atomic<int> asleep{0};             ///< of the idle ones, those that do not spin

    // Guarded by the mutex.
    alignas(cache_line) Job *first_job = nullptr;
    JobSet *first_blocked = nullptr;  ///< sets whose owners sleep
    Worker *first_worker = nullptr;
    int sets = 0;             ///< not yet finished
    int workers = 0;          ///< threads
    int idle = 0;             ///< of them looking for work without finding any
    int blocked_workers = 0;  ///< of them waiting for a set of their own
    bool stopping = false;
    bool forks_handled = false;

    int worker_quota();
    bool add_worker();
    void worker_main();
    static void *worker_entry(void *worker);

    void list(Job &job);
    void unlist(Job &job);
    Job *find_job(const JobSet *waiting);
    bool try_begin(Job &job);
    void drop_rest(Job &job);
    void finish(Job &job);

    void work_on(Job &job);
    void run_free(Job &job);
    void run_with_semaphores(Job &job);
    void leave(Job &job);

    bool take_wanted();
    bool is_wanted(uint32_t *seen);
    bool spin_until_wanted(uint32_t *seen);
    void wake_idle(int count);
    void recruit(int helpers);
    void wake_owners(const Job *for_job, int count);
    void replace_blocked_thread();
    void block(JobSet &set);
    void wait_for(JobSet &set);
    void fail(JobSet &set, int code);
    int end_set(JobSet &set);
};

/** The pool of the process. */
extern ThreadPool pool;

}  // namespace calotype::runtime
