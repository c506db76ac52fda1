// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/image_store.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/data/sha256.h"

namespace calotype::runtime {

namespace {

constexpr uint32_t flag_linked = 1, flag_lto_missed = 2;
constexpr char magic[4] = {'C', 'K', 'O', '1'};

/** A frame: this, the text of the toolchain, zeros up to a multiple of 16, the image. Processes on
 * all machines that share a store write numbers in the same order of bytes. */
struct Header {
    char magic[4];
    uint32_t schema, header_bytes, kind;
    uint64_t payload_bytes;
    calotype_uid key;
    calotype_uid digest;  ///< of all but itself
    uint32_t sm, suffix, flags, toolchain_bytes;
    uint64_t compile_ns;
};
static_assert(sizeof(Header) == 112 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

size_t header_bytes_for(size_t toolchain_bytes) {
    return (sizeof(Header) + toolchain_bytes + 15) / 16 * 16;
}

bool is_same(const calotype_uid &a, const calotype_uid &b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

calotype_uid digest_of(const uint8_t *frame, size_t size) {
    const size_t before = offsetof(Header, digest), after = before + sizeof(calotype_uid);
    return Sha256().add(frame, before).add(frame + after, size - after).finish();
}

/** Whether the lengths agree with each other and with the frame's. */
bool lengths_agree(const Header &header, size_t size) {
    return header.toolchain_bytes < sizeof DeviceArch::toolchain &&
           header.header_bytes == header_bytes_for(header.toolchain_bytes) &&
           size > header.header_bytes && header.payload_bytes == size - header.header_bytes;
}

bool is_made_for(const Header &header, const uint8_t *frame, const DeviceArch &arch) {
    return header.sm == arch.sm && header.suffix == uint8_t(arch.suffix) &&
           header.toolchain_bytes == strlen(arch.toolchain) &&
           memcmp(frame + sizeof header, arch.toolchain, header.toolchain_bytes) == 0;
}

/** Null: all is well, and *header is filled in. */
const char *what_is_wrong(const uint8_t *frame, size_t size, const calotype_uid &key,
                          const DeviceArch &arch, Header *header) {
    if (size < sizeof *header) {
        return "size";
    }
    memcpy(header, frame, sizeof *header);
    return memcmp(header->magic, magic, sizeof magic) != 0    ? "magic"
           : header->schema != store_schema                   ? "schema"
           : !lengths_agree(*header, size)                    ? "lengths"
           : !is_same(header->key, key)                       ? "key"
           : !is_same(header->digest, digest_of(frame, size)) ? "digest"
           : !is_made_for(*header, frame, arch)               ? "architecture"
                                                              : nullptr;
}

}  // namespace

StoreFrame make_store_frame(const calotype_uid &key, const DeviceArch &arch,
                            const LoadableImage &image) {
    const size_t toolchain = strlen(arch.toolchain);
    const size_t begin = header_bytes_for(toolchain), size = begin + image.size;
    uint8_t *frame = static_cast<uint8_t *>(malloc(size));
    if (!frame) {
        return {};
    }
    Header header = {};
    memcpy(header.magic, magic, sizeof magic);
    header.schema = store_schema;
    header.header_bytes = uint32_t(begin);
    header.kind = image.kind;
    header.payload_bytes = image.size;
    header.key = key;
    header.sm = arch.sm;
    header.suffix = uint8_t(arch.suffix);
    header.flags = (image.was_linked ? flag_linked : 0) | (image.lto_missed ? flag_lto_missed : 0);
    header.toolchain_bytes = uint32_t(toolchain);
    header.compile_ns = image.compile_ns;
    memset(frame, 0, begin);
    memcpy(frame, &header, sizeof header);
    memcpy(frame + sizeof header, arch.toolchain, toolchain);
    memcpy(frame + begin, image.bytes, image.size);
    header.digest = digest_of(frame, size);
    memcpy(frame, &header, sizeof header);
    return {frame, size};
}

const char *read_store_frame(const void *bytes, size_t size, const calotype_uid &key,
                             const DeviceArch &arch, LoadableImage *image) {
    const uint8_t *frame = static_cast<const uint8_t *>(bytes);
    Header header;
    if (const char *wrong = what_is_wrong(frame, size, key, arch, &header)) {
        return wrong;
    }
    const size_t payload = header.payload_bytes;
    // One more byte, a zero: what is text can be read as a C string.
    char *copy = static_cast<char *>(malloc(payload + 1));
    if (!copy) {
        return "memory";
    }
    memcpy(copy, frame + header.header_bytes, payload);
    copy[payload] = 0;
    *image = {};
    image->kind = calotype_kind(header.kind);
    image->bytes = copy;
    image->size = payload;
    image->owned = image->persistable = true;
    image->was_linked = header.flags & flag_linked;
    image->lto_missed = header.flags & flag_lto_missed;
    image->compile_ns = header.compile_ns;
    return nullptr;
}

}  // namespace calotype::runtime
