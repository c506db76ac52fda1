// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that the shipped generators make, linked into this program: one target, several, with a C++
// name, from a registration file, and by way of C++ source.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include <calotype/buffer.h>

#include "blur_any.h"
#include "blur_one.function_info.h"
#include "blur_one.h"
#include "blur_source.h"

namespace {

using Image = calotype::Runtime::Buffer<uint8_t, 2>;

std::map<std::string, const calotype_filter_metadata_t *> &registered() {
    static std::map<std::string, const calotype_filter_metadata_t *> filters;
    return filters;
}

Image make_input() {
    Image in(150, 40);
    in.for_each_element([&](int x, int y) { in(x, y) = uint8_t(x * 11 + y * 7 + x * y); });
    return in;
}

int clamped(const Image &in, int x, int y) {
    return in(std::min(std::max(x, 0), in.width() - 1), std::min(std::max(y, 0), in.height() - 1));
}

void expect_blurred(const Image &in, const Image &out, int radius) {
    const int area = (2 * radius + 1) * (2 * radius + 1);
    int wrong = 0;
    out.for_each_element([&](int x, int y) {
        int sum = area / 2;
        for (int j = -radius; j <= radius; j++) {
            for (int i = -radius; i <= radius; i++) {
                sum += clamped(in, x + i, y + j);
            }
        }
        wrong += out(x, y) != sum / area;
    });
    EXPECT_EQ(wrong, 0);
}

TEST(Aot, OneTarget) {
    Image in = make_input(), out(150, 40);
    EXPECT_EQ(blur_one(in, out), 0);
    expect_blurred(in, out, 1);
}

TEST(Aot, SeveralTargetsAndAName) {
    Image in = make_input(), out(150, 40);
    EXPECT_EQ(photo::blur_any(in, out), 0);
    expect_blurred(in, out, 2);
}

TEST(Aot, ByWayOfSource) {
    Image in = make_input(), out(150, 40);
    EXPECT_EQ(blur_source(in, out), 0);
    expect_blurred(in, out, 1);
}

TEST(Aot, Argv) {
    Image in = make_input(), out(150, 40);
    void *args[] = {in.raw_buffer(), out.raw_buffer()};
    EXPECT_EQ(blur_one_argv(args), 0);
    expect_blurred(in, out, 1);
}

TEST(Aot, Metadata) {
    const calotype_filter_metadata_t *m = blur_one_metadata();
    EXPECT_STREQ(m->name, "blur_one");
    ASSERT_EQ(m->num_arguments, 2);
    EXPECT_STREQ(m->arguments[0].name, "input");
    EXPECT_EQ(m->arguments[0].kind, calotype_argument_kind_input_buffer);
    EXPECT_STREQ(m->arguments[1].name, "output");
    EXPECT_EQ(m->arguments[1].dimensions, 2);
}

TEST(Aot, FunctionInfo) {
    constexpr auto info = blur_one_argument_info();
    static_assert(info.size() == 2 && info[0].name == "input" && info[1].dimensions == 2);
    static_assert(info[1].kind == CalotypeFunctionInfo::OutputBuffer);
    EXPECT_EQ(info[0].type, calotype_type_t(calotype_type_uint, 8));
}

TEST(Aot, Registration) {
    ASSERT_EQ(registered().count("blur_one"), 1u);
    EXPECT_EQ(registered()["blur_one"], blur_one_metadata());
}

TEST(Aot, BoundsQuery) {
    Image in(nullptr, 0, 0), out(nullptr, 100, 20);
    EXPECT_EQ(blur_one(in, out), 0);
    EXPECT_LE(in.width(), 102);
    EXPECT_GT(in.width(), 0);
}

}  // namespace

extern "C" void calotype_register_argv_and_metadata(int (*)(void **),
                                                    const calotype_filter_metadata_t *metadata,
                                                    const char *const *) {
    registered()[metadata->name] = metadata;
}
