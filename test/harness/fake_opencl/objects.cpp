// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/fake_opencl/objects.h"

#include <cstdlib>
#include <new>

namespace calotype_test {

FakeState::FakeState() {
    set_defaults();
}

void FakeState::set_defaults() {
    memory_limit = uint64_t(1) << 30;
    has_platform = has_images = true;
    gpus = cpus = 1;
    version = 3;
}

FakeState &fake_state() {
    static FakeState *state = new FakeState;
    return *state;
}

Object *find_object(const void *handle, Kind kind) {
    auto *object = static_cast<Object *>(const_cast<void *>(handle));
    if (fake_state().live.count(object) == 0 || object->kind != kind) {
        fake_state().misuses++;
        return nullptr;
    }
    return object;
}

FakeMem *add_memory(FakeContext *context, size_t size, calotype::runtime::cl_int *error) {
    FakeState &state = fake_state();
    if (state.memory_used + size > state.memory_limit) {
        *error = calotype::runtime::CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return nullptr;
    }
    auto *mem = add_object<FakeMem>(Kind::mem, context);
    mem->bytes.assign(size, 0xCD);
    state.memory_used += size;
    return mem;
}

FakeContext *add_context() {
    FakeState &state = fake_state();
    void *memory = nullptr;
    if (state.context_memory.empty()) {
        memory = malloc(sizeof(FakeContext));
    } else {
        memory = state.context_memory.back();
        state.context_memory.pop_back();
    }
    auto *context = new (memory) FakeContext;
    context->kind = Kind::context;
    state.live.insert(context);
    return context;
}

/** Take an object out, with what it holds; contexts that ended are appended. */
static void end_object(Object *object, std::vector<FakeContext> *ended);

static void drop(Object *object, std::vector<FakeContext> *ended) {
    if (--object->references == 0) {
        end_object(object, ended);
    }
}

static void end_object(Object *object, std::vector<FakeContext> *ended) {
    FakeState &state = fake_state();
    state.live.erase(object);
    FakeContext *context = object->context;
    switch (object->kind) {
    case Kind::context: {
        auto *self = static_cast<FakeContext *>(object);
        ended->push_back(*self);
        ended->back().context = self;  // the address, to tell of
        self->~FakeContext();
        return;
    }
    case Kind::mem:
        state.memory_used -= static_cast<FakeMem *>(object)->bytes.size();
        break;
    case Kind::kernel:
        drop(static_cast<FakeKernelObject *>(object)->program, ended);
        break;
    case Kind::event:
        drop(static_cast<FakeEvent *>(object)->queue, ended);
        break;
    default:
        break;
    }
    delete object;
    drop(context, ended);
}

/// Without the lock. As with drivers, no other context has the address before the end has been told of.
static void tell_and_free(const std::vector<FakeContext> &ended, bool with_telling) {
    for (const FakeContext &context : ended) {
        if (with_telling && context.on_end) {
            context.on_end(reinterpret_cast<_cl_context *>(context.context), context.user_data);
        }
    }
    FakeState &state = fake_state();
    std::lock_guard<std::mutex> guard(state.lock);
    for (const FakeContext &context : ended) {
        state.context_memory.push_back(context.context);
    }
}

void release_object(Object *object, std::unique_lock<std::mutex> &guard) {
    std::vector<FakeContext> ended;
    drop(object, &ended);
    guard.unlock();
    tell_and_free(ended, true);
}

void destroy_context(_cl_context *handle, bool with_telling) {
    FakeState &state = fake_state();
    std::unique_lock<std::mutex> guard(state.lock);
    auto *context = find<FakeContext>(handle, Kind::context);
    if (!context) {
        return;
    }
    for (auto it = state.live.begin(); it != state.live.end();) {
        Object *object = *it;
        if (object->context != context) {
            ++it;
            continue;
        }
        if (object->kind == Kind::mem) {
            state.memory_used -= static_cast<FakeMem *>(object)->bytes.size();
        }
        it = state.live.erase(it);
        delete object;
    }
    std::vector<FakeContext> ended;
    end_object(context, &ended);
    guard.unlock();
    tell_and_free(ended, with_telling);
}

}  // namespace calotype_test
