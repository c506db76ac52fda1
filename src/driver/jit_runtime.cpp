// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/jit_runtime.h"

#include <atomic>
#include <utility>

#include "driver/jit_shared_runtime.h"
#include "runtime/abi/device_interface.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/abi/memoization.h"
#include "runtime/abi/memory.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/symbols.h"
#include "runtime/abi/threads.h"
#include "runtime/abi/tracing.h"
#include "support/error.h"

namespace calotype::internal {

// Defined in runtime_symbols.cpp, which is generated.
JitSymbols runtime_symbols();

namespace {

// A call that says on which stream it works has a device context around its own.
JITUserContext *context_of(void *user_context) {
    const calotype_device_context *on = calotype_get_device_context(user_context);
    return static_cast<JITUserContext *>(on ? on->user_context : user_context);
}

// What JITSharedRuntime::set_default_handlers set. Readers take no lock: a set that was replaced
// stays alive, as a thread may still be reading it.
struct DefaultHandlers {
    JITHandlers handlers;
    const DefaultHandlers *before;
};
const DefaultHandlers no_handlers{};
std::atomic<const DefaultHandlers *> default_handlers{&no_handlers};

// The handlers of the run. Code that was compiled ahead of time and is linked to the same copy of
// the runtime passes null, as do devices that free what a buffer held, and get the defaults.
const JITHandlers &handlers_of(JITUserContext *c) {
    return c ? c->handlers : default_handlers.load(std::memory_order_acquire)->handlers;
}

void print(void *uc, const char *text) {
    JITUserContext *c = context_of(uc);
    handlers_of(c).custom_print ? handlers_of(c).custom_print(c, text)
                                : calotype_default_print(uc, text);
}

void error(void *uc, const char *message) {
    JITUserContext *c = context_of(uc);
    if (handlers_of(c).custom_error) {
        handlers_of(c).custom_error(c, message);
    } else if (c && c->error_buffer) {
        c->error_buffer->add(message);
    } else {
        calotype_default_error(uc, message);
    }
}

void *allocate(void *uc, size_t size) {
    JITUserContext *c = context_of(uc);
    return handlers_of(c).custom_malloc ? handlers_of(c).custom_malloc(c, size)
                                        : calotype_default_malloc(uc, size);
}

void release(void *uc, void *address) {
    JITUserContext *c = context_of(uc);
    handlers_of(c).custom_free ? handlers_of(c).custom_free(c, address)
                               : calotype_default_free(uc, address);
}

// The run that this thread works for: hooks that look for symbols, and extern functions, are given
// no context.
thread_local JITUserContext *run_of_thread = nullptr;

/// A part of a run that any thread of the pool may take.
class PartOfRun {
public:
    explicit PartOfRun(JITUserContext *run) : outer_(std::exchange(run_of_thread, run)) {
    }
    ~PartOfRun() {
        run_of_thread = outer_;
    }
    PartOfRun(const PartOfRun &) = delete;
    PartOfRun &operator=(const PartOfRun &) = delete;

private:
    JITUserContext *outer_;
};

// A task as handlers call it, which know the context of the run alone: the code gets its own.
struct TaskOfHandler {
    void *user_context;
    calotype_task_t task;
    uint8_t *closure;

    static int run(JITUserContext *, int number, uint8_t *self) {
        const auto *t = reinterpret_cast<const TaskOfHandler *>(self);
        return t->task(t->user_context, number, t->closure);
    }
    uint8_t *address() {
        return reinterpret_cast<uint8_t *>(this);
    }
};

int do_task(void *uc, calotype_task_t task, int number, uint8_t *closure) {
    JITUserContext *c = context_of(uc);
    const PartOfRun part(c);
    if (!handlers_of(c).custom_do_task) {
        return calotype_default_do_task(uc, task, number, closure);
    }
    TaskOfHandler t{uc, task, closure};
    return handlers_of(c).custom_do_task(c, TaskOfHandler::run, number, t.address());
}

// For tasks there is no handler.
int do_loop_task(void *uc, calotype_loop_task_t task, int min, int extent, uint8_t *closure,
                 void *parent) {
    const PartOfRun part(context_of(uc));
    return calotype_default_do_loop_task(uc, task, min, extent, closure, parent);
}

int do_par_for(void *uc, calotype_task_t task, int min, int size, uint8_t *closure) {
    JITUserContext *c = context_of(uc);
    if (!handlers_of(c).custom_do_par_for) {
        return calotype_default_do_par_for(uc, task, min, size, closure);
    }
    TaskOfHandler t{uc, task, closure};
    return handlers_of(c).custom_do_par_for(c, TaskOfHandler::run, min, size, t.address());
}

int32_t trace(void *uc, const calotype_trace_event_t *event) {
    JITUserContext *c = context_of(uc);
    return handlers_of(c).custom_trace ? handlers_of(c).custom_trace(c, event)
                                       : calotype_default_trace(uc, event);
}

void *get_symbol(const char *name) {
    JITUserContext *c = run_of_thread;
    return handlers_of(c).custom_get_symbol ? handlers_of(c).custom_get_symbol(name)
                                            : calotype_default_get_symbol(name);
}

void *load_library(const char *name) {
    JITUserContext *c = run_of_thread;
    return handlers_of(c).custom_load_library ? handlers_of(c).custom_load_library(name)
                                              : calotype_default_load_library(name);
}

void *get_library_symbol(void *library, const char *name) {
    JITUserContext *c = run_of_thread;
    return handlers_of(c).custom_get_library_symbol
               ? handlers_of(c).custom_get_library_symbol(library, name)
               : calotype_default_get_library_symbol(library, name);
}

// What the CUDA part of the runtime does by itself.
struct CudaDefaults {
    calotype_cuda_acquire_context_t acquire;
    calotype_cuda_release_context_t release;
    calotype_cuda_get_stream_t get_stream;
};
const CudaDefaults &install_cuda_hooks();

int acquire_cuda_context(void *uc, CUctx_st **context, bool create) {
    JITUserContext *c = context_of(uc);
    return handlers_of(c).custom_cuda_acquire_context
               ? handlers_of(c).custom_cuda_acquire_context(c, reinterpret_cast<void **>(context),
                                                            create)
               : install_cuda_hooks().acquire(uc, context, create);
}

int release_cuda_context(void *uc) {
    JITUserContext *c = context_of(uc);
    return handlers_of(c).custom_cuda_release_context
               ? handlers_of(c).custom_cuda_release_context(c)
               : install_cuda_hooks().release(uc);
}

int get_cuda_stream(void *uc, CUctx_st *context, CUstream_st **stream) {
    JITUserContext *c = context_of(uc);
    return handlers_of(c).custom_cuda_get_stream
               ? handlers_of(c).custom_cuda_get_stream(c, context,
                                                       reinterpret_cast<void **>(stream))
               : install_cuda_hooks().get_stream(uc, context, stream);
}

/// With the first run that has handlers for it: without hooks the runtime finds context and stream
/// of a call faster.
const CudaDefaults &install_cuda_hooks() {
    static const CudaDefaults defaults = {calotype_set_cuda_acquire_context(acquire_cuda_context),
                                          calotype_set_cuda_release_context(release_cuda_context),
                                          calotype_set_cuda_get_stream(get_cuda_stream)};
    return defaults;
}

JitSymbols install() {
    calotype_set_custom_print(print);
    calotype_set_error_handler(error);
    calotype_set_custom_malloc(allocate);
    calotype_set_custom_free(release);
    calotype_set_custom_do_task(do_task);
    calotype_set_custom_do_loop_task(do_loop_task);
    calotype_set_custom_do_par_for(do_par_for);
    calotype_set_custom_trace(trace);
    calotype_set_custom_get_symbol(get_symbol);
    calotype_set_custom_load_library(load_library);
    calotype_set_custom_get_library_symbol(get_library_symbol);
    return runtime_symbols();
}

template<typename Handler>
void fill(Handler &handler, Handler otherwise) {
    if (!handler) {
        handler = otherwise;
    }
}

void fill_all(JITHandlers &h, const JITHandlers &o) {
    fill(h.custom_print, o.custom_print);
    fill(h.custom_malloc, o.custom_malloc);
    fill(h.custom_free, o.custom_free);
    fill(h.custom_do_task, o.custom_do_task);
    fill(h.custom_do_par_for, o.custom_do_par_for);
    fill(h.custom_error, o.custom_error);
    fill(h.custom_trace, o.custom_trace);
    fill(h.custom_get_symbol, o.custom_get_symbol);
    fill(h.custom_load_library, o.custom_load_library);
    fill(h.custom_get_library_symbol, o.custom_get_library_symbol);
    fill(h.custom_cuda_acquire_context, o.custom_cuda_acquire_context);
    fill(h.custom_cuda_release_context, o.custom_cuda_release_context);
    fill(h.custom_cuda_get_stream, o.custom_cuda_get_stream);
}

// A task of a program, with the context of a run, as the runtime calls it.
struct TaskOfProgram {
    int (*task)(JITUserContext *, int, uint8_t *);
    uint8_t *closure;

    static int run(void *uc, int number, uint8_t *self) {
        const auto *t = reinterpret_cast<const TaskOfProgram *>(self);
        return t->task(static_cast<JITUserContext *>(uc), number, t->closure);
    }
    uint8_t *address() {
        return reinterpret_cast<uint8_t *>(this);
    }
};

/// What the runtime does by itself, as handlers that a program can call. There is none for errors:
/// a run that has one does not throw.
JITHandlers handlers_of_runtime() {
    using Task = int (*)(JITUserContext *, int, uint8_t *);
    JITHandlers h;
    h.custom_print = [](JITUserContext *c, const char *text) {
        calotype_default_print(c, text);
    };
    h.custom_malloc = [](JITUserContext *c, size_t size) {
        return calotype_default_malloc(c, size);
    };
    h.custom_free = [](JITUserContext *c, void *address) {
        calotype_default_free(c, address);
    };
    h.custom_do_task = [](JITUserContext *c, Task task, int number, uint8_t *closure) {
        return task(c, number, closure);
    };
    h.custom_do_par_for = [](JITUserContext *c, Task task, int min, int size, uint8_t *closure) {
        TaskOfProgram t{task, closure};
        return calotype_default_do_par_for(c, TaskOfProgram::run, min, size, t.address());
    };
    h.custom_trace = [](JITUserContext *c, const calotype_trace_event_t *event) {
        return calotype_default_trace(c, event);
    };
    h.custom_get_symbol = calotype_default_get_symbol;
    h.custom_load_library = calotype_default_load_library;
    h.custom_get_library_symbol = calotype_default_get_library_symbol;
    return h;
}

}  // namespace

const JitSymbols &jit_runtime_symbols() {
    static const JitSymbols symbols = install();
    return symbols;
}

namespace {
std::mutex defined_mutex;
JitSymbols defined_symbols;
}  // namespace

void JITSharedRuntime::define_symbol(const std::string &name, const void *address) {
    std::lock_guard<std::mutex> lock(defined_mutex);
    const void *known = defined_symbols.emplace(name, address).first->second;
    user_assert(known == address) << "extern name " << name << " stands for another address";
}

JitSymbols jit_symbols() {
    JitSymbols all = jit_runtime_symbols();
    std::lock_guard<std::mutex> lock(defined_mutex);
    all.insert(defined_symbols.begin(), defined_symbols.end());
    return all;
}

JITHandlers JITSharedRuntime::set_default_handlers(const JITHandlers &handlers) {
    jit_runtime_symbols();  // installs the hooks
    auto *now = new DefaultHandlers{handlers, default_handlers.load(std::memory_order_acquire)};
    while (!default_handlers.compare_exchange_weak(now->before, now, std::memory_order_acq_rel)) {
    }
    return now->before->handlers;
}

void JITSharedRuntime::populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers) {
    fill_all(context->handlers, handlers);
    fill_all(context->handlers, handlers_of(nullptr));
    fill_all(context->handlers, handlers_of_runtime());
}

JITUserContext *JITSharedRuntime::current_run() {
    return run_of_thread;
}

int JITSharedRuntime::get_num_threads() {
    return calotype_get_num_threads();
}

int JITSharedRuntime::set_num_threads(int threads) {
    user_assert(threads >= 0) << "the number of threads is " << threads << ", must be at least 0";
    return calotype_set_num_threads(threads);
}

void *JITSharedRuntime::find_symbol(const Target &, const std::string &name) {
    const JitSymbols &symbols = jit_runtime_symbols();
    const std::string halide = "halide_";
    const bool is_halide = name.compare(0, halide.size(), halide) == 0;
    const auto place = symbols.find(is_halide ? "calotype_" + name.substr(halide.size()) : name);
    return place == symbols.end() ? nullptr : const_cast<void *>(place->second);
}

void JITSharedRuntime::release_all() {
    calotype_memoization_cache_cleanup();
    for (DeviceAPI api : {DeviceAPI::CUDA, DeviceAPI::OpenCL}) {
        if (const calotype_device_interface_t *interface = find_device_interface(api)) {
            calotype_device_release(nullptr, interface);
        }
    }
    calotype_shutdown_thread_pool();
}

void JITSharedRuntime::memoization_cache_set_size(int64_t bytes) {
    calotype_memoization_cache_set_size(bytes);
}

void JITSharedRuntime::memoization_cache_evict(uint64_t eviction_key) {
    calotype_memoization_cache_evict(nullptr, eviction_key);
}

void JITSharedRuntime::reuse_device_allocations(bool reuse) {
    calotype_reuse_device_allocations(nullptr, reuse);
}

calotype_stats JITSharedRuntime::kernel_cache_stats() {
    calotype_stats stats = {};
    stats.size = sizeof(stats);
    calotype_get_stats(0, &stats);
    return stats;
}

calotype_limits JITSharedRuntime::kernel_cache_limits() {
    calotype_limits limits = {};
    limits.size = sizeof(limits);
    calotype_get_limits(&limits);
    return limits;
}

bool JITSharedRuntime::set_kernel_cache_limits(calotype_limits limits) {
    limits.size = sizeof(limits);
    return calotype_set_limits(&limits) == CALOTYPE_OK;
}

void JitErrorBuffer::add(const char *message) {
    std::lock_guard<std::mutex> lock(mutex_);
    text_ += (text_.empty() ? "" : "\n") + std::string(message);
}

std::string JitErrorBuffer::text() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return text_;
}

JitRun::JitRun(JITUserContext *given, const JITHandlers &of_pipeline)
    : context_(given ? given : &own_), given_handlers_(context_->handlers) {
    fill_all(context_->handlers, of_pipeline);
    fill_all(context_->handlers, handlers_of(nullptr));
    const JITHandlers &h = context_->handlers;
    if (h.custom_cuda_acquire_context || h.custom_cuda_release_context ||
        h.custom_cuda_get_stream) {
        install_cuda_hooks();
    }
    context_->error_buffer = &errors_;
    outer_run_ = std::exchange(run_of_thread, context_);
}

JitRun::~JitRun() {
    context_->handlers = given_handlers_;
    context_->error_buffer = nullptr;
    run_of_thread = outer_run_;
}

void JitRun::check(int code) const {
    if (code == 0 || context_->handlers.custom_error) {
        return;
    }
    const std::string text = errors_.text();
    throw_runtime_error(text.empty() ? std::string("the pipeline failed: ") +
                                           calotype_error_code_summary(code)
                                     : text);
}

}  // namespace calotype::internal
