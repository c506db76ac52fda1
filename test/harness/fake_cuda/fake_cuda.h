// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver over host memory, as a library that exports the driver's functions. This is how a
// test looks into it: every call is counted, and can be delayed or made to fail.
//
// Work is done when it is queued, unless its stream is held or captured. Kernels are functions of
// the test, found by name. What looks like PTX is a module: its `.entry` names are kernels, its
// `.global` variables have memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/fake_calls.h"

namespace fake_cuda {

/// Everything as at the start: no context, no memory, no plans, no counts. Identities of contexts
/// go on counting. Device 0 has compute capability 9.0.
void reset();

/// @name The machine
/// Set before the runtime finds the driver, as by calotype_cuda_set_driver_library().
/// @{
void set_driver_version(int version);
/// One device each, with that many multiprocessors.
void set_devices(const std::vector<int> &multiprocessors);
void set_compute_capability(int device, int major, int minor);
void set_pools_supported(bool supported);
/// From now on what is known of a context lies in pages of its own, which the system has back when
/// it is destroyed. The driver reads them when it is asked about the context.
void unmap_destroyed_contexts();
/// Bytes that all allocations of a device together may take.
void set_memory(size_t bytes);
/// @}

/// @name Calls
/// By their names without version suffix.
/// @{
long calls(const std::string &name);
void delay(const std::string &name, int milliseconds);
/// The nth call from now (1: the next), and `times` in all, answer with `code` and do nothing.
void fail(const std::string &name, int code, int nth = 1, int times = 1);
/// About one call in so many answers with `code`; 0: none.
void fail_some(const std::string &name, int code, int one_in);
/// Called on the calling thread before the call does anything; null: nothing.
void before(const std::string &name, std::function<void()> hook);
/// @}

/// What runs when a kernel of this name is launched; one without does nothing. It sees as many
/// arguments as the `.param`s of its `.entry`.
void define_kernel(const std::string &name, calotype_test::FakeKernel kernel);
/// In a kernel that runs: the memory of a variable of its module, null if there is none.
void *global(const std::string &name);

/// As in a kernel that accesses what it may not: nearly every call in the context answers with
/// CUDA_ERROR_ILLEGAL_ADDRESS until it is destroyed.
void break_context(void *context);

/// As in a kernel that allocates: from now on the heap of the current context keeps its size.
void use_heap();
/// What cuCtxSetLimit gave the context's heap; 0: nothing.
size_t heap_bytes(void *context);

/// @name What is alive now
/// What went with its context or was reset is not.
/// @{
int live_contexts();
int live_modules();
int live_allocations();
size_t live_bytes();
int live_events();
/// Graphs and their instances.
int live_graphs();
int live_streams();
int live_pools();
/// Pieces of host memory that are page-locked.
int live_locked_memory();
/// Of the calling thread's stack of contexts.
int current_depth();
void *current_context();
uint64_t context_id(void *context);
/// How often a primary context is retained.
int primary_retains(int device);
/// Calls that a careful program does not make: double unloads, frees of what is not allocated,
/// copies beyond an allocation.
int misuse();
/// Calls with the handle of a context that is not alive.
int calls_for_the_dead();
/// @}

/// So many bytes of the devices' memory are taken by what pools keep, until one is trimmed.
void keep_in_pools(size_t bytes);

/// Work queued on the stream from now on waits. A null stream is the default one of the context.
void hold_stream(void *context, void *stream);
/// It is done, on the calling thread.
void release_stream(void *context, void *stream);

}  // namespace fake_cuda
