// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loadable library with the functions of runtime/opencl/driver.def over host memory, and how
// tests control it. It is opened, not linked: its symbols must not come before those of a real
// OpenCL library in the same process.
//
// A program "compiles" unless its text has "#error" in it. Its kernels are the functions of the
// host that were added under the same names; one that was not added does nothing. A kernel cannot
// have more than N work-items in a group if "max_group=N" comes after its name in the text; with
// "stated_group=N" the driver states that number instead of the true one. What is enqueued runs at
// once, unless the queue is blocked.
#pragma once

#include <dlfcn.h>

#include "harness/fake_calls.h"
#include "runtime/opencl/types.h"

namespace calotype_test {

struct FakeOpenClControl {
    /** Forget counts, plans and kernels; three platforms-wide settings are the first ones again. */
    void (*reset)();
    uint64_t (*calls)(const char *function);
    void (*fail)(const char *function, int result, int nth, int times);
    void (*fail_every)(const char *function, int result, int one_in);
    void (*delay)(const char *function, int ms);
    void (*add_kernel)(const char *name, FakeKernel kernel);

    /** Living objects: "context", "queue", "mem", "program", "kernel", "event"; null: all. */
    int (*live)(const char *kind);
    /** What is wrong however it comes out: use of handles that are dead or of another kind, two
     * threads in one kernel object, memory accessed out of bounds. */
    int (*misuses)();
    /** Bytes in all memory objects together, at most; at first 1 GiB. */
    void (*set_memory)(uint64_t bytes);
    /** One platform "Fake Platform" with so many devices of each kind; at first 1 and 1. Platforms
     * may be none. */
    void (*set_devices)(bool platform, int gpus, int cpus);
    /** Whether devices have images; at first they do, of up to 4096 x 2048 and 512 x 256 x 128. */
    void (*set_images)(bool are_there);
    /** 3: the end of contexts is told. 1: it is not. */
    void (*set_version)(int major);
    /** End a context, whoever holds it or its objects, as if the device had failed. The next
     * context has the same address. */
    void (*destroy_context)(_cl_context *context, bool tell);
    /** What is enqueued from now on is not done until the queue is unblocked. */
    void (*block_queue)(_cl_command_queue *queue, bool block);
    /** Options of the last build. */
    const char *(*build_options)();
};

/** `library` is the path of the fake. */
inline const FakeOpenClControl &fake_opencl(const char *library) {
    static const FakeOpenClControl *control = [=] {
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        return static_cast<const FakeOpenClControl *>(dlsym(handle, "fake_opencl_control"));
    }();
    return *control;
}

}  // namespace calotype_test
