// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code that was made when the test was built, and modules and linkables put together of it.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "runtime/cuda/build_image.h"
#include "runtime/host/text.h"

namespace calotype_test {

/** A file with a NUL after it; empty if there is none. */
std::string link_input(const std::string &name);

/** A descriptor and all that it points at. */
class ModuleUnderTest {
public:
    explicit ModuleUnderTest(const std::string &name = "blur");

    void add_image(calotype_kind kind, uint32_t sm, char suffix, const std::string &bytes);
    /** One linkable of one image; more images go into the last one. */
    void add_linkable(const std::string &name, calotype_kind kind, uint32_t sm,
                      const std::string &bytes, uint32_t flags = 0);
    void add_to_linkable(calotype_kind kind, uint32_t sm, const std::string &bytes);

    const calotype_module_desc &get();
    calotype_module_desc desc = {};

private:
    struct Linkable {
        std::string name;
        std::vector<calotype_image> images;
        calotype_linkable_desc desc = {};
    };
    std::string name;
    std::vector<calotype_image> images;
    std::list<Linkable> linkables;
    std::vector<const calotype_linkable_desc *> pointers;
    std::list<std::string> data;

    calotype_image make_image(calotype_kind kind, uint32_t sm, char suffix,
                              const std::string &bytes);
};

/** What build_image() made. */
struct Built {
    calotype_status status;
    calotype::runtime::LoadableImage image;
    std::string log;
    std::string bytes;
};
calotype::runtime::DeviceArch make_arch(uint32_t sm, char suffix = 'a',
                                        const char *toolchain = "nvJitLink 13.0");
Built build(ModuleUnderTest &module, const calotype::runtime::DeviceArch &arch,
            const calotype::runtime::DriverLinker *linker = nullptr);

}  // namespace calotype_test
