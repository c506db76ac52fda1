// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/enums.h"

#include <iterator>
#include <ostream>

namespace calotype {

using namespace internal;

namespace {

// The words of each enumeration in the order of its enumerators.
const char *const device_apis[] = {"none",        "host",         "default_gpu", "cuda",
                                   "opencl",      "vulkan",       "metal",       "hexagon",
                                   "hexagon_dma", "d3d12compute", "webgpu",      "sme_streaming"};
const char *const memory_types[] = {"auto",         "heap",        "stack",    "register",
                                    "gpu_shared",   "gpu_texture", "amx_tile", "gpu_shared_async",
                                    "locked_cache", "vtcm"};
const char *const for_types[] = {"serial",    "parallel",   "vectorized", "unrolled", "extern",
                                 "gpu_block", "gpu_thread", "gpu_lane",   "matrix"};
const char *const partitions[] = {"auto", "never", "always"};
const char *const tail_strategies[] = {"round_up",
                                       "guard_with_if",
                                       "predicate",
                                       "predicate_loads",
                                       "predicate_stores",
                                       "shift_inwards",
                                       "shift_inwards_and_blend",
                                       "round_up_and_blend",
                                       "auto"};
const char *const prefetch_strategies[] = {"clamp", "guard_with_if", "non_faulting"};
const char *const align_strategies[] = {"align_start", "align_end", "no_align", "auto"};
const char *const manglings[] = {"default", "c", "c_plus_plus"};

/// A program may have made the value of any number.
template<typename Enum, typename Words>
const char *word_of(const Words &words, Enum x) {
    return size_t(x) < std::size(words) ? words[size_t(x)] : "unknown";
}

template<typename Enum, typename Words>
bool find(const Words &words, const std::string &text, Enum *result) {
    for (size_t i = 0; i < std::size(words); i++) {
        if (text == words[i]) {
            *result = Enum(i);
            return true;
        }
    }
    return false;
}

}  // namespace

const char *to_string(DeviceAPI x) {
    return word_of(device_apis, x);
}
const char *to_string(MemoryType x) {
    return word_of(memory_types, x);
}
const char *internal::to_string(ForType x) {
    return word_of(for_types, x);
}
const char *to_string(Partition x) {
    return word_of(partitions, x);
}
const char *to_string(TailStrategy x) {
    return word_of(tail_strategies, x);
}
const char *to_string(PrefetchBoundStrategy x) {
    return word_of(prefetch_strategies, x);
}
const char *to_string(LoopAlignStrategy x) {
    return word_of(align_strategies, x);
}
const char *to_string(NameMangling x) {
    return word_of(manglings, x);
}

std::ostream &operator<<(std::ostream &out, DeviceAPI x) {
    return out << to_string(x);
}
std::ostream &operator<<(std::ostream &out, MemoryType x) {
    return out << to_string(x);
}
std::ostream &internal::operator<<(std::ostream &out, ForType x) {
    return out << to_string(x);
}
std::ostream &operator<<(std::ostream &out, Partition x) {
    return out << to_string(x);
}
std::ostream &operator<<(std::ostream &out, TailStrategy x) {
    return out << to_string(x);
}
std::ostream &operator<<(std::ostream &out, PrefetchBoundStrategy x) {
    return out << to_string(x);
}
std::ostream &operator<<(std::ostream &out, LoopAlignStrategy x) {
    return out << to_string(x);
}
std::ostream &operator<<(std::ostream &out, NameMangling x) {
    return out << to_string(x);
}

bool from_string(const std::string &text, DeviceAPI *result) {
    return find(device_apis, text, result);
}
bool from_string(const std::string &text, MemoryType *result) {
    return find(memory_types, text, result);
}
bool internal::from_string(const std::string &text, ForType *result) {
    return find(for_types, text, result);
}
bool from_string(const std::string &text, Partition *result) {
    return find(partitions, text, result);
}
bool from_string(const std::string &text, TailStrategy *result) {
    return find(tail_strategies, text, result);
}
bool from_string(const std::string &text, PrefetchBoundStrategy *result) {
    return find(prefetch_strategies, text, result);
}

}  // namespace calotype
