// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sampling profiler.
//
// A run of a pipeline keeps its state on its own stack, listed in the global state while it goes
// on. A thread wakes every millisecond or so and bills the time since it last looked to the Func
// that each run says it is working on. When a run ends its figures are added to its pipeline's.
// Pipelines write counters of their own run with atomic operations, without the lock.
#include "runtime/abi/profiler.h"

#include <new>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/abi/errors.h"
#include "runtime/host/data/list.h"
#include "runtime/host/profiler_report.h"
#include "runtime/host/weak.h"

namespace {

/** The process that the sampling thread belongs to; a fork leaves it behind. */
pid_t sampling_process = 0;

constinit calotype_profiler_state state = {{{0}}, nullptr, nullptr, nullptr, nullptr, 1000, 0};

uint64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
}

class StateLock {
public:
    StateLock() {
        calotype_profiler_lock(&state);
    }
    ~StateLock() {
        calotype_profiler_unlock(&state);
    }
    StateLock(const StateLock &) = delete;
    StateLock &operator=(const StateLock &) = delete;
};

template<typename T>
T load(const T &counter) {
    return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

template<typename T>
T add(T &counter, T amount) {
    return __atomic_add_fetch(&counter, amount, __ATOMIC_RELAXED);
}

void raise_to(uint64_t &peak, uint64_t value) {
    uint64_t seen = load(peak);
    while (value > seen && !__atomic_compare_exchange_n(&peak, &seen, value, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

/** Bill the time that has passed to what a run is working on. */
void bill(calotype_profiler_instance_state &run, uint64_t time) {
    const int func = load(run.current_func);
    if (func < 0 || func >= run.pipeline_stats->num_funcs) {
        return;
    }
    calotype_profiler_func_stats &stats = run.funcs[func];
    const uint64_t threads = uint64_t(load(run.active_threads));
    stats.time += time;
    stats.active_threads_numerator += threads;
    stats.active_threads_denominator++;
    run.active_threads_numerator += threads;
    run.active_threads_denominator++;
    run.billed_time += time;
    run.samples++;
}

void sampling_thread(void *) {
    StateLock lock;
    uint64_t last = now_ns();
    while (!state.shutdown) {
        const int microseconds = calotype_profiler_sample(&state, &last);
        calotype_profiler_unlock(&state);
        usleep(useconds_t(microseconds));
        calotype_profiler_lock(&state);
    }
}

/** The figures of a pipeline, made if there are none. Null if there is no memory. */
calotype_profiler_pipeline_stats *find_or_make_pipeline(const char *name, int num_funcs,
                                                        const char *const *func_names,
                                                        const int32_t *func_kinds) {
    for (auto *p = state.pipelines; p; p = p->next) {
        if (strcmp(p->name, name) == 0 && p->num_funcs == num_funcs) {
            return p;
        }
    }
    const size_t funcs_size = size_t(num_funcs) * sizeof(calotype_profiler_func_stats);
    size_t names_size = strlen(name) + 1;
    for (int i = 0; i < num_funcs; i++) {
        names_size += strlen(func_names[i]) + 1;
    }
    void *memory = calloc(1, sizeof(calotype_profiler_pipeline_stats) + funcs_size + names_size);
    if (!memory) {
        return nullptr;
    }
    auto *p = new (memory) calotype_profiler_pipeline_stats();
    p->num_funcs = num_funcs;
    p->funcs = reinterpret_cast<calotype_profiler_func_stats *>(p + 1);
    // The report may be printed after the code with the names is gone: they are copied.
    char *names = reinterpret_cast<char *>(p->funcs + num_funcs);
    auto copy_name = [&names](const char *from) {
        const size_t size = strlen(from) + 1;
        char *copy = static_cast<char *>(memcpy(names, from, size));
        names += size;
        return copy;
    };
    p->name = copy_name(name);
    for (int i = 0; i < num_funcs; i++) {
        p->funcs[i].name = copy_name(func_names[i]);
        p->funcs[i].kind = func_kinds ? func_kinds[i] : calotype_profiler_func_kind_func;
    }
    calotype::runtime::push(state.pipelines, p);
    return p;
}

void add_run(calotype_profiler_pipeline_stats &pipeline,
             const calotype_profiler_instance_state &run) {
    pipeline.runs++;
    pipeline.time += now_ns() - run.start_time;
    pipeline.samples += run.samples;
    pipeline.num_allocs += run.num_allocs;
    pipeline.memory_total += run.memory_total;
    raise_to(pipeline.memory_peak, run.memory_peak);
    pipeline.active_threads_numerator += run.active_threads_numerator;
    pipeline.active_threads_denominator += run.active_threads_denominator;
    for (int i = 0; i < pipeline.num_funcs; i++) {
        calotype_profiler_func_stats &sum = pipeline.funcs[i];
        const calotype_profiler_func_stats &func = run.funcs[i];
        sum.time += func.time;
        sum.num_allocs += func.num_allocs;
        sum.memory_total += func.memory_total;
        raise_to(sum.memory_peak, func.memory_peak);
        raise_to(sum.stack_peak, func.stack_peak);
        sum.active_threads_numerator += func.active_threads_numerator;
        sum.active_threads_denominator += func.active_threads_denominator;
    }
}

__attribute__((destructor)) void end_of_process() {
    calotype_profiler_shutdown();
}

}  // namespace

CALOTYPE_WEAK calotype_profiler_state *calotype_profiler_get_state(void) {
    return &state;
}

CALOTYPE_WEAK void calotype_profiler_lock(calotype_profiler_state *s) {
    calotype_mutex_lock(&s->lock);
}

CALOTYPE_WEAK void calotype_profiler_unlock(calotype_profiler_state *s) {
    calotype_mutex_unlock(&s->lock);
}

CALOTYPE_WEAK calotype_profiler_pipeline_stats *
calotype_profiler_get_pipeline_state(const char *pipeline_name) {
    for (auto *p = state.pipelines; p; p = p->next) {
        if (strcmp(p->name, pipeline_name) == 0) {
            return p;
        }
    }
    return nullptr;
}

CALOTYPE_WEAK int calotype_profiler_sample(calotype_profiler_state *s, uint64_t *prev_t) {
    const uint64_t now = now_ns();
    for (auto *run = s->instances; run; run = run->next) {
        const uint64_t since = *prev_t > run->start_time ? *prev_t : run->start_time;
        bill(*run, now - since);
    }
    *prev_t = now;
    return s->sleep_time;
}

CALOTYPE_WEAK void calotype_profiler_reset(void) {
    StateLock lock;
    while (calotype_profiler_pipeline_stats *p = calotype::runtime::pop(state.pipelines)) {
        free(p);
    }
}

CALOTYPE_WEAK void calotype_profiler_report(void *user_context) {
    StateLock lock;
    calotype::runtime::report_profile(user_context, state);
}

CALOTYPE_WEAK void calotype_profiler_shutdown(void) {
    calotype_profiler_lock(&state);
    calotype_thread *thread = state.sampling_thread;
    state.sampling_thread = nullptr;
    state.shutdown = 1;
    calotype_profiler_unlock(&state);
    if (!thread || sampling_process != getpid()) {
        return;
    }
    calotype_join_thread(thread);
    calotype_profiler_report(nullptr);
    calotype_profiler_reset();
}

// ---- for generated code
// --------------------------------------------------------------------------

CALOTYPE_WEAK int calotype_profiler_instance_start(void *user_context, const char *pipeline_name,
                                                   int num_funcs, const char *const *func_names,
                                                   const int32_t *func_kinds,
                                                   calotype_profiler_func_stats *funcs,
                                                   calotype_profiler_instance_state *instance) {
    StateLock lock;
    auto *pipeline = find_or_make_pipeline(pipeline_name, num_funcs, func_names, func_kinds);
    if (!pipeline) {
        return calotype_error_out_of_memory(user_context);
    }
    if (!state.sampling_thread || sampling_process != getpid()) {
        state.shutdown = 0;
        sampling_process = getpid();
        state.sampling_thread = calotype_spawn_thread(sampling_thread, nullptr);
    }
    memset(static_cast<void *>(funcs), 0, size_t(num_funcs) * sizeof *funcs);
    *instance = calotype_profiler_instance_state();
    instance->pipeline_stats = pipeline;
    instance->funcs = funcs;
    instance->should_collect_statistics = 1;
    instance->active_threads = 1;
    instance->start_time = now_ns();
    instance->next = state.instances;
    instance->prev_next = &state.instances;
    if (state.instances) {
        state.instances->prev_next = &instance->next;
    }
    state.instances = instance;
    return 0;
}

CALOTYPE_WEAK int calotype_profiler_instance_end(void *user_context,
                                                 calotype_profiler_instance_state *instance) {
    (void)user_context;
    StateLock lock;
    *instance->prev_next = instance->next;
    if (instance->next) {
        instance->next->prev_next = instance->prev_next;
    }
    if (instance->should_collect_statistics) {
        add_run(*instance->pipeline_stats, *instance);
    }
    return 0;
}

CALOTYPE_WEAK void calotype_profiler_set_current_func(calotype_profiler_instance_state *instance,
                                                      int func) {
    __atomic_store_n(&instance->current_func, func, __ATOMIC_RELAXED);
}

CALOTYPE_WEAK int
calotype_profiler_incr_active_threads(calotype_profiler_instance_state *instance) {
    return add(instance->active_threads, 1);
}

CALOTYPE_WEAK int
calotype_profiler_decr_active_threads(calotype_profiler_instance_state *instance) {
    return add(instance->active_threads, -1);
}

CALOTYPE_WEAK void calotype_profiler_memory_allocate(void *user_context,
                                                     calotype_profiler_instance_state *instance,
                                                     int func, uint64_t bytes) {
    (void)user_context;
    if (bytes == 0) {
        return;
    }
    calotype_profiler_func_stats &stats = instance->funcs[func];
    add(instance->num_allocs, 1);
    add(instance->memory_total, bytes);
    raise_to(instance->memory_peak, add(instance->memory_current, bytes));
    add(stats.num_allocs, 1);
    add(stats.memory_total, bytes);
    raise_to(stats.memory_peak, add(stats.memory_current, bytes));
}

CALOTYPE_WEAK void calotype_profiler_memory_free(void *user_context,
                                                 calotype_profiler_instance_state *instance,
                                                 int func, uint64_t bytes) {
    (void)user_context;
    add(instance->memory_current, uint64_t(0) - bytes);
    add(instance->funcs[func].memory_current, uint64_t(0) - bytes);
}

CALOTYPE_WEAK void calotype_profiler_stack_peak(void *user_context,
                                                calotype_profiler_instance_state *instance,
                                                const uint64_t *peak_of_funcs) {
    (void)user_context;
    for (int i = 0; i < instance->pipeline_stats->num_funcs; i++) {
        raise_to(instance->funcs[i].stack_peak, peak_of_funcs[i]);
    }
}
