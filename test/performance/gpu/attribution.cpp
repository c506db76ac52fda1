// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of what the time of a warm call consists: calls of the driver alone, the search for the context,
// instructions that lock; and what the machine itself does to many threads.
#include "performance/gpu/bench.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/cuda/context.h"

namespace calotype_bench {

namespace {

namespace cuda = calotype::runtime::cuda;
using calotype::runtime::DeviceScope;

/// The least of 5 times, in ns a call of f.
template<typename F>
double ns_of(F f, int calls = 500000) {
    double best = 1e30;
    for (int round = 0; round < 5; round++) {
        const double begin = now_ns();
        for (int i = 0; i < calls; i++) {
            f();
        }
        best = std::min(best, (now_ns() - begin) / calls);
    }
    return best;
}

/// What a thread is told by the driver.
struct alignas(256) Answer {
    unsigned long long id = 0;
    int is_capturing = 0;
};

/// A cell that no other thread's is near.
struct alignas(256) Cell {
    std::atomic<uint32_t> count{0};
};

void lock_twice(Cell &cell) {
    cell.count.fetch_add(1);
    uint32_t seen = cell.count.load(std::memory_order_relaxed);
    cell.count.compare_exchange_strong(seen, seen - 1);
}

void store_twice(Cell &cell) {
    for (int change : {1, -1}) {
        const uint32_t seen = cell.count.load(std::memory_order_relaxed);
        cell.count.store(seen + uint32_t(change), std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
}

/// As many instructions as lines of code, each a jump to the next: what it costs to have code that
/// the driver's has driven out of the processor's nearest cache.
template<int n_lines>
__attribute__((noinline)) void run_lines() {
    asm volatile(".rept %c0\n jmp 1f\n .balign 64\n 1:\n .endr" ::"i"(n_lines));
}

/// Sums that do not wait for one another: as many instructions a cycle as the processor can do.
__attribute__((noinline)) void work(int i) {
    uint32_t a = uint32_t(i), b = a + 1, c = a + 2, d = a + 3;
    for (int step = 0; step < 16; step++) {
        a += b ^ 5, b += c ^ 9, c += d ^ 17, d += a ^ 33;
    }
    asm volatile("" ::"r"(a + b + c + d));
}

std::vector<int> usable_processors() {
    cpu_set_t set;
    std::vector<int> result;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int i = 0; i < CPU_SETSIZE; i++) {
            if (CPU_ISSET(i, &set)) {
                result.push_back(i);
            }
        }
    }
    return result;
}

long barrier_of_process(int command) {
    return syscall(SYS_membarrier, command, 0u, 0);
}

}  // namespace

std::vector<int> processors_by_core() {
    std::map<std::string, std::vector<int>> cores;
    size_t most = 0;
    for (int processor : usable_processors()) {
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                           "/topology/thread_siblings_list");
        std::string siblings;
        if (!std::getline(file, siblings)) {
            return {};
        }
        cores[siblings].push_back(processor);
        most = std::max(most, cores[siblings].size());
    }
    std::vector<int> result;
    for (size_t i = 0; i < most; i++) {
        for (const auto &[siblings, processors] : cores) {
            if (i < processors.size()) {
                result.push_back(processors[i]);
            }
        }
    }
    return result;
}

void run_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/// Holds on 1, 2, 4, ... threads, each on a core of its own as long as there are any, and then on
/// the second halves of cores too. Beside them what does not touch memory that changes.
void Bench::pairs_by_core() {
    const std::vector<int> processors = processors_by_core();
    std::vector<Answer> answers(processors.size());
    for (size_t threads = 1; threads <= processors.size(); threads *= 2) {
        const std::string suffix = "_" + std::to_string(threads);
        const auto measure = [&](const char *name, auto f) {
            double rate = 0;
            for (int round = 0; round < 5; round++) {
                rate = std::max(rate, throughput(int(threads), 1000000, f, processors));
            }
            json.add(name + suffix, 1e9 * double(threads) / rate);
        };
        measure("pinned_pair_ns", [&](int, int) { pair(nullptr); });
        measure("pinned_get_id_ns",
                [&](int t, int) { driver.get_id(context, &answers[size_t(t)].id); });
        measure("pinned_work_ns", [&](int, int i) { work(i); });
    }
}

void Bench::attribute_driver() {
    unsigned long long id = 0;
    void *current = nullptr;
    const auto measure = [&](const std::string &with) {
        json.add("driver_get_id_ns" + with, ns_of([&] { driver.get_id(context, &id); }));
        json.add("driver_get_id_of_null_ns" + with, ns_of([&] { driver.get_id(nullptr, &id); }));
        json.add("driver_get_current_ns" + with, ns_of([&] { driver.get_current(&current); }));
        DeviceScope scope;
        json.add("acquire_default_ns" + with, ns_of([&] {
                     cuda::acquire(nullptr, &scope);
                     cuda::release(scope);
                 }));
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[0]);
        json.add("acquire_given_ns" + with, ns_of([&] {
                     cuda::acquire(&on, &scope);
                     cuda::release(scope);
                 }));
        json.add("pair_default_ns" + with, ns_of([&] { pair(nullptr); }));
        json.add("pair_given_ns" + with, ns_of([&] { pair(&on); }));
    };
    expect_ok(driver.set_current(context));
    measure("_current");
    expect_ok(driver.set_current(nullptr));
    measure("_not_current");
    expect_ok(driver.set_current(context));
    json.add("driver_push_pop_ns", ns_of([&] {
                 driver.ctx_push(context);
                 driver.ctx_pop(&current);
             }));
}

/// What is added to a raw launch by parts of a call: medians of the differences, in turns with it.
void Bench::attribute_call(int threads) {
    constexpr int n_rounds = 61, n_launches = 1000;
    std::vector<Answer> answers(static_cast<size_t>(threads));
    struct Part {
        const char *name;
        std::function<void(int, void *)> run;
    };
    const auto on_stream = [&](void *stream) {
        return calotype_device_context(CALOTYPE_DEVICE_CONTEXT(context, stream));
    };
    const std::vector<Part> parts = {
        {"nothing",
         [](int, void *) {
         }},
        {"id",
         [&](int t, void *) {
             driver.get_id(context, &answers[size_t(t)].id);
         }},
        {"capturing",
         [&](int t, void *stream) {
             driver.is_capturing(stream, &answers[size_t(t)].is_capturing);
         }},
        {"id_capturing",
         [&](int t, void *stream) {
             driver.get_id(context, &answers[size_t(t)].id);
             driver.is_capturing(stream, &answers[size_t(t)].is_capturing);
         }},
        {"pair",
         [&](int, void *stream) {
             calotype_device_context on = on_stream(stream);
             pair(&on);
         }},
        {"begin_end",
         [&](int, void *stream) {
             calotype_device_context on = on_stream(stream);
             calotype_hold hold;
             expect_ok(calotype_begin_kernels(&on, &module.desc, &hold));
             calotype_end_kernels(&on, &hold);
         }},
        {"16_lines",
         [](int, void *) {
             run_lines<16>();
         }},
        {"64_lines",
         [](int, void *) {
             run_lines<64>();
         }},
        {"256_lines",
         [](int, void *) {
             run_lines<256>();
         }},
    };
    const auto times = in_turns(threads, n_rounds, int(parts.size()) + 1, [&](int t, int which) {
        void *stream = streams[size_t(t)];
        expect_ok(driver.set_current(context));
        for (int i = 0; i < n_launches; i++) {
            if (which == int(parts.size())) {
                calotype_device_context on = on_stream(stream);
                expect_ok(module.call(&on));
            } else {
                parts[size_t(which)].run(t, stream);
                expect_ok(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
            }
        }
        driver.stream_sync(stream);
    });
    for (size_t which = 1; which <= parts.size(); which++) {
        std::vector<double> added;
        for (int round = 0; round < n_rounds; round++) {
            added.push_back((times[which][size_t(round)] - times[0][size_t(round)]) / n_launches);
        }
        std::sort(added.begin(), added.end());
        const std::string name = which < parts.size() ? parts[which].name : "call";
        json.add("added_by_" + name + "_ns_" + std::to_string(threads), added[n_rounds / 2]);
    }
}

void Bench::attribute_machine() {
    Cell cell;
    json.add("clock_ns", ns_of([] { now_ns(); }));
    json.add("locked_pair_ns", ns_of([&] { lock_twice(cell); }));
    json.add("stored_pair_ns", ns_of([&] { store_twice(cell); }));
    barrier_of_process(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    const auto barrier = [] {
        barrier_of_process(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    };
    json.add("membarrier_us", ns_of(barrier, 1000) / 1e3);
    std::atomic<bool> done{false};
    std::vector<std::thread> others;
    for (int t = 0; t < 15; t++) {
        others.emplace_back([&] {
            while (!done.load(std::memory_order_relaxed)) {
            }
        });
    }
    json.add("membarrier_beside_15_us", ns_of(barrier, 1000) / 1e3);
    done = true;
    for (std::thread &other : others) {
        other.join();
    }
    std::vector<Cell> cells(16);
    for (int threads : {1, 2, 4, 8, 16}) {
        const std::string suffix = "_" + std::to_string(threads);
        const auto measure = [&](const char *name, auto f) {
            double rate = 0;
            for (int round = 0; round < 3; round++) {
                rate = std::max(rate, throughput(threads, 1000000, f));
            }
            json.add(name + suffix, 1e9 * threads / rate);
        };
        measure("machine_locked_ns", [&](int t, int) { lock_twice(cells[size_t(t)]); });
        measure("machine_stored_ns", [&](int t, int) { store_twice(cells[size_t(t)]); });
        measure("driver_get_id_ns", [&](int, int) {
            unsigned long long id;
            driver.get_id(context, &id);
        });
    }
}

}  // namespace calotype_bench
