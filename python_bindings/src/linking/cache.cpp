// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts and limits of what is kept: compiled pipelines, device code, memoized results.
#include <calotype/driver/compile_counts.h>
#include <calotype/driver/jit_shared_runtime.h>

#include "bindings.h"

namespace calotype::python {

namespace {

using calotype::internal::JITSharedRuntime;

nb::dict compile_stats() {
    const calotype::internal::CompileCounts c = calotype::internal::compile_counts();
    nb::dict d;
    d["lowered"] = c.lowered;
    d["lowered_found"] = c.lowered_found;
    d["compiled"] = c.jit_compiled;
    d["found"] = c.jit_found;
    d["found_on_disk"] = c.objects_found_on_disk;
    return d;
}

nb::dict kernel_stats() {
    const calotype_stats s = JITSharedRuntime::kernel_cache_stats();
    nb::dict d;
    const std::pair<const char *, uint64_t> numbers[] = {
        {"misses", s.misses},         {"hits", s.hits},
        {"waits", s.waits},           {"compiles", s.compiles},
        {"links", s.links},           {"loads", s.loads},
        {"unloads", s.unloads},       {"setups", s.setups},
        {"teardowns", s.teardowns},   {"evictions", s.evictions},
        {"disk_hits", s.disk_hits},   {"disk_misses", s.disk_misses},
        {"failures", s.failures},     {"live_modules", s.live_modules},
        {"live_bytes", s.live_bytes}, {"image_bytes", s.image_bytes},
        {"compile_ns", s.compile_ns}, {"load_ns", s.load_ns}};
    for (const auto &[name, value] : numbers) {
        d[name] = value;
    }
    return d;
}

nb::dict limits() {
    const calotype_limits l = JITSharedRuntime::kernel_cache_limits();
    nb::dict d;
    d["ctx_bytes"] = l.ctx_bytes;
    d["ctx_modules"] = l.ctx_modules;
    d["image_bytes"] = l.image_bytes;
    d["compile_threads"] = l.compile_threads;
    return d;
}

void set_limits(const std::map<std::string, uint64_t> &wanted) {
    calotype_limits l = JITSharedRuntime::kernel_cache_limits();
    for (const auto &[name, value] : wanted) {
        if (name == "ctx_bytes") {
            l.ctx_bytes = value;
        } else if (name == "ctx_modules") {
            l.ctx_modules = value;
        } else if (name == "image_bytes") {
            l.image_bytes = value;
        } else if (name == "compile_threads") {
            l.compile_threads = uint32_t(value);
        } else {
            user_error << "there is no limit '" << name
                       << "', there are ctx_bytes, ctx_modules, image_bytes and compile_threads";
        }
    }
    user_assert(JITSharedRuntime::set_kernel_cache_limits(l)) << "the limits are refused";
}

}  // namespace

void bind_cache(PythonModule &m) {
    m.def("compile_stats", &compile_stats,
          "How many pipelines this process has compiled, and found compiled.");
    m.def("kernel_cache_stats", &kernel_stats,
          "Counts of the cache of device code of pipelines in this process.");
    m.def("kernel_cache_limits", &limits, "The limits of that cache; 0 is unlimited.");
    m.def("set_kernel_cache_limits", &set_limits, "limits"_a);
    m.def("memoization_cache_set_size", &JITSharedRuntime::memoization_cache_set_size, "bytes"_a);
    m.def("memoization_cache_evict", &JITSharedRuntime::memoization_cache_evict, "eviction_key"_a);
    m.def("reuse_device_allocations", &JITSharedRuntime::reuse_device_allocations, "reuse"_a);
}

}  // namespace calotype::python
