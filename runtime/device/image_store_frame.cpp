// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/image_store.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/sha256.h"

namespace calotype::runtime {

namespace {

constexpr size_t fixed_bytes = 112, digest_at = 56, digest_bytes = 32;
constexpr uint32_t flag_linked = 1, flag_lto_missed = 2;

void put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        at[i] = uint8_t(value >> (8 * i));
    }
}

uint64_t get(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= uint64_t(at[i]) << (8 * i);
    }
    return value;
}

size_t header_bytes_for(size_t toolchain_bytes) {
    return (fixed_bytes + toolchain_bytes + 15) / 16 * 16;
}

calotype_uid digest_of(const uint8_t *frame, size_t size) {
    const size_t after = digest_at + digest_bytes;
    return Sha256().add(frame, digest_at).add(frame + after, size - after).finish();
}

/** Whether the lengths agree with each other and with the frame's. */
bool lengths_agree(const uint8_t *frame, size_t size) {
    const uint64_t toolchain = get(frame + 100, 4), payload = get(frame + 16, 8);
    return toolchain < sizeof DeviceArch::toolchain &&
           get(frame + 8, 4) == header_bytes_for(toolchain) &&
           size >= header_bytes_for(toolchain) && payload == size - header_bytes_for(toolchain) &&
           payload > 0;
}

bool is_made_for(const uint8_t *frame, const DeviceArch &arch) {
    const size_t length = strlen(arch.toolchain);
    return get(frame + 88, 4) == arch.sm && get(frame + 92, 4) == uint8_t(arch.suffix) &&
           get(frame + 100, 4) == length &&
           memcmp(frame + fixed_bytes, arch.toolchain, length) == 0;
}

const char *what_is_wrong(const uint8_t *frame, size_t size, const calotype_uid &key,
                          const DeviceArch &arch) {
    if (size < fixed_bytes) {
        return "size";
    }
    if (memcmp(frame, "CKO1", 4) != 0) {
        return "magic";
    }
    if (get(frame + 4, 4) != store_schema) {
        return "schema";
    }
    if (!lengths_agree(frame, size)) {
        return "lengths";
    }
    if (memcmp(frame + 24, key.b, sizeof key.b) != 0) {
        return "key";
    }
    const calotype_uid digest = digest_of(frame, size);
    if (memcmp(frame + digest_at, digest.b, sizeof digest.b) != 0) {
        return "digest";
    }
    return is_made_for(frame, arch) ? nullptr : "architecture";
}

}  // namespace

StoreFrame make_store_frame(const calotype_uid &key, const DeviceArch &arch,
                            const LoadableImage &image) {
    const size_t toolchain = strlen(arch.toolchain);
    const size_t header = header_bytes_for(toolchain), size = header + image.size;
    uint8_t *frame = static_cast<uint8_t *>(malloc(size));
    if (!frame) {
        return {};
    }
    memset(frame, 0, header);
    memcpy(frame, "CKO1", 4);
    put(frame + 4, store_schema, 4);
    put(frame + 8, header, 4);
    put(frame + 12, image.kind, 4);
    put(frame + 16, image.size, 8);
    memcpy(frame + 24, key.b, sizeof key.b);
    put(frame + 88, arch.sm, 4);
    put(frame + 92, uint8_t(arch.suffix), 4);
    put(frame + 96, (image.was_linked ? flag_linked : 0) | (image.lto_missed ? flag_lto_missed : 0),
        4);
    put(frame + 100, toolchain, 4);
    put(frame + 104, image.compile_ns, 8);
    memcpy(frame + fixed_bytes, arch.toolchain, toolchain);
    memcpy(frame + header, image.bytes, image.size);
    const calotype_uid digest = digest_of(frame, size);
    memcpy(frame + digest_at, digest.b, sizeof digest.b);
    return {frame, size};
}

const char *read_store_frame(const void *bytes, size_t size, const calotype_uid &key,
                             const DeviceArch &arch, LoadableImage *image) {
    const uint8_t *frame = static_cast<const uint8_t *>(bytes);
    if (const char *wrong = what_is_wrong(frame, size, key, arch)) {
        return wrong;
    }
    const size_t header = size_t(get(frame + 8, 4)), payload = size - header;
    // One more byte, a zero: what is text can be read as a C string.
    char *copy = static_cast<char *>(malloc(payload + 1));
    if (!copy) {
        return "memory";
    }
    memcpy(copy, frame + header, payload);
    copy[payload] = 0;
    const uint64_t flags = get(frame + 96, 4);
    *image = {};
    image->kind = calotype_kind(get(frame + 12, 4));
    image->bytes = copy;
    image->size = payload;
    image->owned = image->persistable = true;
    image->was_linked = flags & flag_linked;
    image->lto_missed = flags & flag_lto_missed;
    image->compile_ns = get(frame + 104, 8);
    return nullptr;
}

}  // namespace calotype::runtime
