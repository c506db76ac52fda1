// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resource usage of kernels, read from the machine code and from the output of the assembler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/device_code.h"

namespace calotype::internal {

/// Fills in registers, stack and static shared memory of facts[i].kernel from the ELF file. What is
/// not there, or not understood, stays as it is.
void read_cubin_facts(const std::string &cubin, std::vector<KernelFacts> &facts);

struct ElfSection {
    std::string name;
    uint64_t offset = 0, size = 0;  ///< within the file
    uint64_t memory = 0;            ///< bytes where it is loaded: more where the file has none
};
/// Of any 64-bit ELF file; none of what is not such a file.
std::vector<ElfSection> read_elf_sections(const std::string &elf);

/// True if it is one, and all of its sections are there.
bool is_whole_elf(const std::string &elf);

/// A row of the symbol table.
struct CubinSymbol {
    std::string name;
    bool is_global = false;
    bool is_weak = false;
    bool is_defined = false;
    bool is_function = false;
};
/// Of a cubin or relocatable object for a device; empty if it is none.
std::vector<CubinSymbol> read_cubin_symbols(const std::string &cubin);
/// The architecture that an ELF file for a device is made for; 0 if it is none.
int cubin_architecture(const std::string &cubin);

/// Fills in spills from the assembler's log.
void read_log_facts(const std::string &log, std::vector<KernelFacts> &facts);

/// The part of PTX that is a kernel, to where another function begins; empty if there is no such kernel.
std::string_view entry_text(std::string_view ptx, const std::string &kernel);

/// Fills in spills that no log tells of, as that of the nvJitLink of Python packages, from the
/// stack of kernels: what the PTX itself does not put there is spilled, and counts as stored and
/// loaded once. Kernels with variables or calls in the PTX that have a stack stay as they are.
void infer_spills(const std::string &ptx, std::vector<KernelFacts> &facts);

}  // namespace calotype::internal
