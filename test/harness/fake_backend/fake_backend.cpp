// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/fake_backend/fake_backend.h"

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "harness/context_stack.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/device/failure.h"
#include "runtime/device/kernel_backend.h"

namespace calotype_test {

using namespace calotype::runtime;

namespace {

struct FakeModule;

struct FakeFunction {
    FakeModule *module;
    std::string name;
    std::atomic<bool> is_closed{false};
};

struct FakeModule {
    FakeContext *context;
    uint64_t context_uid;
    std::set<std::string> kernels;
    std::map<std::string, std::vector<uint8_t>> globals;
};

struct FakeEvent {
    FakeStream *stream;
};

struct State {
    std::mutex lock;
    std::set<FakeModule *> modules;
    std::set<FakeEvent *> events;  ///< those of lost contexts stay: some may still ask
    std::vector<std::unique_ptr<FakeContext>>
        contexts;  ///< all there ever were: some may still ask
    FakeContext default_context;
    FakeCalls calls;
    std::atomic<uint64_t> next_uid{1};
    std::atomic<int> misuse{0};
    std::atomic<int> one_in{0}, loads{0};
    std::atomic<int> building{0}, most_building{0};

    State() {
        default_context.uid = next_uid++;
    }
};

State &state() {
    static State &state = *new State;  // the runtime's exit handler still uses it
    return state;
}

constinit thread_local ContextStack<void> current = {};

void expect(bool condition) {
    state().misuse += condition ? 0 : 1;
}

FakeContext *context_of(const DeviceScope &scope) {
    return static_cast<FakeContext *>(scope.context);
}

/** Null if there is none. With the lock held. */
FakeContext *find_context(uint64_t uid) {
    if (state().default_context.uid == uid) {
        return &state().default_context;
    }
    for (const auto &context : state().contexts) {
        if (context->uid == uid) {
            return context.get();
        }
    }
    return nullptr;
}

bool is_alive(uint64_t uid) {
    std::lock_guard<std::mutex> guard(state().lock);
    const FakeContext *context = find_context(uid);
    return context && context->is_alive;
}

void end_context(uint64_t uid, bool) {
    std::lock_guard<std::mutex> guard(state().lock);
    if (FakeContext *context = find_context(uid)) {
        context->uid = state().next_uid++;
    }
}

void expect_current(const DeviceScope &scope) {
    expect(!current.empty() && current.back() == scope.context);
    expect(is_alive(scope.context_uid));
}

/** Null stands for the context that is always there. */
calotype_status acquire(void *user_context, DeviceScope *scope) {
    FakeContext *context =
        user_context ? static_cast<FakeContext *>(user_context) : &state().default_context;
    scope->user_context = user_context;
    scope->context = context;
    scope->context_uid = context->uid;
    scope->stream = &context->stream;
    scope->device = 0;
    scope->extra = nullptr;
    if (!context->is_alive) {
        set_failure("the fake context is dead");
        return CALOTYPE_E_DEVICE;
    }
    return CALOTYPE_OK;
}

calotype_status enter(const DeviceScope &scope) {
    if (int planned = state().calls.enter("enter")) {
        return calotype_status(planned);
    }
    expect(is_alive(scope.context_uid));
    current.push_back(scope.context);
    return CALOTYPE_OK;
}

void leave(const DeviceScope &scope) {
    expect(!current.empty() && current.back() == scope.context);
    current.pop_back();
}

calotype_status describe(const DeviceScope &scope, DeviceArch *arch) {
    arch->sm = context_of(scope)->sm;
    arch->suffix = 0;
    strcpy(arch->toolchain, "fake 1");
    return CALOTYPE_OK;
}

/** Images are for `sm` 0, and taken by all, or for one. */
const calotype_image *choose(const DeviceArch &arch, const calotype_module_desc &desc) {
    for (uint32_t i = 0; i < desc.n_images; i++) {
        if (desc.images[i].sm == 0 || desc.images[i].sm == arch.sm) {
            return &desc.images[i];
        }
    }
    return nullptr;
}

calotype_status build_text(const DeviceArch &arch, const calotype_module_desc &desc,
                           LoadableImage *image) {
    const calotype_image *chosen = choose(arch, desc);
    if (!chosen) {
        set_failure(Text() << "nothing for architecture " << arch.sm);
        return CALOTYPE_E_NO_IMAGE;
    }
    if (chosen->kind == CALOTYPE_CUBIN) {
        image->kind = CALOTYPE_CUBIN;
        image->bytes = chosen->data;
        image->size = chosen->size;
        return CALOTYPE_OK;
    }
    const std::string text(static_cast<const char *>(chosen->data), chosen->size);
    if (text.find("error") != std::string::npos) {
        set_failure("line 1: syntax error");
        return CALOTYPE_E_COMPILE;
    }
    void *bytes = malloc(text.size() + 1);
    if (!bytes) {
        set_failure("no memory for the image");
        return CALOTYPE_E_OOM;
    }
    memcpy(bytes, text.c_str(), text.size() + 1);
    image->kind = CALOTYPE_CUBIN;
    image->bytes = bytes;
    image->size = text.size();
    image->owned = image->persistable = image->was_built = true;
    image->was_linked = desc.n_linkables > 0;
    return CALOTYPE_OK;
}

bool is_ready(const DeviceArch &arch, const calotype_module_desc &desc) {
    const calotype_image *chosen = choose(arch, desc);
    return chosen && chosen->kind == CALOTYPE_CUBIN;
}

calotype_status build(const DeviceScope &, const DeviceArch &arch, const calotype_module_desc &desc,
                      LoadableImage *image) {
    State &s = state();
    const int now = ++s.building;
    int most = s.most_building;
    while (most < now && !s.most_building.compare_exchange_weak(most, now)) {
    }
    const int planned = s.calls.enter("build");
    const calotype_status status =
        planned ? calotype_status(planned) : build_text(arch, desc, image);
    --s.building;
    return status;
}

calotype_status load(const DeviceScope &scope, const calotype_module_desc &,
                     const LoadableImage &image, void **module) {
    expect_current(scope);
    const int one_in = state().one_in;
    if (one_in && ++state().loads % one_in == 0) {
        return CALOTYPE_E_LOAD;
    }
    if (int planned = state().calls.enter("load")) {
        set_failure(Text() << "a planned failure", planned);
        return calotype_status(planned);
    }
    auto *loaded = new FakeModule{context_of(scope), scope.context_uid, {}, {}};
    std::istringstream words(std::string(static_cast<const char *>(image.bytes), image.size));
    for (std::string word, name; words >> word;) {
        if (word == "kernel") {
            words >> name;
            loaded->kernels.insert(name);
        } else if (word == "global") {
            size_t bytes = 0;
            words >> name >> bytes;
            loaded->globals[name].resize(bytes);
        }
    }
    std::lock_guard<std::mutex> guard(state().lock);
    state().modules.insert(loaded);
    *module = loaded;
    return CALOTYPE_OK;
}

/** The module, if it is one that is loaded. */
FakeModule *find_module(void *module) {
    std::lock_guard<std::mutex> guard(state().lock);
    auto found = state().modules.find(static_cast<FakeModule *>(module));
    return found == state().modules.end() ? nullptr : *found;
}

calotype_status unload(const DeviceScope &scope, void *module) {
    expect_current(scope);
    state().calls.enter("unload");
    FakeModule *loaded = find_module(module);
    expect(loaded && loaded->context_uid == scope.context_uid);
    if (loaded) {
        std::lock_guard<std::mutex> guard(state().lock);
        state().modules.erase(loaded);
        delete loaded;
    }
    return CALOTYPE_OK;
}

calotype_status get_function(const DeviceScope &scope, void *module, const char *name,
                             void **function) {
    expect_current(scope);
    if (int planned = state().calls.enter("get_function")) {
        return calotype_status(planned);
    }
    FakeModule *loaded = find_module(module);
    expect(loaded);
    if (!loaded || !loaded->kernels.count(name)) {
        return CALOTYPE_E_LOAD;
    }
    *function = new FakeFunction{loaded, name};
    return CALOTYPE_OK;
}

void close_function(void *function, bool has_driver) {
    state().calls.enter("close_function");
    auto &fake = *static_cast<FakeFunction *>(function);
    expect(!has_driver || find_module(fake.module));
    expect(!fake.is_closed.exchange(true));
}

void free_function(void *function) {
    state().calls.enter("free_function");
    auto *fake = static_cast<FakeFunction *>(function);
    expect(fake->is_closed);
    delete fake;
}

calotype_status get_global(const DeviceScope &scope, void *module, const char *name,
                           uint64_t *address, size_t *bytes) {
    expect_current(scope);
    FakeModule *loaded = find_module(module);
    expect(loaded);
    if (!loaded || !loaded->globals.count(name)) {
        return CALOTYPE_E_INVALID;
    }
    *address = reinterpret_cast<uint64_t>(loaded->globals[name].data());
    *bytes = loaded->globals[name].size();
    return CALOTYPE_OK;
}

calotype_status copy_to_device(const DeviceScope &scope, uint64_t address, const void *source,
                               size_t bytes) {
    expect_current(scope);
    memcpy(reinterpret_cast<void *>(address), source, bytes);
    return CALOTYPE_OK;
}

calotype_status synchronize(const DeviceScope &scope) {
    expect_current(scope);
    if (int planned = state().calls.enter("synchronize")) {
        return calotype_status(planned);
    }
    while (context_of(scope)->stream.is_held) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return CALOTYPE_OK;
}

calotype_status launch(const DeviceScope &, void *function, const calotype_kernel_desc &,
                       const uint32_t[3], const uint32_t block[3], uint32_t, void *, void **args) {
    if (int planned = state().calls.enter("launch")) {
        return calotype_status(planned);
    }
    if (uint64_t(block[0]) * block[1] * block[2] > 1024) {
        set_failure("the device has at most 1024 threads a block");
        return CALOTYPE_E_LAUNCH;
    }
    const auto &fake = *static_cast<FakeFunction *>(function);
    if (fake.is_closed) {
        set_failure("the function is closed");
        return CALOTYPE_E_CONTEXT_LOST;
    }
    expect(find_module(fake.module));
    if (fake.name == "read") {
        const auto &value = fake.module->globals["value"];
        memcpy(*static_cast<void **>(args[0]), value.data(), value.size());
    }
    return CALOTYPE_OK;
}

calotype_status record_event(const DeviceScope &scope, void *stream, void **event) {
    expect_current(scope);
    if (int planned = state().calls.enter("record_event")) {
        return calotype_status(planned);
    }
    auto *recorded = new FakeEvent{static_cast<FakeStream *>(stream)};
    std::lock_guard<std::mutex> guard(state().lock);
    state().events.insert(recorded);
    *event = recorded;
    return CALOTYPE_OK;
}

calotype_status query_event(void *event) {
    state().calls.enter("query_event");
    FakeStream *stream = static_cast<FakeEvent *>(event)->stream;
    return stream && stream->is_held ? CALOTYPE_E_BUSY : CALOTYPE_OK;
}

void destroy_event(void *event) {
    auto *recorded = static_cast<FakeEvent *>(event);
    std::lock_guard<std::mutex> guard(state().lock);
    expect(state().events.erase(recorded) == 1);
    delete recorded;
}

bool is_capturing(const DeviceScope &scope, void *stream) {
    stream = stream ? stream : scope.stream;
    const bool answer = stream && static_cast<FakeStream *>(stream)->is_capturing;
    state().calls.enter("is_capturing");
    return answer;
}

constexpr KernelBackend backend(const char *name) {
    KernelBackend b = {};
    b.name = name;
    b.acquire = acquire;
    b.enter = enter;
    b.leave = leave;
    b.is_alive = is_alive;
    b.is_own = is_alive;
    b.end_context = end_context;
    b.describe = describe;
    b.is_ready = is_ready;
    b.build = build;
    b.load = load;
    b.unload = unload;
    b.get_function = get_function;
    b.close_function = close_function;
    b.free_function = free_function;
    b.get_global = get_global;
    b.copy_to_device = copy_to_device;
    b.synchronize = synchronize;
    b.launch = launch;
    b.record_event = record_event;
    b.query_event = query_event;
    b.destroy_event = destroy_event;
    b.is_capturing = is_capturing;
    return b;
}

template<int I>
const calotype_device_interface_t *interface() {
    static constexpr KernelBackend table = backend(I == 0 ? "fake" : "other fake");
    static const calotype_device_interface_impl_t impl = [] {
        calotype_device_interface_impl_t impl = {};
        impl.kernels = &table;
        return impl;
    }();
    static const calotype_device_interface_t device = [] {
        calotype_device_interface_t device = {};
        device.impl = &impl;
        return device;
    }();
    return &device;
}

void drop_modules_of(const FakeContext *context) {
    std::lock_guard<std::mutex> guard(state().lock);
    for (auto i = state().modules.begin(); i != state().modules.end();) {
        if ((*i)->context == context) {
            delete *i;
            i = state().modules.erase(i);
        } else {
            ++i;
        }
    }
}

}  // namespace

FakeCalls &fake_backend_calls() {
    return state().calls;
}

const calotype_device_interface_t *fake_backend_interface() {
    return interface<0>();
}

const calotype_device_interface_t *other_fake_backend_interface() {
    return interface<1>();
}

FakeContext *make_fake_context() {
    auto context = std::make_unique<FakeContext>();
    context->uid = state().next_uid++;
    std::lock_guard<std::mutex> guard(state().lock);
    return state().contexts.emplace_back(std::move(context)).get();
}

void destroy_fake_context(FakeContext *context) {
    context->is_alive = false;
    drop_modules_of(context);
}

void replace_fake_context(FakeContext *context) {
    drop_modules_of(context);
    context->uid = state().next_uid++;
}

void fail_fake_loads(int one_in) {
    state().one_in = one_in;
}

int fake_modules() {
    std::lock_guard<std::mutex> guard(state().lock);
    return int(state().modules.size());
}

int fake_misuse() {
    return state().misuse;
}

int fake_builds_at_once() {
    return state().most_building.exchange(0);
}

}  // namespace calotype_test
