// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives on whole Funcs, parameters and buffers that cannot be followed.
#include "driver/module.h"
#include "harness/expect_error.h"
#include "lang/language.h"

namespace calotype {

using namespace internal;
namespace {

Var x("x"), y("y"), u("u");

Func two_dimensional(const std::string &name) {
    Func f(name);
    f(x, y) = x + y;
    return f;
}

TEST(Funcs, elements_that_no_buffer_has) {
    ImageParam image(UInt(24), 1, "of_three_bytes");
    Func reads("reads_three"), writes("writes_five"), between("between");
    reads(x) = cast<int>(image(x));
    EXPECT_COMPILE_ERROR(
        reads.compile_jit(),
        "input buffer of_three_bytes has elements of type uint24, of 3 bytes, must "
        "be of a type of 1, 2, 4 or 8");
    between(x) = cast(Int(40), x);
    writes(x) = between(x) + 1;
    between.compute_root();
    EXPECT_COMPILE_ERROR(
        writes.compile_jit(),
        "output buffer writes_five has elements of type int40, of 5 bytes, must be "
        "of a type of 1, 2, 4 or 8");
}

TEST(Funcs, elements_that_no_header_describes) {
    Func given("given_threes"), stage("takes_threes"), five("makes_fives"), kept("kept_threes");
    given(x) = cast(UInt(24), x);
    given.compute_root();
    stage.define_extern("stage_of_elements", {given}, UInt(8), 1);
    EXPECT_COMPILE_ERROR(
        stage.compile_jit(),
        "func given_threes, an argument of extern stage takes_threes, has elements "
        "of type uint24, of 3 bytes, must be of a type of 1, 2, 4 or 8");
    Func reads_five, reads_kept;
    five.define_extern("stage_of_elements", {}, Int(40), 1);
    five.compute_root();
    reads_five(x) = cast<int>(five(x));
    EXPECT_COMPILE_ERROR(reads_five.compile_jit(),
                         "extern stage makes_fives has elements of type int40, of 5 bytes, must be "
                         "of a type of 1, 2, 4 or 8");
    kept(x) = cast(UInt(24), x);
    kept.compute_root().memoize();
    reads_kept(x) = cast<int>(kept(x));
    EXPECT_COMPILE_ERROR(reads_kept.compile_jit(),
                         "func kept_threes, which is memoized, has elements of type uint24, of 3 "
                         "bytes, must be of a type of 1, 2, 4 or 8");
}

TEST(Funcs, bounds) {
    Func f = two_dimensional("bounded");
    EXPECT_COMPILE_ERROR(f.bound(u, 0, 10),
                         "bound of func bounded: u is none of its dimensions, which are x, y");
    EXPECT_COMPILE_ERROR(f.bound(x, 0, -1),
                         "bound of func bounded: the extent of x is -1, must not be negative");
    EXPECT_COMPILE_ERROR(f.bound(x, 0, Expr()),
                         "bound of func bounded: the extent of x is undefined");
    EXPECT_COMPILE_ERROR(f.align_bounds(x, 0),
                         "align_bounds of func bounded: the modulus of x is 0, must be at least 1");
    EXPECT_COMPILE_ERROR(f.bound(x, 0.5f, 10),
                         "bound of func bounded: a bound of x has type float32, must fit in int32");
    EXPECT_COMPILE_ERROR(f.bound_extent(x, Param<float>("float_extent")),
                         "bound_extent of func bounded: a bound of x has type float32, must fit in "
                         "int32");
    EXPECT_COMPILE_ERROR(f.set_estimates({{0, 10}}),
                         "set_estimates of func bounded: 1 estimates for 2 dimensions");
}

TEST(Funcs, storage) {
    Func f = two_dimensional("stored");
    EXPECT_COMPILE_ERROR(f.reorder_storage(x, x),
                         "reorder_storage of func stored: x is named twice");
    EXPECT_COMPILE_ERROR(
        f.reorder_storage(y, u),
        "reorder_storage of func stored: u is none of its dimensions, which are x, y");
    EXPECT_COMPILE_ERROR(f.fold_storage(y, 0),
                         "fold_storage of func stored: the extent of y is 0, must be at least 1");
    EXPECT_COMPILE_ERROR(f.memoize(EvictionKey(Expr(1.0f))),
                         "memoize of func stored: the eviction key has type float32, must be an "
                         "integer or a pointer");
}

TEST(Funcs, wrappers) {
    Func f = two_dimensional("wrapped"), g("wrap_a"), h("wrap_b");
    g(x, y) = f(x, y);
    h(x, y) = f(x, y);
    EXPECT_COMPILE_ERROR(f.in(f), "in of func wrapped: it cannot be wrapped for itself");
    EXPECT_COMPILE_ERROR(f.in({g, g}), "in of func wrapped names a func twice: wrap_a, wrap_a");
    EXPECT_COMPILE_ERROR(f.in(std::vector<Func>()), "in of func wrapped for no funcs");
    f.in(g);
    EXPECT_COMPILE_ERROR(
        f.in({g, h}),
        "in of func wrapped for wrap_a, wrap_b: they already have different wrappers");
}

TEST(Funcs, copy_to_device) {
    Func f = two_dimensional("copied");
    EXPECT_COMPILE_ERROR(f.copy_to_device(),
                         "copy_to_device of func copied: its definition must be a call of one func "
                         "or buffer at the same coordinates");
    EXPECT_COMPILE_ERROR(f.copy_to_host(),
                         "copy_to_host of func copied: its definition must be a call of one func "
                         "or buffer at the same coordinates");
}

TEST(Funcs, eager_inline) {
    Func f("has_update"), g("inlines");
    f(x) = 0;
    f(x) += 1;
    g(x) = f(x);
    EXPECT_COMPILE_ERROR(g.eager_inline(f),
                         "func has_update cannot be inlined: it must have a pure definition, no "
                         "updates and no specializations");
}

TEST(Funcs, change_type) {
    const std::string unsure =
        " may not be one of its values; if it always is, say so by change_type(type, true)";
    Func wide("wide"), sum("sum"), product("product");
    wide(x) = x;
    EXPECT_COMPILE_ERROR(wide.change_type(UInt(8)), "change_type of func " + wide.name() +
                                                        " to uint8: its first value" + unsure);
    RDom r(0, 300, "r");
    sum(x) = 0;
    sum(x) += cast<int>(cast<uint8_t>(r));
    EXPECT_COMPILE_ERROR(sum.change_type(UInt(16)), "change_type of func " + sum.name() +
                                                        " to uint16: the sum of update 0" + unsure);
    product(x) = 1;
    product(x) *= r;
    EXPECT_COMPILE_ERROR(product.change_type(Int(64)),
                         "change_type of func " + product.name() +
                             ": update 0 must be a sum, a difference, a minimum or "
                             "a maximum of the func and something else");
    EXPECT_COMPILE_ERROR(product.change_type(Handle()), "change_type of func " + product.name() +
                                                            " to handle, which is not a number");
    Func pair("pair");
    pair(x) = Tuple(x, x);
    EXPECT_COMPILE_ERROR(pair.change_type(Int(8)),
                         "change_type of func " + pair.name() + ", which has 2 values");
    EXPECT_EQ(sum.change_type(UInt(32)).type(), UInt(32));
}

TEST(Funcs, compute_with) {
    Func f = two_dimensional("fused_f"), g = two_dimensional("fused_g");
    EXPECT_COMPILE_ERROR(f.compute_with(f, x),
                         "fused_f is computed with fused_f.s0.x, which is of the same func");
    EXPECT_COMPILE_ERROR(f.compute_with(LoopLevel::root()),
                         "fused_f is computed with root, must be with a loop");
    f.specialize(Param<bool>());
    EXPECT_COMPILE_ERROR(f.compute_with(g, x),
                         "fused_f is computed with fused_g.s0.x, but it has specializations");
}

TEST(Funcs, compute_with_what_copies_stand_for) {
    Func f = two_dimensional("f"), g = two_dimensional("g"), h;
    h(x, y) = f(x, y) + g(x, y);
    f.compute_root().compute_with(g.compute_root(), y);
    h.realize({4, 4});
    g.clone_in(h).compute_root();
    EXPECT_COMPILE_ERROR(h.realize({4, 4}), "func " + f.name() + " is computed with " + g.name() +
                                                ", which is not in the pipeline");
}

TEST(Funcs, loop_level) {
    LoopLevel level;
    EXPECT_COMPILE_ERROR(level.func_name(), "loop level is used before it was set");
    EXPECT_COMPILE_ERROR(LoopLevel("f", "x", false).to_string(),
                         "loop level f.x may still be set, and is read: lock() or compiling ends "
                         "that");
    LoopLevel locked = LoopLevel::root();
    locked.lock();
    EXPECT_COMPILE_ERROR(locked.set(LoopLevel::inlined()),
                         "cannot set loop level root, it is locked: the pipeline has been lowered");
}

TEST(Funcs, boundary_conditions) {
    Func f("bounded_once");
    f(x) = x;
    EXPECT_COMPILE_ERROR(BoundaryConditions::repeat_edge(f, {{0, 10}, {0, 10}}),
                         "repeat_edge of func bounded_once: 2 bounds for 1 dimensions");
    EXPECT_COMPILE_ERROR(BoundaryConditions::repeat_edge(f, 0, 64, 0),
                         "bounds are a minimum and an extent for each dimension, but 3 values are "
                         "given");
    EXPECT_COMPILE_ERROR(BoundaryConditions::constant_exterior(f, Tuple(1, 2), {{0, 10}}),
                         "constant_exterior of func bounded_once: 2 values for a func of 1");
}

TEST(Parameters, scalar) {
    Param<uint8_t> p("small_param");
    Param<> q(Float(32), "dynamic_param");
    EXPECT_COMPILE_ERROR(Param<int>(p.parameter().name()).parameter().set_host_alignment(8),
                         "parameter small_param is a scalar, it has no host alignment");
    EXPECT_COMPILE_ERROR(Param<int>{Param<uint8_t>("as_uint8")},
                         "parameter as_uint8 has type uint8 and is used as one of type int32");
    EXPECT_COMPILE_ERROR(
        q.get<int>(), "parameter dynamic_param has type float32 and is used as one of type int32");
    EXPECT_COMPILE_ERROR(Param<void>(UInt(8), "dynamic_small").set(300),
                         "parameter dynamic_small has type uint8 and cannot hold the value 300");
    Param<int> whole("whole_param");
    EXPECT_COMPILE_ERROR(p.set(300),
                         "parameter small_param has type uint8 and cannot hold the value 300");
    EXPECT_COMPILE_ERROR(p.set_estimate(-1),
                         "parameter small_param has type uint8 and cannot hold the value -1");
    EXPECT_COMPILE_ERROR(whole.set(int64_t(1) << 40),
                         "parameter whole_param has type int32 and cannot hold the value "
                         "1099511627776");
    EXPECT_COMPILE_ERROR(whole.set(2.5f),
                         "parameter whole_param has type int32 and cannot hold the value 2.500000");
    EXPECT_COMPILE_ERROR(Param<int>("__user_context"),
                         "the name __user_context of a Param is reserved");
}

TEST(Parameters, image) {
    ImageParam im(UInt(8), 2, "image_param");
    EXPECT_COMPILE_ERROR(im.set(Buffer<float>(3, 4)),
                         "ImageParam image_param has element type uint8 and is set to a buffer of "
                         "float32");
    EXPECT_COMPILE_ERROR(im.set(Buffer<uint8_t>(3)),
                         "ImageParam image_param has 2 dimensions and is set to a buffer of 1");
    EXPECT_COMPILE_ERROR(
        im(x), "ImageParam image_param is called with 1 coordinates, it has 2 dimensions");
    EXPECT_COMPILE_ERROR(im.dim(2), "buffer image_param has no dimension 2, it has 2");
    EXPECT_COMPILE_ERROR(im.dim(0).set_extent(x),
                         "extent of dimension 0 of buffer image_param depends on variable x, only "
                         "parameters are allowed");
    EXPECT_COMPILE_ERROR(im.set_host_alignment(12),
                         "host alignment of image_param is 12, must be a power of two");
    EXPECT_COMPILE_ERROR(ImageParam()(x), "an undefined ImageParam is used");
}

TEST(Parameters, buffers) {
    Buffer<> b = Buffer<uint8_t>(3, 4, "bytes");
    EXPECT_COMPILE_ERROR(Buffer<float>{b},
                         "buffer bytes has element type uint8 and is used as a buffer of float32");
    EXPECT_COMPILE_ERROR((Buffer<uint8_t, 3>{b}),
                         "buffer bytes has 2 dimensions and is used as a buffer of 3");
    EXPECT_COMPILE_ERROR(b(x), "buffer bytes is called with 1 coordinates, it has 2 dimensions");
    EXPECT_COMPILE_ERROR(Buffer<uint8_t>().width(), "an undefined buffer is used");
}

TEST(Funcs, shape_of_no_output) {
    Func f("inner_shape"), g("outer_shape");
    f(x) = x;
    g(x) = f(x) + f.output_buffer().dim(0).extent();
    EXPECT_COMPILE_ERROR(
        g.realize({4}),
        "inner_shape.extent.0, of the output buffer of func inner_shape, is used in a "
        "pipeline that func inner_shape is no output of");
    EXPECT_EQ(Pipeline({f, g}).realize({4}).size(), 2u);
}

TEST(Parameters, two_of_one_name) {
    Func f("two_parameters");
    f(x) = Param<int>("same_name") + Param<int>("same_name");
    EXPECT_COMPILE_ERROR(f.infer_arguments(),
                         "two different parameters of the pipeline are named same_name");
}

/// Funcs get their own names after parameters have theirs.
TEST(Parameters, named_as_a_func) {
    const std::string number = Func().name().substr(1);
    Param<int> next("f" + std::to_string(std::stoi(number) + 1)), taken("taken_name");
    Func f, g("taken_name"), h;
    EXPECT_NE(f.name(), next.name());
    EXPECT_NE(g.name(), taken.name());
    f(x) = x + next;
    g(x) = f(x) + taken;
    EXPECT_EQ(g.infer_arguments().size(), 2u);
    h(x) = f(x) + Param<int>(f.name());
    EXPECT_COMPILE_ERROR(h.compile_to_module(h.infer_arguments(), "p", get_host_target()),
                         "a func and a parameter of the pipeline are both named " + f.name());
}

TEST(Pipelines, storage_of_a_known_size_that_is_too_large) {
    Func f("enormous"), g("of_enormous");
    f(x, y) = cast<uint8_t>(x + y);
    f.compute_root().bound(x, 0, 1 << 16).bound(y, 0, 1 << 16);
    g(x, y) = f(x, y);
    const Target target = get_host_target();
    EXPECT_COMPILE_ERROR(g.compile_to_module({}, "p", target),
                         "storage of enormous takes 4294967296 bytes, must take at most 2147483647 "
                         "where the target lacks large_buffers");
    g.compile_to_module({}, "p", target.with_feature(Target::LargeBuffers));
}

TEST(Pipelines, buffer_of_a_known_size_that_is_too_large) {
    ImageParam in(UInt(8), 2, "enormous_input");
    Func f("of_enormous_input");
    f(x, y) = in(x, y);
    in.dim(0).set_bounds(0, 1 << 16);
    in.dim(1).set_bounds(0, 1 << 16);
    const Target target = get_host_target();
    EXPECT_COMPILE_ERROR(f.compile_to_module({in}, "p", target),
                         "input buffer enormous_input has 4294967296 elements, must have at most "
                         "2147483647 where the target lacks large_buffers");
    f.compile_to_module({in}, "p", target.with_feature(Target::LargeBuffers));
}

TEST(Pipelines, image_that_is_newer_on_its_device) {
    Buffer<float> image(4, "stale_on_the_host");
    Func f("of_stale");
    f(x) = image(x);
    image.set_device_dirty();
    EXPECT_COMPILE_ERROR(f.compile_to_module({}, "p", get_host_target()),
                         "constant image stale_on_the_host is newer on its device than on the "
                         "host: call copy_to_host() before compiling");
    image.set_device_dirty(false);
    f.compile_to_module({}, "p", get_host_target());
}

TEST(Pipelines, image_without_memory) {
    const Buffer<float> image(nullptr, 4, "without_memory");
    Func f("of_nothing");
    f(x) = image(x);
    EXPECT_COMPILE_ERROR(
        f.compile_to_module({}, "p", get_host_target()),
        "constant image without_memory has no memory on the host: allocate() makes "
        "some");
}

TEST(Pipelines, requirement) {
    Func f("required");
    f(x) = x;
    EXPECT_COMPILE_ERROR(Pipeline(f).add_requirement(Expr(1), "text"),
                         "condition of a requirement has type int32, must be bool");
}

TEST(Pipelines, extern_call_of_another_type) {
    EXPECT_COMPILE_ERROR(
        internal::make_extern_call("c_function", Int(32), {Float(32)}, {Expr(1)}, CallKind::Extern),
        "argument 0 of extern function c_function has type int32, must be float32");
}

}  // namespace
}  // namespace calotype
