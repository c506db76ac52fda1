// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline says that is run with the wrong arguments: the whole text.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include "harness/expect_error.h"

namespace calotype::test {
namespace {

const Var x("x"), y("y");

/// out(x, y) = in(x, y) + in(x + 1, y) as a function of its arguments.
class RunTimeErrors : public ::testing::Test {
protected:
    ImageParam in{Int(32), 2, "in"};
    Param<int> offset{"shift"};
    Func f{::testing::UnitTest::GetInstance()->current_test_info()->name()};
    Buffer<int> input{11, 5};

    void SetUp() override {
        f(x, y) = in(x, y) + in(x + 1, y) + offset;
        input.fill(1);
        in.set(input);
        offset.set(0);
    }
};

TEST_F(RunTimeErrors, input_too_small) {
    EXPECT_RUNTIME_ERROR(f.realize({12, 5}),
                         "input buffer in covers [0, 10] in dimension 0, must cover [0, 12]");
    EXPECT_RUNTIME_ERROR(f.realize({10, 6}),
                         "input buffer in covers [0, 4] in dimension 1, must cover [0, 5]");
}

TEST_F(RunTimeErrors, input_that_begins_too_late) {
    input.set_min(1, 0);
    in.set(input);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}),
                         "input buffer in covers [1, 11] in dimension 0, must cover [0, 10]");
}

TEST_F(RunTimeErrors, input_of_another_type) {
    Buffer<float> floats(11, 5);
    EXPECT_COMPILE_ERROR(in.set(floats),
                         "ImageParam in has element type int32 and is set to a buffer of float32");
    Callable c = f.compile_to_callable({in, offset});
    Buffer<int> out(10, 5);
    EXPECT_COMPILE_ERROR(c(floats, 1, out),
                         "Argument 1 of 3 ('in') was expected to be a buffer of type 'int32' and "
                         "dimension 2, but is a buffer of type 'float32'");
    EXPECT_COMPILE_ERROR(c(input, 1.0f, out),
                         "Argument 2 of 3 ('shift') was expected to be a scalar of type 'int32' "
                         "and dimension 0, but is a scalar of type 'float32'");
    EXPECT_COMPILE_ERROR(c(input, 1), "a Callable takes 3 arguments, not 2");
}

TEST_F(RunTimeErrors, output_of_another_type) {
    Buffer<float> out(10, 5);
    EXPECT_COMPILE_ERROR(
        f.realize(out),
        "buffer 0 for output func output_of_another_type has type float32, must have int32");
}

TEST_F(RunTimeErrors, other_numbers_of_dimensions) {
    Buffer<int> flat(11);
    EXPECT_COMPILE_ERROR(in.set(flat),
                         "ImageParam in has 2 dimensions and is set to a buffer of 1");
    EXPECT_COMPILE_ERROR(
        f.realize({10}),
        "output func other_numbers_of_dimensions has 2 dimensions, but 1 sizes are given");
}

TEST_F(RunTimeErrors, input_not_set) {
    in.reset();
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "no buffer is set for input in");
}

TEST_F(RunTimeErrors, stride_of_the_innermost_dimension) {
    Buffer<int> turned = Buffer<int>(5, 11).transposed(0, 1);
    in.set(turned);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "in.stride.0 is 5, must be 1");
}

TEST_F(RunTimeErrors, constraints_on_an_input) {
    in.dim(1).set_extent(4);
    EXPECT_RUNTIME_ERROR(f.realize({10, 4}), "in.extent.1 is 5, must be 4");
    in.dim(1).set_extent(Expr()).set_min(2);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "in.min.1 is 0, must be 2");
}

TEST_F(RunTimeErrors, constraint_on_an_output) {
    f.output_buffer().dim(0).set_extent(8);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "constraint_on_an_output.extent.0 is 10, must be 8");
    Buffer<int> given(10, 5);
    EXPECT_RUNTIME_ERROR(f.realize(given), "constraint_on_an_output.extent.0 is 10, must be 8");
}

TEST_F(RunTimeErrors, alignment) {
    in.set_host_alignment(64);
    Buffer<int> shifted(input.data() + 1, 10, 5);
    in.set(shifted);
    EXPECT_RUNTIME_ERROR(f.realize({9, 5}),
                         "host pointer of input buffer in is not aligned, must be to 64 bytes");
}

TEST_F(RunTimeErrors, bounds_that_do_not_hold) {
    f.bound(x, 0, 8);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "Bounds given for bounds_that_do_not_hold in x (from "
                                             "0 to 7) do not cover required region (from 0 to 9)");
}

TEST_F(RunTimeErrors, parameter_out_of_range) {
    offset.set_range(1, 9);
    offset.set(0);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "parameter shift is 0, must be at least 1");
    offset.set(10);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "parameter shift is 10, must be at most 9");
}

/// The parameter is what is wrong; that bounds do not hold for it only follows.
TEST_F(RunTimeErrors, parameter_out_of_range_that_is_a_bound) {
    Param<int> width("width", 1, 0, 64);
    f.bound(x, 0, width);
    width.set(-3);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "parameter width is -3, must be at least 0");
}

TEST_F(RunTimeErrors, parameters_that_bound_each_other) {
    Param<int> low("low"), high("high");
    low.set_range(0, high);
    high.set_range(low, 100);
    Func g("bounded_by_each_other");
    g(x) = x + low;
    low.set(3);
    high.set(5);
    EXPECT_EQ(Buffer<int>(g.realize({4}))(1), 4);
    high.set(2);
    EXPECT_RUNTIME_ERROR(g.realize({4}), "parameter high is 2, must be at least 3");
    low.set(102);
    high.set(101);
    EXPECT_RUNTIME_ERROR(g.realize({4}), "parameter high is 101, must be at least 102");
    low.set_max_value(Expr());  // parameters whose bounds name each other keep each other alive
}

TEST_F(RunTimeErrors, too_many_elements) {
    Buffer<int> one(1);
    calotype_dimension_t shape[2] = {{0, 1 << 20, 0}, {0, 1 << 20, 0}};
    Func wide("wide");
    wide(x, y) = x + y;
    wide.output_buffer().dim(0).set_stride(Expr());
    Buffer<int> out(one.data(), 2, shape);
    EXPECT_RUNTIME_ERROR(
        wide.realize(out),
        "output buffer wide has 1099511627776 elements, must have at most 2147483647");
    calotype_dimension_t far[2] = {{0, 1 << 12, 1}, {0, 1 << 12, 1 << 22}};
    Buffer<int> strided(one.data(), 2, far);
    EXPECT_RUNTIME_ERROR(
        wide.realize(strided),
        "output buffer wide takes 17179869184 bytes, must take at most 2147483647");
}

TEST_F(RunTimeErrors, no_memory) {
    Func large("large"), use("use");
    large(x, y) = x + y + offset;
    large(x, y) += 1;
    use(x, y) = large(x, y) + large(x, y + 1);
    large.compute_root();
    use.jit_handlers().custom_malloc = [](JITUserContext *, size_t) -> void * {
        return nullptr;
    };
    EXPECT_RUNTIME_ERROR(use.realize({200, 200}), "out of memory");
}

TEST_F(RunTimeErrors, requirements) {
    Pipeline p(f);
    p.add_requirement(offset % 2 == 0, "the offset is", offset);
    offset.set(3);
    EXPECT_RUNTIME_ERROR(p.realize({10, 5}), "requirement failed: shift % 2 == 0: the offset is 3");
}

TEST_F(RunTimeErrors, no_specialization) {
    f.specialize(offset == 1);
    f.specialize_fail("only 1 is supported");
    offset.set(2);
    EXPECT_RUNTIME_ERROR(f.realize({10, 5}), "no specialization matches: only 1 is supported");
}

TEST_F(RunTimeErrors, folding_too_tight) {
    Func g("folded"), h("user");
    g(x, y) = x + y;
    h(x, y) = g(x, y) + g(x, y + offset);
    g.store_root().compute_at(h, y).fold_storage(y, 2);
    offset.set(4);
    EXPECT_RUNTIME_ERROR(h.realize({10, 10}),
                         "fold factor of folded in y is 2, must be at least 5 for loop user.s0.y");
}

TEST_F(RunTimeErrors, bound_on_storage) {
    Func g("bounded"), h("user");
    g(x, y) = x + y;
    h(x, y) = g(x, y) + g(x + 1, y);
    g.compute_root().bound_storage(x, 8);
    EXPECT_RUNTIME_ERROR(h.realize({10, 10}),
                         "storage of bounded is bounded to 8 in x, must be at least 11");
}

TEST_F(RunTimeErrors, split_factor) {
    Param<int> factor("factor");
    Var xo("xo"), xi("xi");
    Func g("by_factor");
    g(x) = x;
    g.split(x, xo, xi, factor);
    factor.set(0);
    EXPECT_RUNTIME_ERROR(
        g.realize({10}),
        "split of x into xo and xi in by_factor: factor factor is 0, must be at least 1");
}

TEST_F(RunTimeErrors, null_arguments_of_a_callable) {
    Callable c = f.compile_to_callable({in, offset});
    Buffer<int> out(10, 5), undefined;
    EXPECT_RUNTIME_ERROR(c(undefined, 1, out), "Buffer argument in is nullptr");
}

TEST_F(RunTimeErrors, storage_too_large) {
    Param<int> size("size");
    Func large("too_large");
    RDom r(0, size, 0, size, "r");
    large(x, y) = cast<uint8_t>(x + y);
    large.compute_root();
    Func total("total");
    total() = cast<uint8_t>(0);
    total() += large(r.x, r.y);
    size.set(1 << 16);
    EXPECT_RUNTIME_ERROR(total.realize(),
                         "too_large takes 4294967296 bytes, must take at most 2147483647");
    size.set(2);
    const Buffer<uint8_t> result = total.realize();
    EXPECT_EQ(result(), 0 + 1 + 1 + 2);
}

TEST_F(RunTimeErrors, constant_image_that_is_newer_on_its_device) {
    Buffer<int> image(4, "stale");
    image.fill(3);
    Func of_image("of_image");
    of_image(x) = image(x);
    image.set_host_dirty(false);
    image.set_device_dirty();
    EXPECT_RUNTIME_ERROR(of_image.realize({4}),
                         "constant image stale is dirty on a device, must be copied to the host: "
                         "the pipeline was compiled without device support");
    image.set_device_dirty(false);
    EXPECT_EQ(Buffer<int>(of_image.realize({4}))(3), 3);
}

TEST(RunTimeErrorsOfOutputs, one_that_is_newer_on_its_device) {
    Func f("over_a_stale_copy");
    f(x) = x;
    Buffer<int> out(4, "out");
    out.set_device_dirty();
    EXPECT_RUNTIME_ERROR(
        f.realize(out),
        "output buffer over_a_stale_copy is dirty on a device, must be copied to the "
        "host: the pipeline was compiled without device support");
    out.set_device_dirty(false);
    f.realize(out);
    EXPECT_EQ(out(3), 3);
}

TEST(RunTimeErrorsOfOutputs, ValuesOfOneFuncHaveOneShape) {
    Func f("pair");
    f(x) = Tuple(x, cast<float>(x));
    Buffer<int> first(100);
    Buffer<float> second(101), third(100);
    EXPECT_RUNTIME_ERROR(f.realize({first, second}), f.name() + ".1.extent.0 is 101, must be " +
                                                         f.name() + ".0.extent.0, which is 100");
    f.realize({first, third});
    EXPECT_EQ(third(99), 99.0f);
}

}  // namespace
}  // namespace calotype::test
