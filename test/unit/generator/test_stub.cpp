// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stub of a generator: its text, and what it does. The header that this file includes is the
// expected text.
#include <gtest/gtest.h>

#include "generator/cpp_stub.h"
#include "harness/expect_error.h"
#include "harness/golden.h"

#include "unit/generator/mixer_stub.inc"

namespace calotype {
namespace {

TEST(Stub, Text) {
    EXPECT_TRUE(test::check_against_file(CALOTYPE_TEST_DIR "/unit/generator/mixer_stub.inc",
                                         internal::cpp_stub_text("mixer")));
    EXPECT_COMPILE_ERROR(internal::cpp_stub_text("mixxer"),
                         "there is no generator 'mixxer', did you mean 'mixer'?");
}

TEST(Stub, BuildsThePipeline) {
    const GeneratorContext context(get_jit_target_from_environment());
    Func f;
    Var x;
    f(x) = x;
    Buffer<float, 1> b(4);
    b.fill(10.0f);
    audio::Mix::GeneratorParams params;
    params.mode = audio::Mix::Enum_mode::product;
    params.gain = 2.0f;
    params.output_type = Int(32);
    params.level = LoopLevel();
    audio::Mix::Outputs mix = audio::Mix::generate(context, {f, b, {2.0f, 0.5f}}, params);
    // After generate(): the level is that of the schedule.
    params.level.set(LoopLevel::root());
    Func plus_one;
    plus_one(x) = mix(x) + 1;
    Buffer<int32_t> out = plus_one.realize({4});
    EXPECT_EQ(out(3), 3 * 2 * 5 * 2 + 1);
    Buffer<int32_t> own = mix.realize({4});
    EXPECT_EQ(own(3), 60);
}

}  // namespace
}  // namespace calotype
