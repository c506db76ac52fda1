// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the thread pool works.
//
// A call that forks makes a JobSet on its stack, lists its jobs, and works on them until all are
// done; then it returns. Workers look through the list, the newest job first. One mutex guards the
// list; iterations of plain loops are taken from an atomic counter without it.
//
//      caller:   list jobs -> work on own jobs -> help others, or sleep -> all done -> return
//      worker:   find a job -> work on it -> find ... -> spin a little -> sleep
//
// Waiting threads help, under two rules. A thread may always run jobs that belong to what it waits
// for. Of other jobs of the same outermost call it may run leaf loops, and only as deep as its own
// or deeper: so its stack never holds more frames than the nesting has levels, and nothing it runs
// can wait for what stands below it on its stack.
//
// A job with semaphores is set aside until they can be acquired, so that no thread ever sleeps
// inside an iteration, except in a nested call. A thread that goes to sleep there is replaced: if
// there may be runnable jobs and no worker to run them, one is added. So there is always a thread
// for a job that can run, whatever the number of threads is set to, and a program whose semaphores
// can make progress does. Workers above the quota then stay idle until they are needed again.
//
// When an iteration fails, iterations of its set that have not begun are dropped, and those of all
// sets nested in it: they may be waiting for semaphores that nobody will release any more.
#include "runtime/host/thread_pool.h"
#include "runtime/host/environment.h"
#include "runtime/host/start_thread.h"
#include "runtime/host/timed_wait.h"

#include <new>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

namespace calotype::runtime {

constinit ThreadPool pool;

static thread_local JobSet *thread_set = nullptr;
static thread_local bool thread_is_worker = false;

static constexpr int max_threads = 256;
/** For how long a thread looks for work before it goes to sleep: longer than the parts of a loop
 * differ, and than what is done between two loops. A thread that has slept may be put on the
 * processor of the one that wakes it, and stay there for milliseconds. */
static constexpr uint64_t spin_ns = 250000;
/** Looks in a row; then other threads may have the processor. */
static constexpr int looks_in_a_row = 64;
/** At a time a thread takes this part of what is left of a loop, or of its share of that. */
static constexpr int least_pieces = 64, pieces_per_thread = 4;
/** For how long the end of the process waits for workers. */
static constexpr uint32_t exit_wait_ms = 200;

struct ThreadPool::Worker {
    Worker *next;
    pthread_t thread;
};

JobSet *ThreadPool::current_set() {
    return thread_set;
}

// ---- number of threads -----------------------------------------------------------------------

static int processors() {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
#endif
    return int(sysconf(_SC_NPROCESSORS_ONLN));
}

static int default_threads() {
    const char *text = environment("CT_NUM_THREADS");
    text = text ? text : environment("CT_NUMTHREADS");
    const int n = text ? atoi(text) : 0;
    return n > 0 ? n : processors();
}

int ThreadPool::num_threads() {
    int n = desired_threads.load(std::memory_order_relaxed);
    return n ? n : (set_num_threads(0), desired_threads.load(std::memory_order_relaxed));
}

int ThreadPool::set_num_threads(int n) {
    n = n ? n : default_threads();
    n = n < 1 ? 1 : n > max_threads ? max_threads : n;
    return desired_threads.exchange(n, std::memory_order_relaxed);
}

/** How many workers may be at work at once. */
int ThreadPool::worker_quota() {
    const int n = num_threads() - 1;
    return n < 1 ? 1 : n;
}

// ---- workers ---------------------------------------------------------------------------------

void ThreadPool::before_fork() {
    mutex.lock();
}

void ThreadPool::after_fork_in_parent() {
    mutex.unlock();
}

void ThreadPool::after_fork_in_child() {
    // The structures of the workers are lost; what they stand for does not exist any more.
    first_worker = nullptr;
    workers = idle = blocked_workers = 0;
    asleep.store(0);
    wanted.store(0);
    if (!thread_set) {
        first_job = nullptr;
        first_blocked = nullptr;
        sets = 0;
    }
    mutex.unlock();
}

bool ThreadPool::add_worker() {
    if (!forks_handled) {
        forks_handled = true;
        pthread_atfork([] { pool.before_fork(); }, [] { pool.after_fork_in_parent(); },
                       [] { pool.after_fork_in_child(); });
    }
    void *memory = malloc(sizeof(Worker));
    if (!memory) {
        return false;
    }
    Worker *worker = new (memory) Worker{first_worker, pthread_t()};
    if (start_thread(&worker->thread, worker_entry, this) != 0) {
        free(memory);
        return false;
    }
    first_worker = worker;
    workers++;
    return true;
}

void *ThreadPool::worker_entry(void *self) {
    name_this_thread("calotype worker");
    static_cast<ThreadPool *>(self)->worker_main();
    return nullptr;
}

/** Wait busily, a little, until is_so(). Returns whether it is. */
template<typename F>
static bool spin_until(F &&is_so) {
    const uint64_t end = now_ns() + spin_ns;
    do {
        for (int i = 0; i < looks_in_a_row; i++) {
            if (is_so()) {
                return true;
            }
            relax();
        }
        sched_yield();
    } while (now_ns() < end);
    return false;
}

/** Be one of the idle workers that are to look for work, if more are wanted. */
bool ThreadPool::take_wanted() {
    int n = wanted.load(std::memory_order_acquire);
    while (n > 0) {
        if (wanted.compare_exchange_weak(n, n - 1, std::memory_order_acquire)) {
            return true;
        }
    }
    return false;
}

/** Whether an idle worker that spins is to look for work: no more of them come to the mutex than
 * find something. Where enough have come already, it has seen what they came for. */
bool ThreadPool::is_wanted(uint32_t *seen) {
    const uint32_t now = work.load(std::memory_order_acquire);
    if (now == *seen) {
        return false;
    }
    const bool taken = take_wanted();
    *seen = taken ? *seen : now;
    return taken;
}

bool ThreadPool::spin_until_wanted(uint32_t *seen) {
    return spin_until([&] { return is_wanted(seen); });
}

void ThreadPool::worker_main() {
    thread_is_worker = true;
    mutex.lock();
    while (!stopping) {
        const bool needed = workers - idle - blocked_workers <= worker_quota();
        Job *job = needed ? find_job(nullptr) : nullptr;
        if (job) {
            work_on(*job);
            continue;
        }
        uint32_t seen = work.load(std::memory_order_relaxed);
        idle++;
        mutex.unlock();
        if (!spin_until_wanted(&seen)) {
            asleep.fetch_add(1);
            futex_wait(work, seen);
            asleep.fetch_sub(1);
            take_wanted();  // it looks in any case, and counts as one that was to
        }
        mutex.lock();
        idle--;
    }
    mutex.unlock();
}

/** Wait until the thread has ended; false: it had not at the deadline, and is left to itself. */
static bool join_until(pthread_t thread, uint64_t deadline_ns) {
#if defined(__linux__)
    const uint64_t now = now_ns();
    if (deadline_ns != no_deadline) {
        const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
        timespec until = {};
        clock_gettime(CLOCK_REALTIME, &until);
        const uint64_t ns = uint64_t(until.tv_nsec) + left;
        until.tv_sec += time_t(ns / 1000000000u);
        until.tv_nsec = long(ns % 1000000000u);
        const bool has_ended = pthread_timedjoin_np(thread, nullptr, &until) == 0;
        if (!has_ended) {
            pthread_detach(thread);
        }
        return has_ended;
    }
#endif
    return pthread_join(thread, nullptr) == 0;
}

void ThreadPool::shutdown(uint64_t deadline_ns) {
    mutex.lock();
    Worker *worker = first_worker;
    first_worker = nullptr;
    stopping = true;
    wake_idle(everyone);
    mutex.unlock();
    bool have_ended = true;
    while (worker) {
        have_ended = join_until(worker->thread, deadline_ns) && have_ended;
        Worker *next = worker->next;
        free(worker);
        worker = next;
    }
    mutex.lock();
    workers = 0;
    stopping = !have_ended;  // for those that are left
    mutex.unlock();
}

void ThreadPool::shutdown_if_unused() {
    mutex.lock();
    const bool unused = sets == 0 && !thread_is_worker && !stopping;
    mutex.unlock();
    if (unused) {
        shutdown(deadline_after_ms(exit_wait_ms));
    }
}

/** When the process ends, or the library that holds the runtime is unloaded. A worker that has
 * called the driver of a GPU may be kept by the driver as it ends. */
__attribute__((destructor)) static void end_of_process() {
    pool.shutdown_if_unused();
}

// ---- the list of jobs ------------------------------------------------------------------------

void ThreadPool::list(Job &job) {
    job.prev = nullptr;
    job.next = first_job;
    if (first_job) {
        first_job->prev = &job;
    }
    first_job = &job;
    job.listed = true;
    job.set->unfinished++;
}

void ThreadPool::unlist(Job &job) {
    if (!job.listed) {
        return;
    }
    (job.prev ? job.prev->next : first_job) = job.next;
    if (job.next) {
        job.next->prev = job.prev;
    }
    job.listed = false;
}

/** Whether the owner of `waiting` may run iterations of a job while it waits. */
static bool may_help(const JobSet &waiting, const Job &job) {
    const JobSet &set = *job.set;
    return set.is_within(waiting) ||
           (job.leaf && set.root == waiting.root && set.depth >= waiting.depth);
}

/** A job for a worker, or for the owner of a set; the caller is then counted as active on it. */
Job *ThreadPool::find_job(const JobSet *waiting) {
    Job *next;
    for (Job *job = first_job; job; job = next) {
        next = job->next;
        if (waiting && !may_help(*waiting, *job)) {
            continue;
        }
        if (job->set->failure()) {
            drop_rest(*job);
        } else if (job->exhausted()) {
            unlist(*job);
        } else if (try_begin(*job)) {
            return job;
        }
    }
    return nullptr;
}

/** Become active on a job, if an iteration of it can begin now. */
bool ThreadPool::try_begin(Job &job) {
    if (job.serial && job.active > 0) {
        return false;
    }
    while (job.acquired < job.num_semaphores) {
        const calotype_semaphore_acquire_t &wanted = job.semaphores[job.acquired];
        if (!calotype_semaphore_try_acquire(wanted.semaphore, wanted.count)) {
            return false;
        }
        job.acquired++;
    }
    job.active++;
    return true;
}

/** Forget the iterations that have not begun. */
void ThreadPool::drop_rest(Job &job) {
    job.next_index.store(job.end, std::memory_order_relaxed);
    unlist(job);
    if (job.active == 0) {
        finish(job);
    }
}

/** Nobody will touch the job again; nor its set, if this was the last, once the mutex is free. */
void ThreadPool::finish(Job &job) {
    JobSet &set = *job.set;
    if (--set.unfinished == 0) {
        set.changed.fetch_add(1, std::memory_order_release);
        if (set.blocked) {
            futex_wake(set.changed, 1);
        }
    }
}

// ---- working ---------------------------------------------------------------------------------

static int run_range(Job &job, int64_t min, int64_t extent) {
    void *user_context = job.set->user_context;
    if (!job.task) {
        return calotype_do_loop_task(user_context, job.loop, int(min), int(extent), job.closure,
                                     &job);
    }
    int code = 0;
    for (int64_t i = min; i < min + extent && code == 0 && job.set->failure() == 0; i++) {
        code = calotype_do_task(user_context, job.task, int(i), job.closure);
    }
    return code;
}

/** Work on a job that this thread is active on, until nothing more can be done. Enters and leaves
 * with the mutex held. */
void ThreadPool::work_on(Job &job) {
    JobSet *outer = thread_set;
    thread_set = job.set;
    if (job.num_semaphores > 0) {
        run_with_semaphores(job);
    } else {
        mutex.unlock();
        run_free(job);
        mutex.lock();
    }
    thread_set = outer;
    leave(job);
}

/** Without the mutex. A serial job is run in one piece; of others threads take pieces that become
 * shorter, as each costs a turn at the counter, which with many threads is longer than a short
 * iteration. The last ones are single iterations, so that all threads end at about the same time. */
void ThreadPool::run_free(Job &job) {
    const int of_all = pieces_per_thread * num_threads();
    const int64_t pieces = job.serial ? 1 : of_all > least_pieces ? of_all : least_pieces;
    while (job.set->failure() == 0) {
        const int64_t left = job.end - job.next_index.load(std::memory_order_relaxed);
        const int64_t size = left > pieces ? left / pieces : 1;
        const int64_t i = job.next_index.fetch_add(size, std::memory_order_relaxed);
        if (i >= job.end) {
            return;
        }
        if (int code = run_range(job, i, size < job.end - i ? size : job.end - i)) {
            fail(*job.set, code);
        }
    }
    job.next_index.store(job.end, std::memory_order_relaxed);
}

/** With the mutex held, semaphores of the first iteration acquired. */
void ThreadPool::run_with_semaphores(Job &job) {
    while (true) {
        job.acquired = 0;
        const int64_t i = job.next_index.fetch_add(1, std::memory_order_relaxed);
        mutex.unlock();
        const int code = run_range(job, i, 1);
        if (code) {
            fail(*job.set, code);
        }
        mutex.lock();
        if (job.set->failure()) {
            job.next_index.store(job.end, std::memory_order_relaxed);
        }
        if (job.exhausted()) {
            return;
        }
        job.active--;
        const bool more = try_begin(job);
        if (!more) {
            job.active++;
            return;
        }
    }
}

void ThreadPool::leave(Job &job) {
    job.active--;
    if (job.exhausted()) {
        unlist(job);
        if (job.active == 0) {
            finish(job);
        }
    }
}

/** Note the first failure of a set, and see to it that those who wait in vain notice. */
void ThreadPool::fail(JobSet &set, int code) {
    int none = 0;
    if (set.status.compare_exchange_strong(none, code, std::memory_order_relaxed)) {
        LockGuard lock(mutex);
        wake_idle(everyone);
        wake_owners(nullptr, everyone);
    }
}

// ---- waiting
// -------------------------------------------------------------------------------------

/** Make up to this many idle workers look for work. Those that still spin see it by themselves; one
 * that goes to sleep meanwhile sees it then: it is counted before it looks for the last time, and
 * the count is read after the word has changed. */
void ThreadPool::wake_idle(int count) {
    wanted.fetch_add(count < idle ? count : idle, std::memory_order_release);
    work.fetch_add(1);
    const int sleeping = asleep.load(), spinning = idle - sleeping;
    if (sleeping > 0 && count > spinning) {
        futex_wake(work, count - spinning);
    }
}

/** Bring up to this many threads to the newest jobs. */
void ThreadPool::recruit(int helpers) {
    const int quota = num_threads() - 1;
    while (workers < quota && idle < helpers && add_worker()) {
        helpers--;
    }
    if (idle > 0) {
        wake_idle(helpers);
    }
    if (helpers > idle && first_blocked) {
        wake_owners(first_job, helpers - idle);
    }
}

/** Wake sleeping owners that may run a job; null stands for any. */
void ThreadPool::wake_owners(const Job *for_job, int count) {
    for (JobSet *set = first_blocked; set && count > 0; set = set->next_blocked) {
        if (!for_job || may_help(*set, *for_job)) {
            set->changed.fetch_add(1, std::memory_order_release);
            futex_wake(set->changed, 1);
            count--;
        }
    }
}

/** The calling thread goes to sleep: let another look after the jobs that it may not run. */
void ThreadPool::replace_blocked_thread() {
    bool work_left = false;
    for (Job *job = first_job; job && !work_left; job = job->next) {
        work_left = !job->exhausted() && !(job->serial && job->active > 0);
    }
    if (!work_left) {
        return;
    }
    if (idle > 0) {
        wake_idle(1);
    } else if (workers - blocked_workers < worker_quota()) {
        add_worker();
    }
}

/** Sleep until something may have changed for a set. */
void ThreadPool::block(JobSet &set) {
    const uint32_t seen = set.changed.load(std::memory_order_relaxed);
    set.prev_blocked = nullptr;
    set.next_blocked = first_blocked;
    if (first_blocked) {
        first_blocked->prev_blocked = &set;
    }
    first_blocked = &set;
    set.blocked = true;
    blocked_workers += thread_is_worker;
    replace_blocked_thread();

    mutex.unlock();
    futex_wait(set.changed, seen);
    mutex.lock();

    blocked_workers -= thread_is_worker;
    set.blocked = false;
    (set.prev_blocked ? set.prev_blocked->next_blocked : first_blocked) = set.next_blocked;
    if (set.next_blocked) {
        set.next_blocked->prev_blocked = set.prev_blocked;
    }
}

void ThreadPool::wait_for(JobSet &set) {
    bool has_spun = false;
    while (set.unfinished > 0) {
        Job *job = find_job(&set);
        if (job) {
            work_on(*job);
            has_spun = false;
        } else if (set.unfinished == 0) {  // looking dropped the last one
            return;
        } else if (!has_spun) {
            const uint32_t seen = set.changed.load(std::memory_order_relaxed);
            mutex.unlock();
            spin_until([&] { return set.changed.load(std::memory_order_acquire) != seen; });
            mutex.lock();
            has_spun = true;
        } else {
            block(set);
            has_spun = false;
        }
    }
}

// ---- the calls
// -----------------------------------------------------------------------------------

int ThreadPool::end_set(JobSet &set) {
    wait_for(set);
    sets--;
    mutex.unlock();
    return set.failure();
}

int ThreadPool::run_loop(JobSet &set, Job &job) {
    const int64_t size = job.end - job.next_index.load(std::memory_order_relaxed);
    const int helpers = int(size - 1 < max_threads ? size - 1 : max_threads);
    mutex.lock();
    sets++;
    list(job);
    job.active++;
    recruit(helpers);
    work_on(job);
    return end_set(set);
}

int ThreadPool::run_jobs(JobSet &set, Job *jobs, int count) {
    int64_t helpers = -1;
    mutex.lock();
    sets++;
    for (int i = count - 1; i >= 0; i--) {
        const Job &job = jobs[i];
        helpers += job.serial ? 1 : job.end - job.next_index.load(std::memory_order_relaxed);
        list(jobs[i]);
    }
    recruit(int(helpers < max_threads ? helpers : max_threads));
    return end_set(set);
}

void ThreadPool::semaphore_released() {
    LockGuard lock(mutex);
    int candidates = 0;
    for (Job *job = first_job; job; job = job->next) {
        candidates += job->num_semaphores > 0 && !(job->serial && job->active > 0);
    }
    if (candidates == 0) {
        return;
    }
    if (idle > 0) {
        wake_idle(candidates);
    }
    wake_owners(nullptr, everyone);
}

}  // namespace calotype::runtime
