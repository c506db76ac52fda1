// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scenarios on the fake back end.
#include "runtime/cache/fake_backend_driver.h"

#include "harness/fake_backend/fake_backend.h"

namespace calotype_test {

namespace {

class FakeBackendDriver : public ScenarioDriver {
    int misuse_before = fake_misuse(), architecture = 90;

public:
    FakeBackendDriver() {
        fake_backend_calls().reset();
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return fake_backend_interface;
    }
    void *make_context() override {
        FakeContext *made = make_fake_context();
        made->sm = uint32_t(architecture);
        return made;
    }
    void destroy_context(void *context) override {
        destroy_fake_context(static_cast<FakeContext *>(context));
    }
    bool replace_context(void *context) override {
        replace_fake_context(static_cast<FakeContext *>(context));
        return true;
    }
    ScenarioImage image(const ScenarioCode &code) override {
        return {CALOTYPE_PTX, 0,
                "name " + code.name + " kernel k0 " +
                    (code.reads_global ? "kernel read global value 4 " : "") +
                    (code.is_broken ? "error" : "")};
    }
    bool set_architecture(int sm) override {
        architecture = sm;
        return true;
    }
    void fail_loads(int times, bool out_of_memory) override {
        fake_backend_calls().fail("load", out_of_memory ? CALOTYPE_E_OOM : CALOTYPE_E_LOAD, 1,
                                  times);
    }
    void fail_some_loads(int one_in) override {
        fail_fake_loads(one_in);
    }
    void delay_builds(int ms) override {
        fake_backend_calls().delay("build", ms);
    }
    bool hold_stream(void *context, bool hold) override {
        static_cast<FakeContext *>(context)->stream.is_held = hold;
        return true;
    }
    void *stream_of(void *context) override {
        return &static_cast<FakeContext *>(context)->stream;
    }
    int live_modules() override {
        return fake_modules();
    }
    int misuse() override {
        return fake_misuse() - misuse_before;
    }
};

}  // namespace

std::unique_ptr<ScenarioDriver> make_fake_backend_driver() {
    return std::make_unique<FakeBackendDriver>();
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, Scenario, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
