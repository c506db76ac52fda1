// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios of the kernel cache on the fake OpenCL library.
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
    void delay_unloads(int ms) override {
        fake().delay("clReleaseProgram", ms);
    }
    bool has_globals() override {
        return false;
    }
    int read_global(void *, const calotype_hold &, uint32_t) override {
        return 0;
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

}  // namespace

INSTANTIATE_TEST_SUITE_P(FakeOpenCl, Scenario, ::testing::Values(make_fake_opencl_driver));

}  // namespace calotype_test
