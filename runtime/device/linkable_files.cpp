// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/linkable_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/device/failure.h"
#include "runtime/host/data/sha256.h"
#include "runtime/host/files.h"

namespace calotype::runtime {

namespace {

Text &operator<<(Text &text, const calotype_uid &digest) {
    char digits[65];
    write_hex(digest, sizeof digest.b, digits);
    return text << digits;
}

bool has_files(const calotype_module_desc &desc) {
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        if (desc.linkables[i]->flags & CALOTYPE_LK_BY_PATH) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool has_code(const calotype_linkable_desc &linkable) {
    for (uint32_t i = 0; i < linkable.n_images; i++) {
        if (linkable.images[i].kind != CALOTYPE_HOST_ONLY) {
            return true;
        }
    }
    return false;
}

bool uses_nrt(const calotype_module_desc &desc) {
    bool uses = desc.flags & CALOTYPE_MOD_NRT;
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        uses |= (desc.linkables[i]->flags & CALOTYPE_LK_NRT) != 0;
    }
    return uses;
}

calotype_status LinkableFiles::read_image(const char *linkable, const calotype_image &named,
                                          calotype_image *image) {
    const auto &wanted = *static_cast<const calotype_file_image *>(named.data);
    // Only files may be waited for, as the open of a pipe without a writer would.
    const FileHandle file(open(wanted.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat about = {};
    const bool is_open = file && fstat(file.get(), &about) == 0;
    if (is_open && !S_ISREG(about.st_mode)) {
        return fail_with(CALOTYPE_E_LOAD, Text() << "linkable '" << linkable << "': " << wanted.path
                                                 << " is not a file");
    }
    const size_t size = size_t(about.st_size);
    // With a zero behind it, as text ends.
    uint8_t *bytes = is_open ? pieces.make<uint8_t>(size + 1) : nullptr;
    if (is_open && !bytes) {
        return fail_with(CALOTYPE_E_OOM, Text()
                                             << "linkable '" << linkable << "': no memory for the "
                                             << uint64_t(size) << " bytes of " << wanted.path);
    }
    if (!is_open || !read_all(file.get(), bytes, size)) {
        return fail_with(CALOTYPE_E_LOAD, Text() << "linkable '" << linkable << "': cannot read "
                                                 << wanted.path << ": " << strerror(errno));
    }
    const calotype_uid digest = sha256(bytes, size);
    if (memcmp(digest.b, wanted.digest.b, sizeof digest.b) != 0) {
        return fail_with(CALOTYPE_E_LOAD,
                         Text() << "linkable '" << linkable << "': " << wanted.path
                                << " has changed since the module was generated: its SHA-256 is "
                                << digest << ", must be " << wanted.digest);
    }
    *image = named;
    image->data = bytes;
    image->size = size;
    return CALOTYPE_OK;
}

calotype_status LinkableFiles::read_linkable(const calotype_linkable_desc &linkable,
                                             const calotype_linkable_desc **result) {
    *result = &linkable;
    if (!(linkable.flags & CALOTYPE_LK_BY_PATH)) {
        return CALOTYPE_OK;
    }
    auto *read = pieces.copy(&linkable, 1);
    auto *images = pieces.copy(linkable.images, linkable.n_images);
    if (!read || !images) {
        return fail_with(
            CALOTYPE_E_OOM,
            Text() << "linkable '" << linkable.name << "': no memory for the "
                   << uint64_t(sizeof linkable + linkable.n_images * sizeof(calotype_image))
                   << " bytes that describe it and its " << linkable.n_images << " images");
    }
    read->flags &= ~uint32_t(CALOTYPE_LK_BY_PATH);
    read->images = images;
    for (uint32_t i = 0; i < linkable.n_images; i++) {
        if (const calotype_status status =
                images[i].kind == CALOTYPE_HOST_ONLY
                    ? CALOTYPE_OK
                    : read_image(linkable.name, linkable.images[i], &images[i])) {
            return status;
        }
    }
    *result = read;
    return CALOTYPE_OK;
}

calotype_status LinkableFiles::read(const calotype_module_desc &desc) {
    current = &desc;
    if (!has_files(desc)) {
        return CALOTYPE_OK;
    }
    auto **linkables = pieces.make<const calotype_linkable_desc *>(desc.n_linkables);
    if (!linkables) {
        return fail_with(CALOTYPE_E_OOM,
                         Text() << "module '" << desc.name << "': no memory for the "
                                << uint64_t(desc.n_linkables * sizeof(calotype_linkable_desc *))
                                << " bytes that list its " << desc.n_linkables << " linkables");
    }
    for (uint32_t i = 0; i < desc.n_linkables; i++) {
        if (const calotype_status status = read_linkable(*desc.linkables[i], &linkables[i])) {
            return status;
        }
    }
    copy = desc;
    copy.linkables = linkables;
    current = &copy;
    return CALOTYPE_OK;
}

}  // namespace calotype::runtime
