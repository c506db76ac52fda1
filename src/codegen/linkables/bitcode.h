// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM bitcode of linkables, linked into the code that calls it before that is optimised.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "ir/linkable.h"

namespace calotype::internal {

/// True for bitcode that is for NVIDIA's GPUs, or for the machine of a triple.
bool is_bitcode_for_cuda(const LinkableImage &image);
bool is_bitcode_for(const LinkableImage &image, const std::string &triple);
/// Linkable and its bitcode for a machine.
struct BitcodeImage {
    const LinkableData *linkable = nullptr;
    const LinkableImage *image = nullptr;
};
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
