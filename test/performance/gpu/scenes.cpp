// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What takes longer than a call: compiling, loading from disk, whole pipelines, memory.
#include "performance/gpu/bench.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <thread>

#include "runtime/abi/linkables.h"

namespace calotype_bench {

namespace {

const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// A module of PTX made at run time.
struct TextModule {
    std::string text;
    std::vector<std::string> names;
    std::vector<calotype_kernel_desc> kernels;
    calotype_image image = {};
    calotype_module_desc desc = {};

    TextModule(const std::string &body, std::vector<std::string> kernel_names, int number)
        : text(head + ("// " + std::to_string(number) + "\n") + body),
          names(std::move(kernel_names)) {
        for (const std::string &name : names) {
            kernels.push_back({name.c_str(), nullptr, 0, 0, 0, 0});
        }
        image = {CALOTYPE_PTX, 70, 0, text.c_str(), text.size()};
        desc.size = sizeof desc;
        desc.abi = CALOTYPE_ABI_VERSION;
        desc.name = "bench";
        desc.uid.b[0] = uint8_t(number);
        desc.uid.b[1] = uint8_t(number >> 8);
        desc.uid.b[2] = 1;
        desc.device_interface = calotype_cuda_device_interface;
        desc.images = &image;
        desc.n_images = 1;
        desc.kernels = kernels.data();
        desc.n_kernels = uint32_t(kernels.size());
        desc.opt_level = 3;
    }
};

/// Adds one to the word at `out`; `steps` more multiplications make it long to compile.
std::string adder(const std::string &name, int steps) {
    std::string s = ".visible .entry " + name + "(.param .u64 out) {\n" +
                    ".reg .b64 %a<2>; .reg .b32 %v<" + std::to_string(steps + 3) + ">;\n" +
                    "ld.param.u64 %a0, [out]; cvta.to.global.u64 %a1, %a0;\n"
                    "ld.global.u32 %v0, [%a1]; mov.u32 %v1, %tid.x;\n";
    for (int i = 0; i < steps; i++) {
        const std::string before = "%v" + std::to_string(i + 1);
        s += "mad.lo.u32 %v" + std::to_string(i + 2) + ", " + before + ", " + before + ", %v" +
             std::to_string(i) + ";\n";
    }
    // Of a thread 0 alone: the last value counts, but one is what is added.
    s += "add.u32 %v0, %v0, 1; st.global.u32 [%a1], %v0;\n";
    if (steps > 0) {
        s += "st.global.u32 [%a1+4], %v" + std::to_string(steps + 1) + ";\n";
    }
    return s + "ret;\n}\n";
}

/// What a library has, and a kernel that calls it.
const std::string adder_function = R"(
.visible .func (.param .b32 r) add_ext(.param .b32 a) {
.reg .b32 %v<2>;
ld.param.b32 %v0, [a]; add.u32 %v1, %v0, 1; st.param.b32 [r], %v1;
ret;
}
)";
const std::string adder_caller = R"(.extern .func (.param .b32 r) add_ext(.param .b32 a);
.visible .entry k(.param .u64 out) {
.reg .b64 %a<2>; .reg .b32 %v<2>;
ld.param.u64 %a0, [out]; cvta.to.global.u64 %a1, %a0; ld.global.u32 %v0, [%a1];
{
.param .b32 p0; .param .b32 r0;
st.param.b32 [p0], %v0; call.uni (r0), add_ext, (p0); ld.param.b32 %v1, [r0];
}
st.global.u32 [%a1], %v1;
ret;
}
)";

/// For as long as the process lives, as descriptors in generated code do.
const TextModule &make(const std::string &body, std::vector<std::string> names, int number) {
    static std::deque<TextModule> &all = *new std::deque<TextModule>;
    return all.emplace_back(body, std::move(names), number);
}

const TextModule &heavy(int number) {
    return make(adder("heavy", 8000), {"heavy"}, number);
}

calotype_status hold_once(void *on, const calotype_module_desc &desc) {
    calotype_hold hold;
    const calotype_status status = calotype_initialize_kernels(on, &desc, nullptr, &hold);
    return status == CALOTYPE_OK ? calotype_finalize_kernels(on, &hold) : status;
}
calotype_status hold_once(void *on, const TextModule &module) {
    return hold_once(on, module.desc);
}

}  // namespace

/// 16 bytes a thread from one buffer to another.
void Bench::copy_bandwidth() {
    const TextModule &module = make(R"(.visible .entry copy(.param .u64 to, .param .u64 from) {
.reg .b64 %a<6>; .reg .b32 %r<4>; .reg .b32 %v<4>;
ld.param.u64 %a0, [to]; ld.param.u64 %a1, [from];
cvta.to.global.u64 %a0, %a0; cvta.to.global.u64 %a1, %a1;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
mad.lo.u32 %r3, %r0, %r1, %r2; mul.wide.u32 %a2, %r3, 16;
add.u64 %a3, %a0, %a2; add.u64 %a4, %a1, %a2;
ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a4];
st.global.v4.u32 [%a3], {%v0, %v1, %v2, %v3};
ret;
}
)",
                                    {"copy"}, 1);
    constexpr size_t bytes = size_t(512) << 20;
    uint64_t to = 0, from = 0;
    expect_ok(driver.alloc(&to, bytes));
    expect_ok(driver.alloc(&from, bytes));
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[0]);
    void *args[] = {&to, &from};
    const int32_t shape[7] = {int32_t(bytes / 16 / 256), 1, 1, 256, 1, 1, 0};
    calotype_hold hold;
    expect_ok(calotype_begin_kernels(&on, &module.desc, &hold));
    double best = 1e30;
    for (int i = 0; i < 10; i++) {
        const double begin = now_ns();
        for (int j = 0; j < 4; j++) {
            expect_ok(calotype_run_kernel(&on, &hold, 0, shape, args));
        }
        driver.stream_sync(streams[0]);
        best = std::min(best, (now_ns() - begin) / 4);
    }
    calotype_end_kernels(&on, &hold);
    driver.free(to);
    driver.free(from);
    json.add("copy_GB_per_s", 2 * double(bytes) / best);
}

/// 51 kernels of one module, each of which needs the one before.
void Bench::pipeline() {
    std::string body;
    std::vector<std::string> names;
    for (int i = 0; i < 51; i++) {
        names.push_back("k" + std::to_string(i));
        body += adder(names.back(), 0);
    }
    const TextModule &module = make(body, names, 2);
    uint64_t memory = 0;
    expect_ok(driver.alloc(&memory, 16));
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[0]);
    void *args[] = {&memory};
    const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
    const auto run = [&] {
        const double begin = now_ns();
        calotype_hold hold;
        expect_ok(calotype_begin_kernels(&on, &module.desc, &hold));
        for (uint32_t i = 0; i < 51; i++) {
            expect_ok(calotype_run_kernel(&on, &hold, i, shape, args));
        }
        calotype_end_kernels(&on, &hold);
        driver.stream_sync(streams[0]);
        return (now_ns() - begin) / 1e3;
    };
    json.add("pipeline_51_first_us", run());
    std::vector<double> warm;
    for (int i = 0; i < 201; i++) {
        warm.push_back(run());
    }
    std::sort(warm.begin(), warm.end());
    json.add("pipeline_51_warm_us", warm[100]);
    driver.free(memory);
}

/// P1: 8 threads that each want the same 8 kernels, none compiled before, beside one compile.
void Bench::compiles_overlap() {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[0]);
    double begin = now_ns();
    expect_ok(hold_once(&on, heavy(100)));
    const double one = (now_ns() - begin) / 1e6;
    std::vector<const TextModule *> modules;
    for (int i = 0; i < 8; i++) {
        modules.push_back(&heavy(101 + i));
    }
    std::vector<std::thread> threads;
    begin = now_ns();
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            calotype_device_context mine = CALOTYPE_DEVICE_CONTEXT(context, streams[size_t(t)]);
            for (int i = 0; i < 8; i++) {
                expect_ok(hold_once(&mine, *modules[size_t(i + t) % 8]));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    json.add("P1_one_compile_ms", one);
    json.add("P1_eight_by_eight_ms", (now_ns() - begin) / 1e6);
}

/// P2: 32 modules whose images are on disk.
void Bench::warm_disk() {
    char folder[] = "/tmp/bench_gpu_XXXXXX";
    if (!mkdtemp(folder)) {
        failures++;
        return;
    }
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[0]);
    calotype_set_store_dir(folder, uint64_t(1) << 30, 0);
    std::vector<const TextModule *> modules;
    for (int i = 0; i < 32; i++) {
        modules.push_back(&make(adder("k", 400), {"k"}, 200 + i));
        expect_ok(hold_once(&on, *modules.back()));
    }
    for (const TextModule *module : modules) {
        expect_ok(calotype_evict(&on, &module->desc, CALOTYPE_EVICT_IMAGE_TOO));
    }
    const double begin = now_ns();
    for (const TextModule *module : modules) {
        expect_ok(hold_once(&on, *module));
    }
    json.add("P2_disk_32_ms", (now_ns() - begin) / 1e6);
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    const std::string remove = std::string("rm -rf ") + folder;
    expect_ok(system(remove.c_str()));
}

/// 32 modules that are linked with a library when they are loaded, by one thread, and 32 others by
/// 16 threads.
void Bench::links_scale() {
    static const std::string library = std::string(head) + adder_function;
    static const calotype_image image = {CALOTYPE_PTX, 70, 0, library.c_str(), library.size()};
    static calotype_linkable_desc linkable = {};
    static const calotype_linkable_desc *linkables[] = {&linkable};
    linkable.size = sizeof linkable;
    linkable.name = "library";
    linkable.images = &image;
    linkable.n_images = 1;
    const auto before = stats();
    for (int n_threads : {1, 16}) {
        std::vector<calotype_module_desc> modules;
        for (int i = 0; i < 32; i++) {
            const TextModule &made =
                make(adder_caller + adder("more", 2000), {"k", "more"}, 400 + 32 * n_threads + i);
            modules.push_back(made.desc);
            modules.back().linkables = linkables;
            modules.back().n_linkables = 1;
        }
        std::atomic<size_t> next{0};
        std::vector<std::thread> threads;
        const double begin = now_ns();
        for (int t = 0; t < n_threads; t++) {
            threads.emplace_back([&, t] {
                calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[size_t(t)]);
                for (size_t i = next++; i < modules.size(); i = next++) {
                    expect_ok(hold_once(&on, modules[i]));
                }
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        json.add("link_32_ms_" + std::to_string(n_threads), (now_ns() - begin) / 1e6);
    }
    json.add("links", double(stats().links - before.links));
}

/// P3: launches of what is loaded while another context compiles. Beside it what the machine and
/// the driver do without us: raw launches there, holds without a launch, launches in quiet.
void Bench::launch_beside_compile() {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[0]);
    const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
    const auto call = [&] {
        calotype_hold hold;
        expect_ok(calotype_begin_kernels(&on, &module.desc, &hold));
        expect_ok(calotype_run_kernel(&on, &hold, 0, shape, nullptr));
        calotype_end_kernels(&on, &hold);
    };
    const auto raw = [&] {
        expect_ok(driver.launch(function, 1, 1, 1, 1, 1, 1, 0, streams[0], nullptr, nullptr));
    };
    call();
    beside_compile("P3", 300, call);
    beside_compile("P3_raw", 310, raw);
    beside_compile("P3_hold", 320, [&] { pair(&on); });
    beside_compile("P3_quiet", 0, call);
    beside_compile("P3_raw_quiet", 0, raw);
}

/// Times of f on this thread while another compiles four modules that begin with that number, or
/// for half a second while nothing is compiled.
void Bench::beside_compile(const std::string &name, int number, const std::function<void()> &f) {
    std::atomic<bool> done{false};
    std::thread compiler([&] {
        if (number == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
        } else {
            void *other = nullptr, *popped = nullptr;
            expect_ok(driver.ctx_create(&other, 0, 0));
            calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(other, nullptr);
            for (int i = 0; i < 4; i++) {
                expect_ok(hold_once(&there, heavy(number + i)));
            }
            expect_ok(calotype_release_context(&there, CALOTYPE_REL_BUSY, 0));
            expect_ok(driver.ctx_pop(&popped));
            expect_ok(driver.ctx_destroy(other));
        }
        done = true;
    });
    std::vector<double> times;
    while (!done) {
        const double begin = now_ns();
        f();
        times.push_back((now_ns() - begin) / 1e3);
        driver.stream_sync(streams[0]);
    }
    compiler.join();
    std::sort(times.begin(), times.end());
    json.add(name + "_median_us", times[times.size() / 2]);
    json.add(name + "_p999_us", times[times.size() * 999 / 1000]);
    json.add(name + "_max_us", times.back());
}

/// P5: the first launch of a module that was prefetched, beside a kernel that runs 300 ms.
void Bench::launch_after_prefetch() {
    const TextModule &spin = make(R"(.visible .entry spin() {
.reg .b64 %t<3>; .reg .pred %p;
mov.u64 %t0, %globaltimer;
again: mov.u64 %t1, %globaltimer; sub.u64 %t2, %t1, %t0;
setp.lt.u64 %p, %t2, 300000000; @%p bra again;
ret;
}
)",
                                  {"spin"}, 3);
    const TextModule &fetched = make(".visible .entry k() { ret; }\n", {"k"}, 4);
    calotype_device_context slow = CALOTYPE_DEVICE_CONTEXT(context, streams[1]);
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(context, streams[2]);
    const calotype_module_desc *wanted[] = {&spin.desc, &fetched.desc};
    void *ticket = nullptr;
    expect_ok(calotype_prefetch(&on, wanted, 2, 0, &ticket));
    expect_ok(calotype_prefetch_wait(ticket, 10000));
    const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
    calotype_hold spinning, hold;
    expect_ok(calotype_begin_kernels(&slow, &spin.desc, &spinning));
    expect_ok(calotype_run_kernel(&slow, &spinning, 0, shape, nullptr));
    const double begin = now_ns();
    expect_ok(calotype_begin_kernels(&on, &fetched.desc, &hold));
    expect_ok(calotype_run_kernel(&on, &hold, 0, shape, nullptr));
    driver.stream_sync(streams[2]);
    json.add("P5_first_launch_ms", (now_ns() - begin) / 1e6);
    calotype_end_kernels(&on, &hold);
    driver.stream_sync(streams[1]);
    calotype_end_kernels(&slow, &spinning);
}

}  // namespace calotype_bench
