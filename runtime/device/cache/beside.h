// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that nobody waits for, on a thread that ends with it.
#pragma once

namespace calotype {
namespace runtime {

/** Do task(data) on a thread of its own, which is waited for like those of a prefetch: at shutdown,
 * at exit, when the library is closed. Who waits no longer is told that `what`, which stays, is not
 * done. A child process has no such thread. False: none can be started. */
bool run_beside(void (*task)(void *), void *data, const char *what);

}  // namespace runtime
}  // namespace calotype
