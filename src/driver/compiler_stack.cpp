// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/compiler_stack.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <exception>

#include "codegen/version.h"
#include "support/environment.h"
#include "support/error.h"

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
    const std::function<void()> &f;
    std::exception_ptr error;
};

void *run(void *data) {
    auto *task = static_cast<Task *>(data);
    try {
        task->f();
    } catch (...) {
        task->error = std::current_exception();
    }
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
        f();
        return;
    }
    const std::function<void()> marked = [&] {
        is_on_compiler_stack = true;
        f();
    };
    Task task{marked, nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    const bool started = pthread_attr_setstacksize(&attributes, size) == 0 &&
                         pthread_create(&thread, &attributes, run, &task) == 0;
    pthread_attr_destroy(&attributes);
    user_assert(started) << "cannot start a thread with a stack of " << size
                         << " bytes to compile on";
    pthread_join(thread, nullptr);
    if (task.error) {
        std::rethrow_exception(task.error);
    }
}

}  // namespace internal
}  // namespace calotype
