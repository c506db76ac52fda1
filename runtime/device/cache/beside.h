// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that nobody waits for, on a thread that ends with it.
#pragma once

namespace calotype {
namespace runtime {

/** Do task(data) on a thread of its own, which is waited for like those of a prefetch: at shutdown,
 * at exit, when the library is closed. A child process, in which it is not, is told so by
 * forgotten(data), which must take no locks. False: no thread can be started. */
bool run_beside(void (*task)(void *), void (*forgotten)(void *), void *data);

}  // namespace runtime
}  // namespace calotype
