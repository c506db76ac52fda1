// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers as images: copies of every layout, limits, failures, parts, wrapped images, kernels. On
// the fake with counts, on a real device by what comes out.
#include "opencl_test.h"

#include <functional>

using namespace calotype_test;
using namespace calotype::runtime;
using calotype::Runtime::Buffer;

namespace {

const calotype_device_interface_t *opencl() {
    return calotype_opencl_device_interface();
}
const calotype_device_interface_t *images() {
    return calotype_opencl_image_device_interface();
}

/** The fake's, in texts of errors. */
const std::string device = "OpenCL 3.0 Fake, Fake GPU 0, driver 1.0";

/** A buffer inside of a larger one, so that its rows and slices have gaps, or of another order. */
struct Layout {
    const char *name;
    Buffer<int> whole, part;
};

Buffer<int> with_mins(Buffer<int> buffer) {
    for (int d = 0; d < buffer.dimensions(); d++) {
        buffer.translate(d, -3 - 10 * d);
    }
    return buffer;
}

std::vector<Layout> layouts() {
    std::vector<Layout> all;
    const auto add = [&](const char *name, Buffer<int> whole,
                         const std::function<void(Buffer<int> &)> &cut) {
        all.push_back({name, with_mins(whole), {}});
        all.back().whole.fill(-1);
        all.back().part = all.back().whole;
        cut(all.back().part);
    };
    const auto nothing = [](Buffer<int> &) {
    };
    add("a row", Buffer<int>(17), nothing);
    add("rows", Buffer<int>(17, 5), nothing);
    add("slices", Buffer<int>(17, 5, 3), nothing);
    add("one element", Buffer<int>::make_scalar(), nothing);
    add("every other column", Buffer<int>(2, 17, 5), [](Buffer<int> &b) { b.slice(0, -3); });
    add("rows with gaps", Buffer<int>(20, 7), [](Buffer<int> &b) { b.crop({{1, 9}, {-11, 3}}); });
    add("slices with gaps", Buffer<int>(20, 7, 5), [](Buffer<int> &b) {
        b.crop({{1, 9}, {-11, 3}, {-22, 3}});
    });
    add("columns", Buffer<int>(17, 5), [](Buffer<int> &b) { b.transpose(0, 1); });
    add("channels first", Buffer<int>(3, 17, 5), [](Buffer<int> &b) { b.transpose({2, 0, 1}); });
    return all;
}

/** Different in each element. */
int value_at(const Buffer<int> &buffer, const int *pos) {
    int value = 0;
    for (int d = 0; d < buffer.dimensions(); d++) {
        value = value * 50 + pos[d] - buffer.dim(d).min();
    }
    return 1000 + value;
}

void count_up(Buffer<int> &buffer) {
    buffer.for_each_element([&](const int *pos) { buffer(pos) = value_at(buffer, pos); });
    buffer.set_host_dirty();
}

void expect_counted_up(const Buffer<int> &buffer, const char *what) {
    int wrong = 0;
    buffer.for_each_element(
        [&](const int *pos) { wrong += buffer(pos) == value_at(buffer, pos) ? 0 : 1; });
    EXPECT_EQ(wrong, 0) << what;
}

int64_t sum_of(const Buffer<int> &buffer) {
    int64_t sum = 0;
    buffer.for_each_value([&](const int &value) { sum += value; });
    return sum;
}

/** As if a kernel had written something newer than what the host now has. */
void spoil_host(Buffer<int> &buffer) {
    buffer.for_each_value([](int &value) { value = 7; });
    buffer.set_host_dirty(false);
    buffer.set_device_dirty();
}

/** To an image and back, and nothing beside the part is touched. */
void check_round_trips() {
    for (Layout &layout : layouts()) {
        count_up(layout.part);
        const int64_t sum = sum_of(layout.whole);
        ASSERT_EQ(layout.part.copy_to_device(images()), 0) << layout.name;
        EXPECT_FALSE(layout.part.host_dirty());
        spoil_host(layout.part);
        ASSERT_EQ(layout.part.copy_to_host(), 0) << layout.name;
        EXPECT_FALSE(layout.part.device_dirty());
        expect_counted_up(layout.part, layout.name);
        EXPECT_EQ(sum_of(layout.whole), sum) << layout.name;
        EXPECT_EQ(layout.part.device_free(), 0);
    }
}

std::string reported() {
    return reported_errors().empty() ? "" : reported_errors().back();
}

/** From every layout by an interface to every layout on another one. */
void check_copies_between(const calotype_device_interface_t *from,
                          const calotype_device_interface_t *to) {
    for (Layout &source : layouts()) {
        for (Layout &target : layouts()) {
            const std::string what = std::string(source.name) + " to " + target.name;
            bool alike = source.part.dimensions() == target.part.dimensions();
            for (int d = 0; alike && d < source.part.dimensions(); d++) {
                alike = source.part.dim(d).extent() == target.part.dim(d).extent();
            }
            if (!alike) {
                continue;
            }
            for (int d = 0; d < source.part.dimensions(); d++) {
                target.part.translate(d, source.part.dim(d).min() - target.part.dim(d).min());
            }
            count_up(source.part);
            ASSERT_EQ(source.part.copy_to_device(from), 0) << what << ": " << reported();
            source.part.set_device_dirty();
            ASSERT_EQ(calotype_buffer_copy(nullptr, source.part, to, target.part), 0)
                << what << ": " << reported();
            ASSERT_EQ(target.part.copy_to_host(), 0) << what;
            expect_counted_up(target.part, what.c_str());
            source.part.set_device_dirty(false);
            source.part.device_free();
            target.part.device_free();
        }
    }
}

/** What two images have in common, at coordinates. */
void check_overlap() {
    Buffer<int> source(9, 6), target(7, 8);
    source.set_min(-2, 3);
    target.set_min(1, 1);
    source.for_each_element([&](int x, int y) { source(x, y) = x + 100 * y; });
    target.fill(-1);
    source.set_host_dirty();
    target.set_host_dirty();
    ASSERT_EQ(source.copy_to_device(images()), 0);
    ASSERT_EQ(target.copy_to_device(images()), 0);
    source.set_device_dirty();
    ASSERT_EQ(calotype_buffer_copy(nullptr, source, images(), target), 0);
    ASSERT_EQ(target.copy_to_host(), 0);
    target.for_each_element([&](int x, int y) {
        const bool common = x >= -2 && x < 7 && y >= 3 && y < 9;
        ASSERT_EQ(target(x, y), common ? x + 100 * y : -1) << x << ", " << y;
    });
    source.set_device_dirty(false);
    source.device_free();
    target.device_free();
}

/** Parts of images are copied. */
void check_crops() {
    Buffer<int> whole(12, 8, 4);
    whole.set_min(5, -4, 1);
    count_up(whole);
    ASSERT_EQ(whole.copy_to_device(images()), 0);
    {
        Buffer<int> part = whole.cropped({{7, 4}, {-2, 3}, {2, 2}});
        ASSERT_EQ(part.raw_buffer()->device_interface, images());
        Buffer<int> inner = part.cropped({{8, 2}, {-1, 2}, {3, 1}});
        inner.fill(5);
        inner.set_host_dirty();
        ASSERT_EQ(inner.copy_to_device(images()), 0);
    }
    spoil_host(whole);
    ASSERT_EQ(whole.copy_to_host(), 0);
    whole.for_each_element([&](int x, int y, int z) {
        const int pos[3] = {x, y, z};
        const bool inside = x >= 8 && x < 10 && y >= -1 && y < 1 && z == 3;
        ASSERT_EQ(whole(x, y, z), inside ? 5 : value_at(whole, pos)) << x << ", " << y << ", " << z;
    });
    whole.device_free();
}

class FakeImages : public FakeOpenClTest {};
class RealImages : public RealOpenClTest {};

TEST_F(FakeImages, every_layout_comes_through) {
    check_round_trips();
    EXPECT_EQ(errors(), "");
    const uint64_t n = layouts().size();
    EXPECT_EQ(fake().calls("clCreateImage"), n);
    EXPECT_EQ(fake().calls("clEnqueueWriteImage"), n);
    EXPECT_EQ(fake().calls("clEnqueueReadImage"), n);
    EXPECT_EQ(fake().calls("clReleaseMemObject"), n);
    EXPECT_EQ(fake().calls("clCreateBuffer"), 0u);
}
TEST_F(RealImages, every_layout_comes_through) {
    check_round_trips();
}

TEST_F(FakeImages, between_images) {
    check_copies_between(images(), images());
    EXPECT_GT(fake().calls("clEnqueueCopyImage"), 0u);
    // A layout on the host is none of an image's.
    EXPECT_EQ(fake().calls("clEnqueueReadImage"), fake().calls("clEnqueueCopyImage"));
    EXPECT_EQ(errors(), "");
}
TEST_F(RealImages, between_images) {
    check_copies_between(images(), images());
}

TEST_F(FakeImages, from_buffers_to_images_and_back) {
    check_copies_between(opencl(), images());
    EXPECT_GT(fake().calls("clEnqueueCopyBufferToImage"), 0u);
    check_copies_between(images(), opencl());
    EXPECT_GT(fake().calls("clEnqueueCopyImageToBuffer"), 0u);
    EXPECT_EQ(errors(), "");
}
TEST_F(RealImages, from_buffers_to_images_and_back) {
    check_copies_between(opencl(), images());
    check_copies_between(images(), opencl());
}

TEST_F(FakeImages, as_much_as_lies_without_gaps_is_one_call) {
    const auto calls_for = [](Buffer<int> buffer) {
        count_up(buffer);
        EXPECT_EQ(buffer.copy_to_device(opencl()), 0);
        buffer.set_device_dirty();
        Buffer<int> image = Buffer<int>::make_with_shape_of(buffer);
        const uint64_t before = fake().calls("clEnqueueCopyBufferToImage");
        EXPECT_EQ(calotype_buffer_copy(nullptr, buffer, images(), image), 0);
        buffer.set_device_dirty(false);
        buffer.device_free();
        image.set_device_dirty(false);
        image.device_free();
        return fake().calls("clEnqueueCopyBufferToImage") - before;
    };
    EXPECT_EQ(calls_for(Buffer<int>(9, 5, 3)), 1u);
    EXPECT_EQ(calls_for(Buffer<int>(9, 7, 3).cropped(1, 0, 5)), 3u);
    EXPECT_EQ(calls_for(Buffer<int>(10, 5, 3).cropped(0, 0, 9)), 15u);
    EXPECT_EQ(calls_for(Buffer<int>(5, 9).transposed(0, 1)), 0u);
}

TEST_F(FakeImages, what_they_have_in_common) {
    check_overlap();
    EXPECT_EQ(fake().calls("clEnqueueCopyImage"), 1u);
}
TEST_F(RealImages, what_they_have_in_common) {
    check_overlap();
}

TEST_F(FakeImages, parts_are_copied) {
    check_crops();
    EXPECT_EQ(errors(), "");
}
TEST_F(RealImages, parts_are_copied) {
    check_crops();
}

TEST_F(FakeImages, types_of_one_size_are_of_different_formats) {
    Buffer<int> source(4, 2);
    Buffer<float> target(4, 2);
    count_up(source);
    ASSERT_EQ(source.copy_to_device(images()), 0);
    source.set_device_dirty();
    ASSERT_EQ(calotype_buffer_copy(nullptr, source, images(), target), 0) << errors();
    EXPECT_EQ(fake().calls("clEnqueueCopyImage"), 0u);
    ASSERT_EQ(target.copy_to_host(), 0);
    EXPECT_EQ(memcmp(target.data(), source.data(), 32), 0);
    source.set_device_dirty(false);
    source.device_free();
    target.device_free();
}

TEST_F(FakeImages, one_without_elements_has_an_image_all_the_same) {
    int memory = 0;
    Buffer<int> none(&memory, 0, 5);
    none.set_host_dirty();
    EXPECT_EQ(none.copy_to_device(images()), 0) << errors();
    EXPECT_EQ(fake().calls("clCreateImage"), 1u);
    EXPECT_EQ(fake().calls("clEnqueueWriteImage"), 0u);
    none.set_device_dirty();
    EXPECT_EQ(none.copy_to_host(), 0) << errors();
    none.device_free();
}

/** What allocating a buffer as an image reports. */
template<typename T>
std::string refusal(Buffer<T> buffer) {
    reported_errors().clear();
    EXPECT_EQ(buffer.device_malloc(images()), calotype_error_code_device_malloc_failed);
    const std::string error = reported_errors().size() == 1 ? reported_errors()[0] : "";
    reported_errors().clear();
    return error;
}

Buffer<int> shape_alone(std::vector<int> extents) {
    return Buffer<int>(nullptr, extents);
}

TEST_F(FakeImages, limits_are_named) {
    const std::string head = "device allocation failed: ";
    EXPECT_EQ(refusal(shape_alone({4097})),
              head + "the buffer has extent 4097 in dimension 0, the device's images of 1 "
                     "dimensions have at most 4096");
    EXPECT_EQ(refusal(shape_alone({7, 2049})),
              head + "the buffer has extent 2049 in dimension 1, the device's images of 2 "
                     "dimensions have at most 2048");
    EXPECT_EQ(refusal(shape_alone({513, 2, 2})),
              head + "the buffer has extent 513 in dimension 0, the device's images of 3 "
                     "dimensions have at most 512");
    EXPECT_EQ(refusal(shape_alone({2, 2, 129})),
              head + "the buffer has extent 129 in dimension 2, the device's images of 3 "
                     "dimensions have at most 128");
    EXPECT_EQ(refusal(Buffer<int>(2, 3, 4, 5)),
              head + "a buffer of 4 dimensions cannot be in an image, which has at most 3");
    EXPECT_EQ(refusal(Buffer<int64_t>(2)),
              head + "a buffer of int64 cannot be in an image: no format holds that");
    EXPECT_EQ(refusal(Buffer<double>(2)),
              head + "a buffer of float64 cannot be in an image: no format holds that");
    EXPECT_EQ(fake().calls("clCreateImage"), 0u);
}

TEST_F(FakeImages, a_device_without_images_says_so) {
    fake().set_images(false);
    EXPECT_EQ(refusal(Buffer<int>(2)),
              "device allocation failed: the OpenCL device has no images: OpenCL 3.0 Fake, Fake "
              "GPU 0, driver 1.0");
}

TEST_F(FakeImages, failures_of_the_driver_say_which) {
    constexpr int out_of_resources = CL_OUT_OF_RESOURCES;
    fake().fail("clCreateImage", CL_IMAGE_FORMAT_NOT_SUPPORTED, 1, 1);
    EXPECT_EQ(refusal(Buffer<uint8_t>(16, 8)),
              "device allocation failed: clCreateImage failed: CL_IMAGE_FORMAT_NOT_SUPPORTED (-10) "
              "for an image of 16 x 8 elements of uint8 on " +
                  device);
    Buffer<int> buffer(3, 4);
    buffer.fill(1);
    buffer.set_host_dirty();
    fake().fail("clEnqueueWriteImage", out_of_resources, 1, 1);
    EXPECT_EQ(buffer.copy_to_device(images()), calotype_error_code_copy_to_device_failed);
    const std::string lack = "CL_OUT_OF_RESOURCES (-5) for 48 bytes on " + device + "\n";
    EXPECT_EQ(errors(), "copy to the device failed: clEnqueueWriteImage failed: " + lack);
    EXPECT_TRUE(buffer.host_dirty());
    ASSERT_EQ(buffer.copy_to_device(images()), 0);
    buffer.set_device_dirty();
    fake().fail("clEnqueueReadImage", out_of_resources, 1, 1);
    EXPECT_EQ(buffer.copy_to_host(), calotype_error_code_copy_to_host_failed);
    EXPECT_EQ(errors(), "copy to the host failed: clEnqueueReadImage failed: " + lack);
    EXPECT_TRUE(buffer.device_dirty());
    for (const auto &[function, interface] :
         {std::pair("clEnqueueCopyImage", images()), {"clEnqueueCopyImageToBuffer", opencl()}}) {
        Buffer<int> other(3, 4);
        fake().fail(function, out_of_resources, 1, 1);
        EXPECT_EQ(calotype_buffer_copy(nullptr, buffer, interface, other),
                  calotype_error_code_device_buffer_copy_failed);
        EXPECT_EQ(errors(),
                  std::string("copy between devices failed: ") + function + " failed: " + lack);
        other.device_free();
    }
    buffer.set_device_dirty(false);
    buffer.device_free();
}

TEST_F(FakeImages, what_is_kept_is_given_up_before_an_image_fails) {
    ASSERT_EQ(calotype_reuse_device_allocations(nullptr, true), 0);
    Buffer<int> plain(100), image(200);
    ASSERT_EQ(plain.device_malloc(opencl()), 0);
    ASSERT_EQ(plain.device_free(), 0);
    EXPECT_EQ(fake().live("mem"), 1);
    fake().set_memory(1000);
    EXPECT_EQ(image.device_malloc(images()), 0) << errors();
    EXPECT_EQ(fake().calls("clCreateImage"), 2u);
    EXPECT_EQ(fake().live("mem"), 1);
    // Images themselves are not kept.
    EXPECT_EQ(image.device_free(), 0);
    EXPECT_EQ(fake().live("mem"), 0);
    EXPECT_EQ(refusal(Buffer<int>(16, 16)),
              "device allocation failed: clCreateImage failed: CL_MEM_OBJECT_ALLOCATION_FAILURE "
              "(-4) for an image of 16 x 16 elements of int32 on " +
                  device);
    EXPECT_EQ(calotype_reuse_device_allocations(nullptr, false), 0);
}

TEST_F(FakeImages, host_and_image_in_one_go) {
    calotype_dimension_t shape[2] = {{0, 10, 1}, {0, 3, 10}};
    calotype_buffer_t buffer = {};
    buffer.type = calotype_type_of<int16_t>();
    buffer.dimensions = 2;
    buffer.dim = shape;
    ASSERT_EQ(calotype_device_and_host_malloc(nullptr, &buffer, images()), 0);
    EXPECT_NE(buffer.host, nullptr);
    EXPECT_EQ(fake().calls("clCreateImage"), 1u);
    EXPECT_EQ(calotype_device_and_host_free(nullptr, &buffer), 0);
    EXPECT_EQ(buffer.host, nullptr);
    EXPECT_EQ(fake().live("mem"), 0);
}

TEST_F(FakeImages, there_are_no_slices) {
    Buffer<int> whole(4, 5, 6);
    ASSERT_EQ(whole.device_malloc(images()), 0);
    calotype_dimension_t shape[2] = {{0, 4, 1}, {0, 5, 4}};
    calotype_buffer_t slice = {};
    slice.type = calotype_type_of<int>();
    slice.dimensions = 2;
    slice.dim = shape;
    EXPECT_EQ(calotype_device_slice(nullptr, whole, 2, 3, &slice),
              calotype_error_code_device_crop_unsupported);
    EXPECT_EQ(errors(), "device does not support cropping: an image of 3 dimensions has no slice "
                        "that is one of 2\n");
    EXPECT_EQ(slice.device, 0u);
    whole.device_free();
}

TEST_F(FakeImages, a_buffer_goes_from_plain_memory_to_an_image_by_the_host) {
    Buffer<int> buffer(6, 4);
    count_up(buffer);
    ASSERT_EQ(buffer.copy_to_device(opencl()), 0);
    ASSERT_EQ(calotype_copy_to_device(nullptr, buffer, images()), 0);
    EXPECT_EQ(fake().calls("clEnqueueReadBuffer"), 0u);  // the host's copy is as new
    EXPECT_EQ(fake().calls("clEnqueueWriteImage"), 1u);
    EXPECT_EQ(fake().live("mem"), 1);
    spoil_host(buffer);
    ASSERT_EQ(calotype_copy_to_device(nullptr, buffer, opencl()), 0);
    EXPECT_EQ(fake().calls("clEnqueueReadImage"), 1u);
    EXPECT_EQ(fake().live("mem"), 1);
    expect_counted_up(buffer, "by the host");
    buffer.device_free();
}

/** A cl_mem of the default context, made as an application makes one. */
class OwnImage {
    DeviceScope scope = {};

public:
    cl_mem mem = nullptr;

    OwnImage(cl_uint channel, std::vector<size_t> extents) {
        using CreateImage = cl_mem(cl_context, cl_bitfield, const cl_image_format *,
                                   const cl_image_desc *, void *, cl_int *);
        EXPECT_EQ(backend().acquire(nullptr, &scope), CALOTYPE_OK);
        const cl_image_format format = {CL_R, channel};
        cl_image_desc desc = {};
        const cl_uint kinds[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D,
                                 CL_MEM_OBJECT_IMAGE3D};
        extents.resize(3);
        desc.type = kinds[extents[2] ? 2 : extents[1] ? 1 : 0];
        desc.width = extents[0];
        desc.height = extents[1];
        desc.depth = extents[2];
        cl_int error = 0;
        mem = fake_function<CreateImage>("clCreateImage")(static_cast<cl_context>(scope.context),
                                                          CL_MEM_READ_WRITE, &format, &desc,
                                                          nullptr, &error);
        EXPECT_EQ(error, CL_SUCCESS);
    }
    ~OwnImage() {
        fake_function<cl_int(cl_mem)>("clReleaseMemObject")(mem);
        backend().release(scope);
    }
    uint64_t handle() const {
        return uint64_t(reinterpret_cast<uintptr_t>(mem));
    }
};

TEST_F(FakeImages, images_of_the_application_are_wrapped_not_owned) {
    OwnImage own(CL_SIGNED_INT32, {8, 6});
    Buffer<int> buffer(7, 6);
    count_up(buffer);
    ASSERT_EQ(calotype_opencl_image_wrap_cl_mem(nullptr, buffer, own.handle()), 0) << errors();
    EXPECT_EQ(calotype_opencl_get_cl_mem(nullptr, buffer), own.handle());
    EXPECT_EQ(calotype_opencl_get_crop_offset(nullptr, buffer), 0u);
    ASSERT_EQ(buffer.copy_to_device(images()), 0) << errors();
    EXPECT_EQ(fake().calls("clCreateImage"), 1u);
    EXPECT_EQ(calotype_opencl_detach_cl_mem(nullptr, buffer), 0);
    EXPECT_EQ(fake().live("mem"), 1);
}

TEST_F(FakeImages, an_image_of_another_kind_is_not_wrapped) {
    OwnImage own(CL_SIGNED_INT32, {8, 6});
    const auto refused = [&](auto buffer) {
        EXPECT_EQ(calotype_opencl_image_wrap_cl_mem(nullptr, buffer, own.handle()),
                  calotype_error_code_device_wrap_native_failed);
        return errors();
    };
    const std::string head = "wrapping a native device handle failed: ";
    EXPECT_EQ(refused(Buffer<int>(9, 6)),
              head + "the image has 8 x 6 elements, the buffer 9 x 6\n");
    EXPECT_EQ(refused(Buffer<int>(8)), head + "the memory object is no image of 1 dimensions\n");
    EXPECT_EQ(refused(Buffer<float>(8, 6)),
              head + "the image has channel order 4272 and data type 4313, a buffer of float32 "
                     "needs 4272 and 4318\n");
    Buffer<int> buffer(8, 6);
    EXPECT_EQ(calotype_opencl_wrap_cl_mem(nullptr, buffer, own.handle()),
              calotype_error_code_device_wrap_native_failed);
    EXPECT_EQ(errors(),
              head + "the memory object is an image: wrap it by the interface of images\n");
}

constexpr calotype_kernel_arg image_argument = {1, 8, 1, 1};

const char copy_source[] = R"(
__constant sampler_t s =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__kernel void add_one(__read_only image2d_t from, __write_only image2d_t to) {
    const int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    write_imagei(to, at, read_imagei(from, s, at) + (int4)(1));
}
)";

TEST_F(RealImages, a_kernel_reads_one_and_writes_another) {
    OneKernel module("add_one", copy_source, {image_argument, image_argument});
    LoadedKernel kernel(nullptr, module);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    Buffer<int> from(12, 6), to(12, 6);
    count_up(from);
    ASSERT_EQ(from.copy_to_device(images()), 0);
    ASSERT_EQ(to.device_malloc(images()), 0);
    ASSERT_EQ(
        kernel.launch({3, 3, 1}, {4, 2, 1}, {&from.raw_buffer()->device, &to.raw_buffer()->device}),
        CALOTYPE_OK)
        << kernel.log.c_str();
    to.set_device_dirty();
    ASSERT_EQ(to.copy_to_host(), 0);
    from.for_each_element([&](int x, int y) { ASSERT_EQ(to(x, y), from(x, y) + 1); });
    from.device_free();
    to.device_free();
}

TEST_F(FakeImages, kernels_take_what_their_description_says) {
    OneKernel module("k", "__kernel void k(__read_only image2d_t a, __global uchar *b, ulong o) {}",
                     {image_argument, buffer_argument});
    LoadedKernel kernel(nullptr, module);
    ASSERT_EQ(kernel.status, CALOTYPE_OK) << kernel.log.c_str();
    Buffer<int> image(4, 3), plain(4, 3);
    ASSERT_EQ(image.device_malloc(images()), 0);
    ASSERT_EQ(plain.device_malloc(opencl()), 0);
    uint64_t &i = image.raw_buffer()->device, &p = plain.raw_buffer()->device;
    EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {&i, &p}), CALOTYPE_OK) << kernel.log.c_str();
    const auto refused = [&](uint64_t &a, uint64_t &b) {
        EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {&a, &b}), CALOTYPE_E_INVALID);
        return kernel.log;
    };
    EXPECT_EQ(refused(p, p),
              "kernel k, argument 0: an image is expected, the buffer is in plain memory");
    EXPECT_EQ(refused(i, i),
              "kernel k, argument 1: plain memory is expected, the buffer is in an image");
    {
        Buffer<int> part = image.cropped({{1, 2}, {2, 1}});
        EXPECT_EQ(refused(part.raw_buffer()->device, p),
                  "kernel k, argument 0: the buffer is a part of an image that begins at (1, 2, "
                  "0), kernels take what begins at the image's first element");
        Buffer<int> corner = image.cropped({{0, 2}, {0, 1}});
        EXPECT_EQ(kernel.launch({1, 1, 1}, {1, 1, 1}, {&corner.raw_buffer()->device, &p}),
                  CALOTYPE_OK);
    }
    image.device_free();
    plain.device_free();
}

}  // namespace
