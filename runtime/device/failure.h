// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why something failed. A function that fails answers a status or a code, and tells why with
// set_failure(). The device-neutral function that called it opens a scope before, in which it then
// finds what was told: it reports that to the user, makes an error of it, or drops it by leaving
// the scope. So nothing that was told is there later than it was meant for.
#pragma once

#include <stdint.h>

#include "runtime/host/not_copied.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

/** Where what was told on a thread stands in its text: failure.cpp explains. */
struct FailureMarks {
    static constexpr size_t no_scope = SIZE_MAX;
    size_t begin;    ///< of the innermost scope's part
    size_t size;     ///< of all parts
    int32_t result;  ///< of the driver's call that the last part is about
};
extern constinit thread_local FailureMarks failure_marks;

/** What is told of failures on this thread while it lives, apart from what was told before. Scopes
 * nest. Frames that an exception of the application leaves out do no harm. */
class FailureScope : NotCopied {
public:
    FailureScope()
        : begin(failure_marks.size), outer_begin(failure_marks.begin),
          outer_result(failure_marks.result) {
        failure_marks.begin = begin;
    }
    ~FailureScope() {
        failure_marks.begin = begin;
        if (failure_marks.size != begin) {
            forget();
        }
        failure_marks.begin = outer_begin;
    }

    /** When the scope ends, what was told in it has been told in the one around it. */
    void pass_on() {
        is_passed_on = true;
    }

private:
    const size_t begin, outer_begin;
    const int32_t outer_result;
    bool is_passed_on = false;

    void forget() const;
};

/** Tell why, and what the driver's call answered. The first to tell is nearest to the cause: what
 * is told after it in the same scope is dropped, as all is that is told outside of scopes. */
__attribute__((cold)) void set_failure(const Text &text, int driver_result = 0);
/** Tell why and answer: return fail_with(CALOTYPE_E_OOM, "out of host memory"); */
template<typename Answer>
Answer fail_with(Answer answer, const Text &text, int driver_result = 0) {
    set_failure(text, driver_result);
    return answer;
}
/** Tell it in other words. */
void replace_failure(const Text &text);

/** What was told in the innermost scope, "" for nothing. Valid until something else is. */
const char *failure_text();
/** The same, which is then forgotten. */
Text take_failure();
/** What the driver's call answered, 0 if nothing was told of one. */
int failure_result();

/** Tell the application, unless the process is ending: threads that still run then are refused
 * without a message. */
void report_error(void *user_context, const char *message);
/** The process is ending: report nothing more. */
void end_reports();

}  // namespace calotype::runtime
