// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts the runtime's own threads.
#pragma once

#include <pthread.h>

namespace calotype::runtime {

/** A thread that blocks signals, so that those sent to the process go to the application's threads.
 * Not blocked are signals that a thread raises by what it does, which handlers of crashes wait for,
 * and those of profilers. 0, or an error number as pthread_create() has it. */
int start_thread(pthread_t *thread, void *(*entry)(void *), void *data);
/** The name of the calling thread in debuggers and tools; at most 15 characters. */
void name_this_thread(const char *name);

}  // namespace calotype::runtime
