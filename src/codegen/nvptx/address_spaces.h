// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's numbers of the kinds of memory on NVIDIA's GPUs.
#pragma once

namespace calotype::internal {

constexpr unsigned global_address_space = 1;
constexpr unsigned shared_address_space = 3;

}  // namespace calotype::internal
