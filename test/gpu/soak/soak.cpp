// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// soak [SEED [SECONDS [THREADS [CONTEXTS [cuda|opencl]]]]]: threads that call kernels, allocate,
// copy, move buffers between contexts and devices, free late and elsewhere, capture, release (also
// by force), destroy and make contexts, trim, evict, prefetch and change limits, all at random.
// Ends with a shutdown; then nothing may be left. 0: all is well; 1: something is wrong; 99: it
// hung, and every thread has said where it is. CT_CUDA_DRIVER_LIBRARY and CT_OPENCL_DRIVER_LIBRARY
// may name fake drivers. With FAKE_DRIVER_FAULTS=N, on those, one of N calls of the driver fails:
// then errors are expected, and wrong results, leftovers and hangs are not.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/soak/driver.h"
#include "harness/ints.h"
#include "harness/module_desc.h"
#include "runtime/abi/device_memory.h"
#include "runtime/runtime.h"

void *soak::open_driver(const char *variable, const char *usual_name) {
    const char *chosen = getenv(variable);
    void *library = dlopen(chosen ? chosen : usual_name, RTLD_NOW);
    if (!library) {
        std::printf("no driver %s\n", chosen ? chosen : usual_name);
    }
    return library;
}

void *soak::driver_function(void *library, const char *name) {
    void *function = dlsym(library, name);
    if (!function) {
        std::printf("the driver has no %s\n", name);
        exit(1);
    }
    return function;
}

namespace {

using Clock = std::chrono::steady_clock;
using calotype_test::Ints;
using soak::Driver;

// ---- what the threads share ------------------------------------------------------------------

const Driver *driver = nullptr;

struct Module {
    calotype_kernel_desc kernel = {"nothing", nullptr, 0, 0, 0, 0};
    calotype_module_desc desc = calotype_test::module_desc("nothing", driver->device_interface,
                                                           driver->nothing, &kernel, 1);
};
constexpr int n_modules = 5;
std::vector<std::unique_ptr<Module>> modules;

/// Null for the default one. Whoever destroys it is alone in it.
struct Context {
    void *handle = nullptr;
    int device = 0;
    bool is_default = false;
    std::shared_mutex users;
};
std::vector<std::unique_ptr<Context>> contexts;

std::mutex late_lock;
std::vector<Ints *> late;  ///< to be freed by whoever comes

std::atomic<long> calls{0}, errors{0}, wrong{0}, refused{0}, made{0}, moves{0}, captures{0};
std::atomic<bool> is_over{false};
const bool has_faults = getenv("FAKE_DRIVER_FAULTS") != nullptr;

void expect(bool condition, const char *what) {
    if (!condition && !has_faults && errors++ < 10) {
        const char *why = calotype_last_error()->log;
        std::printf("%s: %s\n", what, why ? why : "");
    }
}

/// What calls are told while the context is released, by force perhaps.
bool is_closing(calotype_status status) {
    return status == CALOTYPE_E_CLOSING || status == CALOTYPE_E_CONTEXT_LOST;
}

void make(Context &context) {
    do {
        context.handle = driver->make_context(context.device);
    } while (!context.handle && has_faults);
    if (!context.handle) {
        std::printf("no context of %s\n", driver->name);
        _exit(1);
    }
    made++;
}

// ---- what a thread does ----------------------------------------------------------------------

struct Stream {
    void *context, *handle = nullptr;

    Stream(void *context, bool wanted) : context(context) {
        if (context && wanted) {
            handle = driver->make_stream(context);
        }
    }
    ~Stream() {
        if (handle) {
            driver->destroy_stream(context, handle);
        }
    }
};

/// False if the context is being released.
bool call_kernel(calotype_device_context &on, unsigned random, bool is_captured) {
    const Module &module = *modules[random % n_modules];
    calotype_hold hold;
    const calotype_status status = calotype_initialize_kernels(&on, &module.desc, nullptr, &hold);
    if (is_closing(status) || (is_captured && status == CALOTYPE_E_CAPTURE)) {
        refused++;
        return !is_closing(status);
    }
    expect(status == CALOTYPE_OK, "initialize");
    const uint32_t one[3] = {1, 1, 1};
    if (status == CALOTYPE_OK) {
        const calotype_status launched =
            calotype_launch(&on, hold, 0, one, one, 0, nullptr, nullptr);
        expect(launched == CALOTYPE_OK || is_closing(launched), "launch");
        calotype_finalize_kernels(&on, &hold);
    }
    calls++;
    return true;
}

/// Freed here, later by another thread, or by one that says nothing of it.
void free_somehow(calotype_device_context &on, Ints *a, unsigned random) {
    if (random % 3 == 0) {
        std::lock_guard<std::mutex> guard(late_lock);
        late.push_back(a);
        return;
    }
    expect(calotype_device_free(random % 3 == 1 ? &on : nullptr, &a->buf) == 0, "free");
    delete a;
}

/// There, perhaps by way of another context of whatever device, and back.
void copy_and_free(calotype_device_context &on, calotype_device_context *other, unsigned random) {
    auto *a = new Ints(int(random % 5000) + 1);
    a->buf.set_host_dirty();
    const std::vector<int> before = a->data;
    int code = calotype_copy_to_device(&on, &a->buf, driver->device_interface());
    std::fill(a->data.begin(), a->data.end(), 0);
    a->buf.set_device_dirty(code == 0);
    calotype_device_context *last = &on;
    if (code == 0 && other) {
        code = calotype_device_sync(&on, &a->buf);
        code = code ? code : calotype_copy_to_device(other, &a->buf, driver->device_interface());
        last = other;
        moves++;
    }
    code = code ? code : calotype_copy_to_host(last, &a->buf);
    expect(code == 0, "copy");
    wrong += code == 0 && before != a->data;
    free_somehow(*last, a, random);
}

/// By page-locked memory and without waiting, but for the end.
void copy_async(calotype_device_context &on, unsigned random) {
    Ints a(int(random % 5000) + 1);
    a.buf.host = nullptr;
    int code = calotype_device_and_host_malloc(&on, &a.buf, driver->device_interface());
    if (code != 0) {
        expect(false, "host and device memory");
        return;
    }
    int *elements = reinterpret_cast<int *>(a.buf.host);
    std::copy(a.data.begin(), a.data.end(), elements);
    a.buf.set_host_dirty();
    code = calotype_copy_to_device_async(&on, &a.buf, driver->device_interface());
    code = code ? code : calotype_device_sync(&on, &a.buf);
    std::fill_n(elements, a.data.size(), 0);
    a.buf.set_device_dirty(code == 0);
    code = code ? code : calotype_copy_to_host_async(&on, &a.buf);
    code = code ? code : calotype_device_sync(&on, &a.buf);
    expect(code == 0, "asynchronous copy");
    wrong += code == 0 && !std::equal(a.data.begin(), a.data.end(), elements);
    expect(calotype_device_and_host_free(random % 2 ? &on : nullptr, &a.buf) == 0, "free of both");
}

void free_a_late_one() {
    Ints *a = nullptr;
    {
        std::lock_guard<std::mutex> guard(late_lock);
        if (!late.empty()) {
            a = late.back();
            late.pop_back();
        }
    }
    if (a) {
        expect(calotype_device_free(nullptr, &a->buf) == 0, "late free");
        delete a;
    }
}

/// With a hold that is given back only then.
calotype_status release_by_force(const calotype_device_context &on, unsigned random) {
    calotype_hold hold;
    calotype_device_context mine = on;
    const bool is_held = calotype_initialize_kernels(&mine, &modules[random % n_modules]->desc,
                                                     nullptr, &hold) == CALOTYPE_OK;
    const calotype_status status = calotype_release_context(&on, CALOTYPE_REL_FORCE, 0);
    if (is_held) {
        expect(calotype_finalize_kernels(&mine, &hold) == CALOTYPE_OK, "late finalize");
    }
    return status;
}

/// Released, destroyed and made anew.
void replace(Context &context, unsigned random) {
    std::unique_lock<std::shared_mutex> alone(context.users);
    const Stream stream(driver->capture ? nullptr : context.handle, true);
    const calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context.handle, stream.handle);
    calotype_status status;
    // A prefetch or the release of another thread may still be at it.
    do {
        status = random % 3 ? calotype_release_context(&on, CALOTYPE_REL_WAIT, 20000)
                            : release_by_force(on, random);
    } while (status == CALOTYPE_E_CLOSING);
    expect(status == CALOTYPE_OK, "release");
    if (status != CALOTYPE_OK) {
        uint64_t uid = 0;
        if (calotype_context_uid(&on, driver->device_interface(), &uid) == CALOTYPE_OK) {
            calotype_context_lost(uid);
        }
    }
    expect(driver->destroy_context(context.handle), "the end of a context");
    make(context);
}

/// Nobody else is in the context: what others wait for would break the capture. A prefetch may still be at work that
/// ends a release, and so waits.
void capture(Context &context, unsigned random) {
    std::unique_lock<std::shared_mutex> alone(context.users);
    const Stream stream(context.handle, true);
    struct Body {
        calotype_device_context on;
        unsigned random;
        bool is_released;
    } body = {CALOTYPE_DEVICE_CONTEXT(context.handle, stream.handle), random, false};
    body.is_released = !call_kernel(body.on, random, false);
    const bool is_done = driver->capture(
        context.handle, stream.handle,
        [](void *data) {
            Body &body = *static_cast<Body *>(data);
            body.is_released = !call_kernel(body.on, body.random, true) || body.is_released;
        },
        &body);
    expect(is_done || body.is_released, "capture");
    captures++;
}

void prefetch(const calotype_device_context &on) {
    const calotype_module_desc *descs[n_modules];
    for (int i = 0; i < n_modules; i++) {
        descs[i] = &modules[size_t(i)]->desc;
    }
    void *ticket = nullptr;
    if (calotype_prefetch(&on, descs, n_modules, 0, &ticket) == CALOTYPE_OK) {
        const calotype_status status = calotype_prefetch_wait(ticket, 20000);
        expect(status == CALOTYPE_OK || is_closing(status), "prefetch");
    }
}

void release(const calotype_device_context &on) {
    const calotype_status status = calotype_release_context(&on, CALOTYPE_REL_BUSY, 0);
    expect(status == CALOTYPE_OK || status == CALOTYPE_E_BUSY || is_closing(status), "release");
}

/// Another context whose users are held; null if it is the same.
Context *second_context(const Context &first, unsigned random) {
    Context *other = contexts[random % contexts.size()].get();
    return other == &first || !other->users.try_lock_shared() ? nullptr : other;
}

void copy_over_contexts(Context &context, calotype_device_context &on, std::mt19937 &random) {
    Context *other = second_context(context, unsigned(random()));
    {
        void *handle = other ? other->handle : nullptr;
        const Stream stream(handle, handle && !driver->capture);
        calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(handle, stream.handle);
        copy_and_free(on, other ? &there : nullptr, unsigned(random()));
    }
    if (other) {
        other->users.unlock_shared();
    }
}

/// What changes how others fare.
void disturb(const calotype_device_context &on, unsigned what, std::mt19937 &random) {
    if (what < 8) {
        release(on);
    } else if (what < 14) {
        calotype_trim(&on, random() % 10000, nullptr);
    } else if (what < 20) {
        calotype_evict(&on, &modules[random() % n_modules]->desc, random() % 2);
    } else if (what < 23) {
        prefetch(on);
    } else if (what < 26) {
        calotype_reuse_device_allocations(const_cast<calotype_device_context *>(&on), random() % 2);
    } else if (what < 30) {
        const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, random() % 4, 0, 0};
        calotype_set_limits(&limits);
    } else {
        calotype_memory_stats stats = {};
        stats.size = sizeof stats;
        calotype_get_memory_stats(driver->device_interface(), 0, &stats);
    }
}

void step(std::mt19937 &random) {
    Context &context = *contexts[random() % contexts.size()];
    const unsigned what = random() % 1000;
    if (what < 2 && !context.is_default) {
        replace(context, unsigned(random()));
        return;
    }
    if (what < 5 && !context.is_default && driver->capture) {
        capture(context, unsigned(random()));
        return;
    }
    std::shared_lock<std::shared_mutex> with_others(context.users);
    const bool needs_stream = context.handle && !driver->capture;
    const Stream stream(context.handle, needs_stream || random() % 2);
    if (needs_stream && !stream.handle) {
        return;
    }
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context.handle, stream.handle);
    if (what < 36) {
        disturb(on, what, random);
    } else if (what < 250) {
        copy_over_contexts(context, on, random);
    } else if (what < 300) {
        copy_async(on, unsigned(random()));
    } else if (what < 400) {
        free_a_late_one();
    } else {
        call_kernel(on, unsigned(random()), false);
    }
}

// ---- the watchdog ----------------------------------------------------------------------------

void print_stack(int) {
    void *frames[40];
    const int n = backtrace(frames, 40);
    dprintf(2, "-- thread %ld\n", long(syscall(SYS_gettid)));
    backtrace_symbols_fd(frames, n, 2);
}

void watch(Clock::time_point end) {
    while (Clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (is_over) {
            return;
        }
    }
    dprintf(2, "HANG\n");
    DIR *tasks = opendir("/proc/self/task");
    while (const dirent *task = tasks ? readdir(tasks) : nullptr) {
        const long id = atol(task->d_name);
        if (id > 0 && id != syscall(SYS_gettid)) {
            syscall(SYS_tgkill, getpid(), id, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
        }
    }
    _exit(99);
}

int finish(unsigned seed) {
    while (!late.empty()) {
        free_a_late_one();
    }
    for (const auto &context : contexts) {
        // What was freed without naming them goes with the call that does.
        const Stream stream(driver->capture ? nullptr : context->handle, true);
        const calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context->handle, stream.handle);
        expect(calotype_release_context(&on, CALOTYPE_REL_WAIT, 20000) == CALOTYPE_OK, "release");
    }
    expect(calotype_shutdown(20000) == CALOTYPE_OK, "shutdown");
    calotype_stats s = {};
    s.size = sizeof s;
    calotype_get_stats(0, &s);
    calotype_memory_stats m = {};
    m.size = sizeof m;
    const bool has_memory = calotype_get_memory_stats(driver->device_interface(), -1, &m) == 0;
    if (s.loads != s.unloads || s.live_modules != 0 || s.holds != 0) {
        const std::string left = "modules are left: " + std::to_string(s.loads) + " loads, " +
                                 std::to_string(s.unloads) + " unloads, " +
                                 std::to_string(s.live_modules) + " live, " +
                                 std::to_string(s.holds) + " holds";
        expect(false, left.c_str());
    }
    expect(!has_memory || (m.in_use == 0 && m.pieces == 0 && m.deferred == 0), "memory is left");
    expect(!has_memory || m.allocations == m.frees, "allocations and frees differ");
    const bool is_left = s.holds != 0 || m.pieces != 0;
    std::printf("seed %u: %ld calls, %ld refused while closing, %ld contexts, %ld moves, %ld "
                "captures, %llu loads, %llu allocations; %ld wrong, %ld errors%s\n",
                seed, calls.load(), refused.load(), made.load(), moves.load(), captures.load(),
                (unsigned long long)s.loads, (unsigned long long)m.allocations, wrong.load(),
                errors.load(), is_left ? ", something is left" : "");
    if (is_left) {
        std::printf("%llu holds, %u pieces of memory\n", (unsigned long long)s.holds, m.pieces);
    }
    is_over = true;
    return wrong || errors || is_left;
}

void set_up(int n_contexts) {
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    if (has_faults) {
        calotype_set_error_handler([](void *, const char *) {});
    }
    for (int i = 0; i < n_modules; i++) {
        modules.push_back(std::make_unique<Module>());
        modules.back()->desc.uid.b[0] = uint8_t(i + 1);
    }
    for (int i = 0; i < n_contexts; i++) {
        contexts.push_back(std::make_unique<Context>());
        contexts.back()->device = i % driver->devices;
        contexts.back()->is_default = i == 0;
        if (i > 0) {
            make(*contexts.back());
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    const unsigned seed = argc > 1 ? unsigned(atoi(argv[1])) : 1;
    const int seconds = argc > 2 ? atoi(argv[2]) : 2, n_threads = argc > 3 ? atoi(argv[3]) : 16;
    const bool is_opencl = argc > 5 && strcmp(argv[5], "opencl") == 0;
    void *frames[4];
    backtrace(frames, 4);  // which loads what it needs
    signal(SIGUSR1, print_stack);
    driver = is_opencl ? soak::opencl_driver() : soak::cuda_driver();
    if (!driver) {
        return 0;
    }
    set_up(argc > 4 ? atoi(argv[4]) : 4);
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    std::thread(watch, end + std::chrono::seconds(60)).detach();
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++) {
        threads.emplace_back([=] {
            std::mt19937 random(seed * 1000 + unsigned(t));
            while (Clock::now() < end) {
                step(random);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    return finish(seed);
}
