// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cubin is a 64-bit ELF file. Section .nv.info holds records
//
//     byte format, byte attribute, 16 bits of value or size, then (format 4) that many bytes
//
// of which those for registers and frames are pairs (index of the kernel's symbol, value). Static
// shared memory is the size of section .nv.shared.KERNEL.
#include "codegen/nvptx/cubin.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

namespace calotype::internal {

namespace {

constexpr uint8_t sized_format = 4;
constexpr uint8_t frame_size_attribute = 0x11;
constexpr uint8_t register_count_attribute = 0x2f;

using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// The value, or `none` of what is not as it should be.
template<typename T>
T value_or(llvm::Expected<T> value, T none) {
    if (value) {
        return *value;
    }
    llvm::consumeError(value.takeError());
    return none;
}

std::optional<Elf> open_elf(const std::string &bytes) {
    const llvm::file_magic kind = llvm::identify_magic(bytes);
    const bool is_elf = kind >= llvm::file_magic::elf && kind <= llvm::file_magic::elf_core;
    if (!is_elf || bytes[4] != llvm::ELF::ELFCLASS64 || bytes[5] != llvm::ELF::ELFDATA2LSB) {
        return std::nullopt;
    }
    llvm::Expected<Elf> file = Elf::create(bytes);
    if (!file) {
        llvm::consumeError(file.takeError());
        return std::nullopt;
    }
    return *file;
}

Elf::Elf_Shdr_Range sections_of(const Elf &file) {
    return value_or(file.sections(), Elf::Elf_Shdr_Range());
}

std::string name_of(const Elf &file, const Elf::Elf_Shdr &section) {
    return value_or(file.getSectionName(section), llvm::StringRef()).str();
}

const Elf::Elf_Shdr *find(const Elf &file, const std::string &name) {
    for (const Elf::Elf_Shdr &section : sections_of(file)) {
        if (name_of(file, section) == name) {
            return &section;
        }
    }
    return nullptr;
}

/// By their index.
std::vector<CubinSymbol> read_symbols(const Elf &file) {
    std::vector<CubinSymbol> symbols;
    const Elf::Elf_Shdr *table = find(file, ".symtab");
    if (!table) {
        return symbols;
    }
    const llvm::StringRef names = value_or(file.getStringTableForSymtab(*table), llvm::StringRef());
    for (const Elf::Elf_Sym &row : value_or(file.symbols(table), Elf::Elf_Sym_Range())) {
        CubinSymbol symbol;
        symbol.name = value_or(row.getName(names), llvm::StringRef()).str();
        symbol.is_global = row.getBinding() != llvm::ELF::STB_LOCAL;
        symbol.is_weak = row.getBinding() == llvm::ELF::STB_WEAK;
        symbol.is_function = row.getType() == llvm::ELF::STT_FUNC;
        symbol.is_defined = row.st_shndx != llvm::ELF::SHN_UNDEF;
        symbols.push_back(symbol);
    }
    return symbols;
}

/// Calls f(attribute, symbol, value) for records that are such pairs.
template<typename F>
void for_each_pair(llvm::ArrayRef<uint8_t> info, const F &f) {
    using namespace llvm::support::endian;
    while (info.size() >= 4) {
        const size_t size = info[0] == sized_format ? 4 + read16le(&info[2]) : 4;
        if (size > info.size()) {
            return;
        }
        if (size == 12) {
            f(info[1], read32le(&info[4]), read32le(&info[8]));
        }
        info = info.drop_front(size);
    }
}

/// Whether registers are all that the assembler can put on the stack of a kernel.
bool has_only_spills(std::string_view entry) {
    return !entry.empty() && entry.find(".local") == entry.npos && entry.find("call") == entry.npos;
}

KernelFacts *find(std::vector<KernelFacts> &facts, const std::string &kernel) {
    for (KernelFacts &f : facts) {
        if (f.kernel == kernel) {
            return &f;
        }
    }
    return nullptr;
}

}  // namespace

void read_cubin_facts(const std::string &cubin, std::vector<KernelFacts> &facts) {
    const std::optional<Elf> file = open_elf(cubin);
    if (!file) {
        return;
    }
    const std::vector<CubinSymbol> symbols = read_symbols(*file);
    if (const Elf::Elf_Shdr *info = find(*file, ".nv.info")) {
        const auto records = value_or(file->getSectionContents(*info), llvm::ArrayRef<uint8_t>());
        for_each_pair(records, [&](uint8_t attribute, uint32_t symbol, uint32_t value) {
            KernelFacts *f = symbol < symbols.size() ? find(facts, symbols[symbol].name) : nullptr;
            if (f && attribute == register_count_attribute) {
                f->registers = int(value);
            } else if (f && attribute == frame_size_attribute) {
                f->stack_bytes = int(value);
            }
        });
    }
    for (KernelFacts &f : facts) {
        const Elf::Elf_Shdr *shared = find(*file, ".nv.shared." + f.kernel);
        if (f.registers >= 0) {
            f.static_shared_bytes = shared ? int(shared->sh_size) : 0;
        }
    }
}

std::vector<ElfSection> read_elf_sections(const std::string &elf) {
    std::vector<ElfSection> sections;
    const std::optional<Elf> file = open_elf(elf);
    if (!file) {
        return sections;
    }
    for (const Elf::Elf_Shdr &section : sections_of(*file)) {
        const uint64_t offset = std::min<uint64_t>(section.sh_offset, elf.size());
        const uint64_t size = std::min<uint64_t>(section.sh_size, elf.size() - offset);
        sections.push_back({name_of(*file, section), offset, size, section.sh_size});
    }
    return sections;
}

bool is_whole_elf(const std::string &elf) {
    const std::optional<Elf> file = open_elf(elf);
    if (!file) {
        return false;
    }
    const auto is_there = [](auto part) {
        const bool there = bool(part);
        llvm::consumeError(part.takeError());
        return there;
    };
    const auto sections = sections_of(*file);
    return is_there(file->sections()) &&
           std::all_of(sections.begin(), sections.end(), [&](const Elf::Elf_Shdr &section) {
               return section.sh_type == llvm::ELF::SHT_NOBITS ||
                      is_there(file->getSectionContents(section));
           });
}

std::vector<CubinSymbol> read_cubin_symbols(const std::string &cubin) {
    const std::optional<Elf> file = open_elf(cubin);
    return file ? read_symbols(*file) : std::vector<CubinSymbol>();
}

// The flags hold it, in the lowest byte or, in newer files, in the second.
int cubin_architecture(const std::string &cubin) {
    constexpr uint8_t newer_abi = 8;
    const std::optional<Elf> file = open_elf(cubin);
    if (!file || file->getHeader().e_machine != llvm::ELF::EM_CUDA) {
        return 0;
    }
    const uint32_t flags = file->getHeader().e_flags;
    const uint8_t abi = file->getHeader().e_ident[llvm::ELF::EI_ABIVERSION];
    return int(abi >= newer_abi ? flags >> 8 & 0xff : flags & 0xff);
}

void read_log_facts(const std::string &log, std::vector<KernelFacts> &facts) {
    std::istringstream lines(log);
    KernelFacts *current = nullptr;
    const std::string entry = "Compiling entry function '";
    for (std::string line; std::getline(lines, line);) {
        if (size_t at = line.find(entry); at != std::string::npos) {
            size_t begin = at + entry.size();
            current = find(facts, line.substr(begin, line.find('\'', begin) - begin));
        }
        size_t frame = line.find("bytes stack frame, ");
        int stores = 0, loads = 0;
        if (current && frame != std::string::npos &&
            std::sscanf(line.c_str() + frame,
                        "bytes stack frame, %d bytes spill stores, %d bytes spill loads", &stores,
                        &loads) == 2) {
            current->spill_store_bytes = stores;
            current->spill_load_bytes = loads;
            current = nullptr;
        }
    }
}

std::string_view entry_text(std::string_view ptx, const std::string &kernel) {
    const size_t begin = ptx.find(".entry " + kernel + "(");
    if (begin == ptx.npos) {
        return {};
    }
    return ptx.substr(begin,
                      std::min(ptx.find(".entry ", begin + 1), ptx.find(".func ", begin)) - begin);
}

void infer_spills(const std::string &ptx, std::vector<KernelFacts> &facts) {
    for (KernelFacts &f : facts) {
        const bool is_told =
            f.stack_bytes == 0 || (f.stack_bytes > 0 && has_only_spills(entry_text(ptx, f.kernel)));
        if (f.spill_store_bytes < 0 && is_told) {
            f.spill_store_bytes = f.spill_load_bytes = f.stack_bytes;
        }
    }
}

}  // namespace calotype::internal
