// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fatbin is a header (magic, u16 version, u16 header bytes, u64 bytes that follow) and entries of
//
//     u16 kind, u16 version, u32 header bytes, u64 bytes that follow the header,
//     u32 bytes of these that are packed code, ..., at 28 u32 architecture,
//     at 40 u64 flags, at 56 u64 bytes when unpacked
//
// Objects hold fatbins, one after another, in a section of their own; archives hold objects.
#include "codegen/linkables/device_parts.h"

#include <algorithm>

#include "codegen/linkables/choice.h"
#include "codegen/nvptx/cubin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"

namespace calotype::internal {

namespace {

uint64_t number_at(const std::string &bytes, size_t at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size && at + i < bytes.size(); i++) {
        value |= uint64_t(uint8_t(bytes[at + i])) << (8 * i);
    }
    return value;
}

const std::string fatbin_magic("\x50\xed\x55\xba", 4);
/// As many times as many bytes may come of what is packed.
constexpr uint64_t most_unpacked = 4096;
constexpr uint64_t most_bytes = uint64_t(1) << 30;

enum FatbinFlag : uint32_t {
    packed_with_lz4 = 0x2000,
    packed_with_zstd = 0x8000,
    of_one_architecture = 0x100000,
    of_a_family = 0x200000,
};

/// The kind of code of an entry; nothing for what is not code.
std::optional<calotype_kind> kind_of_entry(uint64_t number) {
    switch (number) {
    case 1:
        return CALOTYPE_PTX;
    case 2:
        return CALOTYPE_CUBIN;
    case 8:
        return CALOTYPE_LTOIR;
    default:
        return std::nullopt;
    }
}

PackedForm read_entry(const std::string &bytes, uint64_t at, uint64_t header, uint64_t size,
                      calotype_kind kind) {
    const uint64_t flags = number_at(bytes, at + 40, 8), packed = number_at(bytes, at + 16, 4);
    PackedForm form;
    form.kind = kind;
    form.sm = uint32_t(number_at(bytes, at + 28, 4));
    form.suffix = flags & of_one_architecture ? 'a' : flags & of_a_family ? 'f' : '\0';
    form.packing = flags & packed_with_lz4    ? PackedForm::Packing::Lz4
                   : flags & packed_with_zstd ? PackedForm::Packing::Zstd
                                              : PackedForm::Packing::None;
    form.begin = at + header;
    form.size = form.packing == PackedForm::Packing::None ? size : std::min(size, packed);
    form.unpacked_size = number_at(bytes, at + 56, 8);
    return form;
}

/// Fatbins one after another, with zeros between them.
void add_fatbins(const std::string &bytes, uint64_t at, uint64_t end,
                 std::vector<DevicePart> &parts) {
    end = std::min<uint64_t>(end, bytes.size());
    while ((at = bytes.find(fatbin_magic, at)) < end && end - at >= 16) {
        const uint64_t header = number_at(bytes, at + 6, 2), rest = number_at(bytes, at + 8, 8);
        if (header < 16 || header > end - at || rest > end - at - header) {
            return;
        }
        const uint64_t after = at + header + rest;
        DevicePart part;
        for (at += header; after - at >= 16;) {
            const uint64_t head = number_at(bytes, at + 4, 4), size = number_at(bytes, at + 8, 8);
            if (head < 16 || head > after - at || size > after - at - head) {
                break;
            }
            if (const auto kind = kind_of_entry(number_at(bytes, at, 2))) {
                part.push_back(read_entry(bytes, at, head, size, *kind));
            }
            at += head + size;
        }
        parts.push_back(std::move(part));
        at = after;
    }
}

/// An object for the host holds fatbins, one for a device is a cubin.
void add_object(const std::string &bytes, uint64_t at, uint64_t end,
                std::vector<DevicePart> &parts) {
    const std::string object = bytes.substr(at, end - at);
    if (const int sm = cubin_architecture(object)) {
        PackedForm form;
        form.kind = CALOTYPE_CUBIN;
        form.sm = uint32_t(sm);
        form.begin = at;
        form.size = end - at;
        parts.push_back({form});
        return;
    }
    for (const ElfSection &section : read_elf_sections(object)) {
        if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin") {
            const uint64_t begin = std::min(section.offset, end - at);
            const uint64_t size = std::min(section.size, end - at - begin);
            add_fatbins(bytes, at + begin, at + begin + size, parts);
        }
    }
}

/// Calls f(begin, end) of each member; false if the archive is not whole.
template<typename F>
bool for_each_member(const std::string &bytes, const F &f) {
    auto archive = llvm::object::Archive::create(llvm::MemoryBufferRef(bytes, ""));
    if (!archive) {
        llvm::consumeError(archive.takeError());
        return false;
    }
    bool is_whole = true;
    llvm::Error error = llvm::Error::success();
    for (const auto &member : (*archive)->children(error)) {
        llvm::Expected<llvm::StringRef> content = member.getBuffer();
        is_whole = is_whole && bool(content);
        if (!content) {
            llvm::consumeError(content.takeError());
            continue;
        }
        const size_t begin = size_t(content->data() - bytes.data());
        f(begin, begin + content->size());
    }
    is_whole = is_whole && !error;
    llvm::consumeError(std::move(error));
    return is_whole;
}

std::optional<std::string> unpack_zstd(const std::string &packed, uint64_t unpacked_size) {
    if (!llvm::compression::zstd::isAvailable()) {
        return std::nullopt;
    }
    std::string result(unpacked_size, '\0');
    size_t size = result.size();
    llvm::Error error = llvm::compression::zstd::decompress(
        llvm::arrayRefFromStringRef(packed), reinterpret_cast<uint8_t *>(result.data()), size);
    const bool ok = !error && size == unpacked_size;
    llvm::consumeError(std::move(error));
    return ok ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<std::string> unpack(const std::string &file, const PackedForm &form) {
    std::string bytes = file.substr(form.begin, form.size);
    if (form.packing == PackedForm::Packing::None) {
        return bytes;
    }
    if (form.unpacked_size > std::min<uint64_t>(bytes.size() * most_unpacked, most_bytes)) {
        return std::nullopt;
    }
    return form.packing == PackedForm::Packing::Lz4 ? unpack_lz4(bytes, form.unpacked_size)
                                                    : unpack_zstd(bytes, form.unpacked_size);
}

/// A length that may go on in bytes of 255; false at the end of the block.
bool read_length(const std::string &block, size_t &at, size_t &length) {
    for (uint8_t more = length == 15 ? 255 : 0; more == 255; length += more) {
        if (at >= block.size()) {
            return false;
        }
        more = uint8_t(block[at++]);
    }
    return true;
}

}  // namespace

// Each step is a byte with two lengths, so many plain bytes, then, unless the block ends there, how
// far back (u16) the bytes stand that come once more, four at least.
std::optional<std::string> unpack_lz4(const std::string &block, uint64_t unpacked_size) {
    std::string result;
    result.reserve(unpacked_size);
    for (size_t at = 0; at < block.size();) {
        const auto token = uint8_t(block[at++]);
        size_t plain = token >> 4, again = token & 15;
        if (!read_length(block, at, plain) || plain > block.size() - at ||
            plain > unpacked_size - result.size()) {
            return std::nullopt;
        }
        result.append(block, at, plain);
        at += plain;
        if (at == block.size()) {
            break;
        }
        const size_t back = number_at(block, at, 2);
        at += 2;
        if (at > block.size() || !read_length(block, at, again) || back == 0 ||
            back > result.size() || again + 4 > unpacked_size - result.size()) {
            return std::nullopt;
        }
        for (size_t i = 0; i < again + 4; i++) {
            result += result[result.size() - back];
        }
    }
    return result.size() == unpacked_size ? std::optional(std::move(result)) : std::nullopt;
}

std::vector<DevicePart> device_parts(const LinkableImage &image) {
    std::vector<DevicePart> parts;
    const std::string &bytes = image.bytes;
    if (image.kind == CALOTYPE_FATBIN) {
        add_fatbins(bytes, 0, bytes.size(), parts);
    } else if (image.kind == CALOTYPE_OBJECT) {
        add_object(bytes, 0, bytes.size(), parts);
    } else if (image.kind == CALOTYPE_ARCHIVE) {
        for_each_member(bytes, [&](size_t begin, size_t end) {
            if (number_at(bytes, begin, 4) == number_at(fatbin_magic, 0, 4)) {
                add_fatbins(bytes, begin, end, parts);
            } else {
                add_object(bytes, begin, end, parts);
            }
        });
    }
    return parts;
}

std::optional<LinkableImage> readable_form(const LinkableImage &image, const DevicePart &part,
                                           Capability capability) {
    const PackedForm *found = nullptr;
    int best = -1;
    for (const PackedForm &form : part) {
        LinkableImage as_image;
        as_image.kind = form.kind;
        as_image.sm = form.sm;
        as_image.suffix = form.suffix;
        const int rank = form.kind == CALOTYPE_LTOIR
                             ? -1
                             : 2 * suits(as_image, capability) + (form.kind == CALOTYPE_CUBIN);
        if (rank > best) {
            found = &form;
            best = rank;
        }
    }
    auto bytes = found ? unpack(image.bytes, *found) : std::nullopt;
    if (!bytes) {
        return std::nullopt;
    }
    if (found->kind == CALOTYPE_PTX) {
        bytes->resize(std::min(bytes->size(), bytes->find('\0')));
    }
    return LinkableImage{found->kind, found->sm, found->suffix, std::move(*bytes), image.origin};
}

bool holds_lto_ir(const LinkableImage &image) {
    const std::vector<DevicePart> parts = device_parts(image);
    return image.kind == CALOTYPE_LTOIR ||
           std::any_of(parts.begin(), parts.end(), [](const DevicePart &part) {
               return std::any_of(part.begin(), part.end(), [](const PackedForm &form) {
                   return form.kind == CALOTYPE_LTOIR;
               });
           });
}

bool is_cut_off(const LinkableImage &image) {
    const std::string &bytes = image.bytes;
    switch (image.kind) {
    case CALOTYPE_CUBIN:
    case CALOTYPE_OBJECT:
        return !is_whole_elf(bytes);
    case CALOTYPE_ARCHIVE:
        return !for_each_member(bytes, [](size_t, size_t) {});
    case CALOTYPE_FATBIN:
        return bytes.compare(0, 4, fatbin_magic) != 0 || number_at(bytes, 6, 2) > bytes.size() ||
               number_at(bytes, 8, 8) > bytes.size() - number_at(bytes, 6, 2);
    default:
        return bytes.empty();
    }
}

}  // namespace calotype::internal
