// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is found inside of fatbins, objects and archives.
#include <gtest/gtest.h>

#include "codegen/linkables/device_parts.h"
#include "codegen/linkables/linked.h"
#include "codegen/linkables/symbols.h"

namespace calotype::internal {
namespace {

/// "cubin sm_80, PTX sm_90" of each part.
std::vector<std::string> parts_of(const LinkableImage &image) {
    std::vector<std::string> all;
    for (const DevicePart &part : device_parts(image)) {
        std::string text;
        for (const PackedForm &form : part) {
            text += (text.empty() ? "" : ", ") +
                    std::string(form.kind == CALOTYPE_PTX     ? "PTX sm_"
                                : form.kind == CALOTYPE_CUBIN ? "cubin sm_"
                                                              : "LTO-IR sm_") +
                    std::to_string(form.sm) + (form.suffix ? std::string(1, form.suffix) : "");
        }
        all.push_back(text);
    }
    return all;
}

const LinkableImage &image_in(LinkableData &&linkable) {
    static LinkableImage image;
    image = std::move(linkable.images[0]);
    return image;
}

using Texts = std::vector<std::string>;

TEST(DeviceParts, OfEveryFile) {
    NEEDS_INPUT("members.a");
    EXPECT_EQ(parts_of(image_in(linkable_of("rng.fatbin"))),
              (Texts{"cubin sm_80, cubin sm_90, PTX sm_90"}));
    EXPECT_EQ(parts_of(image_in(linkable_of("multi.fatbin"))),
              (Texts{"cubin sm_80, LTO-IR sm_80, cubin sm_90"}));
    EXPECT_EQ(parts_of(image_in(linkable_of("rng.o"))), (Texts{"cubin sm_80, cubin sm_90"}));
    EXPECT_EQ(parts_of(image_in(linkable_of("rng.a"))), (Texts{"cubin sm_80, cubin sm_90"}));
    EXPECT_EQ(parts_of(image_in(linkable_of("members.a"))),
              (Texts{"cubin sm_90, PTX sm_90", "LTO-IR sm_80", "cubin sm_90, PTX sm_90"}));
    EXPECT_EQ(parts_of(image_in(linkable_of("rng.ptx"))), Texts());
    EXPECT_TRUE(holds_lto_ir(image_in(linkable_of("members.a"))));
    EXPECT_FALSE(holds_lto_ir(image_in(linkable_of("rng.a"))));
}

TEST(DeviceParts, TheFormForAnArchitecture) {
    NEEDS_INPUT("rng.fatbin");
    const LinkableImage image = image_in(linkable_of("rng.fatbin"));
    const DevicePart part = device_parts(image).at(0);
    const auto form = [&](int sm) {
        return *readable_form(image, part, {sm, 0});
    };
    EXPECT_EQ(form(80).bytes, linked_input("rng80.cubin"));
    EXPECT_EQ(form(86).sm, 80u);
    EXPECT_EQ(form(90).bytes, linked_input("rng.cubin"));
    EXPECT_EQ(form(100).kind, CALOTYPE_PTX);
    EXPECT_EQ(ptx_symbols(form(100).bytes).functions,
              ptx_symbols(linked_input("rng.ptx")).functions);
    EXPECT_EQ(form(70).kind, CALOTYPE_CUBIN) << "names are the same in all forms";
    const LinkableImage lto = image_in(linkable_of("members.a"));
    EXPECT_FALSE(readable_form(lto, device_parts(lto).at(1), {90, 0}).has_value());
}

TEST(DeviceParts, HoweverTheyArePacked) {
    const ImageSymbols expected = ptx_symbols(linked_input("rng.ptx"));
    for (const std::string file :
         {"speed.fatbin", "size.fatbin", "none.fatbin", "rng.fatbin", "rng.o", "rng.a"}) {
        NEEDS_INPUT(file);
        LinkableData linkable = linkable_of(file);
        const auto symbols = symbols_of(linkable, linkable.images[0], {90, 0});
        ASSERT_TRUE(symbols.has_value());
        EXPECT_TRUE(symbols->is_whole) << file;
        EXPECT_EQ(symbols->functions, expected.functions) << file;
        EXPECT_EQ(symbols->defined, expected.defined) << file;
    }
}

TEST(DeviceParts, OfPartsWithLtoIrNotAllNamesAreKnown) {
    NEEDS_INPUT("members.a");
    LinkableData linkable = linkable_of("members.a");
    const auto symbols = symbols_of(linkable, linkable.images[0], {90, 0});
    ASSERT_TRUE(symbols.has_value());
    EXPECT_FALSE(symbols->is_whole);
    EXPECT_EQ(symbols->functions, std::set<std::string>{"rng_other"});
    EXPECT_TRUE(symbols->undefined.count("rng_missing"));
}

// Nothing is read behind the end, whatever the headers say.
TEST(DeviceParts, OfDamagedFiles) {
    for (const std::string file : {"speed.fatbin", "size.fatbin", "rng.o", "rng.a"}) {
        NEEDS_INPUT(file);
        const LinkableImage whole = image_in(linkable_of(file));
        uint32_t state = 1;
        for (int i = 0; i < 300; i++) {
            LinkableData linkable = linkable_of(file);
            std::string &bytes = linkable.images[0].bytes;
            for (int changes = 0; changes < 4; changes++) {
                state = state * 1664525u + 1013904223u;
                bytes[(state >> 8) % (i % 2 ? bytes.size() : 200)] = char(state >> 3);
            }
            if (i % 3 == 0) {
                bytes.resize((state >> 8) % bytes.size());
            }
            symbols_of(linkable, linkable.images[0], {90, 0});
        }
    }
}

TEST(DeviceParts, Lz4) {
    const auto unpack = [](const std::string &block, uint64_t size) {
        return unpack_lz4(block, size).value_or("?");
    };
    EXPECT_EQ(unpack("\x50hello", 5), "hello");
    EXPECT_EQ(unpack(std::string("\x32"
                                 "abc\x03\x00\x10!",
                                 8),
                     10),
              "abcabcabc!");
    EXPECT_EQ(unpack(std::string("\x1f"
                                 "a\x01\x00\xff\x02\x10!",
                                 8),
                     278),
              std::string(277, 'a').append("!"));
    EXPECT_EQ(unpack("\xf0\x01" + std::string(16, 'x'), 16), std::string(16, 'x'));
    EXPECT_EQ(unpack("", 0), "");
    // Of another size, cut off, or further back than there is anything.
    EXPECT_EQ(unpack("\x50hello", 6), "?");
    EXPECT_EQ(unpack("\x50hello", 4), "?");
    EXPECT_EQ(unpack("\x60hello", 6), "?");
    EXPECT_EQ(unpack("\xf0", 15), "?");
    EXPECT_EQ(unpack(std::string("\x12"
                                 "a\x02\x00",
                                 4),
                     7),
              "?");
    EXPECT_EQ(unpack(std::string("\x12"
                                 "a\x00\x00",
                                 4),
                     7),
              "?");
}

}  // namespace
}  // namespace calotype::internal
