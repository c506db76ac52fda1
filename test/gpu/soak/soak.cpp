// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// soak [SEED [SECONDS [THREADS [CONTEXTS]]]]: threads that call kernels, allocate, copy, free late
// and elsewhere, release, destroy and make contexts, trim, evict, prefetch and change limits, all
// at random. Ends with a shutdown; then nothing may be left. 0: all is well; 1: something is wrong;
// 99: it hung, and every thread has said where it is. CT_CUDA_DRIVER_LIBRARY may name a fake
// driver.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

#include "harness/nothing_module.h"
#include "runtime/abi/device_memory.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/type_of.h"
#include "runtime/runtime.h"

namespace {

using Clock = std::chrono::steady_clock;

// ---- the driver, by its own names ------------------------------------------------------------

struct RawDriver {
    int (*init)(unsigned);
    int (*create)(void **, unsigned, int);
    int (*destroy)(void *);
    int (*push)(void *);
    int (*pop)(void **);
    int (*create_stream)(void **, unsigned);
    int (*sync_stream)(void *);
    int (*destroy_stream)(void *);
};

RawDriver load_driver() {
    const char *chosen = getenv("CT_CUDA_DRIVER_LIBRARY");
    void *library = dlopen(chosen ? chosen : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        std::printf("SKIPPED: no driver\n");
        exit(0);
    }
    RawDriver d;
    const auto find = [&](auto &function, const char *name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        if (!function) {
            std::printf("the driver has no %s\n", name);
            exit(1);
        }
    };
    find(d.init, "cuInit");
    find(d.create, "cuCtxCreate_v2");
    find(d.destroy, "cuCtxDestroy_v2");
    find(d.push, "cuCtxPushCurrent_v2");
    find(d.pop, "cuCtxPopCurrent_v2");
    find(d.create_stream, "cuStreamCreate");
    find(d.sync_stream, "cuStreamSynchronize");
    find(d.destroy_stream, "cuStreamDestroy_v2");
    return d;
}

RawDriver driver;

// ---- what the threads share ------------------------------------------------------------------

constexpr int n_modules = 5;
std::vector<calotype_test::NothingModule *> modules;

/// Null for the default one. Whoever destroys it is alone in it.
struct Context {
    void *handle = nullptr;
    std::shared_mutex users;
};
std::vector<Context *> contexts;

struct Ints {
    std::vector<int> data;
    calotype_dimension_t dim[1];
    calotype_buffer_t buf = {};

    explicit Ints(int n) : data(size_t(n)), dim{{0, n, 1}} {
        for (int i = 0; i < n; i++) {
            data[size_t(i)] = i * 7;
        }
        buf.host = reinterpret_cast<uint8_t *>(data.data());
        buf.type = calotype_type_of<int>();
        buf.dimensions = 1;
        buf.dim = dim;
    }
};
std::mutex late_lock;
std::vector<Ints *> late;  ///< to be freed by whoever comes

std::atomic<long> calls{0}, errors{0}, wrong{0}, refused{0}, made{0};
std::atomic<bool> is_over{false};

void expect(bool condition, const char *what) {
    if (!condition && errors++ < 10) {
        const char *why = calotype_last_error()->log;
        std::printf("%s: %s\n", what, why ? why : "");
    }
}

void make(Context &context) {
    void *popped;
    if (int code = driver.create(&context.handle, 0, 0)) {
        std::printf("cuCtxCreate: %d\n", code);
        _exit(1);
    }
    driver.pop(&popped);
    made++;
}

// ---- what a thread does ----------------------------------------------------------------------

struct Stream {
    void *context, *handle = nullptr;

    Stream(void *context, bool wanted) : context(context) {
        void *popped;
        if (context && wanted) {
            driver.push(context);
            driver.create_stream(&handle, 1);
            driver.pop(&popped);
        }
    }
    ~Stream() {
        void *popped;
        if (handle) {
            driver.push(context);
            driver.sync_stream(handle);
            driver.destroy_stream(handle);
            driver.pop(&popped);
        }
    }
};

void call_kernels(calotype_device_context &on, unsigned random) {
    const calotype_test::NothingModule &module = *modules[random % n_modules];
    calotype_hold hold;
    const calotype_status status = calotype_initialize_kernels(&on, &module.desc, nullptr, &hold);
    if (status == CALOTYPE_E_CLOSING) {
        refused++;
        return;
    }
    expect(status == CALOTYPE_OK, "initialize");
    const uint32_t one[3] = {1, 1, 1};
    if (status == CALOTYPE_OK) {
        const calotype_status launched =
            calotype_launch(&on, hold, 0, one, one, 0, nullptr, nullptr);
        expect(launched == CALOTYPE_OK, "launch");
        calotype_finalize_kernels(&on, &hold);
    }
    calls++;
}

/// There and back, and freed here, later by another thread, or by one that says nothing of it.
void copy_and_free(calotype_device_context &on, unsigned random) {
    auto *a = new Ints(int(random % 5000) + 1);
    a->buf.set_host_dirty();
    const std::vector<int> before = a->data;
    int code = calotype_copy_to_device(&on, &a->buf, calotype_cuda_device_interface());
    std::fill(a->data.begin(), a->data.end(), 0);
    a->buf.set_device_dirty();
    code = code ? code : calotype_copy_to_host(&on, &a->buf);
    expect(code == 0, "copy");
    wrong += code == 0 && before != a->data;
    if (random % 3 == 0) {
        std::lock_guard<std::mutex> guard(late_lock);
        late.push_back(a);
        return;
    }
    expect(calotype_device_free(random % 3 == 1 ? &on : nullptr, &a->buf) == 0, "free");
    delete a;
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

void replace(Context &context) {
    std::unique_lock<std::shared_mutex> alone(context.users);
    const calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context.handle, nullptr);
    calotype_status status;
    // A prefetch or the release of another thread may still be at it.
    do {
        status = calotype_release_context(&on, CALOTYPE_REL_WAIT, 20000);
    } while (status == CALOTYPE_E_CLOSING);
    expect(status == CALOTYPE_OK, "release");
    expect(driver.destroy(context.handle) == 0, "cuCtxDestroy");
    make(context);
}

void prefetch(const calotype_device_context &on) {
    const calotype_module_desc *descs[n_modules];
    for (int i = 0; i < n_modules; i++) {
        descs[i] = &modules[size_t(i)]->desc;
    }
    void *ticket = nullptr;
    if (calotype_prefetch(&on, descs, n_modules, 0, &ticket) == CALOTYPE_OK) {
        const calotype_status status = calotype_prefetch_wait(ticket, 20000);
        expect(status == CALOTYPE_OK || status == CALOTYPE_E_CLOSING, "prefetch");
    }
}

void step(std::mt19937 &random) {
    Context &context = *contexts[random() % contexts.size()];
    const unsigned what = random() % 1000;
    if (what < 2 && context.handle) {
        replace(context);
        return;
    }
    std::shared_lock<std::shared_mutex> with_others(context.users);
    const Stream stream(context.handle, random() % 2);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context.handle, stream.handle);
    if (what < 8) {
        const calotype_status status = calotype_release_context(&on, CALOTYPE_REL_BUSY, 0);
        expect(status == CALOTYPE_OK || status == CALOTYPE_E_BUSY || status == CALOTYPE_E_CLOSING,
               "release");
    } else if (what < 14) {
        calotype_trim(&on, random() % 10000, nullptr);
    } else if (what < 20) {
        calotype_evict(&on, &modules[random() % n_modules]->desc, random() % 2);
    } else if (what < 23) {
        prefetch(on);
    } else if (what < 26) {
        calotype_reuse_device_allocations(&on, random() % 2);
    } else if (what < 30) {
        const calotype_limits limits = {sizeof limits, CALOTYPE_POLICY_LRU, 0, random() % 4, 0, 0};
        calotype_set_limits(&limits);
    } else if (what < 36) {
        calotype_memory_stats stats = {};
        stats.size = sizeof stats;
        calotype_get_memory_stats(calotype_cuda_device_interface(), 0, &stats);
    } else if (what < 300) {
        copy_and_free(on, random());
    } else if (what < 400) {
        free_a_late_one();
    } else {
        call_kernels(on, random());
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
    expect(calotype_shutdown(20000) == CALOTYPE_OK, "shutdown");
    calotype_stats s = {};
    s.size = sizeof s;
    calotype_get_stats(0, &s);
    calotype_memory_stats m = {};
    m.size = sizeof m;
    calotype_get_memory_stats(calotype_cuda_device_interface(), -1, &m);
    expect(s.loads == s.unloads && s.live_modules == 0 && s.holds == 0, "modules are left");
    expect(m.in_use == 0 && m.pieces == 0 && m.deferred == 0, "memory is left");
    expect(m.allocations == m.frees, "allocations and frees differ");
    std::printf("seed %u: %ld calls, %ld refused while closing, %ld contexts, %llu loads, %llu "
                "allocations; %ld wrong, %ld errors\n",
                seed, calls.load(), refused.load(), made.load(), (unsigned long long)s.loads,
                (unsigned long long)m.allocations, wrong.load(), errors.load());
    is_over = true;
    return wrong || errors;
}

}  // namespace

int main(int argc, char **argv) {
    const unsigned seed = argc > 1 ? unsigned(atoi(argv[1])) : 1;
    const int seconds = argc > 2 ? atoi(argv[2]) : 2, n_threads = argc > 3 ? atoi(argv[3]) : 16;
    const int n_contexts = argc > 4 ? atoi(argv[4]) : 4;
    void *frames[4];
    backtrace(frames, 4);  // which loads what it needs
    signal(SIGUSR1, print_stack);
    driver = load_driver();
    driver.init(0);
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    for (int i = 0; i < n_modules; i++) {
        modules.push_back(new calotype_test::NothingModule);
        modules.back()->desc.uid.b[0] = uint8_t(i + 1);
    }
    for (int i = 0; i < n_contexts; i++) {
        contexts.push_back(new Context);
        if (i > 0) {
            make(*contexts.back());
        }
    }
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
