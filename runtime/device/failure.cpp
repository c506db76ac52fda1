// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is told on a thread stands in one text, that of each scope behind that of the one around it.
// A scope is the place where its part begins: opening one is a store, and one whose end was left
// out by an exception is ended with the one around it.
#include "runtime/device/failure.h"

#include <atomic>
#include <new>

#include "runtime/abi/hooks.h"

namespace calotype::runtime {

namespace {

alignas(Text) constinit thread_local unsigned char memory[sizeof(Text)] = {};
constinit std::atomic<bool> are_reports_over{false};

/** There is one while it has a size. */
Text &text() {
    return *reinterpret_cast<Text *>(memory);
}

bool is_anything_told() {
    return failure_marks.begin < failure_marks.size;
}

/** What the innermost scope was told goes. */
void cut() {
    if (failure_marks.begin) {
        text().cut(failure_marks.begin);
    } else {
        text().~Text();
    }
    failure_marks.size = failure_marks.begin;
}

}  // namespace

constinit thread_local FailureMarks failure_marks = {FailureMarks::no_scope, 0, 0};

void FailureScope::forget() const {
    const bool is_first = is_passed_on && begin == outer_begin;
    if (!is_first) {
        cut();
        failure_marks.result = outer_result;
    }
}

void set_failure(const Text &told, int driver_result) {
    FailureMarks &marks = failure_marks;
    if (marks.size == marks.begin) {
        Text &all = marks.size ? text() : *new (memory) Text();
        marks.size = all.append(told.c_str(), told.size()).size();
        marks.result = driver_result;
    }
}

void replace_failure(const Text &told) {
    const int result = failure_result();
    take_failure();
    set_failure(told, result);
}

const char *failure_text() {
    return is_anything_told() ? text().c_str() + failure_marks.begin : "";
}

int failure_result() {
    return is_anything_told() ? failure_marks.result : 0;
}

Text take_failure() {
    Text told;
    told << failure_text();
    if (is_anything_told()) {
        cut();
    }
    return told;
}

void report_error(void *user_context, const char *message) {
    if (!are_reports_over.load(std::memory_order_relaxed)) {
        calotype_error(user_context, message);
    }
}

void end_reports() {
    are_reports_over.store(true, std::memory_order_relaxed);
}

}  // namespace calotype::runtime
