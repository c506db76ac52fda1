// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linking: what goes in, and the two linkers that can do it.
#pragma once

#include "runtime/cuda/build_image.h"

namespace calotype {
namespace runtime {

/** One input of a link. */
struct LinkInput {
    const calotype_image *image;
    const char *name;  ///< of the linkable; the module's for the kernels
    bool is_kernel;
};

/** All inputs in order, and how to link them. */
struct LinkPlan {
    LinkInput *inputs = nullptr;
    uint32_t count = 0;
    DeviceArch arch;  ///< its suffix is that of the code, not of the device
    const calotype_module_desc *desc = nullptr;
    bool lto = false;
    bool lto_missed = false;

    LinkPlan() = default;
    ~LinkPlan();
    LinkPlan(const LinkPlan &) = delete;
    LinkPlan &operator=(const LinkPlan &) = delete;
};

/** What a linker made of it. On failure, what it was doing and all that it said. */
struct LinkResult {
    void *cubin = nullptr;  ///< of malloc
    size_t size = 0;
    int code = 0;  ///< the linker's own; 0: success
    enum Step { none, create, add, complete } step = none;
    uint32_t input = 0;  ///< for Step::add
    char *linker_log = nullptr;

    LinkResult() = default;
    ~LinkResult();
    LinkResult(const LinkResult &) = delete;
    LinkResult &operator=(const LinkResult &) = delete;
};

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

}  // namespace runtime
}  // namespace calotype
