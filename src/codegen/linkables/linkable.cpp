// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/linkable.h"

#include <algorithm>

#include "codegen/linkables/digest.h"
#include "runtime/abi/linkables.h"

namespace calotype::internal {

const char *kind_name(calotype_kind kind) {
    switch (kind) {
#define CALOTYPE_IMAGE_KIND(kind, title, nvjitlink)                                                \
    case kind:                                                                                     \
        return title;
#include "runtime/abi/image_kinds.def"
#undef CALOTYPE_IMAGE_KIND
    }
    return "an image of an unknown kind";
}

std::string image_title(const LinkableImage &image) {
    std::string title = kind_name(image.kind);
    if (image.sm) {
        title += " sm_" + std::to_string(image.sm);
        title += image.suffix ? std::string(1, image.suffix) : "";
    }
    return title;
}

std::string image_titles(const LinkableData &linkable) {
    std::string list;
    for (const LinkableImage &image : linkable.images) {
        list += (list.empty() ? "" : ", ") + image_title(image);
    }
    return list.empty() ? "nothing" : list;
}

std::string linkable_title(const LinkableData &linkable, const LinkableImage &image) {
    return "linkable " + linkable.name + origin_of(linkable, {image.origin});
}

std::string linkable_title(const LinkableData &linkable) {
    return linkable_title(linkable, linkable.images.empty() ? LinkableImage() : linkable.images[0]);
}

const LinkableImage *find_kind(const LinkableData &linkable, calotype_kind kind) {
    for (const LinkableImage &image : linkable.images) {
        if (image.kind == kind) {
            return &image;
        }
    }
    return nullptr;
}

std::string digest_of(const std::string &bytes) {
    llvm::SHA256 sha;
    sha.update(llvm::StringRef(bytes));
    const auto digest = sha.final();
    return std::string(digest.begin(), digest.end());
}

std::string linkable_digest(const LinkableData &linkable) {
    Digest digest;
    digest.add(uint64_t(linkable.images.size()));
    for (const LinkableImage &image : linkable.images) {
        digest.add(uint64_t(image.kind));
        digest.add(uint64_t(image.sm) << 8 | uint8_t(image.suffix));
        digest.add(image.bytes);
    }
    digest.add(linkable.setup);
    digest.add(linkable.teardown);
    digest.add(linkable.user);
    digest.add(uint64_t(linkable_flags(linkable)));
    return digest.result();
}

uint32_t linkable_flags(const LinkableData &l) {
    const struct {
        bool is_set;
        uint32_t flag;
    } flags[] = {
        {l.nrt, CALOTYPE_LK_NRT},
        {l.lto == LtoMode::Require, CALOTYPE_LK_LTO_REQUIRED},
        {l.lto == LtoMode::Never, CALOTYPE_LK_LTO_NEVER},
        {l.is_optional, CALOTYPE_LK_OPTIONAL},
        {l.is_threadsafe, CALOTYPE_LK_THREADSAFE},
        {l.is_session_dependent, CALOTYPE_LK_SESSION_DEPENDENT},
        {l.no_teardown_after_loss, CALOTYPE_LK_NO_TEARDOWN_AFTER_LOSS},
        {!l.is_embedded, CALOTYPE_LK_BY_PATH},
    };
    uint32_t result = 0;
    for (const auto &f : flags) {
        result |= f.is_set ? f.flag : 0;
    }
    return result;
}

std::vector<DeviceLinkable> without_unneeded(const std::vector<DeviceLinkable> &linkables) {
    std::vector<DeviceLinkable> result;
    for (const DeviceLinkable &l : linkables) {
        const LinkableData &d = l.data;
        const bool is_awaited =
            std::any_of(linkables.begin(), linkables.end(), [&](const DeviceLinkable &other) {
                const std::vector<std::string> &after = other.data.after;
                return std::find(after.begin(), after.end(), d.name) != after.end();
            });
        if (is_awaited || !d.images.empty() || !d.setup.empty() || !d.teardown.empty()) {
            result.push_back(l);
        }
    }
    return result;
}

std::vector<uint16_t> after_indices(const std::vector<DeviceLinkable> &linkables, size_t index) {
    std::vector<uint16_t> result;
    for (const std::string &name : linkables[index].data.after) {
        for (size_t i = 0; i < linkables.size(); i++) {
            if (linkables[i].data.name == name) {
                result.push_back(uint16_t(i));
            }
        }
    }
    return result;
}

}  // namespace calotype::internal
