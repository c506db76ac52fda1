// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intrinsic: the operations that are calls in the IR but known to the compiler, one enumerator a row of intrinsics.def.
#pragma once

#include <cstdint>
#include <string>

namespace calotype {

enum class Intrinsic : uint16_t {
#define INTRINSIC(name, arity, purity) name,
#include "ir/intrinsics.def"
    none,  ///< the call is not an intrinsic
};

/// The row of an intrinsic.
struct IntrinsicInfo {
    const char *name;
    int arity;  ///< -1: any number of arguments
    bool pure;
};
const IntrinsicInfo &intrinsic_info(Intrinsic id);
/// The intrinsic of that name, or Intrinsic::none.
Intrinsic intrinsic_from_name(const std::string &name);

}  // namespace calotype
