// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/choice.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "codegen/linkables/linkable.h"

namespace calotype::internal {

namespace {

uint64_t number_at(const std::string &bytes, size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size && at + i < bytes.size(); i++) {
        value |= uint64_t(uint8_t(bytes[at + i])) << (8 * i);
    }
    return value;
}

// A fatbin is a header (magic, u16 version, u16 header bytes, u64 bytes that follow) and entries
// (u16 kind, u16 version, u32 header bytes, u64 bytes that follow the header).
const std::string fatbin_magic("\x50\xed\x55\xba", 4);
constexpr uint64_t lto_ir_entry = 8;

bool fatbin_holds_lto_ir(const std::string &bytes, size_t at) {
    const uint64_t end = std::min<uint64_t>(bytes.size(), at + number_at(bytes, at + 6, 2) +
                                                              number_at(bytes, at + 8, 8));
    for (at += number_at(bytes, at + 6, 2); at + 16 <= end;) {
        if (number_at(bytes, at, 2) == lto_ir_entry) {
            return true;
        }
        const uint64_t size = number_at(bytes, at + 4, 4) + number_at(bytes, at + 8, 8);
        if (size < 16 || size > end - at) {
            return false;
        }
        at += size;
    }
    return false;
}

bool is_elf_cut_off(const std::string &elf) {
    constexpr uint64_t no_bits = 8, row = 64;
    const uint64_t size = elf.size();
    if (size < 64 || elf.compare(0, 4, "\177ELF") != 0) {
        return true;
    }
    const uint64_t sections = number_at(elf, 40, 8), count = number_at(elf, 60, 2);
    if (sections > size || count * row > size - sections) {
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = sections + i * row;
        const uint64_t offset = number_at(elf, at + 24, 8), bytes = number_at(elf, at + 32, 8);
        if (number_at(elf, at + 4, 4) != no_bits && (offset > size || bytes > size - offset)) {
            return true;
        }
    }
    return false;
}

/// Each member has a header of 60 bytes with its size in digits, and begins at an even place.
bool is_archive_cut_off(const std::string &archive) {
    if (archive.compare(0, 8, "!<arch>\n") != 0) {
        return true;
    }
    size_t at = 8;
    while (at < archive.size()) {
        if (archive.size() - at < 60) {
            return true;
        }
        const uint64_t size = std::strtoull(archive.substr(at + 48, 10).c_str(), nullptr, 10);
        if (size > archive.size() - at - 60) {
            return true;
        }
        at += 60 + size + size % 2;
    }
    return false;
}

/// Higher is better; among those that suit.
uint32_t rank(const LinkableImage &image) {
    return image.sm * 4 + (image.suffix == 'a' ? 2 : image.suffix == 'f' ? 1 : 0);
}

const LinkableImage *best(const LinkableData &linkable, calotype_kind kind, Capability capability) {
    const LinkableImage *found = nullptr;
    for (const LinkableImage &image : linkable.images) {
        if (image.kind == kind && suits(image, capability) &&
            (!found || rank(image) > rank(*found))) {
            found = &image;
        }
    }
    return found;
}

}  // namespace

bool holds_lto_ir(const LinkableImage &image) {
    if (image.kind == CALOTYPE_LTOIR) {
        return true;
    }
    if (image.kind != CALOTYPE_FATBIN && image.kind != CALOTYPE_OBJECT &&
        image.kind != CALOTYPE_ARCHIVE) {
        return false;
    }
    for (size_t at = image.bytes.find(fatbin_magic); at != std::string::npos;
         at = image.bytes.find(fatbin_magic, at + 1)) {
        if (fatbin_holds_lto_ir(image.bytes, at)) {
            return true;
        }
    }
    return false;
}

bool is_cut_off(const LinkableImage &image) {
    const std::string &bytes = image.bytes;
    switch (image.kind) {
    case CALOTYPE_CUBIN:
    case CALOTYPE_OBJECT:
        return is_elf_cut_off(bytes);
    case CALOTYPE_ARCHIVE:
        return is_archive_cut_off(bytes);
    case CALOTYPE_FATBIN:
        return bytes.compare(0, 4, fatbin_magic) != 0 ||
               number_at(bytes, 6, 2) + number_at(bytes, 8, 8) > bytes.size();
    default:
        return bytes.empty();
    }
}

bool suits(const LinkableImage &image, Capability capability) {
    const uint32_t sm = uint32_t(capability.sm);
    const bool same_family = image.sm / 10 == sm / 10;
    if (image.sm == 0) {
        return true;
    }
    if (image.kind == CALOTYPE_LTOIR) {
        return image.sm <= sm;
    }
    if (image.suffix == 'a') {
        return image.sm == sm;
    }
    return image.sm <= sm && (same_family || (image.kind == CALOTYPE_PTX && !image.suffix));
}

const LinkableImage *choose_image(const LinkableData &linkable, Capability capability,
                                  bool kernels_are_lto_ir) {
    const LinkableImage *lto_ir =
        linkable.lto == LtoMode::Never ? nullptr : best(linkable, CALOTYPE_LTOIR, capability);
    const LinkableImage *cubin = best(linkable, CALOTYPE_CUBIN, capability);
    const bool is_exact = cubin && cubin->sm == uint32_t(capability.sm);
    if (lto_ir && (kernels_are_lto_ir || !is_exact)) {
        return lto_ir;
    }
    if (cubin) {
        return cubin;
    }
    for (calotype_kind kind : {CALOTYPE_FATBIN, CALOTYPE_OBJECT, CALOTYPE_ARCHIVE}) {
        if (const LinkableImage *image = find_kind(linkable, kind)) {
            return image;
        }
    }
    return best(linkable, CALOTYPE_PTX, capability);
}

bool is_needed_later(const LinkableData &linkable, const LinkableImage &image,
                     const std::vector<Capability> &linked) {
    if (image.kind == CALOTYPE_LTOIR) {
        return linkable.lto != LtoMode::Never;
    }
    if (image.kind != CALOTYPE_CUBIN) {
        return true;
    }
    // Devices that it runs on have a complete cubin already.
    return std::none_of(linked.begin(), linked.end(), [&](Capability c) {
        return uint32_t(c.sm) <= image.sm && uint32_t(c.sm) / 10 == image.sm / 10 && !c.suffix;
    });
}

}  // namespace calotype::internal
