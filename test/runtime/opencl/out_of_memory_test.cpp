// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory runs out, of the host and of the device, at every place once: whatever is refused is
// reported once, with what it was for; nothing is left over, and the next try succeeds.
#include "opencl_test.h"

#include <map>
#include <set>
#include <thread>

#include "harness/cache_stats.h"
#include "harness/failing_memory.h"

using namespace calotype_test;
using calotype::Runtime::Buffer;

namespace {

/** Of the fake's only device. */
const std::string device = "OpenCL 3.0 Fake, Fake GPU 0, driver 1.0",
                  lack = " failed: CL_OUT_OF_RESOURCES (-5)",
                  plain_copy = "copying to, from or between OpenCL buffers",
                  module = "device code of module: ",
                  compile =
                      module + "compiling failed: out of memory: kernel twice, " + device + ": ",
                  load = module + "loading failed: out of memory: kernel twice, " + device + ": ",
                  launch = module +
                           "launching failed: the kernel cannot be launched: kernel twice, grid 1 "
                           "x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared memory: " +
                           device + ": ";

/** Functions of the driver that are called. Those that release memory need none. */
const char *const functions[] = {
#define CALOTYPE_CL(result, name, ...) #name,
#define CALOTYPE_CL_OPTIONAL(result, name, ...) #name,
#include "runtime/opencl/driver.def"
#undef CALOTYPE_CL
#undef CALOTYPE_CL_OPTIONAL
};
bool needs_memory(const std::string &name) {
    return name.find("clRelease") != 0 && name.find("clRetain") != 0 &&
           name != "clSetContextDestructorCallback";
}

/** Rows of ints. Made before memory runs out. */
struct Rows {
    std::vector<int> data;
    calotype_dimension_t dim[2];
    calotype_buffer_t buf = {};

    explicit Rows(int width = 20, int height = 7, int gap = 1)
        : data(size_t(width * height * gap), 3), dim{{0, width, gap, 0},
                                                     {0, height, width * gap, 0}} {
        buf.host = reinterpret_cast<uint8_t *>(data.data());
        buf.type = calotype_type_of<int>();
        buf.dimensions = 2;
        buf.dim = dim;
        buf.set_host_dirty();
    }
    Rows(const Rows &) = delete;
};

/** All that takes memory of the device or, in the back end, of the host. */
class Work {
    const OneKernel &kernel;
    Rows a, b, part, image, other, gaps{20, 7, 2};
    calotype_buffer_t both = a.buf;
    const calotype_device_interface_t *const plain = calotype_opencl_device_interface(),
                                             *const images =
                                                 calotype_opencl_image_device_interface();

    bool ok(int code) {
        failures += code != 0;
        return code == 0;
    }
    /// There and back, whole and in part; another that is allocated; host and device at once.
    void use_buffers() {
        if (ok(calotype_copy_to_device(nullptr, &a.buf, plain))) {
            part.dim[0].min = 2;
            part.dim[0].extent = 9;
            part.buf.flags = 0;
            if (ok(calotype_device_crop(nullptr, &a.buf, &part.buf))) {
                part.buf.set_device_dirty();
                ok(calotype_copy_to_host(nullptr, &part.buf));
                calotype_device_release_crop(nullptr, &part.buf);
            }
            a.buf.set_device_dirty();
            ok(calotype_buffer_copy(nullptr, &a.buf, plain, &b.buf));
        }
        both.host = nullptr;
        both.flags = 0;
        if (ok(calotype_device_and_host_malloc(nullptr, &both, plain))) {
            calotype_device_and_host_free(nullptr, &both);
        }
    }
    /// To and from rows, with gaps and without, and to another image.
    void use_images() {
        if (ok(calotype_copy_to_device(nullptr, &image.buf, images))) {
            image.buf.set_device_dirty();
            ok(calotype_copy_to_host(nullptr, &image.buf));
            ok(calotype_buffer_copy(nullptr, &image.buf, images, &other.buf));
            image.buf.set_device_dirty();
            ok(calotype_buffer_copy(nullptr, &image.buf, nullptr, &gaps.buf));
        }
    }
    void use_both_kinds() {
        a.buf.set_host_dirty(false);
        a.buf.set_device_dirty(a.buf.device != 0);
        calotype_device_free(nullptr, &other.buf);
        other.buf.flags = 0;
        if (a.buf.device && ok(calotype_buffer_copy(nullptr, &a.buf, images, &other.buf))) {
            ok(calotype_buffer_copy(nullptr, &other.buf, plain, &a.buf));
        }
    }
    void use_kernel() {
        calotype_hold hold;
        if (!ok(calotype_begin_kernels(nullptr, &kernel.desc(), &hold))) {
            return;
        }
        const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
        void *args[] = {&a.buf.device};
        ok(calotype_run_kernel(nullptr, &hold, 0, shape, args));
        calotype_end_kernels(nullptr, &hold);
    }

public:
    int failures = 0;

    explicit Work(const OneKernel &kernel) : kernel(kernel) {
    }
    void run() {
        use_buffers();
        use_images();
        use_both_kinds();
        use_kernel();
        ok(calotype_device_sync_global(nullptr, plain));
        for (Rows *each : {&a, &b, &image, &other, &gaps}) {
            calotype_device_free(nullptr, &each->buf);
        }
    }
};

class OpenClOutOfMemory : public FakeOpenClTest {
protected:
    const OneKernel kernel{
        "twice", "__kernel void twice(__global uchar *b, ulong o) {}", {buffer_argument}};
    /// How refusals were reported, by what failed.
    std::map<std::string, std::set<std::string>> texts;
    int refused = 0;

    /// Fails at one place, if there is that.
    template<typename Fail>
    void run(const std::string &what, Fail fail) {
        Work work(kernel);
        std::thread([&] { fail(work); }).join();
        EXPECT_LE(work.failures, 1) << what;
        EXPECT_EQ(size_t(work.failures), reported_errors().size()) << what;
        refused += work.failures != 0;
        if (work.failures != 0) {
            texts[what].insert(reported_errors().begin(), reported_errors().end());
        }
        check(what);
        reported_errors().clear();
    }
    /// What is left, and that all that failed was reported, once.
    void check(const std::string &what) {
        EXPECT_EQ(CALOTYPE_OK, calotype_evict(nullptr, &kernel.desc(), CALOTYPE_EVICT_IMAGE_TOO));
        calotype_device_release(nullptr, calotype_opencl_device_interface());
        const calotype_stats stats = cache_stats();
        EXPECT_EQ(0u, stats.holds) << what;
        EXPECT_EQ(0u, stats.live_modules) << what;
        EXPECT_EQ(stats.loads, stats.unloads) << what;
        EXPECT_EQ(0, fake().live(nullptr)) << what;
        EXPECT_EQ(0, fake().misuses()) << what;
    }
    void SetUp() override {
        FakeOpenClTest::SetUp();
        calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
        calotype_reset_stats();
    }
};

TEST_F(OpenClOutOfMemory, OfTheDriverAtEachCall) {
    for (const char *function : functions) {
        bool has_failed = needs_memory(function);
        for (int nth = 1; has_failed; nth++) {
            ASSERT_LT(nth, 200) << function;
            const uint64_t before = fake().calls(function);
            fake().fail(function, -5, nth, 1);
            run(function, [&](Work &work) {
                work.run();
                has_failed = fake().calls(function) >= before + uint64_t(nth);
                fake().fail(function, -5, 1, 0);
            });
        }
    }
    const std::string malloc_failed = "device allocation failed: ",
                      to_device = "copy to the device failed: ",
                      to_host = "copy to the host failed: ",
                      between = "copy between devices failed: ",
                      bytes = lack + " for 560 bytes on " + device;
    const std::map<std::string, std::set<std::string>> expected = {
        {"clGetPlatformIDs", {malloc_failed + "clGetPlatformIDs" + lack}},
        {"clGetDeviceInfo", {malloc_failed + "clGetDeviceInfo" + lack}},
        {"clCreateContext", {malloc_failed + "clCreateContext" + lack + " on Fake GPU 0"}},
        {"clGetContextInfo", {malloc_failed + "clGetContextInfo" + lack}},
        {"clCreateCommandQueue",
         {malloc_failed + "clCreateCommandQueue" + lack + " on Fake GPU 0"}},
        {"clGetCommandQueueInfo", {malloc_failed + "clGetCommandQueueInfo" + lack}},
        {"clFlush", {launch + "kernel twice: clFlush" + lack}},
        {"clFinish",
         {between + "clFinish" + lack + " on " + device,
          to_device + "clFinish" + lack + " on " + device,
          to_host + "clFinish" + lack + " on " + device,
          "device synchronisation failed: clFinish" + lack + " on " + device}},
        {"clEnqueueWriteBuffer", {to_device + plain_copy + bytes}},
        {"clEnqueueCopyBuffer", {between + plain_copy + bytes}},
        {"clEnqueueReadBufferRect",
         {to_host + "copying boxes to, from or between OpenCL buffers" + lack +
          " for 252 bytes on " + device}},
        {"clEnqueueReadImage",
         {to_host + "clEnqueueReadImage" + bytes, between + "clEnqueueReadImage" + bytes}},
        {"clEnqueueWriteImage",
         {to_device + "clEnqueueWriteImage" + bytes, between + "clEnqueueWriteImage" + bytes}},
        {"clEnqueueCopyImageToBuffer", {between + "clEnqueueCopyImageToBuffer" + bytes}},
        {"clEnqueueCopyBufferToImage", {between + "clEnqueueCopyBufferToImage" + bytes}},
        {"clCreateProgramWithSource", {compile + "clCreateProgramWithSource" + lack}},
        {"clBuildProgram", {compile + "clBuildProgram" + lack}},
        {"clCreateKernel", {load + "kernel twice: clCreateKernel" + lack}},
        {"clGetKernelInfo", {load + "kernel twice: clGetKernelInfo" + lack}},
        {"clSetKernelArg",
         {launch + "kernel twice, parameter 0 of 8 bytes: clSetKernelArg" + lack,
          launch + "kernel twice, parameter 1 of 8 bytes: clSetKernelArg" + lack}},
        {"clEnqueueNDRangeKernel", {launch + "kernel twice: clEnqueueNDRangeKernel" + lack}},
    };
    EXPECT_EQ(expected, texts);
}

/// Where what was kept for later is given back first, it fails once more, and that is told.
TEST_F(OpenClOutOfMemory, OfTheDriverForGood) {
    const std::string of_images = " for an image of 20 x 7 elements of int32 on ";
    for (const auto &[error, name] :
         {std::pair(-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"), std::pair(-5, "CL_OUT_OF_RESOURCES"),
          std::pair(-6, "CL_OUT_OF_HOST_MEMORY")}) {
        const std::string failed =
            std::string(" failed: ") + name + " (" + std::to_string(error) + ")";
        for (const char *function : {"clCreateBuffer", "clCreateImage"}) {
            const std::string what = function + failed;
            fake().fail(function, error, 1, 2);
            run(what, [&](Work &work) { work.run(); });
            const std::string of = function[8] == 'B' ? " for 560 bytes on " : of_images;
            EXPECT_EQ(std::set<std::string>{"device allocation failed: " + what + of + device},
                      texts[what]);
        }
    }
}

TEST_F(OpenClOutOfMemory, OfTheHostAtEachAllocation) {
    int nth = 0;
    for (bool has_failed = true; has_failed; nth++) {
        ASSERT_LT(nth, 300);
        run("malloc", [&](Work &work) {
            const FailingMemory memory(nth + 1);
            work.run();
            has_failed = FailingMemory::has_failed();
        });
    }
    EXPECT_GE(nth, 20);
    EXPECT_GE(refused, 15);
    const std::set<std::string> expected = {
        "copy between devices failed: out of host memory for 560 bytes that are copied by way of "
        "the host",
        "cropping a device allocation failed: out of host memory for the handle of a buffer of 560 "
        "bytes",
        "device allocation failed: out of host memory for 560 bytes",
        "device allocation failed: out of host memory for the handle of a buffer of 560 bytes",
        compile + "no memory for the record of an image",
        compile + "out of host memory for the list of 1 sources of module module",
        load + "kernel twice: out of host memory",
        "device code of module: out of memory: no memory for the module's description",
    };
    // Records of contexts that have gone serve later ones: those of other tests, if there were any.
    texts["malloc"].erase("device allocation failed: out of memory for the record of an OpenCL "
                          "context");
    texts["malloc"].erase("device code of module: out of memory: no memory for one more context");
    EXPECT_EQ(expected, texts["malloc"]);
}

}  // namespace
