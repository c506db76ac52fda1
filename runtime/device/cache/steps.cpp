// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/steps.h"

#include <string.h>

#include "runtime/abi/symbols.h"
#include "runtime/device/cache/kernel_cache.h"
#include "runtime/host/call_guarded.h"
#include "runtime/host/environment.h"
#include "runtime/host/log.h"
#include "runtime/host/timed_wait.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

// Guarded.
calotype_trace_fn trace_hook = nullptr;
void *trace_self = nullptr;

void log_step(const calotype_trace_event &event) {
    Text line;
    const char *verb = name_of(event.stage).done;
    line << (verb ? verb : "did something with") << ' ' << event.module_name << " in context "
         << event.ctx_uid << ", " << (event.end_ns - event.begin_ns) / 1000 << " us";
    if (event.status != CALOTYPE_OK) {
        line << ": " << calotype_status_text(event.status);
    }
    log_line(LogTopic::cache, line);
}

// ---- ranges ----------------------------------------------------------------------------------

/** Of NVTX. */
struct RangeFunctions {
    int (*push)(const char *text);
    int (*pop)();
};
RangeFunctions functions = {};

enum class Ranges { not_asked, off, on };
constinit std::atomic<Ranges> ranges{Ranges::not_asked};
constinit Mutex ranges_lock;

bool find_ranges(const char *library) {
    void *handle = calotype_load_library(library);
    const auto find = [&](const char *name) {
        return handle ? calotype_get_library_symbol(handle, name) : nullptr;
    };
    functions.push = reinterpret_cast<int (*)(const char *)>(find("nvtxRangePushA"));
    functions.pop = reinterpret_cast<int (*)()>(find("nvtxRangePop"));
    return functions.push && functions.pop;
}

/** `which` is the library's path, "1" or "" for the usual ones. */
bool start_ranges(const char *which) {
    LockGuard guard(ranges_lock);
    if (ranges.load(std::memory_order_relaxed) == Ranges::on) {
        return true;
    }
    const bool is_usual = !*which || strcmp(which, "1") == 0;
    const bool found =
        is_usual ? find_ranges("libnvtx3interop.so.1") || find_ranges("libnvToolsExt.so.1")
                 : find_ranges(which);
    ranges.store(found ? Ranges::on : Ranges::off, std::memory_order_release);
    return found;
}

bool ask_environment() {
    const char *wanted = environment("CT_NVTX");
    if (wanted && *wanted && strcmp(wanted, "0") != 0) {
        return start_ranges(wanted);
    }
    Ranges expected = Ranges::not_asked;
    ranges.compare_exchange_strong(expected, Ranges::off);
    return expected == Ranges::on;
}

}  // namespace

namespace calotype::runtime {

bool Range::begin(const char *verb, const char *name) {
    const Ranges now = ranges.load(std::memory_order_acquire);
    if (now == Ranges::off || (now == Ranges::not_asked && !ask_environment())) {
        return false;
    }
    Text text;
    text << "calotype " << verb << ' ' << (name ? name : "");
    functions.push(text.c_str());
    return true;
}

void Range::end() {
    if (ranges.load(std::memory_order_acquire) == Ranges::on) {
        functions.pop();
    }
}

void tell_step(calotype_stage stage, uint64_t context_uid, const calotype_module_desc &desc,
               uint64_t ns, calotype_status status) {
    const uint64_t now = now_ns();
    const calotype_trace_event event = {
        sizeof event, stage,    context_uid, now - ns,
        now,          desc.uid, status,      desc.name ? desc.name : ""};
    if (is_logged(LogTopic::cache)) {
        log_step(event);
    }
    calotype_trace_fn hook = nullptr;
    void *self = nullptr;
    {
        LockGuard guard(kernel_cache.lock);
        hook = trace_hook;
        self = trace_self;
    }
    if (hook) {
        call_guarded([&] { hook(self, &event); });
    }
}

Step::Step(const char *verb, const calotype_module_desc &desc)
    : desc(desc), range(verb, desc.name), begin_ns(now_ns()) {
}

uint64_t Step::end(calotype_stage stage, uint64_t context_uid, calotype_status status) const {
    const uint64_t ns = now_ns() - begin_ns;
    tell_step(stage, context_uid, desc, ns, status);
    return ns;
}

}  // namespace calotype::runtime

CALOTYPE_WEAK calotype_status calotype_set_trace(calotype_trace_fn hook, void *self) {
    LockGuard guard(kernel_cache.lock);
    trace_hook = hook;
    trace_self = self;
    return CALOTYPE_OK;
}

CALOTYPE_WEAK calotype_status calotype_use_nvtx(const char *library) {
    return start_ranges(library ? library : "")
               ? CALOTYPE_OK
               : fail(CALOTYPE_E_INVALID,
                      "no library with nvtxRangePushA and nvtxRangePop can be loaded");
}
