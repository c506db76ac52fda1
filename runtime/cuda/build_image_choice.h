// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of several images of the same code suits an architecture.
#pragma once

#include "runtime/device/kernel_backend.h"

namespace calotype {
namespace runtime {

/** Machine code runs on its own architecture and, without a suffix or with 'f', on later ones of
 * the same major number; with 'a' nowhere else. */
bool cubin_runs_on(const calotype_image &image, const DeviceArch &arch);
/** PTX compiles for its own architecture and all later ones; with 'f' for those of the same major
 * number; with 'a' for no other. */
bool ptx_compiles_for(const calotype_image &image, const DeviceArch &arch);
/** LTO-IR, and PTX without suffix, must not be newer than the target. */
bool is_newer_than(const calotype_image &image, const DeviceArch &arch);
/** LTO-IR links for its own architecture and all later ones; with 'f' for those of the same major
 * number; with 'a' for no other. */
bool lto_ir_links_for(const calotype_image &image, const DeviceArch &arch);

/** A range of images to choose from. */
struct ImageList {
    const calotype_image *images;
    uint32_t count;
};
inline ImageList images_of(const calotype_module_desc &desc) {
    return {desc.images, desc.n_images};
}
inline ImageList images_of(const calotype_linkable_desc &desc) {
    return {desc.images, desc.n_images};
}

/** The best cubin that runs: exact before family, 'a' before 'f' before none. Null if none does. */
const calotype_image *choose_cubin(ImageList list, const DeviceArch &arch);
/** The latest PTX that compiles. */
const calotype_image *choose_ptx(ImageList list, const DeviceArch &arch);
/** The latest LTO-IR that links. */
const calotype_image *choose_lto_ir(ImageList list, const DeviceArch &arch);
/** The latest fatbin, object or archive that runs, or whose architecture is not told. */
const calotype_image *choose_container(ImageList list, calotype_kind kind, const DeviceArch &arch);
/** The first image of one kind. */
const calotype_image *find_kind(ImageList list, calotype_kind kind);

/** Whether the image holds LTO-IR: by its kind, or inside of a fatbin, of an object or an archive.
 */
bool holds_lto_ir(const calotype_image &image);
/** Whether an ELF file is fully linked, as opposed to relocatable. */
bool is_complete_cubin(const calotype_image &image);

/** Whether all that the headers of an image tell of lies within it: linkers crash where it does
 * not. False for text, and what has no header that is known. */
bool is_cut_off(const calotype_image &image);

/** "PTX", "cubin", "LTO-IR". */
const char *kind_name(calotype_kind kind);
/** Append "cubin sm_90a". */
void describe_image(const calotype_image &image, Text &text);
/** Append "cubin sm_80, PTX sm_80", or "nothing". */
void describe_images(ImageList list, Text &text);
/** Append "sm_90a". */
void describe_arch(uint32_t sm, char suffix, Text &text);

}  // namespace runtime
}  // namespace calotype
