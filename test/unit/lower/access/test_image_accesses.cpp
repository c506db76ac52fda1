// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "lower/gpu/access/image_accesses.h"

namespace calotype::internal {
namespace {

using Args = std::map<std::string, KernelArgument>;

std::string with_images(const char *text, Args *images = nullptr) {
    Args args;
    const std::string result = to_string(use_images(parse_stmt(text), args));
    if (images) {
        *images = args;
    }
    return result;
}

TEST(ImageAccesses, of_small_integers_are_casts) {
    EXPECT_EQ(with_images("f[bundle(x, y)] = g[bundle(x + 1)]:uint8 + (uint8)1"),
              "evaluate image_store(f:handle, x, y, uint32(uint8(image_load(g:handle, x + "
              "1):uint32) + (uint8)1), true):int32\n");
    EXPECT_EQ(with_images("f[bundle(x)] = g[bundle(x)]:int16"),
              "evaluate image_store(f:handle, x, int32(int16(image_load(g:handle, x):int32)), "
              "true):int32\n");
}

TEST(ImageAccesses, of_32_bits_are_none) {
    EXPECT_EQ(
        with_images("f[bundle(x, y, z)] = g[bundle(x)]:int32"),
        "evaluate image_store(f:handle, x, y, z, image_load(g:handle, x):int32, true):int32\n");
    EXPECT_EQ(with_images("f[bundle(x)] = g[bundle(x)]:float32"),
              "evaluate image_store(f:handle, x, image_load(g:handle, x):float32, true):int32\n");
}

TEST(ImageAccesses, of_small_floats_are_their_bits) {
    EXPECT_EQ(with_images("f[bundle(x)] = g[bundle(x)]:bfloat16"),
              "evaluate image_store(f:handle, x, "
              "uint32(reinterpret<uint16>(reinterpret<bfloat16>(uint16(image_load(g:handle, "
              "x):uint32)))), true):int32\n");
}

TEST(ImageAccesses, where_a_predicate_is_false_nothing_is_stored_and_zero_is_loaded) {
    EXPECT_EQ(with_images("f[bundle(ramp(x, 1, 4)):int32x4 if p:boolx4] = g[bundle(ramp(x, 1, "
                          "4)):int32x4 if q:boolx4]:int32x4"),
              "evaluate image_store(f:handle, ramp(x, 1, 4), select(q:boolx4, image_load(g:handle, "
              "ramp(x, 1, 4)):int32x4, broadcast(0, 4)), p:boolx4):int32\n");
}

TEST(ImageAccesses, images_are_described) {
    Args args;
    with_images("f[bundle(broadcast(x, 2), ramp(y, 1, 2)):int32x2] = g[bundle(ramp(x, 1, 2), "
                "broadcast(y, 2), broadcast(z, 2)):int32x2]:uint8x2 + h[ramp(i, 1, 2)]:uint8x2",
                &args);
    ASSERT_EQ(args.size(), 2u);
    EXPECT_EQ(args["f"].dimensions, 2);
    EXPECT_TRUE(args["f"].written && !args["f"].read && args["f"].is_buffer);
    EXPECT_EQ(args["g"].dimensions, 3);
    EXPECT_TRUE(args["g"].read && !args["g"].written);
    EXPECT_EQ(args["g"].type, UInt(8));
    EXPECT_EQ(args["g"].memory, MemoryType::GPUTexture);
}

}  // namespace
}  // namespace calotype::internal
