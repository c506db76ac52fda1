// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A note of ELF: name size, size, type, the name, the contents, each padded to a multiple of 4.
#include "support/build_id.h"

#include <link.h>

#include <cstring>

#include "support/error.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/hex.h"

namespace calotype::internal {

namespace {

struct Search {
    uintptr_t address;
    std::string id;
    std::string path;
};

std::string build_id_in(const uint8_t *notes, size_t size) {
    const auto padded = [](size_t n) {
        return (n + 3) / 4 * 4;
    };
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes, sizeof note);
        const size_t contents = sizeof note + padded(note.n_namesz);
        const size_t whole = contents + padded(note.n_descsz);
        if (whole > size) {
            break;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(notes + sizeof note, "GNU", 4) == 0) {
            return hex_digits(notes + contents, note.n_descsz);
        }
        notes += whole;
        size -= whole;
    }
    return "";
}

int look_into(dl_phdr_info *module, size_t, void *data) {
    Search &search = *static_cast<Search *>(data);
    bool is_it = false;
    std::string id;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = module->dlpi_phdr[i];
        const uintptr_t begin = module->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD) {
            is_it = is_it || search.address - begin < part.p_memsz;
        } else if (part.p_type == PT_NOTE && id.empty()) {
            id = build_id_in(reinterpret_cast<const uint8_t *>(begin), part.p_memsz);
        }
    }
    if (is_it) {
        const bool is_program = !module->dlpi_name || !*module->dlpi_name;
        search.id = id;
        search.path = is_program ? "/proc/self/exe" : module->dlpi_name;
    }
    return is_it ? 1 : 0;
}

}  // namespace

std::string build_id_of(const void *address) {
    Search search{reinterpret_cast<uintptr_t>(address), "", ""};
    dl_iterate_phdr(look_into, &search);
    if (!search.id.empty() || search.path.empty()) {
        return search.id;
    }
    try {
        return sha256_hex(read_file(search.path));
    } catch (const CompileError &) {
        return "";
    }
}

}  // namespace calotype::internal
