// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which embedded image a device gets.
#include <gtest/gtest.h>

#include "link_inputs.h"
#include "runtime/cuda/build_image_link.h"

using namespace calotype::runtime;
using namespace calotype_test;

namespace {

calotype_image image(calotype_kind kind, uint32_t sm, char suffix = 0) {
    return {kind, sm, suffix, "", 0};
}

TEST(ImageChoice, MachineCodeRunsWithinItsMajorNumber) {
    struct Case {
        uint32_t sm;
        char suffix;
        uint32_t device;
        bool runs;
    };
    const Case cases[] = {
        {90, 0, 90, true},   {90, 'a', 90, true},    {80, 0, 86, true},     {86, 0, 80, false},
        {80, 0, 90, false},  {100, 'a', 103, false}, {100, 'f', 103, true}, {103, 'f', 100, false},
        {100, 0, 103, true}, {100, 'f', 120, false}, {120, 'f', 121, true}, {90, 0, 100, false},
    };
    for (const Case &c : cases) {
        EXPECT_EQ(cubin_runs_on(image(CALOTYPE_CUBIN, c.sm, c.suffix), make_arch(c.device)), c.runs)
            << c.sm << c.suffix << " on " << c.device;
    }
    EXPECT_FALSE(cubin_runs_on(image(CALOTYPE_CUBIN, 90, 'a'), make_arch(90, 0)));
}

TEST(ImageChoice, PtxCompilesForLaterArchitectures) {
    EXPECT_TRUE(ptx_compiles_for(image(CALOTYPE_PTX, 50), make_arch(90)));
    EXPECT_TRUE(ptx_compiles_for(image(CALOTYPE_PTX, 90, 'a'), make_arch(90)));
    EXPECT_FALSE(ptx_compiles_for(image(CALOTYPE_PTX, 90, 'a'), make_arch(100)));
    EXPECT_FALSE(ptx_compiles_for(image(CALOTYPE_PTX, 90, 'a'), make_arch(90, 0)));
    EXPECT_TRUE(ptx_compiles_for(image(CALOTYPE_PTX, 100, 'f'), make_arch(103)));
    EXPECT_FALSE(ptx_compiles_for(image(CALOTYPE_PTX, 100, 'f'), make_arch(120)));
    EXPECT_FALSE(ptx_compiles_for(image(CALOTYPE_PTX, 90), make_arch(80)));
}

TEST(ImageChoice, LtoIrLinksForLaterArchitectures) {
    EXPECT_TRUE(lto_ir_links_for(image(CALOTYPE_LTOIR, 80), make_arch(90)));
    EXPECT_FALSE(lto_ir_links_for(image(CALOTYPE_LTOIR, 100), make_arch(90)));
    EXPECT_TRUE(lto_ir_links_for(image(CALOTYPE_LTOIR, 90, 'a'), make_arch(90, 0)));
    EXPECT_FALSE(lto_ir_links_for(image(CALOTYPE_LTOIR, 90, 'a'), make_arch(100)));
    EXPECT_TRUE(lto_ir_links_for(image(CALOTYPE_LTOIR, 100, 'f'), make_arch(103)));
    EXPECT_FALSE(lto_ir_links_for(image(CALOTYPE_LTOIR, 100, 'f'), make_arch(120)));
}

TEST(ImageChoice, ExactBeforeFamilyBeforeEarlier) {
    const calotype_image images[] = {
        image(CALOTYPE_PTX, 80),    image(CALOTYPE_CUBIN, 80),      image(CALOTYPE_CUBIN, 86),
        image(CALOTYPE_CUBIN, 90),  image(CALOTYPE_CUBIN, 90, 'a'), image(CALOTYPE_CUBIN, 100, 'f'),
        image(CALOTYPE_CUBIN, 103), image(CALOTYPE_PTX, 90),        image(CALOTYPE_PTX, 90, 'a'),
    };
    const ImageList list = {images, 9};
    EXPECT_EQ(choose_cubin(list, make_arch(90)), images + 4);
    EXPECT_EQ(choose_cubin(list, make_arch(90, 0)), images + 3);
    EXPECT_EQ(choose_cubin(list, make_arch(89)), images + 2);
    EXPECT_EQ(choose_cubin(list, make_arch(80)), images + 1);
    EXPECT_EQ(choose_cubin(list, make_arch(101)), images + 5);
    EXPECT_EQ(choose_cubin(list, make_arch(103)), images + 6);
    EXPECT_EQ(choose_cubin(list, make_arch(75)), nullptr);
    EXPECT_EQ(choose_ptx(list, make_arch(90)), images + 8);
    EXPECT_EQ(choose_ptx(list, make_arch(120)), images + 7);
    EXPECT_EQ(choose_ptx(list, make_arch(86)), images);
}

TEST(ImageChoice, AnEmbeddedCubinIsReady) {
    ModuleUnderTest module;
    module.add_image(CALOTYPE_PTX, 80, 0, "ptx");
    EXPECT_FALSE(is_image_ready(make_arch(90), module.get()));
    module.add_image(CALOTYPE_CUBIN, 90, 'a', "cubin");
    EXPECT_TRUE(is_image_ready(make_arch(90), module.get()));
    const Built built = build(module, make_arch(90));
    EXPECT_EQ(built.status, CALOTYPE_OK);
    EXPECT_EQ(built.bytes, "cubin");
    EXPECT_FALSE(built.image.was_built || built.image.owned || built.image.persistable);
    // With code to link, only if the generator has linked it already.
    module.add_linkable("rng", CALOTYPE_PTX, 80, "ptx");
    EXPECT_FALSE(is_image_ready(make_arch(90), module.get()));
    std::string linked = "\177ELF";
    linked.resize(64);
    linked[16] = 2;
    module.add_image(CALOTYPE_CUBIN, 90, 'a', linked);
    EXPECT_FALSE(is_image_ready(make_arch(80), module.get()));
}

TEST(ImageChoice, CallbacksAloneNeedNoLink) {
    ModuleUnderTest module;
    module.add_image(CALOTYPE_CUBIN, 90, 0, "cubin");
    module.add_linkable("logger", CALOTYPE_HOST_ONLY, 0, "");
    EXPECT_TRUE(is_image_ready(make_arch(90), module.get()));
}

TEST(ImageChoice, NoImageNamesWhatIsWantedAndWhatIsThere) {
    ModuleUnderTest module("blur");
    module.add_image(CALOTYPE_CUBIN, 80, 0, "cubin");
    module.add_image(CALOTYPE_CUBIN, 90, 'a', "cubin");
    module.add_image(CALOTYPE_PTX, 80, 0, "ptx");
    const Built built = build(module, make_arch(75, 0));
    EXPECT_EQ(built.status, CALOTYPE_E_NO_IMAGE);
    EXPECT_EQ(built.log, "no image of module 'blur' runs on sm_75: embedded are cubin sm_80, cubin "
                         "sm_90a, PTX sm_80; generate it for this architecture too\n");
}

TEST(ImageChoice, AModuleWithoutImagesSaysSo) {
    ModuleUnderTest module("blur");
    const Built built = build(module, make_arch(90));
    EXPECT_EQ(built.status, CALOTYPE_E_NO_IMAGE);
    EXPECT_EQ(built.log, "no image of module 'blur' runs on sm_90a: embedded are nothing; generate "
                         "it for this architecture too\n");
}

}  // namespace
