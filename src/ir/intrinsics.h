// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intrinsic: the operations that are calls in the IR but known to the compiler, one enumerator a
// row of intrinsics.def.
//
// The ones that work on buffers (a "header" is a handle to a calotype_buffer_t):
//   size_of_buffer(d)      bytes of a header of d dimensions with its shape right behind it
//   alloca(bytes)          memory that lives as long as this call of the pipeline
//   buffer_init(header, host, type_code, type_bits, d, min0, extent0, stride0, min1, ...)
//                          fills in a header made as above, no device, flags clear; yields the
//                          header
//   buffer_crop(header, source, d, min0, extent0, min1, ...)
//                          the same for a part of another buffer (its strides, its device if any);
//                          yields the header
//   buffer_set_bounds(header, dimension, min, extent, stride)
//                          changes one dimension in place; yields the header
//   buffer_is_bounds_query(header)   bool: neither host nor device memory
#pragma once

#include <cstdint>
#include <string>

namespace calotype::internal {

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

}  // namespace calotype::internal
