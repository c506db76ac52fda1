// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/fake_cuda/state.h"

#include <new>

#include <sys/mman.h>

namespace fake_cuda {

namespace {

using Guard = std::lock_guard<std::mutex>;

/// Never used again, also not after reset().
uint64_t last_id = 0;

}  // namespace

State &state() {
    // Never destroyed: the runtime's handlers at exit still call.
    static State *only = new State;
    return *only;
}

FunctionIndex &function_index() {
    static FunctionIndex *only = new FunctionIndex;
    return *only;
}

void FunctionIndex::add(const Function *function) {
    Guard guard(lock);
    all.insert(function);
}

void FunctionIndex::remove(const Function *function) {
    Guard guard(lock);
    all.erase(function);
}

bool FunctionIndex::has(const void *handle) {
    Guard guard(lock);
    return all.count(handle) != 0;
}

Function::Function(Module *module) : module(module) {
    function_index().add(this);
}

Function::~Function() {
    function_index().remove(this);
}

ContextStack &stack() {
    static constinit thread_local ContextStack contexts = {};
    return contexts;
}

CUresult current(CUctx_st **context) {
    *context = stack().empty() ? nullptr : stack().back();
    if (!*context) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return state().contexts.count(*context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/// Of calls that manage contexts and devices, or ask no device.
static bool works_in_broken_context(const std::string &name) {
    for (const char *begin :
         {"cuCtxPush", "cuCtxPop", "cuCtxGet", "cuCtxSetCurrent", "cuCtxCreate", "cuCtxDestroy",
          "cuDevice", "cuDriver", "cuInit", "cuGetError", "cuMemPoolDestroy"}) {
        if (name.rfind(begin, 0) == 0) {
            return true;
        }
    }
    return false;
}

void break_context(void *context) {
    Guard guard(state().lock);
    static_cast<CUctx_st *>(context)->is_broken = true;
}

CUresult enter_call(const char *name) {
    std::function<void()> hook;
    int random_failure = 0;
    {
        Guard guard(state().lock);
        const auto some = state().some_fail.find(name);
        if (some != state().some_fail.end() && ++some->second.count % some->second.one_in == 0) {
            random_failure = some->second.code;
        }
        const auto found = state().hooks.find(name);
        if (found != state().hooks.end()) {
            hook = found->second;
        }
    }
    if (hook) {
        hook();
    }
    const int planned = state().calls.enter(name);
    if (planned || random_failure) {
        return CUresult(planned ? planned : random_failure);
    }
    Guard guard(state().lock);
    CUctx_st *context = nullptr;
    const bool is_broken = current(&context) == CUDA_SUCCESS && context->is_broken;
    return is_broken && !works_in_broken_context(name) ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

static CUctx_st *new_pages() {
    void *pages =
        mmap(nullptr, sizeof(CUctx_st), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUctx_st *context = new (pages) CUctx_st;
    context->is_in_pages = true;
    return context;
}

void give_up_memory(CUctx_st *context) {
    if (context->is_in_pages) {
        context->~CUctx_st();
        munmap(context, sizeof(CUctx_st));
    } else {
        state().free_contexts.push_back(context);
    }
}

CUctx_st *make_context(int device, CUctx_st *at) {
    State &s = state();
    if (!at && s.unmaps_contexts) {
        at = new_pages();
    }
    if (!at && !s.free_contexts.empty()) {
        at = s.free_contexts.back();
        s.free_contexts.pop_back();
    }
    at = at ? at : new CUctx_st;
    at->id = ++last_id;
    at->device = device;
    at->default_stream = at->thread_stream = {};
    at->default_stream.context = at->thread_stream.context = at;
    at->heap_bytes = 0;
    at->is_heap_used = at->is_broken = false;
    s.contexts.insert(at);
    return at;
}

size_t State::used_bytes() const {
    size_t bytes = kept_by_pools;
    for (const auto &[address, piece] : allocations) {
        bytes += piece.memory ? piece.bytes : 0;
    }
    return bytes;
}

Allocation *State::find(CUdeviceptr address, size_t bytes) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) {
        return nullptr;
    }
    auto &[base, piece] = *--after;
    return address + bytes <= base + piece.bytes ? &piece : nullptr;
}

template<typename Map, typename Owner>
static void erase_of(Map &map, Owner owner, CUctx_st *context) {
    for (auto i = map.begin(); i != map.end();) {
        i = owner(i->second) == context ? map.erase(i) : std::next(i);
    }
}

void destroy_contents(CUctx_st *context) {
    State &s = state();
    const auto owner = [](const auto &object) {
        return object->context;
    };
    erase_of(s.modules, owner, context);
    erase_of(s.streams, owner, context);
    erase_of(s.events, owner, context);
    erase_of(s.execs, owner, context);
    erase_of(s.graphs, owner, context);
    // Pools are of devices, not of contexts.
    erase_of(
        s.allocations, [](const Allocation &piece) { return piece.pool ? nullptr : piece.context; },
        context);
    std::erase_if(s.locked_memory,
                  [=](const auto &memory) { return memory.second.context == context; });
    context->default_stream = context->thread_stream = {};
    s.contexts.erase(context);
}

void reset() {
    State &s = state();
    Guard guard(s.lock);
    while (!s.contexts.empty()) {
        CUctx_st *context = *s.contexts.begin();
        destroy_contents(context);
        give_up_memory(context);
    }
    for (Device &device : s.devices) {
        if (device.primary && device.retains == 0) {
            give_up_memory(device.primary);
        }
    }
    s.devices.assign(1, Device());
    s.unmaps_contexts = false;
    s.graphs.clear();
    s.execs.clear();
    s.user_objects.clear();
    s.pools.clear();
    s.allocations.clear();
    s.version = 13000;
    s.pools_supported = true;
    s.memory = size_t(1) << 30;
    s.calls.reset();
    s.hooks.clear();
    s.some_fail.clear();
    s.kernels.clear();
    s.misuse = s.calls_for_the_dead = 0;
    s.kept_by_pools = 0;
    stack().clear();
}

void set_driver_version(int version) {
    Guard guard(state().lock);
    state().version = version;
}

void set_devices(const std::vector<int> &multiprocessors) {
    Guard guard(state().lock);
    state().devices.assign(multiprocessors.size(), Device());
    for (size_t i = 0; i < multiprocessors.size(); i++) {
        state().devices[i].multiprocessors = multiprocessors[i];
    }
}

void set_compute_capability(int device, int major, int minor) {
    Guard guard(state().lock);
    state().devices[size_t(device)].major = major;
    state().devices[size_t(device)].minor = minor;
}

void set_pools_supported(bool supported) {
    Guard guard(state().lock);
    state().pools_supported = supported;
}

void unmap_destroyed_contexts() {
    Guard guard(state().lock);
    state().unmaps_contexts = true;
}

void set_memory(size_t bytes) {
    Guard guard(state().lock);
    state().memory = bytes;
}

long calls(const std::string &name) {
    return long(state().calls.count(name.c_str()));
}

void delay(const std::string &name, int milliseconds) {
    state().calls.delay(name.c_str(), milliseconds);
}

void fail(const std::string &name, int code, int nth, int times) {
    state().calls.fail(name.c_str(), code, nth, times);
}

void fail_some(const std::string &name, int code, int one_in) {
    Guard guard(state().lock);
    state().some_fail.erase(name);
    if (one_in > 0) {
        state().some_fail[name] = {code, one_in, 0};
    }
}

void before(const std::string &name, std::function<void()> hook) {
    Guard guard(state().lock);
    state().hooks[name] = std::move(hook);
}

void define_kernel(const std::string &name, calotype_test::FakeKernel kernel) {
    Guard guard(state().lock);
    state().kernels[name] = kernel;
}

int live_contexts() {
    Guard guard(state().lock);
    return int(state().contexts.size());
}

int live_modules() {
    Guard guard(state().lock);
    return int(state().modules.size());
}

int live_allocations() {
    Guard guard(state().lock);
    int count = 0;
    for (const auto &[address, piece] : state().allocations) {
        count += piece.memory != nullptr;
    }
    return count;
}

size_t live_bytes() {
    Guard guard(state().lock);
    return state().used_bytes();
}

int live_events() {
    Guard guard(state().lock);
    return int(state().events.size());
}

int live_graphs() {
    Guard guard(state().lock);
    return int(state().graphs.size() + state().execs.size());
}

int live_streams() {
    Guard guard(state().lock);
    return int(state().streams.size());
}

int live_locked_memory() {
    Guard guard(state().lock);
    return int(state().locked_memory.size());
}

int live_pools() {
    Guard guard(state().lock);
    return int(state().pools.size());
}

int current_depth() {
    return int(stack().size());
}

void *current_context() {
    return stack().empty() ? nullptr : stack().back();
}

uint64_t context_id(void *context) {
    Guard guard(state().lock);
    CUctx_st *asked = static_cast<CUctx_st *>(context);
    return state().contexts.count(asked) ? asked->id : 0;
}

int primary_retains(int device) {
    Guard guard(state().lock);
    return state().devices[size_t(device)].retains;
}

int calls_for_the_dead() {
    Guard guard(state().lock);
    return state().calls_for_the_dead;
}

void keep_in_pools(size_t bytes) {
    Guard guard(state().lock);
    state().kept_by_pools = bytes;
}

int misuse() {
    Guard guard(state().lock);
    return state().misuse;
}

}  // namespace fake_cuda
