// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stub of a generator: its text, and what it does. The header that this file includes is the
// expected text.
#include <gtest/gtest.h>

#include "generator/cpp_stub.h"
#include "generator/registry.h"
#include "harness/expect_error.h"
#include "harness/golden.h"

#include "unit/generator/mixer_stub.inc"

namespace calotype {
namespace {

class UsesMixer : public Generator<UsesMixer> {
public:
    Output<Buffer<int32_t, 1>> out{"out"};
    void generate() {
        Func f;
        Var x("x");
        f(x) = x;
        Buffer<float, 1> b(4);
        b.fill(10.0f);
        audio::Mix::GeneratorParams params;
        params.mode = audio::Mix::Enum_mode::product;
        params.gain = 2.0f;
        params.output_type = Int(32);
        params.level = LoopLevel::root();
        out(x) = audio::Mix::generate(this, {f, b, {2.0f, 0.5f}}, params)(x);
    }
};

class TypedByHand : public Generator<TypedByHand> {
public:
    GeneratorParam<Type> out_type{"out_type", Int(16)};
    Output<Buffer<>> out{"out", 1};

    void configure() {
        added_ = add_input<Buffer<int32_t, 1>>("added");
        number_ = add_input<int32_t>("added_number");
    }
    void generate() {
        Var x;
        out(x) = cast(out_type, (*added_)(x) + *number_);
    }

private:
    Input<Buffer<int32_t, 1>> *added_ = nullptr;
    Input<int32_t> *number_ = nullptr;
};

}  // namespace
}  // namespace calotype

CALOTYPE_REGISTER_GENERATOR(calotype::TypedByHand, typed_by_hand)
CALOTYPE_REGISTER_GENERATOR(calotype::UsesMixer, uses_mixer)

namespace calotype {
namespace {

TEST(Stub, Text) {
    EXPECT_TRUE(test::check_against_file(CALOTYPE_TEST_DIR "/unit/generator/mixer_stub.inc",
                                         internal::cpp_stub_text("mixer")));
    EXPECT_COMPILE_ERROR(internal::cpp_stub_text("mixxer"),
                         "there is no generator 'mixxer', did you mean 'mixer'?");
}

// What configure() adds is a member; a parameter that the generator declares hides the one of the
// same name that an output has.
TEST(Stub, MembersThatTheGeneratorAdds) {
    const std::string text = internal::cpp_stub_text("typed_by_hand");
    EXPECT_NE(text.find("calotype::internal::StubInput added;"), std::string::npos) << text;
    EXPECT_NE(text.find("calotype::Expr added_number;"), std::string::npos) << text;
    const std::string member = "calotype::Type out_type{";
    const size_t first = text.find(member);
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find(member, first + 1), std::string::npos) << text;
    EXPECT_NE(text.find("result[\"out_type\"]"), std::string::npos) << text;
    EXPECT_EQ(text.find("result[\"out.type\"]"), std::string::npos) << text;
}

TEST(Stub, AGeneratorGivesItselfForItsContext) {
    const auto g = internal::create_generator("uses_mixer",
                                              GeneratorContext(get_jit_target_from_environment()));
    Buffer<int32_t> out = g->build_pipeline().realize({4});
    EXPECT_EQ(out(3), 60);
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
