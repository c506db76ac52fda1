// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the system may do to the store: reads that fail or are interrupted, and processes that have
// more rights than their users, where the environment counts for nothing. The linker puts functions
// of this file in front of the system's (option --wrap).
#include <atomic>
#include <cerrno>
#include <vector>

#include <sys/types.h>

#include "runtime/abi/runtime_cuda.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/abi/symbols.h"
#include "store_fixture.h"

using namespace calotype_test;

namespace {

std::atomic<int> reads_to_fail{0}, reads_before{0}, read_error{0};
std::atomic<bool> is_privileged{false};

/** So many reads answer an error, 0 for the end of the file, after others that do not. */
void fail_reads(int n, int error, int before = 0) {
    read_error = error;
    reads_before = before;
    reads_to_fail = n;
}

}  // namespace

extern "C" {
ssize_t __real_read(int fd, void *bytes, size_t size);
char *__real_secure_getenv(const char *name);

ssize_t __wrap_read(int fd, void *bytes, size_t size) {
    if (reads_to_fail > 0 && --reads_before < 0) {
        reads_to_fail--;
        errno = read_error;
        return errno ? -1 : 0;
    }
    // Parts, so that there is more than one read of a file.
    return __real_read(fd, bytes, size < 64 ? size : 64);
}
char *__wrap_secure_getenv(const char *name) {
    return is_privileged ? nullptr : __real_secure_getenv(name);
}
}

namespace {

using StoreReads = StoreTest;

TEST_F(StoreReads, AFileThatCannotBeReadIsAMiss) {
    store(key, payload);
    counted();
    for (int error : {EIO, ESTALE, 0}) {
        for (int before : {0, 1}) {
            fail_reads(1, error, before);
            EXPECT_EQ(find(key), "none") << error;
            EXPECT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 0 evictions 0");
        }
    }
    EXPECT_EQ(find(key), payload);
}

TEST_F(StoreReads, ThatAreInterruptedAreMadeAgain) {
    store(key, payload);
    counted();
    fail_reads(3, EINTR, 1);
    EXPECT_EQ(find(key), payload);
    EXPECT_EQ(counted(), "hits 1 misses 0 writes 0 corrupt 0 evictions 0");
}

class PrivilegedProcess : public StoreTest {
protected:
    static inline std::vector<std::string> loaded;

    void SetUp() override {
        StoreTest::SetUp();
        loaded.clear();
        calotype_set_custom_load_library([](const char *name) -> void * {
            loaded.push_back(name);
            return nullptr;
        });
        setenv("CT_CUDA_DRIVER_LIBRARY", "/elsewhere/cuda", 1);
        setenv("CT_OPENCL_DRIVER_LIBRARY", "/elsewhere/opencl", 1);
    }
    void TearDown() override {
        is_privileged = false;
        for (const char *name :
             {"CT_CUDA_DRIVER_LIBRARY", "CT_OPENCL_DRIVER_LIBRARY", "CT_KERNEL_CACHE_DIR"}) {
            unsetenv(name);
        }
        calotype_set_custom_load_library(nullptr);
        calotype_cuda_set_driver_library(nullptr);
        calotype_opencl_set_driver_library(nullptr);
        StoreTest::TearDown();
    }
    static std::string search_for_drivers() {
        loaded.clear();
        calotype_cuda_set_driver_library(nullptr);
        calotype_opencl_set_driver_library(nullptr);
        std::string names;
        for (const std::string &name : loaded) {
            names += name + " ";
        }
        return names;
    }
};

TEST_F(PrivilegedProcess, LoadsNoLibraryThatTheEnvironmentNames) {
    EXPECT_EQ("/elsewhere/cuda /elsewhere/opencl ", search_for_drivers());
    is_privileged = true;
    EXPECT_EQ("libcuda.so.1 libcuda.so libOpenCL.so.1 libOpenCL.so ", search_for_drivers());
}

TEST_F(PrivilegedProcess, KeepsNoFilesWhereTheEnvironmentSays) {
    calotype_set_store_dir(nullptr, 0, 0);
    setenv("CT_KERNEL_CACHE_DIR", dir.c_str(), 1);
    is_privileged = true;
    store(key, payload);
    EXPECT_FALSE(exists(dir));
    is_privileged = false;
    store(key, payload);
    EXPECT_TRUE(exists(dir));
}

}  // namespace
