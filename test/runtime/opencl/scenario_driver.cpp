// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios of the kernel cache on the fake OpenCL library.
#include <dlfcn.h>

#include "opencl_test.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

namespace {

using namespace calotype::runtime;

/** A user context, with the context and the queue behind it. */
struct Place {
    calotype_device_context given;

    cl_context context() const {
        return static_cast<cl_context>(given.context);
    }
    cl_command_queue queue() const {
        return static_cast<cl_command_queue>(given.stream);
    }
};

void fill(Place *place) {
    cl_device_id device = nullptr;
    cl_int error = 0;
    cl_uint count = 0;
    fake_function<cl_int(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *)>(
        "clGetDeviceIDs")(nullptr, CL_DEVICE_TYPE_GPU, 1, &device, &count);
    cl_context context = fake_function<cl_context(
        const cl_properties *, cl_uint, const cl_device_id *, cl_context_notify, void *, cl_int *)>(
        "clCreateContext")(nullptr, 1, &device, nullptr, nullptr, &error);
    cl_command_queue queue =
        fake_function<cl_command_queue(cl_context, cl_device_id, cl_bitfield, cl_int *)>(
            "clCreateCommandQueue")(context, device, 0, &error);
    place->given = CALOTYPE_DEVICE_CONTEXT(context, queue);
}

class FakeOpenClDriver : public ScenarioDriver {
    std::mutex lock;
    std::vector<std::unique_ptr<Place>> places;

public:
    FakeOpenClDriver() {
        fake().reset();
        EXPECT_EQ(calotype_opencl_set_driver_library(FAKE_OPENCL_LIBRARY), 0);
    }
    ~FakeOpenClDriver() override {
        for (const auto &place : places) {
            if (place->given.context) {
                fake().destroy_context(place->context(), true);
            }
        }
        EXPECT_EQ(fake().live(nullptr), 0);
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return calotype_opencl_device_interface;
    }
    void *make_context() override {
        auto place = std::make_unique<Place>();
        fill(place.get());
        std::lock_guard<std::mutex> guard(lock);
        places.push_back(std::move(place));
        return &places.back()->given;
    }
    void destroy_context(void *user_context) override {
        auto *given = static_cast<calotype_device_context *>(user_context);
        fake().destroy_context(static_cast<cl_context>(given->context), true);
        given->context = nullptr;
    }
    bool replace_context(void *user_context) override {
        auto *given = static_cast<calotype_device_context *>(user_context);
        const void *address = given->context;
        destroy_context(user_context);
        Place place;
        fill(&place);
        *given = place.given;
        return given->context == address;
    }
    ScenarioImage image(const ScenarioCode &code) override {
        return {CALOTYPE_OPENCL_C, 0,
                "// " + code.name + "\n__kernel void k0() {}\n" +
                    (code.is_broken ? "#error broken\n" : "")};
    }
    void fail_loads(int times, bool out_of_memory) override {
        fake().fail("clCreateProgramWithBinary",
                    out_of_memory ? CL_OUT_OF_RESOURCES : CL_INVALID_VALUE, 1, times);
    }
    void fail_some_loads(int one_in) override {
        fake().fail_every("clCreateProgramWithBinary", CL_INVALID_VALUE, one_in);
    }
    void delay_builds(int ms) override {
        fake().delay("clCreateProgramWithSource", ms);
    }
    bool has_globals() override {
        return false;
    }
    bool hold_stream(void *user_context, bool hold) override {
        fake().block_queue(static_cast<cl_command_queue>(stream_of(user_context)), hold);
        return true;
    }
    void *stream_of(void *user_context) override {
        return static_cast<calotype_device_context *>(user_context)->stream;
    }
    int live_modules() override {
        return fake().live("program");
    }
    int misuse() override {
        return fake().misuses();
    }
};

std::unique_ptr<ScenarioDriver> make_fake_opencl_driver() {
    return std::make_unique<FakeOpenClDriver>();
}

// ---- a real one ------------------------------------------------------------------------------

/// A function of the library that the system has; null if there is none.
template<typename Fn>
Fn *real_function(const char *name) {
    static void *const library = dlopen("libOpenCL.so.1", RTLD_NOW);
    return reinterpret_cast<Fn *>(library ? dlsym(library, name) : nullptr);
}

/// The first device of the first platform that has one; null if there is none.
cl_device_id real_device() {
    cl_platform_id platforms[8];
    cl_uint n = 0;
    auto *get = real_function<cl_int(cl_uint, cl_platform_id *, cl_uint *)>("clGetPlatformIDs");
    if (!get || get(8, platforms, &n) != CL_SUCCESS) {
        return nullptr;
    }
    constexpr cl_bitfield any = 0xffffffff;
    cl_device_id device = nullptr;
    for (cl_uint i = 0; i < n && i < 8 && !device; i++) {
        real_function<cl_int(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *)>(
            "clGetDeviceIDs")(platforms[i], any, 1, &device, nullptr);
    }
    return device;
}

/// What needs a driver that fails on request is skipped, as is what needs a context to end while
/// programs of it exist.
class RealOpenClDriver : public ScenarioDriver {
    std::vector<std::unique_ptr<calotype_device_context>> contexts;
    cl_event gate = nullptr;

    static calotype_device_context &at(void *user_context) {
        return *static_cast<calotype_device_context *>(user_context);
    }

public:
    RealOpenClDriver() {
        EXPECT_EQ(calotype_opencl_set_driver_library(nullptr), 0);
    }
    ~RealOpenClDriver() override {
        for (const auto &context : contexts) {
            destroy_context(context.get());
        }
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return calotype_opencl_device_interface;
    }
    void *make_context() override {
        cl_int error = CL_SUCCESS;
        cl_device_id device = real_device();
        auto *context = real_function<void *(const cl_properties *, cl_uint, const cl_device_id *,
                                             cl_context_notify, void *, cl_int *)>(
            "clCreateContext")(nullptr, 1, &device, nullptr, nullptr, &error);
        auto *queue = real_function<void *(void *, cl_device_id, cl_bitfield, cl_int *)>(
            "clCreateCommandQueue")(context, device, 0, &error);
        EXPECT_EQ(CL_SUCCESS, error);
        contexts.push_back(
            std::make_unique<calotype_device_context>(CALOTYPE_DEVICE_CONTEXT(context, queue)));
        return contexts.back().get();
    }
    void destroy_context(void *user_context) override {
        calotype_device_context &given = at(user_context);
        if (given.context) {
            real_function<cl_int(void *)>("clReleaseCommandQueue")(given.stream);
            real_function<cl_int(void *)>("clReleaseContext")(given.context);
            given.context = nullptr;
        }
    }
    bool replace_context(void *) override {
        return false;
    }
    ScenarioImage image(const ScenarioCode &code) override {
        return {CALOTYPE_OPENCL_C, 0,
                "// " + code.name + "\n__kernel void k0() {}\n" +
                    (code.is_broken ? "#error broken\n" : "")};
    }
    bool can_fail() override {
        return false;
    }
    bool survives_fork() override {
        return false;
    }
    void fail_loads(int, bool) override {
    }
    void delay_builds(int) override {
    }
    ScenarioScale scale() override {
        return {3, 10, 30, 50};
    }
    bool has_globals() override {
        return false;
    }
    bool hold_stream(void *user_context, bool hold) override {
        calotype_device_context &given = at(user_context);
        cl_int error = CL_SUCCESS;
        if (hold) {
            gate = real_function<cl_event(void *, cl_int *)>("clCreateUserEvent")(given.context,
                                                                                  &error);
            EXPECT_EQ(CL_SUCCESS, error);
            EXPECT_EQ(CL_SUCCESS,
                      (real_function<cl_int(void *, cl_uint, const cl_event *, cl_event *)>(
                          "clEnqueueBarrierWithWaitList")(given.stream, 1, &gate, nullptr)));
            EXPECT_EQ(CL_SUCCESS, real_function<cl_int(void *)>("clFlush")(given.stream));
        } else {
            constexpr cl_int complete = 0;
            EXPECT_EQ(CL_SUCCESS, (real_function<cl_int(cl_event, cl_int)>("clSetUserEventStatus")(
                                      gate, complete)));
            EXPECT_EQ(CL_SUCCESS, real_function<cl_int(void *)>("clFinish")(given.stream));
            real_function<cl_int(cl_event)>("clReleaseEvent")(gate);
        }
        return true;
    }
    void *stream_of(void *user_context) override {
        return at(user_context).stream;
    }
    int live_modules() override {
        return -1;
    }
};

std::unique_ptr<ScenarioDriver> make_real_opencl_driver() {
    return std::make_unique<RealOpenClDriver>();
}

/// None on a machine without a device.
std::vector<MakeScenarioDriver> real_drivers() {
    return std::vector<MakeScenarioDriver>(real_device() ? 1 : 0, make_real_opencl_driver);
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Scenario);
INSTANTIATE_TEST_SUITE_P(RealOpenCl, Scenario, ::testing::ValuesIn(real_drivers()));

INSTANTIATE_TEST_SUITE_P(FakeOpenCl, Scenario, ::testing::Values(make_fake_opencl_driver));

}  // namespace calotype_test
