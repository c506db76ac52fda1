// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cubin is a 64-bit ELF file. Section .nv.info holds records
//
//     byte format, byte attribute, 16 bits of value or size, then (format 4) that many bytes
//
// of which those for registers and frames are pairs (index of the kernel's symbol, value). Static
// shared memory is the size of section .nv.shared.KERNEL.
#include "codegen/nvptx/cubin.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

namespace calotype::internal {

namespace {

constexpr uint8_t sized_format = 4;
constexpr uint8_t frame_size_attribute = 0x11;
constexpr uint8_t register_count_attribute = 0x2f;

/// Bytes of a file, read only where they are.
class Bytes {
public:
    explicit Bytes(const std::string &bytes) : bytes_(bytes) {
    }
    uint64_t size() const {
        return bytes_.size();
    }
    /// The value at the place, or 0 beyond the end.
    template<typename T>
    T at(uint64_t offset) const {
        T value = 0;
        if (offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset) {
            std::memcpy(&value, bytes_.data() + offset, sizeof(T));
        }
        return value;
    }
    /// The text up to the next zero.
    std::string text(uint64_t offset) const {
        if (offset >= bytes_.size()) {
            return "";
        }
        return bytes_.substr(offset, bytes_.find('\0', offset) - offset);
    }

private:
    const std::string &bytes_;
};

std::vector<ElfSection> read_sections(const Bytes &file) {
    std::vector<ElfSection> sections;
    if (file.at<uint32_t>(0) != 0x464c457f || file.at<uint8_t>(4) != 2) {
        return sections;
    }
    uint64_t table = file.at<uint64_t>(0x28);
    uint64_t entry = file.at<uint16_t>(0x3a), count = file.at<uint16_t>(0x3c);
    uint64_t names = file.at<uint64_t>(table + file.at<uint16_t>(0x3e) * entry + 0x18);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t header = table + i * entry;
        const uint64_t offset = std::min(file.at<uint64_t>(header + 0x18), file.size());
        const uint64_t memory = file.at<uint64_t>(header + 0x20);
        sections.push_back({file.text(names + file.at<uint32_t>(header)), offset,
                            std::min(memory, file.size() - offset),
                            file.at<uint32_t>(header + 0x28), memory});
    }
    return sections;
}

const ElfSection *find(const std::vector<ElfSection> &sections, const std::string &name) {
    for (const ElfSection &s : sections) {
        if (s.name == name) {
            return &s;
        }
    }
    return nullptr;
}

/// By their index.
std::vector<CubinSymbol> read_symbols(const Bytes &file, const std::vector<ElfSection> &sections) {
    std::vector<CubinSymbol> symbols;
    const ElfSection *table = find(sections, ".symtab");
    if (!table || table->link >= sections.size()) {
        return symbols;
    }
    constexpr uint64_t symbol_bytes = 24;
    for (uint64_t at = 0; at + symbol_bytes <= table->size; at += symbol_bytes) {
        const uint64_t row = table->offset + at;
        const uint8_t info = file.at<uint8_t>(row + 4);
        CubinSymbol symbol;
        symbol.name = file.text(sections[table->link].offset + file.at<uint32_t>(row));
        symbol.is_global = info >> 4 != 0;
        symbol.is_weak = info >> 4 == 2;
        symbol.is_function = (info & 15) == 2;
        symbol.is_defined = file.at<uint16_t>(row + 6) != 0;
        symbols.push_back(symbol);
    }
    return symbols;
}

/// Calls f(attribute, symbol, value) for records that are such pairs.
template<typename F>
void for_each_pair(const Bytes &file, const ElfSection &info, const F &f) {
    uint64_t at = info.offset, end = info.offset + info.size;
    while (at + 4 <= end) {
        uint8_t format = file.at<uint8_t>(at), attribute = file.at<uint8_t>(at + 1);
        uint16_t size = file.at<uint16_t>(at + 2);
        if (format == sized_format && size == 8) {
            f(attribute, file.at<uint32_t>(at + 4), file.at<uint32_t>(at + 8));
        }
        at += 4 + (format == sized_format ? size : 0);
    }
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
    Bytes file(cubin);
    std::vector<ElfSection> sections = read_sections(file);
    std::vector<CubinSymbol> symbols = read_symbols(file, sections);
    if (const ElfSection *info = find(sections, ".nv.info")) {
        for_each_pair(file, *info, [&](uint8_t attribute, uint32_t symbol, uint32_t value) {
            KernelFacts *f = symbol < symbols.size() ? find(facts, symbols[symbol].name) : nullptr;
            if (f && attribute == register_count_attribute) {
                f->registers = int(value);
            } else if (f && attribute == frame_size_attribute) {
                f->stack_bytes = int(value);
            }
        });
    }
    for (KernelFacts &f : facts) {
        const ElfSection *shared = find(sections, ".nv.shared." + f.kernel);
        if (f.registers >= 0) {
            f.static_shared_bytes = shared ? int(shared->memory) : 0;
        }
    }
}

std::vector<ElfSection> read_elf_sections(const std::string &elf) {
    return read_sections(Bytes(elf));
}

std::vector<CubinSymbol> read_cubin_symbols(const std::string &cubin) {
    Bytes file(cubin);
    return read_symbols(file, read_sections(file));
}

// The flags hold it, in the lowest byte or, in newer files, in the second.
int cubin_architecture(const std::string &cubin) {
    constexpr uint16_t machine_cuda = 190;
    constexpr uint8_t newer_abi = 8;
    Bytes file(cubin);
    if (file.at<uint32_t>(0) != 0x464c457f || file.at<uint16_t>(0x12) != machine_cuda) {
        return 0;
    }
    const uint32_t flags = file.at<uint32_t>(0x30);
    return int(file.at<uint8_t>(8) >= newer_abi ? flags >> 8 & 0xff : flags & 0xff);
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

}  // namespace calotype::internal
