// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels use, read from the machine code and from what the assembler said.
#pragma once

#include <string>
#include <vector>

#include "codegen/device_code.h"

namespace calotype::internal {

/// Fills in registers, stack and static shared memory of facts[i].kernel from the ELF file. What is
/// not there, or not understood, stays as it is.
void read_cubin_facts(const std::string &cubin, std::vector<KernelFacts> &facts);

/// Fills in spills from the assembler's log.
void read_log_facts(const std::string &log, std::vector<KernelFacts> &facts);

}  // namespace calotype::internal
