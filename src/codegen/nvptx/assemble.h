// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX to machine code with what CUDA's toolkit has: nvJitLink in process, else the program ptxas.
#pragma once

#include <string>
#include <vector>

#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/toolkit.h"

namespace calotype::internal {

/// What came of it.
struct Assembly {
    bool ok = false;
    std::string cubin;  ///< if it went well
    std::string log;    ///< all that the assembler said; of each kernel, what it uses
};

/// Never throws for what the assembler refuses: that is in the log.
Assembly assemble(const std::string &ptx, Capability capability, const CudaToolkit &toolkit);

/// Runs a program, what it says going to a file. Its exit code, or -1 if it cannot be run.
int run_program(const std::vector<std::string> &words, const std::string &log_path);

/// True if the toolkit makes code for that architecture at all.
bool can_assemble_for(Capability capability, const CudaToolkit &toolkit);

}  // namespace calotype::internal
