// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM bitcode of linkables, linked into the code that calls it before that is optimised.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/linkable.h"

namespace llvm {
class Module;
}

namespace calotype::internal {

/// Linkable and its bitcode for a machine.
struct BitcodeImage {
    const LinkableData *linkable = nullptr;
    const LinkableImage *image = nullptr;
};
/// True for bitcode that is for NVIDIA's GPUs, or for the machine of a triple; false for other
/// kinds. CompileError if it cannot be read.
bool is_bitcode_for_cuda(const BitcodeImage &bitcode);
bool is_bitcode_for(const BitcodeImage &bitcode, const std::string &triple);
/// All bitcode for a triple, in order of the linkables.
std::vector<BitcodeImage> bitcode_for(const LinkedCode &linked, const std::string &triple);

/// Names of what bitcode defines for others and of what it wants from others.
struct BitcodeSymbols {
    std::set<std::string> defined, functions, undefined, weak;
};
BitcodeSymbols bitcode_symbols(const BitcodeImage &bitcode);

/// Links it into `module`: the functions of `wanted` and what these need, all variables that others
/// can see, and kernels. CompileError if it cannot be read or linked.
void link_bitcode(llvm::Module &module, const std::vector<BitcodeImage> &bitcode,
                  const std::set<std::string> &wanted);

/// Lets functions that came as bitcode vanish where they are not used, except kernels. To be called
/// when all callers are in the module.
void internalize(llvm::Module &module, const std::set<std::string> &functions);

}  // namespace calotype::internal
