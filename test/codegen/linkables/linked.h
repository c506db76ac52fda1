// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules made by hand whose kernels call functions of linkables, and code for these.
#pragma once

#include <string>
#include <vector>

#include "codegen/device_code.h"
#include "ir/module.h"

namespace calotype::internal {

/// A file that was made when the tests were built; empty if the compiler for it was not there.
std::string linked_input(const std::string &name);

/// A linkable of one image, whose form is that of the file's name: "rng.ptx", "rng80.cubin".
LinkableData linkable_of(const std::string &file, const std::string &name = "rng");
void add_image(LinkableData &linkable, const std::string &file);
/// The same of bytes.
LinkableImage image_of(calotype_kind kind, uint32_t sm, const std::string &bytes,
                       const std::string &origin);

/// A call of a function that gives one value.
Expr linked_call(Type t, const std::string &name, const std::vector<Expr> &args,
                 int value_index = 0, CallKind kind = CallKind::PureExtern);

/// A kernel "k" of one thread that does `body`; its argument "out" is a buffer of int32.
DeviceModule linked_module(DeviceAPI api, const Stmt &body);
/// out[0] = rng_next(out[1], out[2])
DeviceModule calling_rng_next(const std::vector<LinkableData> &linkables,
                              DeviceAPI api = DeviceAPI::CUDA);
/// out[index] = value
Stmt store_out(int index, const Expr &value);
Expr load_out(int index);

/// The cubin for an architecture, or "".
std::string cubin_for(const DeviceCode &code, uint32_t sm);
bool defines(const std::string &cubin, const std::string &symbol);
/// The bytes of a section of an ELF file, or "".
std::string section(const std::string &elf, const std::string &name);

/// One of machine code from sm_70 on.
struct Instruction {
    uint64_t low = 0, high = 0;
    /// What it does, and of which kinds its operands are.
    uint32_t operation() const {
        return low & 0xfff;
    }
};
/// Those of a function of a cubin.
std::vector<Instruction> instructions(const std::string &cubin, const std::string &function);

bool has_nvjitlink();
bool has_nvrtc();

#define NEEDS_INPUT(file)                                                                          \
    if (linked_input(file).empty() || !has_nvjitlink()) {                                          \
        GTEST_SKIP() << "no compiler for " << (file) << " or no CUDA toolkit on this machine";     \
    }

}  // namespace calotype::internal
