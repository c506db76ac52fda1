// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/log.h"

#include <string.h>

#include "runtime/abi/hooks.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/host/environment.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

struct Topic {
    const char *name;
    uint32_t bits;
};
constexpr Topic known[] = {{"cache", 1}, {"memory", 2}, {"store", 4}, {"launch", 8}, {"all", 15}};

/** 0 for a word that is not a topic. */
uint32_t topic_named(const char *word, size_t length) {
    for (const Topic &topic : known) {
        if (strlen(topic.name) == length && memcmp(topic.name, word, length) == 0) {
            return topic.bits;
        }
    }
    return 0;
}

void report_unknown(const char *word, size_t length) {
    Text text;
    text << "note: there is no topic \"";
    for (size_t i = 0; i < length; i++) {
        text << word[i];
    }
    text << "\" to log, but cache, memory, store, launch and all\n";
    calotype_print(nullptr, text.c_str());
}

uint32_t topics_in(const char *list) {
    uint32_t topics = 0;
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        const uint32_t topic = topic_named(list, length);
        if (!topic && length) {
            report_unknown(list, length);
        }
        topics |= topic;
        list += length + (list[length] == ',');
    }
    return topics;
}

}  // namespace

namespace calotype::runtime {

constinit std::atomic<uint32_t> log_topics{log_is_to_be_read};

uint32_t read_log_topics() {
    uint32_t expected = log_is_to_be_read;
    const uint32_t topics = topics_in(environment("CT_LOG"));
    // Whoever comes first decides; what was set meanwhile stays.
    return log_topics.compare_exchange_strong(expected, topics) ? topics : expected;
}

void log_line(LogTopic topic, const Text &line) {
    Text text;
    text << "calotype ";
    for (const Topic &k : known) {
        text << (k.bits == uint32_t(topic) ? k.name : "");
    }
    text << ": " << line.c_str() << '\n';
    calotype_print(nullptr, text.c_str());
}

}  // namespace calotype::runtime

CALOTYPE_WEAK void calotype_set_log(const char *topics) {
    log_topics.store(topics ? topics_in(topics) : log_is_to_be_read, std::memory_order_relaxed);
}
