// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fake driver is made of.
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "harness/context_stack.h"
#include "harness/fake_cuda/fake_cuda.h"
#include "runtime/cuda/driver_types.h"

namespace fake_cuda {

using namespace calotype::runtime::cuda;

struct Module;

struct Function {
    explicit Function(Module *module);
    ~Function();
    Function(const Function &) = delete;

    Module *module;
    std::string name;
    std::vector<size_t> arg_bytes;
    int max_dynamic_shared = 48 * 1024;
    int static_shared = 0;
};

struct Module {
    CUctx_st *context;
    std::map<std::string, std::unique_ptr<Function>> functions;
    std::map<std::string, std::vector<uint8_t>> globals;
};

using Work = std::function<void()>;

/// Ended with its last owner: graphs, their instances, whoever made it.
struct UserObject {
    void *data;
    void (*ended)(void *);

    UserObject(void *data, void (*ended)(void *)) : data(data), ended(ended) {
    }
    ~UserObject() {
        ended(data);
    }
    UserObject(const UserObject &) = delete;
};

/// Its nodes are done in the order in which they came.
struct Graph {
    unsigned long long capture = 0;  ///< 0: none
    std::vector<std::shared_ptr<UserObject>> objects;
    std::vector<Work> nodes;
    bool is_valid = true;
    CUctx_st *context = nullptr;
    std::vector<std::shared_ptr<char>> handles;  ///< of nodes that were added one by one
    void *source = nullptr;                      ///< of an instance: the graph
};

struct Stream {
    CUctx_st *context;
    unsigned long long id;  ///< not used again
    bool is_blocking = true;
    bool is_held = false;
    std::deque<Work> queue;
    std::shared_ptr<Graph> capture;
};

struct Event {
    CUctx_st *context;
    bool is_done = true;
    unsigned record = 0;          ///< counts up
    int awaited_streams = 0;      ///< of the last record: those that have work to do
    std::vector<void *> waiting;  ///< streams that are held until it is done
};

struct Allocation {
    CUctx_st *context;
    size_t bytes;
    std::unique_ptr<uint8_t[]> memory;  ///< null: a variable of a module
    void *pool = nullptr;               ///< it is the device's, and outlives the context
    int device = 0;
};

/// Host memory that is page-locked.
struct LockedMemory {
    CUctx_st *context;
    size_t bytes;
};

struct Device {
    int multiprocessors = 132, major = 9, minor = 0;
    CUctx_st *primary = nullptr;
    int retains = 0;
};

struct State {
    std::mutex lock;
    std::condition_variable released;  ///< a held stream was

    int version = 13000;
    bool pools_supported = true;
    bool unmaps_contexts = false;
    size_t memory = size_t(1) << 30;
    /// FAKE_CUDA_DEVICES: how many, for programs that are not tests.
    std::vector<Device> devices = std::vector<Device>(
        getenv("FAKE_CUDA_DEVICES") ? size_t(atoi(getenv("FAKE_CUDA_DEVICES"))) : 1);

    calotype_test::FakeCalls calls;
    std::map<std::string, std::function<void()>> hooks;
    struct Some {
        int code, one_in, count;
    };
    std::map<std::string, Some> some_fail;
    std::map<std::string, calotype_test::FakeKernel> kernels;
    int misuse = 0;
    int calls_for_the_dead = 0;  ///< with handles of contexts that were destroyed
    size_t kept_by_pools = 0;    ///< and counted as used, until a pool is trimmed

    std::set<CUctx_st *> contexts;          ///< alive
    std::vector<CUctx_st *> free_contexts;  ///< addresses to use again, the last first
    std::map<void *, std::unique_ptr<Module>> modules;
    std::map<void *, std::unique_ptr<Stream>> streams;
    std::map<void *, std::unique_ptr<Event>> events;
    std::map<CUdeviceptr, Allocation> allocations;
    std::set<void *> pools;
    std::map<void *, LockedMemory> locked_memory;
    std::map<void *, std::shared_ptr<Graph>> graphs, execs;
    std::map<void *, std::shared_ptr<UserObject>> user_objects;  ///< which their makers own

    size_t used_bytes() const;
    /// The allocation that has all these bytes, or null.
    Allocation *find(CUdeviceptr address, size_t bytes);
};

State &state();

/// All that are alive, with a lock of their own.
class FunctionIndex {
    std::mutex lock;
    std::set<const void *> all;

public:
    void add(const Function *function);
    void remove(const Function *function);
    bool has(const void *handle);
};
FunctionIndex &function_index();

using ContextStack = calotype_test::ContextStack<CUctx_st>;
/// The thread's.
ContextStack &stack();
/// What is current and alive. With the lock held.
CUresult current(CUctx_st **context);
/// Everything of a context goes. With the lock held.
void destroy_contents(CUctx_st *context);
/// A context that is destroyed leaves its address to the next one, or has its pages unmapped.
void give_up_memory(CUctx_st *context);

/// Count a call; what it is to answer instead of being done.
CUresult enter_call(const char *name);
/// In front of every function of the driver.
#define FAKE_CUDA_CALL(name)                                                                       \
    if (CUresult planned = fake_cuda::enter_call(name)) {                                          \
        return planned;                                                                            \
    }

/// The stream of a handle in the current context. With the lock held.
CUresult find_stream(CUstream handle, Stream **stream);
/// A launch with its arguments copied. With the lock held.
CUresult prepare_launch(CUfunction function, CUctx_st *context,
                        const CUDA_KERNEL_NODE_PARAMS &params, CUstream stream, Work *work);
/// Do, queue or record the work. Without the lock.
CUresult submit(CUstream stream, Work work);
/// Whether a stream of the context is being captured, and the thread may not do what breaks that;
/// marks the captures as broken if so. With the lock held.
bool breaks_capture(CUctx_st *context);
/// The same for what waits for the context, or tells when it is idle: no thread may.
bool breaks_any_capture(CUctx_st *context);

/// A module out of text; the result says what is wrong with it, in `log` in words.
CUresult parse_module(const std::string &text, int sm, Module *module, std::string *log);
/// Sizes that images have no length for: text ends in a NUL.
std::string image_text(const void *image);

}  // namespace fake_cuda

struct CUctx_st {
    uint64_t id = 0;
    int device = 0;
    bool is_alive = false;
    bool is_broken = false;
    bool is_primary = false;
    bool is_in_pages = false;  ///< of its own
    size_t heap_bytes = 0;
    bool is_heap_used = false;
    fake_cuda::Stream default_stream;
    fake_cuda::Stream thread_stream;  ///< one for all threads
};

extern "C" {
#define CALOTYPE_CUDA_CALL(name, suffix, since, parameters)                                        \
    __attribute__((visibility("default")))                                                         \
    calotype::runtime::cuda::CUresult name##suffix parameters;
using namespace calotype::runtime::cuda;
#include "harness/fake_cuda/extras.def"
#include "runtime/cuda/driver.def"
#undef CALOTYPE_CUDA_CALL
}
