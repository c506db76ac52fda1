// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/build_image_link.h"

#include <string.h>

#include "runtime/cuda/device_symbols.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

namespace {

bool same_major(uint32_t a, uint32_t b) {
    return a / 10 == b / 10;
}

/** Higher is better; among those that run. */
uint32_t rank(const calotype_image &image) {
    const uint32_t suffix = image.suffix == 'a' ? 2 : image.suffix == 'f' ? 1 : 0;
    return image.sm * 4 + suffix;
}

/** The best of one kind for which `fits` holds. */
template<typename Fits>
const calotype_image *choose(ImageList list, calotype_kind kind, Fits fits) {
    const calotype_image *best = nullptr;
    for (uint32_t i = 0; i < list.count; i++) {
        const calotype_image &image = list.images[i];
        if (image.kind == kind && fits(image) && (!best || rank(image) > rank(*best))) {
            best = &image;
        }
    }
    return best;
}

// A fatbin is a header (magic, u16 version, u16 header bytes, u64 bytes that follow) and entries
// (u16 kind, u16 version, u32 header bytes, u64 bytes that follow the header).
constexpr uint8_t fatbin_magic[4] = {0x50, 0xed, 0x55, 0xba};
constexpr uint64_t fatbin_kind_lto_ir = 8;

bool fatbin_holds_lto_ir(FileBytes file) {
    uint64_t at = file.number(6, 2);
    const uint64_t rest = file.number(8, 8);
    if (at < 16 || !file.has(at, 0)) {
        return false;
    }
    file.size = rest < file.size - at ? at + rest : file.size;
    while (file.has(at, 16)) {
        const uint64_t entry = file.number(at + 4, 4), payload = file.number(at + 8, 8);
        if (file.number(at, 2) == fatbin_kind_lto_ir) {
            return true;
        }
        if (entry < 16 || !file.has(at, entry) || !file.has(at + entry, payload)) {
            return false;
        }
        at += entry + payload;
    }
    return false;
}

}  // namespace

bool cubin_runs_on(const calotype_image &image, const DeviceArch &arch) {
    if (image.suffix == 'a') {
        return image.sm == arch.sm && arch.suffix == 'a';
    }
    return same_major(image.sm, arch.sm) && image.sm <= arch.sm;
}

bool ptx_compiles_for(const calotype_image &image, const DeviceArch &arch) {
    if (image.suffix == 'a') {
        return image.sm == arch.sm && arch.suffix == 'a';
    }
    return image.sm <= arch.sm && (image.suffix != 'f' || same_major(image.sm, arch.sm));
}

bool is_newer_than(const calotype_image &image, const DeviceArch &arch) {
    return image.sm > arch.sm;
}

bool lto_ir_links_for(const calotype_image &image, const DeviceArch &arch) {
    if (image.suffix == 'a') {
        return image.sm == arch.sm;
    }
    return !is_newer_than(image, arch) && (image.suffix != 'f' || same_major(image.sm, arch.sm));
}

const calotype_image *choose_cubin(ImageList list, const DeviceArch &arch) {
    return choose(list, CALOTYPE_CUBIN,
                  [&](const calotype_image &image) { return cubin_runs_on(image, arch); });
}

const calotype_image *choose_ptx(ImageList list, const DeviceArch &arch) {
    return choose(list, CALOTYPE_PTX,
                  [&](const calotype_image &image) { return ptx_compiles_for(image, arch); });
}

const calotype_image *choose_lto_ir(ImageList list, const DeviceArch &arch) {
    return choose(list, CALOTYPE_LTOIR,
                  [&](const calotype_image &image) { return lto_ir_links_for(image, arch); });
}

const calotype_image *choose_container(ImageList list, calotype_kind kind, const DeviceArch &arch) {
    return choose(list, kind, [&](const calotype_image &image) {
        return image.sm == 0 || cubin_runs_on(image, arch);
    });
}

const calotype_image *find_kind(ImageList list, calotype_kind kind) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.images[i].kind == kind) {
            return &list.images[i];
        }
    }
    return nullptr;
}

bool holds_lto_ir(const calotype_image &image) {
    if (image.kind == CALOTYPE_LTOIR) {
        return true;
    }
    if (image.kind != CALOTYPE_FATBIN && image.kind != CALOTYPE_OBJECT &&
        image.kind != CALOTYPE_ARCHIVE) {
        return false;
    }
    const uint8_t *begin = static_cast<const uint8_t *>(image.data), *end = begin + image.size;
    for (const uint8_t *at = begin; end - at >= 16; at++) {
        at = static_cast<const uint8_t *>(
            memmem(at, size_t(end - at), fatbin_magic, sizeof fatbin_magic));
        if (!at || end - at < 16) {
            return false;
        }
        if (fatbin_holds_lto_ir({at, size_t(end - at)})) {
            return true;
        }
    }
    return false;
}

constexpr char elf_magic[] = {'\177', 'E', 'L', 'F'};

bool is_complete_cubin(const calotype_image &image) {
    constexpr uint64_t executable = 2;  // ET_EXEC
    const FileBytes elf = bytes_of(image);
    return elf.begins_with(elf_magic, sizeof elf_magic) && elf.number(16, 2) == executable;
}

/** Whether a table of an ELF file, and what its entries tell of, lies beyond the end. */
static bool is_elf_cut_off(const FileBytes &elf) {
    constexpr uint64_t header = 64, machine_cuda = 190, no_bits = 8, entry_size = 64;
    const uint64_t sections = elf.number(40, 8), count = elf.number(60, 2);
    if (!elf.has(0, header) || !elf.begins_with(elf_magic, sizeof elf_magic) ||
        elf.number(18, 2) != machine_cuda || elf.number(58, 2) != entry_size ||
        !elf.has(sections, count * entry_size) ||
        !elf.has(elf.number(32, 8), elf.number(54, 2) * elf.number(56, 2))) {
        return true;
    }
    for (uint64_t section = sections; section < sections + count * entry_size;
         section += entry_size) {
        if (elf.number(section + 4, 4) != no_bits &&
            !elf.has(elf.number(section + 24, 8), elf.number(section + 32, 8))) {
            return true;
        }
    }
    return false;
}

bool is_cut_off(const calotype_image &image) {
    const FileBytes file = bytes_of(image);
    switch (image.kind) {
    case CALOTYPE_CUBIN:
        return is_elf_cut_off(file);
    case CALOTYPE_FATBIN:
        return !file.has(0, 16) || !file.begins_with(fatbin_magic, sizeof fatbin_magic) ||
               !file.has(file.number(6, 2), file.number(8, 8));
    default:
        return image.size == 0;
    }
}

const char *kind_name(calotype_kind kind) {
    switch (kind) {
#define CALOTYPE_IMAGE_KIND(kind, title, nvjitlink)                                                \
    case kind:                                                                                     \
        return title;
#include "runtime/abi/image_kinds.def"
#undef CALOTYPE_IMAGE_KIND
    }
    return "image of an unknown kind";
}

void describe_arch(uint32_t sm, char suffix, Text &text) {
    text << "sm_" << sm;
    if (suffix) {
        text << suffix;
    }
}

void describe_image(const calotype_image &image, Text &text) {
    text << kind_name(image.kind);
    if (image.sm) {
        text << " ";
        describe_arch(image.sm, image.suffix, text);
    }
}

void describe_images(ImageList list, Text &text) {
    if (list.count == 0) {
        text << "nothing";
    }
    for (uint32_t i = 0; i < list.count; i++) {
        text << (i ? ", " : "");
        describe_image(list.images[i], text);
    }
}

}  // namespace calotype::runtime
