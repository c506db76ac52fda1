// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts of applications, with more queues than one, with memory that is kept for later, and with
// libraries that come and go.
#include "harness/on_context.h"
#include "harness/processes.h"
#include "opencl_test.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace calotype_test;
using calotype::Runtime::Buffer;

namespace {

class OpenClContexts : public FakeOpenClTest {
protected:
    OneKernel kernel{"k", "__kernel void k(int a) {}", {int_argument}};

    void run(OwnContext &own, cl_command_queue queue, OneKernel &which) {
        calotype_device_context user_context = own.as_user_context;
        user_context.stream = queue;
        calotype_hold hold = {};
        ASSERT_EQ(calotype_initialize_kernels(&user_context, &which.desc(), nullptr, &hold),
                  CALOTYPE_OK);
        const uint32_t one[3] = {1, 1, 1};
        int value = 1;
        void *args[] = {&value};
        EXPECT_EQ(calotype_launch(&user_context, hold, 0, one, one, 0, nullptr, args), CALOTYPE_OK);
        EXPECT_EQ(calotype_finalize_kernels(&user_context, &hold), CALOTYPE_OK);
    }
    void run(OwnContext &own, cl_command_queue queue) {
        run(own, queue, kernel);
    }
    static void use_memory(OwnContext &own, int size) {
        Buffer<int> buffer(size);
        EXPECT_EQ(buffer.device_malloc(calotype_opencl_device_interface(), &own.as_user_context), 0)
            << errors();
        EXPECT_EQ(buffer.device_free(&own.as_user_context), 0);
    }
    static calotype_status release(OwnContext &own) {
        return calotype_release_context(on(&own.as_user_context), CALOTYPE_REL_BUSY, 0);
    }
};

TEST_F(OpenClContexts, launches_on_many_queues_do_not_wait_for_each_other) {
    OwnContext own;
    std::vector<cl_command_queue> queues;
    for (int i = 0; i < 20; i++) {
        queues.push_back(own.make_queue());
    }
    for (int round = 0; round < 3; round++) {
        for (cl_command_queue queue : queues) {
            run(own, queue);
        }
    }
    EXPECT_EQ(fake().calls("clFinish"), 0u);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    EXPECT_EQ(fake().calls("clFinish"), 20u) << "each queue is waited for before the unload";
    std::for_each(queues.begin(), queues.end(), OwnContext::release);
    EXPECT_EQ(fake().live("queue"), 1);
    own.end();
}

TEST_F(OpenClContexts, queues_that_come_and_go_are_given_up) {
    OwnContext own;
    for (int i = 0; i < 100; i++) {
        cl_command_queue queue = own.make_queue();
        run(own, queue);
        OwnContext::release(queue);
    }
    EXPECT_LE(fake().live("queue"), 10);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    own.end();
}

/// Threads give queues up while an unload waits for all: none is retained that has gone.
TEST_F(OpenClContexts, queues_of_many_threads_are_given_up_once) {
    OwnContext own;
    OneKernel other{"other", "__kernel void other(int a) {}", {int_argument}};
    run(own, own.queue, kernel);
    fake().delay("clRetainCommandQueue", 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 40; i++) {
                cl_command_queue queue = own.make_queue();
                run(own, queue, kernel);
                OwnContext::release(queue);
            }
        });
    }
    for (int i = 0; i < 20; i++) {
        run(own, own.queue, other);
        EXPECT_EQ(calotype_evict(on(&own.as_user_context), &other.desc(), 0), CALOTYPE_OK);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(fake().misuses(), 0);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    own.end();
}

TEST_F(OpenClContexts, kept_memory_goes_with_the_context) {
    OwnContext own;
    ASSERT_EQ(calotype_reuse_device_allocations(nullptr, true), 0);
    run(own, own.queue);
    use_memory(own, 100);
    EXPECT_EQ(fake().live("mem"), 1);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    EXPECT_EQ(fake().live("mem"), 0);
    const uint64_t id = own.uid();
    own.end();
    EXPECT_FALSE(backend().is_alive(id));
    EXPECT_EQ(calotype_reuse_device_allocations(nullptr, false), 0);
}

TEST_F(OpenClContexts, kept_memory_of_another_context_makes_room) {
    OwnContext one, other;
    ASSERT_EQ(calotype_reuse_device_allocations(nullptr, true), 0);
    use_memory(one, 200);
    fake().set_memory(1000);
    use_memory(other, 100);
    EXPECT_EQ(fake().live("mem"), 1);
    EXPECT_EQ(calotype_reuse_device_allocations(nullptr, false), 0);
    one.end();
    other.end();
}

// A context cannot be told that nobody wants to know of its end any more.
TEST_F(OpenClContexts, may_end_after_the_library_that_used_them_is_closed) {
    OwnContext own;
    void *plugin = dlopen(OPENCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, plugin) << dlerror();
    const auto run = reinterpret_cast<int (*)(const char *, void *)>(dlsym(plugin, "plugin_run"));
    EXPECT_EQ(0, run(FAKE_OPENCL_LIBRARY, &own.as_user_context));
    EXPECT_EQ(0, dlclose(plugin));
    own.end();
    EXPECT_EQ(fake().live("context"), 0);
}

TEST_F(OpenClContexts, a_release_ends_the_identity_where_only_memory_was_allocated) {
    OwnContext own;
    use_memory(own, 100);
    const uint64_t before = own.uid();
    EXPECT_EQ(release(own), CALOTYPE_OK);
    EXPECT_FALSE(backend().is_alive(before));
    EXPECT_LT(before, own.uid());
    own.end();
}

/// Another thread may release a context while buffers are there: it goes on, under a new identity.
TEST_F(OpenClContexts, buffers_outlive_the_identity) {
    OwnContext own;
    Buffer<int> buffer(100);
    buffer.fill(5);
    buffer.set_host_dirty();
    void *user_context = &own.as_user_context;
    ASSERT_EQ(buffer.copy_to_device(calotype_opencl_device_interface(), user_context), 0);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    buffer.set_device_dirty();
    EXPECT_EQ(buffer.copy_to_host(user_context), 0) << errors();
    EXPECT_EQ(buffer.device_free(user_context), 0);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    own.end();
}

TEST_F(OpenClContexts, a_device_context_without_one_is_the_default) {
    calotype_device_context none = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
    uint64_t named = 0, standard = 0;
    EXPECT_EQ(calotype_context_uid(&none, calotype_opencl_device_interface(), &named), CALOTYPE_OK);
    EXPECT_EQ(calotype_context_uid(nullptr, calotype_opencl_device_interface(), &standard),
              CALOTYPE_OK);
    EXPECT_EQ(named, standard);
}

TEST_F(OpenClContexts, asynchronous_copies_wait_for_nothing_on_a_queue_of_the_call) {
    OwnContext own;
    Buffer<int> buffer(100);
    const uint64_t before = fake().calls("clFinish");
    buffer.fill(5);
    buffer.set_host_dirty();
    EXPECT_EQ(calotype_copy_to_device_async(&own.as_user_context, buffer.raw_buffer(),
                                            calotype_opencl_device_interface()),
              0)
        << errors();
    buffer.set_device_dirty();
    EXPECT_EQ(calotype_copy_to_host_async(&own.as_user_context, buffer.raw_buffer()), 0);
    EXPECT_EQ(fake().calls("clFinish"), before);
    EXPECT_EQ(calotype_device_sync(&own.as_user_context, buffer.raw_buffer()), 0);
    EXPECT_EQ(fake().calls("clFinish"), before + 1);
    EXPECT_EQ(buffer(99), 5);
    EXPECT_EQ(buffer.device_free(&own.as_user_context), 0);
    EXPECT_EQ(release(own), CALOTYPE_OK);
    own.end();
}

std::atomic<bool> has_work_ended{false};

/// With work on the queue of the default context: of a GPU it never ends, of a processor it does a little later.
TEST_F(OpenClContexts, one_process) {
    if (!is_process_of_test()) {
        GTEST_SKIP() << "started by the tests below in a process of its own";
    }
    const bool is_cpu = process_setting("CALOTYPE_PROCESS_CASE") == "cpu";
    fake().set_devices(true, is_cpu ? 0 : 1, 1);
    atexit([] { process_report() << (has_work_ended ? "waits and ends" : "ends"); });
    calotype_hold hold = {};
    ASSERT_EQ(calotype_initialize_kernels(nullptr, &kernel.desc(), nullptr, &hold), CALOTYPE_OK);
    const uint32_t one[3] = {1, 1, 1};
    int value = 1;
    void *args[] = {&value};
    EXPECT_EQ(calotype_launch(nullptr, hold, 0, one, one, 0, nullptr, args), CALOTYPE_OK);
    EXPECT_EQ(calotype_finalize_kernels(nullptr, &hold), CALOTYPE_OK);
    DeviceScope scope = {};
    ASSERT_EQ(backend().acquire(nullptr, &scope), CALOTYPE_OK);
    const auto queue = static_cast<cl_command_queue>(scope.stream);
    fake().block_queue(queue, true);
    backend().release(scope);
    if (is_cpu) {
        std::thread([=] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            has_work_ended = true;
            fake().block_queue(queue, false);
        }).detach();
    }
    std::exit(0);
}

TEST_F(OpenClContexts, a_process_ends_while_work_does_not) {
    Processes processes;
    EXPECT_EQ(processes.run("OpenClContexts.one_process", {"CALOTYPE_PROCESS_CASE=gpu"}), "ends");
}

/// The exit handlers of such a driver take away what its threads compute with.
TEST_F(OpenClContexts, a_process_waits_for_work_on_its_own_processors) {
    Processes processes;
    EXPECT_EQ(processes.run("OpenClContexts.one_process", {"CALOTYPE_PROCESS_CASE=cpu"}),
              "waits and ends");
}

}  // namespace
