// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts a process for each processing element. Their rows go round in a ring, until every element
// has the sum of all.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <vector>

#include <calotype/buffer.h>
#include <calotype/runtime.h>
#include <calotype/runtime/abi/runtime_cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "add_up.h"
#include "pass_on.h"
#include "processing_element.h"

using calotype::Runtime::Buffer;

namespace {

constexpr int width = 1000;

float first_value(int element, int x) {
    return float(1000 * (element + 1) + x % 7);
}

void check(const char *what, int code) {
    if (code != 0) {
        throw std::runtime_error(std::string(what) + " failed with " + std::to_string(code));
    }
}

/// What the others send lands here.
class Inbox {
public:
    explicit Inbox(ProcessingElement &element)
        : element_(element), address_(element.allocate(width * sizeof(float))) {
        check("wrapping the inbox",
              row_.device_wrap_native(calotype_cuda_device_interface(), address_));
        row_.set_device_dirty();
    }
    ~Inbox() {
        row_.device_detach_native();
        element_.free(address_);
    }
    uint64_t address() const {
        return address_;
    }
    Buffer<float, 1> &row() {
        return row_;
    }

private:
    ProcessingElement &element_;
    uint64_t address_;
    Buffer<float, 1> row_{nullptr, width};
};

/// How many values of the sum are not what plain C++ says.
int wrong_values(Buffer<float, 1> &sum, int count) {
    check("copying the sum", sum.copy_to_host());
    int wrong = 0;
    for (int x = 0; x < width; x++) {
        float expected = 0;
        for (int element = 0; element < count; element++) {
            expected += first_value(element, x);
        }
        wrong += sum(x) != expected;
    }
    return wrong;
}

/// Each step sends the row on; after as many steps as there are elements all rows have come by.
int go_round(ProcessingElement &element, int number, int count) {
    Buffer<float, 1> mine(width), sum(width);
    Buffer<int32_t, 1> to(width);
    mine.for_each_element([&](int x) { mine(x) = first_value(number, x); });
    sum.fill(0);
    // Two inboxes: one is read while the other is written.
    Inbox first(element), second(element);
    Buffer<float, 1> *row = &mine;
    for (int step = 0; step < count; step++) {
        Inbox &inbox = step % 2 == 0 ? first : second;
        check("pass_on", pass_on(*row, inbox.address(), to));
        check("waiting", to.device_sync());
        element.barrier();
        Buffer<float, 1> more(width);
        check("add_up", add_up(sum, inbox.row(), more));
        check("waiting", more.device_sync());
        sum = more;
        row = &inbox.row();
    }
    check("copying", to.copy_to_host());
    const int wrong = wrong_values(sum, count) + (to(0) != (number + 1) % count);
    return wrong;
}

int run(int number, int count, const Meeting &meeting) {
    ProcessingElement element(number, count, meeting);
    const int wrong = go_round(element, number, count);
    // Unloads the kernels: NVSHMEM forgets their modules before it ends itself.
    check("releasing the context", calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    const ModuleCalls calls = module_calls();
    std::printf("nvshmem_ring: element %d of %d: %d of %d sums differ from plain C++, %d set-ups, "
                "%d tear-downs\n",
                number, count, wrong, width, calls.setups, calls.teardowns);
    return wrong || calls.setups != 1 || calls.teardowns != 1 ? 1 : 0;
}

int run_and_report(int number, int count, const Meeting &meeting) {
    try {
        return run(number, count, meeting);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "nvshmem_ring: element %d of %d: %s\n", number, count, e.what());
        return 1;
    }
}

/// This process is element 0. The others are forked before it meets a driver, and read of a pipe
/// where to meet.
int start_all(int count) {
    std::vector<int> pipes;
    for (int number = 1; number < count; number++) {
        int ends[2];
        check("making a pipe", pipe(ends));
        if (fork() == 0) {
            Meeting meeting;
            const bool told = read(ends[0], &meeting, sizeof meeting) == ssize_t(sizeof meeting);
            const int code = told ? run_and_report(number, count, meeting) : 1;
            std::fflush(stdout);
            _exit(code);
        }
        close(ends[0]);
        pipes.push_back(ends[1]);
    }
    const Meeting meeting = ProcessingElement::call_meeting();
    for (const int pipe : pipes) {
        check("telling the others", write(pipe, &meeting, sizeof meeting) < 0);
        close(pipe);
    }
    int failed = run_and_report(0, count, meeting);
    for (size_t i = 0; i < pipes.size(); i++) {
        int status = 0;
        failed += wait(&status) < 0 || status != 0;
    }
    return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char **argv) {
    const int count = argc == 2 ? std::atoi(argv[1]) : 1;
    if (argc > 2 || count < 1) {
        std::fprintf(stderr, "usage: %s [PROCESSING ELEMENTS, A GPU EACH]\n", argv[0]);
        return 2;
    }
    try {
        return start_all(count);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "nvshmem_ring: %s\n", e.what());
        return 1;
    }
}
