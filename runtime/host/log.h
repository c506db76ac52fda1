// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The log of the runtime, switched on by CT_LOG or calotype_set_log().
#pragma once

#include <atomic>
#include <stdint.h>

#include "runtime/host/text.h"

namespace calotype::runtime {

enum class LogTopic : uint32_t {
    cache = 1,   ///< slow steps of the kernel cache
    memory = 2,  ///< device copies of buffers: allocations, frees, copies
    store = 4,   ///< the persistent store
    launch = 8,
};

/** The topics that are logged. At first a bit that is no topic's: the environment is to be read. */
extern std::atomic<uint32_t> log_topics;
constexpr uint32_t log_is_to_be_read = uint32_t(1) << 31;
uint32_t read_log_topics();

/** A load and a test where nothing is logged. */
inline bool is_logged(LogTopic topic) {
    uint32_t topics = log_topics.load(std::memory_order_relaxed);
    topics = topics & log_is_to_be_read ? read_log_topics() : topics;
    return topics & uint32_t(topic);
}
/** Print "calotype cache: LINE". */
void log_line(LogTopic topic, const Text &line);

}  // namespace calotype::runtime
