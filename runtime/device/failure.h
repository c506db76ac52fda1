// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why a function of a back end failed, kept for the calling thread until the device-neutral
// function that called it reports the error, so that the user is told once and of everything.
#pragma once

namespace calotype {
namespace runtime {

/** Keep the sentence, cut off if it is very long. Without one already kept, that is: the first is
 * the cause. */
void set_failure(const char *text);
/** What is kept, "" for nothing. Valid until the next call of these functions on this thread. */
const char *failure_text();
void clear_failure();

/** Tell the application, unless the process is ending: nobody reads then what threads that still run
 * are refused. */
void report_error(void *user_context, const char *message);
/** It is ending from now on. */
void end_reports();

}  // namespace runtime
}  // namespace calotype
