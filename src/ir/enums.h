// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enumerations that both the IR and the public schedule directives use.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace calotype {

/// Where a loop runs or a buffer lives. There is no code generator for Vulkan and those after it:
/// compiling for them is an error.
enum class DeviceAPI : uint8_t {
    None,
    Host,
    Default_GPU,
    CUDA,
    OpenCL,
    Vulkan,
    Metal,
    Hexagon,
    HexagonDma,
    D3D12Compute,
    WebGPU,
    SMEStreaming  ///< ARM's streaming mode
};

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
    LockedCache,  ///< of Hexagon: a name alone, as VTCM
    VTCM,
};

namespace internal {

/// How the iterations of a loop are carried out.
enum class ForType : uint8_t {
    Serial,
    Parallel,
    Vectorized,
    Unrolled,
    Extern,
    GPUBlock,
    GPUThread,
    GPULane,
    Matrix  ///< of a kernel: part of what one matrix instruction of a warp does
};
const char *to_string(ForType);
std::ostream &operator<<(std::ostream &, ForType);
bool from_string(const std::string &, ForType *);

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

}  // namespace internal

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
const char *to_string(Partition);
const char *to_string(TailStrategy);
const char *to_string(PrefetchBoundStrategy);
const char *to_string(LoopAlignStrategy);
const char *to_string(NameMangling);
std::ostream &operator<<(std::ostream &, DeviceAPI);
std::ostream &operator<<(std::ostream &, MemoryType);
std::ostream &operator<<(std::ostream &, Partition);
std::ostream &operator<<(std::ostream &, TailStrategy);
std::ostream &operator<<(std::ostream &, PrefetchBoundStrategy);
std::ostream &operator<<(std::ostream &, LoopAlignStrategy);
std::ostream &operator<<(std::ostream &, NameMangling);
bool from_string(const std::string &, DeviceAPI *);
bool from_string(const std::string &, MemoryType *);
bool from_string(const std::string &, Partition *);
bool from_string(const std::string &, TailStrategy *);
bool from_string(const std::string &, PrefetchBoundStrategy *);

}  // namespace calotype
