// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linking: what goes in, and the two linkers that can do it.
#pragma once

#include <stdlib.h>

#include "runtime/cuda/build_image.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/host/function_ref.h"
#include "runtime/host/not_copied.h"

namespace calotype::runtime {

/** One input of a link. */
struct LinkInput {
    const calotype_image *image;
    const char *name;  ///< of the linkable; the module's for the kernels
    bool is_kernel;
};

/** All inputs in order, and how to link them. */
struct LinkPlan : NotCopied {
    LinkInput *inputs = nullptr;
    uint32_t count = 0;
    DeviceArch arch;  ///< its suffix is that of the code, not of the device
    const calotype_module_desc *desc = nullptr;
    bool lto = false;
    bool lto_missed = false;

    ~LinkPlan() {
        free(inputs);
    }
};

/** What a linker made of it. On failure, what it was doing and all that it said. */
struct LinkResult : NotCopied {
    void *cubin = nullptr;  ///< of malloc
    size_t size = 0;
    int code = 0;  ///< the linker's own; 0: success
    enum Step { none, create, add, complete } step = none;
    uint32_t input = 0;  ///< for Step::add
    char *linker_log = nullptr;

    ~LinkResult() {
        free(cubin);
        free(linker_log);
    }
};

/** Give a linker all inputs, in order, up to its first failure; then it is to complete the link. */
bool add_inputs(const LinkPlan &plan, LinkResult *result,
                FunctionRef<int(const LinkInput &input, size_t size)> add);
/** nvJitLink, of the driver's major version; false if there is none. Loaded once a process and
 * kept. CT_NVJITLINK is its path, or "off". */
bool find_nvjitlink(int driver_version);
/** After that: "nvJitLink 13.0, libnvJitLink.so.13.0.39". */
void name_nvjitlink(char *name, size_t room);
/** After find_nvjitlink(). False if out of memory; else see result. */
void link_by_nvjitlink(const LinkPlan &plan, LinkResult *result);
/** By the driver, which knows no LTO-IR. */
calotype_status link_by_driver(const DriverLinker &linker, const LinkPlan &plan,
                               LinkResult *result);

/** "linkable 'rng'", "module 'blur'". */
void name_input(const LinkInput &input, Text &text);
/** Say why a link failed and what to do about it, then the linker's log. Answers with the status.
 */
calotype_status explain_link_failure(const LinkPlan &plan, const LinkResult &result,
                                     const char *linker);

// ---- which of several images of the same code suits an architecture -----------------------------

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

}  // namespace calotype::runtime
