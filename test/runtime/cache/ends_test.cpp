// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How holds, contexts and locks end where something goes wrong meanwhile.
#include <dirent.h>
#include <errno.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "harness/processes.h"
#include "runtime/cache/fake_backend_driver.h"

/// What flock() fails with in this program; 0: it does not.
static std::atomic<int> flock_error{0};
static std::atomic<int> flock_failures{0};

extern "C" int flock(int file, int operation) {
    if (flock_failures.load() > 0) {
        flock_failures--;
        errno = flock_error;
        return -1;
    }
    return int(syscall(SYS_flock, file, operation));
}

namespace calotype_test {

class Ends : public Scenario {
protected:
    /// Open files of this process whose names have that in them.
    static int open_files(const std::string &part) {
        int n = 0;
        DIR *files = opendir("/proc/self/fd");
        while (const dirent *entry = readdir(files)) {
            char target[512] = {};
            const std::string link = std::string("/proc/self/fd/") + entry->d_name;
            if (readlink(link.c_str(), target, sizeof target - 1) > 0) {
                n += std::string(target).find(part) != std::string::npos;
            }
        }
        closedir(files);
        return n;
    }
};

/// The second of two that give the same hold to a stream gives nothing.
// R3, R5.
TEST_P(Ends, AHoldIsGivenToAStreamOnce) {
    auto *context = static_cast<FakeContext *>(driver->make_context());
    const auto *m = module("m");
    context->stream.is_held = true;
    calotype_hold first = hold(context, m), copy = first;
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels_after(context, &first, &context->stream));
    EXPECT_EQ(1u, stats().holds);
    EXPECT_EQ(CALOTYPE_E_UNDERFLOW,
              calotype_finalize_kernels_after(context, &copy, &context->stream));
    EXPECT_EQ(nullptr, copy.entry);
    EXPECT_EQ(1u, stats().misuse);
    EXPECT_EQ(1u, stats().holds);
    calotype_hold second = hold(context, m), again = second;
    EXPECT_EQ(2u, stats().holds);
    context->stream.is_held = false;
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(on(context), m, 0));
    EXPECT_EQ(1u, stats().holds);
    give_back(context, second);
    EXPECT_EQ(CALOTYPE_E_UNDERFLOW, calotype_finalize_kernels(context, &again));
    EXPECT_EQ(2u, stats().misuse);
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    EXPECT_EQ("1 1 0 0 1", counts());
}

/// Another thread may give a hold to a stream, and one finalize too many takes nothing from it.
TEST_P(Ends, AHoldOfAStreamIsNoThreads) {
    auto *context = static_cast<FakeContext *>(driver->make_context());
    const auto *m = module("m");
    context->stream.is_held = true;
    calotype_hold held = hold(context, m), copy = held;
    std::thread([&] {
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels_after(context, &held, &context->stream));
    }).join();
    EXPECT_EQ(CALOTYPE_E_UNDERFLOW, calotype_finalize_kernels(context, &copy));
    EXPECT_EQ(1u, stats().holds);
    EXPECT_EQ(CALOTYPE_E_BUSY, calotype_evict(on(context), m, 0));
    context->stream.is_held = false;
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    EXPECT_EQ(0u, stats().holds);
}

/// After that no call of the driver is made, and the other teardowns are told.
// G12.
TEST_P(Ends, ATeardownSaysThatTheContextIsLost) {
    void *context = driver->make_context();
    TestLinkable first("first"), last("last");
    std::vector<std::pair<int, bool>> told;  // reason, and whether there was a module
    first.on_teardown = [&](const calotype_callback_args &args) {
        told.emplace_back(args.reason, args.module != nullptr);
        return 0;
    };
    last.on_teardown = [&](const calotype_callback_args &args) {
        told.emplace_back(args.reason, args.module != nullptr);
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(args.ctx_uid));
        return 0;
    };
    const auto *a = module("a", {&first, &last}), *b = module("b", {&first, &last});
    run(context, a);
    run(context, b);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 1000));
    const int released = CALOTYPE_R_CONTEXT_RELEASE, lost = CALOTYPE_R_CONTEXT_LOST;
    const std::vector<std::pair<int, bool>> expected = {
        {released, true}, {lost, false}, {lost, false}, {lost, false}};
    EXPECT_EQ(expected, told);
    EXPECT_EQ("2 2 4 4 0", counts());
    EXPECT_EQ(0u, stats().live_modules);
    lost_modules = 2;
    driver->destroy_context(context);
}

/// Where files cannot be locked, nobody waits for a lock.
TEST_P(Ends, AFileSystemWithoutLocks) {
    const Folder store;
    calotype_set_store_dir((store.path + "/kernels").c_str(), 0, 0);
    void *context = driver->make_context();
    const auto begin = std::chrono::steady_clock::now();
    for (const int error : {ENOSYS, EOPNOTSUPP, ENOLCK}) {
        flock_error = error;
        flock_failures = 1;
        run(context, module("without" + std::to_string(error)));
        EXPECT_EQ(0, flock_failures);
    }
    flock_error = EINTR;
    flock_failures = 3;
    run(context, module("interrupted"));
    EXPECT_EQ(0, flock_failures);
    EXPECT_GT(std::chrono::seconds(10), std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(4u, stats().disk_writes);
    EXPECT_EQ(0, open_files(".lock"));
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
}

/// The lock of a compile ends with it, in the directory where it began.
TEST_P(Ends, TheStoreIsSetDuringACompile) {
    for (const bool is_off : {false, true}) {
        const Folder store, other;
        const std::string path = store.path + "/kernels";
        calotype_set_store_dir(path.c_str(), 0, 0);
        void *context = driver->make_context();
        driver->delay_builds(200);
        std::thread thread([&] { run(context, module(is_off ? "off" : "other")); });
        while (open_files(".lock") == 0) {
            std::this_thread::yield();
        }
        calotype_set_store_dir((other.path + "/kernels").c_str(), 0,
                               is_off ? CALOTYPE_STORE_OFF : 0);
        thread.join();
        driver->delay_builds(0);
        EXPECT_EQ(0, open_files(".lock"));
        int left = 0;
        const std::string command = "test -z \"$(find '" + store.path + "' -name '*.lock')\"";
        left = system(command.c_str());
        EXPECT_EQ(0, left);
        calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    }
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, Ends, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
