// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A key is a hash over fields, each with its label and the lengths of both, so that no two
// different lists of fields are the same bytes. No path, time, ordinal, pointer or context is in
// it: what it names is the same in every process on every machine.
#include <stdlib.h>
#include <string.h>

#include "runtime/device/image_store.h"
#include "runtime/host/data/sha256.h"
#include "runtime/host/environment.h"

namespace calotype::runtime {

namespace {

/** Numbers have the byte order of the store's files (image_store_frame.cpp). */
class KeyFields {
    Sha256 hash;

public:
    KeyFields &add(const char *label, const void *value, size_t size) {
        const uint64_t lengths[2] = {strlen(label), size};
        hash.add(&lengths[0], 8).add(label, lengths[0]).add(&lengths[1], 8).add(value, size);
        return *this;
    }
    KeyFields &add(const char *label, const char *text) {
        text = text ? text : "";
        return add(label, text, strlen(text));
    }
    KeyFields &add(const char *label, uint64_t value) {
        return add(label, &value, sizeof value);
    }
    calotype_uid finish() {
        return hash.finish();
    }
};

/** What of a linkable reaches the linker: code and flags; callbacks run later. */
void add_linkable(const calotype_linkable_desc &linkable, KeyFields &key) {
    const uint32_t for_linker =
        CALOTYPE_LK_NRT | CALOTYPE_LK_LTO_REQUIRED | CALOTYPE_LK_LTO_NEVER | CALOTYPE_LK_OPTIONAL;
    key.add("linkable", linkable.content.b, sizeof linkable.content.b);
    key.add("linkable flags", linkable.flags & for_linker);
    for (uint32_t i = 0; i < linkable.n_images; i++) {
        key.add("linkable kind", uint64_t(linkable.images[i].kind));
        key.add("linkable sm",
                uint64_t(linkable.images[i].sm) << 8 | uint8_t(linkable.images[i].suffix));
        if (linkable.flags & CALOTYPE_LK_BY_PATH && linkable.images[i].kind != CALOTYPE_HOST_ONLY) {
            const auto *file = static_cast<const calotype_file_image *>(linkable.images[i].data);
            key.add("linkable file", file->digest.b, sizeof file->digest.b);
        }
    }
}

}  // namespace

calotype_status image_key(const DeviceArch &arch, const calotype_module_desc &desc,
                          calotype_uid *key) {
    KeyFields fields;
    fields.add("schema", store_schema).add("abi", desc.abi);
    fields.add("sm", arch.sm).add("suffix", uint64_t(uint8_t(arch.suffix)));
    fields.add("toolchain", arch.toolchain);
    fields.add("module", desc.uid.b, sizeof desc.uid.b);
    for (uint32_t i = 0; i < desc.n_images; i++) {
        fields.add("kind", uint64_t(desc.images[i].kind));
        fields.add("image sm", uint64_t(desc.images[i].sm) << 8 | uint8_t(desc.images[i].suffix));
        fields.add("image bytes", desc.images[i].size);
    }
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        add_linkable(*desc.linkables[i], fields);
    }
    for (uint32_t i = 0; i < desc.n_relocs; i++) {
        fields.add("reloc", desc.relocs[i].symbol);
        fields.add("reloc offset", desc.relocs[i].offset).add("reloc bytes", desc.relocs[i].bytes);
    }
    const uint32_t for_linker =
        CALOTYPE_MOD_NRT | CALOTYPE_MOD_LTO | CALOTYPE_MOD_LINEINFO | CALOTYPE_MOD_DEBUG;
    fields.add("flags", desc.flags & for_linker);
    fields.add("max registers", uint64_t(int64_t(desc.max_registers)));
    fields.add("optimisation", uint64_t(int64_t(desc.opt_level)));
    fields.add("salt", environment("CT_KERNEL_CACHE_SALT"));
    *key = fields.finish();
    return CALOTYPE_OK;
}

}  // namespace calotype::runtime
