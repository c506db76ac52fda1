// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of enumerations, shared by the writer and the reader of pipelines.
#pragma once

#include <array>
#include <string>

#include "ir/enums.h"
#include "pipeline/extern_argument.h"
#include "pipeline/schedule.h"

namespace calotype::internal {

/// The last enumerator, and the word of each.
/// @{
template<typename E>
struct Words;
template<typename E, E Last>
struct WordsOfIr {
    static constexpr int count = int(Last) + 1;
    static std::string word(E x) {
        return to_string(x);
    }
};
template<>
struct Words<DeviceAPI> : WordsOfIr<DeviceAPI, DeviceAPI::SMEStreaming> {};
template<>
struct Words<MemoryType> : WordsOfIr<MemoryType, MemoryType::VTCM> {};
template<>
struct Words<ForType> : WordsOfIr<ForType, ForType::Matrix> {};
template<>
struct Words<Partition> : WordsOfIr<Partition, Partition::Always> {};
template<>
struct Words<TailStrategy> : WordsOfIr<TailStrategy, TailStrategy::Auto> {};
template<>
struct Words<PrefetchBoundStrategy>
    : WordsOfIr<PrefetchBoundStrategy, PrefetchBoundStrategy::NonFaulting> {};
template<>
struct Words<LoopAlignStrategy> : WordsOfIr<LoopAlignStrategy, LoopAlignStrategy::Auto> {};
template<>
struct Words<NameMangling> : WordsOfIr<NameMangling, NameMangling::CPlusPlus> {};
template<>
struct Words<Split::Kind> {
    static constexpr int count = 3;
    static std::string word(Split::Kind x) {
        return std::array{"split", "fuse", "rename"}[size_t(x)];
    }
};
template<>
struct Words<DimType> {
    static constexpr int count = 3;
    static std::string word(DimType x) {
        return std::array{"pure_var", "pure_rvar", "impure_rvar"}[size_t(x)];
    }
};
template<>
struct Words<ExternFuncArgument::ArgType> {
    static constexpr int count = 5;
    static std::string word(ExternFuncArgument::ArgType x) {
        return std::array{"undefined", "func", "buffer", "expr", "image_param"}[size_t(x)];
    }
};
/// @}

}  // namespace calotype::internal
