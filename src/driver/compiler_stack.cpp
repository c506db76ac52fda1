// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/compiler_stack.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "codegen/version.h"
#include "support/compiling.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/waiting.h"

namespace calotype {

int internal::version_of_llvm() {
    return llvm_version();
}

namespace {

size_t initial_size() {
    const char *text = internal::environment("COMPILER_STACK_SIZE");
    return text && *text ? size_t(std::strtoull(text, nullptr, 10)) : default_compiler_stack_size;
}

// A setting of the process; it changes no result.
std::atomic<size_t> &stack_size() {
    static std::atomic<size_t> size{initial_size()};
    return size;
}

struct Task {
    explicit Task(const std::function<void()> &work) : f(work) {
    }
    const std::function<void()> &f;
    std::exception_ptr error;
    std::mutex mutex;
    std::condition_variable ended;
    bool has_ended = false;

    void end() {
        const std::lock_guard<std::mutex> lock(mutex);
        has_ended = true;
        ended.notify_all();
    }
    bool wait_a_while() {
        std::unique_lock<std::mutex> lock(mutex);
        return ended.wait_for(lock, std::chrono::milliseconds(50), [this] { return has_ended; });
    }
};

void *run(void *data) {
    auto *task = static_cast<Task *>(data);
    try {
        task->f();
    } catch (...) {
        task->error = std::current_exception();
    }
    task->end();
    return nullptr;
}

// Compiling that is started by compiling stays where it is.
thread_local bool is_on_compiler_stack = false;

}  // namespace

size_t get_compiler_stack_size() {
    return stack_size();
}

void set_compiler_stack_size(size_t bytes) {
    stack_size() = bytes;
}

namespace internal {

void run_on_compiler_stack(const std::function<void()> &f) {
    const size_t size = get_compiler_stack_size();
    if (size == 0 || is_on_compiler_stack) {
        const CompilingScope compiling;
        f();
        return;
    }
    const bool for_ending = CompilingScope::is_ending_process();
    const std::function<void()> marked = [&] {
        const CompilingScope compiling(for_ending);
        is_on_compiler_stack = true;
        f();
    };
    Task task(marked);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    const bool started = pthread_attr_setstacksize(&attributes, size) == 0 &&
                         pthread_create(&thread, &attributes, run, &task) == 0;
    pthread_attr_destroy(&attributes);
    user_assert(started) << "cannot start a thread with a stack of " << size
                         << " bytes to compile on";
    if (const std::function<void()> &poll = WaitingScope::current()) {
        while (!task.wait_a_while()) {
            poll();
        }
    }
    pthread_join(thread, nullptr);
    if (task.error) {
        std::rethrow_exception(task.error);
    }
}

}  // namespace internal
}  // namespace calotype
