// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several object files as one, as a linker's -r makes it: the sections of all behind one another, one
// symbol for each name that they share, and relocations that refer to these.
//
//   members      a.o: .text f -> g (undefined)     b.o: .text g
//   merged       .text f -> g, .text g
//
// Of groups of one signature (functions that are inline in C++) the first is kept; what the others hold
// stays as sections of their own to which nothing refers, as frames of theirs may.
#include <cstring>
#include <map>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Object/ELF.h>
#include <llvm/Support/MathExtras.h>

#include "codegen/emit.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

using Elf = llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<Elf>;
using Words = llvm::ArrayRef<Elf::Word>;
using namespace llvm::ELF;

template<typename T>
T checked(llvm::Expected<T> value) {
    if (!value) {
        internal_error << "cannot merge objects: " << llvm::toString(value.takeError());
    }
    return std::move(*value);
}

/// In place of a symbol's index until all symbols are known: its number among the shared ones with this
/// bit, or among the local ones.
constexpr uint32_t is_shared = 1U << 31;

struct Section {
    std::string name;
    Elf::Shdr header;
    std::string contents;
};

struct Symbol {
    std::string name;
    Elf::Sym entry;
};

template<typename T>
std::string_view bytes_of(const T &value) {
    return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

bool is_defined(const Elf::Sym &s) {
    return s.st_shndx != SHN_UNDEF;
}

/// The names of a table of strings, each written once.
class Names {
public:
    uint32_t operator[](const std::string &name) {
        const auto [it, is_new] = places_.emplace(name, uint32_t(bytes_.size()));
        if (is_new) {
            bytes_ += name + '\0';
        }
        return it->second;
    }
    const std::string &bytes() const {
        return bytes_;
    }

private:
    std::string bytes_ = std::string(1, '\0');
    std::map<std::string, uint32_t> places_{{"", 0}};
};

class MergedObject {
public:
    void add(const std::string &bytes);
    std::string finish();

private:
    struct Member;

    void find_places(Member &member);
    void add_symbols(Member &member);
    uint32_t add_shared(const std::string &name, const Elf::Sym &entry);
    void add_section(const Member &member, size_t index);
    void refer_to_symbols();
    uint32_t final_index(uint32_t reference) const;
    Section table(const char *name, uint32_t type, std::string contents) const;
    Section table_of_symbols(Names &names) const;
    std::string file(size_t index_of_names);

    std::vector<Section> sections_;  ///< section i + 1 of the file
    std::vector<Symbol> locals_, shared_;
    std::map<std::string, uint32_t> shared_by_name_;
    std::map<std::string, bool> signatures_;
    Elf::Ehdr header_{};
};

/// One that is being added.
struct MergedObject::Member {
    explicit Member(const std::string &bytes)
        : file(checked(ElfFile::create(bytes))), headers(checked(file.sections())) {
        for (const Elf::Shdr &h : headers) {
            if (h.sh_type == SHT_SYMTAB) {
                table = &h;
            }
        }
        symbols = checked(file.symbols(table));
        strings = table ? checked(file.getStringTableForSymtab(*table)) : "";
    }

    ElfFile file;
    Elf::ShdrRange headers;
    const Elf::Shdr *table = nullptr;
    Elf::SymRange symbols;
    llvm::StringRef strings;
    std::vector<uint32_t> places;      ///< in the result, by section; 0: it is left out
    std::vector<bool> is_ungrouped;    ///< its group is left out
    std::vector<uint32_t> references;  ///< by symbol
};

void MergedObject::find_places(Member &m) {
    m.places.assign(m.headers.size(), 0);
    m.is_ungrouped.assign(m.headers.size(), false);
    uint32_t next = uint32_t(sections_.size()) + 1;
    for (size_t i = 1; i < m.headers.size(); i++) {
        const Elf::Shdr &h = m.headers[i];
        if (h.sh_type == SHT_SYMTAB || h.sh_type == SHT_STRTAB) {
            continue;
        }
        if (h.sh_type == SHT_GROUP) {
            const std::string signature = checked(m.symbols[h.sh_info].getName(m.strings)).str();
            const Words words = checked(m.file.getSectionContentsAsArray<Elf::Word>(h));
            if (words[0] & GRP_COMDAT && !signatures_.emplace(signature, true).second) {
                for (const uint32_t section : words.drop_front()) {
                    m.is_ungrouped[section] = true;
                }
                continue;
            }
        }
        m.places[i] = next++;
    }
}

/// Of several the definition counts, and a strong one before weak ones.
uint32_t MergedObject::add_shared(const std::string &name, const Elf::Sym &entry) {
    const auto [it, is_new] = shared_by_name_.emplace(name, uint32_t(shared_.size()));
    if (is_new) {
        shared_.push_back({name, entry});
        return it->second;
    }
    Elf::Sym &old = shared_[it->second].entry;
    const bool is_strong = entry.getBinding() == STB_GLOBAL;
    const bool old_is_strong = old.getBinding() == STB_GLOBAL;
    internal_assert(!(is_defined(old) && is_defined(entry) && is_strong && old_is_strong))
        << "two of the objects to merge define " << name;
    const uint8_t visibility =
        old.getVisibility() == STV_DEFAULT ? entry.getVisibility() : old.getVisibility();
    if (is_defined(entry) == is_defined(old) ? is_strong && !old_is_strong : is_defined(entry)) {
        old = entry;
    }
    old.setVisibility(visibility);
    return it->second;
}

void MergedObject::add_symbols(Member &m) {
    m.references.assign(m.symbols.size(), 0);
    for (size_t i = 1; i < m.symbols.size(); i++) {
        Elf::Sym entry = m.symbols[i];
        const std::string name = checked(entry.getName(m.strings)).str();
        if (entry.st_shndx < SHN_LORESERVE) {
            entry.st_shndx = uint16_t(m.places[entry.st_shndx]);
        }
        if (entry.getBinding() == STB_LOCAL) {
            m.references[i] = uint32_t(locals_.size());
            locals_.push_back({name, entry});
        } else {
            m.references[i] = add_shared(name, entry) | is_shared;
        }
    }
}

void MergedObject::add_section(const Member &m, size_t index) {
    Section s{checked(m.file.getSectionName(m.headers[index])).str(), m.headers[index], {}};
    if (s.header.sh_type != SHT_NOBITS) {
        s.contents = llvm::toStringRef(checked(m.file.getSectionContents(m.headers[index]))).str();
    }
    if (m.is_ungrouped[index]) {
        s.header.sh_flags = s.header.sh_flags & ~uint64_t(SHF_GROUP);
    }
    if (s.header.sh_type == SHT_RELA) {
        s.header.sh_info = m.places[s.header.sh_info];
        auto *first = reinterpret_cast<Elf::Rela *>(s.contents.data());
        for (size_t i = 0; i < s.contents.size() / sizeof(Elf::Rela); i++) {
            first[i].setSymbol(m.references[first[i].getSymbol(false)], false);
        }
    } else if (s.header.sh_type == SHT_GROUP) {
        s.header.sh_info = m.references[s.header.sh_info];
        auto *words = reinterpret_cast<Elf::Word *>(s.contents.data());
        for (size_t i = 1; i < s.contents.size() / sizeof(Elf::Word); i++) {
            words[i] = m.places[words[i]];
        }
    } else if (s.header.sh_flags & SHF_LINK_ORDER) {
        s.header.sh_link = m.places[s.header.sh_link];
    }
    sections_.push_back(std::move(s));
}

void MergedObject::add(const std::string &bytes) {
    Member member(bytes);
    header_ = member.file.getHeader();
    find_places(member);
    add_symbols(member);
    for (size_t i = 0; i < member.places.size(); i++) {
        if (member.places[i] != 0) {
            add_section(member, i);
        }
    }
}

/// Symbol 0 is none, and local ones come first.
uint32_t MergedObject::final_index(uint32_t reference) const {
    return 1 + (reference & is_shared ? uint32_t(locals_.size()) + (reference & ~is_shared)
                                      : reference);
}

void MergedObject::refer_to_symbols() {
    const uint32_t table = uint32_t(sections_.size()) + 1;
    for (Section &s : sections_) {
        if (s.header.sh_type == SHT_GROUP) {
            s.header.sh_link = table;
            s.header.sh_info = final_index(s.header.sh_info);
        }
        if (s.header.sh_type != SHT_RELA) {
            continue;
        }
        s.header.sh_link = table;
        auto *first = reinterpret_cast<Elf::Rela *>(s.contents.data());
        for (size_t i = 0; i < s.contents.size() / sizeof(Elf::Rela); i++) {
            first[i].setSymbol(final_index(first[i].getSymbol(false)), false);
        }
    }
}

Section MergedObject::table(const char *name, uint32_t type, std::string contents) const {
    Section s{name, Elf::Shdr{}, std::move(contents)};
    s.header.sh_type = type;
    s.header.sh_addralign = 1;
    return s;
}

/// What objects share with one another alone is weak, as the functions that programs call are: a program
/// may be linked with this object and with a library that has some of its members.
Section MergedObject::table_of_symbols(Names &names) const {
    std::string entries(sizeof(Elf::Sym), '\0');
    const auto add = [&](const Symbol &symbol, bool is_weak) {
        Elf::Sym entry = symbol.entry;
        entry.st_name = names[symbol.name];
        if (is_weak) {
            entry.setBinding(STB_WEAK);
        }
        entries += bytes_of(entry);
    };
    for (const Symbol &symbol : locals_) {
        add(symbol, false);
    }
    for (const Symbol &symbol : shared_) {
        add(symbol, is_defined(symbol.entry) && symbol.entry.getVisibility() != STV_DEFAULT);
    }
    Section s = table(".symtab", SHT_SYMTAB, std::move(entries));
    s.header.sh_addralign = 8;
    s.header.sh_entsize = sizeof(Elf::Sym);
    s.header.sh_link = uint32_t(sections_.size()) + 2;
    s.header.sh_info = uint32_t(locals_.size()) + 1;
    return s;
}

std::string MergedObject::file(size_t index_of_names) {
    std::string bytes(sizeof(Elf::Ehdr), '\0');
    std::string headers(sizeof(Elf::Shdr), '\0');
    for (Section &s : sections_) {
        const uint64_t alignment = std::max<uint64_t>(1, s.header.sh_addralign);
        bytes.resize(llvm::alignTo(bytes.size(), alignment), '\0');
        s.header.sh_offset = bytes.size();
        if (s.header.sh_type != SHT_NOBITS) {
            s.header.sh_size = s.contents.size();
        }
        bytes += s.contents;
        headers += bytes_of(s.header);
    }
    bytes.resize(llvm::alignTo(bytes.size(), 8), '\0');
    header_.e_shoff = bytes.size();
    header_.e_shnum = uint16_t(sections_.size() + 1);
    header_.e_shstrndx = uint16_t(index_of_names);
    std::memcpy(bytes.data(), &header_, sizeof(header_));
    return bytes + headers;
}

std::string MergedObject::finish() {
    refer_to_symbols();
    Names names;
    Section symbols = table_of_symbols(names);
    sections_.push_back(std::move(symbols));
    sections_.push_back(table(".strtab", SHT_STRTAB, names.bytes()));
    sections_.push_back(table(".shstrtab", SHT_STRTAB, ""));
    internal_assert(sections_.size() + 1 < SHN_LORESERVE) << "objects with too many sections";
    Names section_names;
    for (Section &s : sections_) {
        s.header.sh_name = section_names[s.name];
    }
    sections_.back().contents = section_names.bytes();
    return file(sections_.size());
}

}  // namespace

std::string merge_objects(const std::vector<std::pair<std::string, std::string>> &objects) {
    MergedObject merged;
    for (const auto &object : objects) {
        merged.add(object.second);
    }
    return merged.finish();
}

}  // namespace calotype::internal
