// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "link_inputs.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "runtime/device/failure.h"

namespace calotype_test {

using namespace calotype::runtime;

std::string link_input(const std::string &name) {
#ifdef CALOTYPE_LINK_INPUTS
    const std::string path = CALOTYPE_LINK_INPUTS "/" + name;
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
#else
    (void)name;
    return {};
#endif
}

ModuleUnderTest::ModuleUnderTest(const std::string &name) : name(name) {
    desc.size = sizeof desc;
    desc.abi = CALOTYPE_ABI_VERSION;
    desc.opt_level = 3;
}

calotype_image ModuleUnderTest::make_image(calotype_kind kind, uint32_t sm, char suffix,
                                           const std::string &bytes) {
    data.push_back(bytes);
    return {kind, sm, suffix, data.back().c_str(), bytes.size()};
}

void ModuleUnderTest::add_image(calotype_kind kind, uint32_t sm, char suffix,
                                const std::string &bytes) {
    images.push_back(make_image(kind, sm, suffix, bytes));
}

void ModuleUnderTest::add_linkable(const std::string &linkable_name, calotype_kind kind,
                                   uint32_t sm, const std::string &bytes, uint32_t flags) {
    linkables.push_back({linkable_name, {make_image(kind, sm, 0, bytes)}, {}});
    linkables.back().desc.flags = flags;
}

void ModuleUnderTest::add_to_linkable(calotype_kind kind, uint32_t sm, const std::string &bytes) {
    linkables.back().images.push_back(make_image(kind, sm, 0, bytes));
}

const calotype_module_desc &ModuleUnderTest::get() {
    desc.name = name.c_str();
    desc.images = images.data();
    desc.n_images = uint32_t(images.size());
    pointers.clear();
    for (Linkable &linkable : linkables) {
        linkable.desc.size = sizeof linkable.desc;
        linkable.desc.name = linkable.name.c_str();
        linkable.desc.images = linkable.images.data();
        linkable.desc.n_images = uint32_t(linkable.images.size());
        pointers.push_back(&linkable.desc);
    }
    desc.linkables = pointers.data();
    desc.n_linkables = uint32_t(pointers.size());
    return desc;
}

DeviceArch make_arch(uint32_t sm, char suffix, const char *toolchain) {
    DeviceArch arch = {};
    arch.sm = sm;
    arch.suffix = suffix;
    snprintf(arch.toolchain, sizeof arch.toolchain, "%s", toolchain);
    return arch;
}

Built build(ModuleUnderTest &module, const DeviceArch &arch, const DriverLinker *linker) {
    Built built = {};
    const FailureScope failures;
    built.status = build_image({13000, linker}, arch, module.get(), &built.image);
    built.log = failure_text();
    if (built.status == CALOTYPE_OK) {
        built.bytes.assign(static_cast<const char *>(built.image.bytes), built.image.size);
    }
    if (built.image.owned) {
        free(const_cast<void *>(built.image.bytes));
        built.image.bytes = nullptr;
    }
    return built;
}

}  // namespace calotype_test
