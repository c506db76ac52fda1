// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline that was written as text and read back is compiled to the same code.
#include <gtest/gtest.h>

#include "driver/compiler.h"
#include "harness/expect_error.h"
#include "ir/printer.h"
#include "lang/language.h"
#include "pipeline/text/pipeline_text.h"

namespace calotype::internal {
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

PipelineSource source_of(const Func &f) {
    Pipeline p(f);
    return p.source("p", p.infer_arguments());
}

/// Checks and all, as text.
std::string code_of(const PipelineSource &source) {
    CompileJob job;
    job.source = source;
    job.target = Target("x86-64-linux-avx2");
    return to_string(Compiler().lower(job).functions[0].body);
}

void expect_round_trip(const Func &f) {
    const PipelineSource source = source_of(f);
    const std::string text = to_text(source);
    const PipelineSource read = parse_pipeline(text);
    EXPECT_EQ(to_text(read), text);
    EXPECT_EQ(code_of(read), code_of(source)) << text;
}

TEST(PipelineText, ParametersAndUpdates) {
    Param<int> p("p", 3, 0, 7);
    ImageParam in(UInt(8), 2, "in");
    in.dim(0).set_stride(4).set_bounds_estimate(0, 64);
    in.set_host_alignment(32);
    RDom r(0, in.width(), 0, 9, "r");
    r.where(r.x < r.y + p);
    Func f("f"), g("g");
    g(x, y) = cast<float>(in(x, y)) * 2.5f + cast<float>(p);
    f(x, y) = 0.0f;
    f(x, y) += g(x + r.x, y - r.y);
    f(x, 0) = f(x, 1) + 1.0f;
    g.compute_at(f, y).store_root().fold_storage(y, 16).vectorize(x, 8, TailStrategy::RoundUp);
    f.bound(x, 0, 64).align_bounds(y, 4).set_estimate(y, 0, 100);
    f.update().split(x, xo, xi, 8).reorder(xi, r.x, r.y, xo, y).unroll(r.y, 3);
    f.output_buffer().dim(0).set_min(0);
    expect_round_trip(f);
}

TEST(PipelineText, SchedulesOfAllKinds) {
    ImageParam in(Int(16), 2, "in");
    Func a("a"), b("b"), c("c"), f("kinds");
    a(x, y) = in(x, y) + cast<int16_t>(1);
    b(x, y) = Tuple(a(x, y), a(x + 1, y));
    c(x, y) = b(x, y)[0] + b(x, y)[1];
    f(x, y) = select(c(x, y) > 3, c(x, y - 1), cast<int16_t>(7));
    a.compute_root().store_in(MemoryType::Heap).align_storage(x, 16).trace_stores();
    a.prefetch(in, y, y, 2);
    b.compute_root().async();
    c.compute_root().fuse(x, y, xo).parallel(xo).add_trace_tag("tag");
    Var w("w");
    f.rename(y, w).specialize(in.width() > 10).vectorize(x, 4, TailStrategy::GuardWithIf);
    f.specialize_fail("too narrow");
    a.in(b).compute_root();
    expect_round_trip(f);
}

TEST(PipelineText, ExternStagesAndCopies) {
    ImageParam in(Float(32), 1, "floats");
    Func g("made"), e("e"), f("copied");
    g(x) = cast<float>(x);
    g.compute_root();
    e.define_extern("other", {g, in, Expr(3), 1.5f}, Float(32), {x});
    e.compute_root();
    f(x) = e(x);
    f.debug_to_file("f.npy");
    expect_round_trip(f);
}

TEST(PipelineText, WhatFollowsMayBeLeftOut) {
    Func f("short"), g("shorter");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    g.compute_root();
    const PipelineSource read = parse_pipeline(R"(
        pipeline {name: "p", outputs: ["short"]}
        func {name: "short", args: ["x", "y"],
              init: {values: [shorter(x, y) + shorter(x, y + 1)]}}
        func {name: "shorter", args: ["x", "y"], init: {values: [x * y]}, schedule: {
            compute_level: root}})");
    EXPECT_EQ(to_text(read), to_text(source_of(f)));
}

TEST(PipelineText, ErrorsNameThePlace) {
    EXPECT_COMPILE_ERROR(parse_pipeline("func {name: \"f\", argz: []}"),
                         "line 1, column 18: there is no member 'argz' here");
    EXPECT_COMPILE_ERROR(
        parse_pipeline("func {name: \"f\", init: {schedule: {splits: [{tail: up}]}}}"),
        "line 1, column 52: 'up' is not one of the words that are possible here");
    EXPECT_COMPILE_ERROR(parse_pipeline("pipeline {outputs: [\"f\"]}"),
                         "the text of a pipeline names f, which it does not declare");
    Buffer<int, 1> table(4, "table");
    Func f("embedding");
    f(x) = table(x);
    EXPECT_COMPILE_ERROR(to_text(source_of(f)),
                         "pipeline p cannot be written as text: it embeds image table");
}

}  // namespace
}  // namespace calotype::internal
