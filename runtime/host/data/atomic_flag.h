// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <stdint.h>

namespace calotype::runtime {

/** True or false, which threads exchange. It is a word, since processors of RISC-V exchange no bytes: for those GCC calls
 * libatomic, which the runtime does without. */
using AtomicFlag = std::atomic<uint32_t>;

}  // namespace calotype::runtime
