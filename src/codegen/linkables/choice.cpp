// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/choice.h"

#include <algorithm>
#include <initializer_list>

#include "codegen/linkables/linkable.h"

namespace calotype::internal {

namespace {

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

bool suits(const LinkableImage &image, Capability capability) {
    const uint32_t sm = uint32_t(capability.sm);
    const bool same_family = image.sm / 10 == sm / 10;
    if (image.sm == 0) {
        return true;
    }
    if (image.suffix == 'a') {
        return image.sm == sm;
    }
    if (image.kind == CALOTYPE_LTOIR) {
        return image.sm <= sm && (!image.suffix || same_family);
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
        if (const LinkableImage *image = best(linkable, kind, capability)) {
            return image;
        }
    }
    return best(linkable, CALOTYPE_PTX, capability);
}

bool is_needed_later(const LinkableData &linkable, const LinkableImage &image, Capability oldest,
                     const std::vector<Capability> &linked) {
    if (image.kind == CALOTYPE_LTOIR) {
        return linkable.lto != LtoMode::Never;
    }
    if (image.kind == CALOTYPE_PTX || image.sm == 0) {
        return true;
    }
    const uint32_t newest = image.suffix == 'a' ? image.sm : image.sm / 10 * 10 + 9;
    // Devices that it runs on are too old for our half, or have a complete cubin already.
    return newest >= uint32_t(oldest.sm) &&
           std::none_of(linked.begin(), linked.end(), [&](Capability c) {
               const uint32_t first = uint32_t(c.sm);
               return c.suffix == 'a' ? first == image.sm && newest == image.sm
                                      : first <= image.sm && first / 10 == image.sm / 10;
           });
}

}  // namespace calotype::internal
