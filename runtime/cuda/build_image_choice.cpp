// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/build_image_link.h"

#include <string.h>

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

uint64_t read_number(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= uint64_t(at[i]) << (8 * i);
    }
    return value;
}

// A fatbin is a header (magic, u16 version, u16 header bytes, u64 bytes that follow) and entries
// (u16 kind, u16 version, u32 header bytes, u64 bytes that follow the header).
constexpr uint8_t fatbin_magic[4] = {0x50, 0xed, 0x55, 0xba};
constexpr uint64_t fatbin_kind_lto_ir = 8;

bool fatbin_holds_lto_ir(const uint8_t *at, size_t size) {
    const uint64_t header = read_number(at + 6, 2), rest = read_number(at + 8, 8);
    if (header < 16 || header > size) {
        return false;
    }
    at += header;
    size -= size_t(header);
    size = rest < size ? size_t(rest) : size;
    while (size >= 16) {
        const uint64_t entry = read_number(at + 4, 4), payload = read_number(at + 8, 8);
        if (read_number(at, 2) == fatbin_kind_lto_ir) {
            return true;
        }
        if (entry < 16 || entry > size || payload > size - entry) {
            return false;
        }
        at += entry + payload;
        size -= size_t(entry + payload);
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
        if (fatbin_holds_lto_ir(at, size_t(end - at))) {
            return true;
        }
    }
    return false;
}

bool is_complete_cubin(const calotype_image &image) {
    constexpr uint64_t executable = 2;  // ET_EXEC
    const uint8_t *elf = static_cast<const uint8_t *>(image.data);
    return image.size >= 18 && memcmp(elf, "\177ELF", 4) == 0 &&
           read_number(elf + 16, 2) == executable;
}

/** Whether a table of an ELF file, and what its entries tell of, lies beyond the end. */
static bool is_elf_cut_off(const uint8_t *elf, uint64_t size) {
    constexpr uint64_t header = 64, machine_cuda = 190, no_bits = 8, entry_size = 64;
    if (size < header || memcmp(elf, "\177ELF", 4) != 0 ||
        read_number(elf + 18, 2) != machine_cuda) {
        return true;
    }
    const uint64_t sections = read_number(elf + 40, 8), count = read_number(elf + 60, 2);
    const uint64_t segments = read_number(elf + 32, 8);
    const uint64_t segment_bytes = read_number(elf + 54, 2) * read_number(elf + 56, 2);
    if (read_number(elf + 58, 2) != entry_size || sections > size ||
        count * entry_size > size - sections || segments > size ||
        segment_bytes > size - segments) {
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *section = elf + sections + i * entry_size;
        const uint64_t offset = read_number(section + 24, 8), bytes = read_number(section + 32, 8);
        if (read_number(section + 4, 4) != no_bits && (offset > size || bytes > size - offset)) {
            return true;
        }
    }
    return false;
}

bool is_cut_off(const calotype_image &image) {
    const uint8_t *bytes = static_cast<const uint8_t *>(image.data);
    if (image.kind == CALOTYPE_CUBIN) {
        return is_elf_cut_off(bytes, image.size);
    }
    if (image.kind == CALOTYPE_FATBIN) {
        if (image.size < 16 || memcmp(bytes, fatbin_magic, sizeof fatbin_magic) != 0) {
            return true;
        }
        const uint64_t header = read_number(bytes + 6, 2), rest = read_number(bytes + 8, 8);
        return header > image.size || rest > image.size - header;
    }
    return image.size == 0;
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
