// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines that were written as bytes and read back compute what they computed.
#include <gtest/gtest.h>

#include <sstream>

#include "harness/expect_error.h"
#include "lang/language.h"
#include "support/file.h"

namespace calotype {
namespace {

using Params = std::map<std::string, Parameter>;

Var x("x"), y("y");

std::vector<uint8_t> bytes_of(const Pipeline &p) {
    std::vector<uint8_t> data;
    serialize_pipeline(p, data);
    return data;
}

std::vector<uint8_t> to_bytes(const std::string &text) {
    return {text.begin(), text.end()};
}

TEST(Serialize, ScalarsAndOutputsAreAsBefore) {
    Param<float> gain("gain", 2.5f);
    Param<int> offset("offset", -3);
    Func f("f"), g("g"), table("table");
    table(x) = x * x;
    table.compute_root().vectorize(x, 4);
    f(x, y) = cast<float>(table(x) + y) * gain;
    g(x, y) = table(y) + offset;
    const Pipeline p({f, g});
    Params params;
    std::vector<uint8_t> data;
    serialize_pipeline(p, data, params);
    EXPECT_EQ(params.size(), 2u);
    EXPECT_TRUE(params.at("gain").same_as(gain.parameter()));
    const Realization r = deserialize_pipeline(data).realize({6, 3});
    EXPECT_EQ(Buffer<float>(r[0])(3, 1), 25.0f);
    EXPECT_EQ(Buffer<int>(r[1])(5, 2), 1);
}

TEST(Serialize, ImagesGoAlong) {
    Buffer<uint16_t, 2> image(3, 2, "weights");
    image.set_min(1, -1);
    image.for_each_element([&](int i, int j) { image(i, j) = uint16_t(1000 * i + j); });
    // Of a part of it the rest does not go along.
    Buffer<uint16_t, 2> part = image.cropped(0, 2, 1);
    Func f("images");
    f(x, y) = image(x + 1, y) + part(2, y);
    const std::vector<uint8_t> data = bytes_of(f);
    const Buffer<uint16_t> r = deserialize_pipeline(data).realize({2, 1});
    EXPECT_EQ(r(0, 0), 1000 + 2000);
    EXPECT_EQ(r(1, 0), 2000 + 2000);
    const std::string text(data.begin(), data.end());
    EXPECT_NE(text.find("extent: 1"), std::string::npos);
}

TEST(Serialize, InputsAreThoseThatAreGiven) {
    ImageParam in(UInt(8), 1, "in");
    Param<int> n("n", 7);
    Func f("f");
    f(x) = cast<int>(in(x)) + n;
    const internal::TemporaryFile file(".ctpipe");
    serialize_pipeline(f, file.path());
    const Params declared = deserialize_parameters(file.path());
    ASSERT_EQ(declared.size(), 2u);
    EXPECT_EQ(declared.at("in").dimensions(), 1);
    EXPECT_EQ(declared.at("n").type(), Int(32));

    ImageParam other(UInt(8), 1, "in");
    Buffer<uint8_t> data(4);
    data.fill(100);
    other.set(data);
    Param<int> five("n", 5);
    const Params given = {
        {"in", other.parameter()}, {"n", five.parameter()}, {"no_input", five.parameter()}};
    Pipeline p = deserialize_pipeline(file.path(), given);
    EXPECT_EQ(Buffer<int>(p.realize({4}))(3), 105);
    five.set(6);
    EXPECT_EQ(Buffer<int>(p.realize({4}))(3), 106);
    n.set(1);
    EXPECT_EQ(Buffer<int>(p.realize({4}))(3), 106) << "n is not of this pipeline";

    Param<int> scalar("in", 1);
    const Params wrong = {{"in", scalar.parameter()}};
    EXPECT_COMPILE_ERROR(deserialize_pipeline(file.path(), wrong),
                         "parameter in of the pipeline is a buffer of 1 dimensions of uint8, the "
                         "one that is given is a scalar of type int32");
    const Params undefined = {{"in", Parameter()}};
    EXPECT_COMPILE_ERROR(deserialize_pipeline(file.path(), undefined), "parameter in is undefined");
}

TEST(Serialize, RequirementsAndStreams) {
    Param<int> n("n", 0);
    Func f("f");
    f(x) = x / n;
    Pipeline p(f);
    p.add_requirement(n > 0, "n must be positive");
    const std::vector<uint8_t> data = bytes_of(p);
    std::istringstream in(std::string(data.begin(), data.end()));
    Pipeline same = deserialize_pipeline(in);
    EXPECT_ANY_THROW(same.realize({4}));
    EXPECT_EQ(bytes_of(same), data);
}

TEST(Serialize, OutputsMayBeWrappers) {
    Func f("tripled");
    f(x) = x * 3;
    f.compute_root();
    const Func wrapper = f.in();
    EXPECT_EQ(Buffer<int>(deserialize_pipeline(bytes_of(wrapper)).realize({4}))(3), 9);
}

TEST(Serialize, WrappersThatAreNotDeclared) {
    const std::string text = "// A pipeline of Calotype, version 1\n"
                             "func {name: \"f\", args: [\"x\"], init: {values: [x]},\n"
                             "schedule: {wrappers: {\"\": \"f_in\"}}}";
    EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes(text)),
                         "the text of a pipeline names f_in, which it does not declare");
}

TEST(Serialize, CallsWithTooFewCoordinates) {
    const std::string text = "// A pipeline of Calotype, version 1\n"
                             "func {name: \"f\", args: [\"x\", \"y\"], init: {values: [x + y]}, "
                             "updates: [{args: [x, y], values: [f(x)]}]}";
    EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes(text)),
                         "the text of a pipeline calls f with 1 coordinates, it has 2 dimensions");
}

TEST(Serialize, VariablesThatNothingDeclares) {
    const std::string head = "// A pipeline of Calotype, version 1\n"
                             "func {name: \"f\", args: [\"x\"], ";
    for (const char *rest :
         {"init: {values: [x + y]}}", "init: {values: [x], predicate: y < 2}}",
          "init: {values: [x], specializations: [{condition: y < 2, definition: {}}]}}",
          "init: {values: [x]}, updates: [{args: [y], values: [x]}]}",
          "init: {values: [x]}, schedule: {bounds: [{var: \"x\", min: y}]}}",
          "init: {values: [let z = 1 in y + z]}}"}) {
        EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes(head + rest)),
                             "the text of a pipeline uses variable y in func f, which nothing "
                             "declares");
    }
}

TEST(Serialize, LoopsAndConditionsThatAreNone) {
    const std::string head = "// A pipeline of Calotype, version 1\n"
                             "func {name: \"f\", args: [\"x\", \"y\"], init: {values: [x + y], ";
    const auto with = [&](const std::string &rest) {
        return to_bytes(head + rest + "}}");
    };
    EXPECT_COMPILE_ERROR(
        deserialize_pipeline(with("schedule: {dims: [{var: \"x\"}, {var: \"z\"}]}")),
        "the text of a pipeline names loop z of func f, which nothing makes");
    EXPECT_COMPILE_ERROR(
        deserialize_pipeline(with("schedule: {dims: [{var: \"x\"}, {var: \"__outermost\"}]}")),
        "the text of a pipeline leaves out loop y of func f");
    EXPECT_COMPILE_ERROR(
        deserialize_pipeline(with("schedule: {splits: [{old_var: \"z\", outer: \"zo\", inner: "
                                  "\"zi\", factor: 4}]}")),
        "the text of a pipeline names loop z of func f, which nothing makes");
    EXPECT_COMPILE_ERROR(deserialize_pipeline(with("predicate: 3")),
                         "the text of a pipeline has condition 3 of func f of type int32, must be "
                         "bool");
    EXPECT_COMPILE_ERROR(
        deserialize_pipeline(with("specializations: [{condition: 3, definition: {}}]")),
        "the text of a pipeline has condition 3 of func f of type int32, must be bool");
}

TEST(Serialize, WhatIsNoPipeline) {
    const std::string head = "// A pipeline of Calotype, version 1\n";
    EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes("\x01\x02")),
                         "these bytes are no serialized pipeline: they do not begin with '// A "
                         "pipeline of Calotype, version 1'");
    EXPECT_COMPILE_ERROR(serialize_pipeline(Pipeline(), "unused"),
                         "an undefined pipeline is serialized");
    EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes(head + "pipeline {")),
                         "line 2, column 11: expected ':', found end of text");
    const std::string image = "image {name: \"i\", type: uint8, dims: [{extent: 2, stride: 1}], ";
    EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes(head + image + "bytes: \"00\"}")),
                         "image i of a serialized pipeline has 2 hexadecimal digits, must have 4");
    EXPECT_COMPILE_ERROR(deserialize_pipeline(to_bytes(head + image + "bytes: \"00zz\"}")),
                         "image i of a serialized pipeline holds what is no digit");
    EXPECT_COMPILE_ERROR(
        deserialize_pipeline(to_bytes(head + "image {name: \"i\", type: uint8, dims: [{extent: "
                                             "-1}], bytes: \"\"}")),
        "image i of a serialized pipeline has no possible size");
}

}  // namespace
}  // namespace calotype
