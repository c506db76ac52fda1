// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enumerations that both the IR and the public schedule directives use.
#pragma once

#include <cstdint>
#include <string>

namespace calotype {

/// Where a loop runs or a buffer lives.
enum class DeviceAPI : uint8_t { None, Host, Default_GPU, CUDA, OpenCL, Vulkan };

/// Where a Func's storage lives.
enum class MemoryType : uint8_t {
    Auto,  ///< Stack when small and constant (or inside a GPU thread loop), else Heap
    Heap,
    Stack,
    Register,  ///< like Stack, but must be resolvable to registers
    GPUShared,
    GPUTexture,
    AMXTile,
    GPUSharedAsync,
};

/// How the iterations of a loop are carried out.
enum class ForType : uint8_t {
    Serial,
    Parallel,
    Vectorized,
    Unrolled,
    Extern,
    GPUBlock,
    GPUThread,
    GPULane
};

/// Whether a loop may be split into a prologue, a steady state and an epilogue.
enum class Partition : uint8_t { Auto, Never, Always };

/// What to do where a split's factor does not divide the extent.
enum class TailStrategy : uint8_t {
    RoundUp,
    GuardWithIf,
    Predicate,
    PredicateLoads,
    PredicateStores,
    ShiftInwards,
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
    Auto
};

enum class LoopAlignStrategy : uint8_t { AlignStart, AlignEnd, NoAlign, Auto };

/// What a prefetch does where its region leaves the buffer.
enum class PrefetchBoundStrategy : uint8_t { Clamp, GuardWithIf, NonFaulting };

enum class NameMangling : uint8_t { Default, C, CPlusPlus };

/// The word for each enumerator as the IR text writes it ("parallel", "gpu_block", "shift_inwards",
/// "stack", "cuda", ...), and back.
const char *to_string(DeviceAPI);
const char *to_string(MemoryType);
const char *to_string(ForType);
const char *to_string(Partition);
const char *to_string(TailStrategy);
const char *to_string(PrefetchBoundStrategy);
bool from_string(const std::string &, DeviceAPI *);
bool from_string(const std::string &, MemoryType *);
bool from_string(const std::string &, ForType *);
bool from_string(const std::string &, Partition *);
bool from_string(const std::string &, TailStrategy *);
bool from_string(const std::string &, PrefetchBoundStrategy *);

inline bool is_gpu(ForType t) {
    return t == ForType::GPUBlock || t == ForType::GPUThread || t == ForType::GPULane;
}
/// True if iterations may run at the same time, in any order.
inline bool is_unordered_parallel(ForType t) {
    return t == ForType::Parallel || is_gpu(t);
}
inline bool is_parallel(ForType t) {
    return is_unordered_parallel(t) || t == ForType::Vectorized;
}

}  // namespace calotype
