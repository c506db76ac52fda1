// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages that are functions of the device: their inputs and results stay there.
#include "gpu_pipelines/gpu.h"

namespace calotype::test {

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

/// The last call that was no query was given an input that is on the device alone.
bool stayed_on_device = false;

bool is_query(const calotype_buffer_t *b) {
    return b->host == nullptr && b->device == 0;
}

/// out(x, y) = in(x, y), from device to device
int copied_on_device(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent;
        }
        return 0;
    }
    stayed_on_device = in->device != 0 && (in->flags & calotype_buffer_flag_device_dirty) != 0;
    return calotype_buffer_copy(nullptr, in, out->device_interface, out);
}

TEST(GpuExternStages, the_input_stays_on_the_device) {
    REQUIRE_GPU();
    Func f("f"), g("g"), h("h");
    f(x, y) = x * 3 + y;
    f.compute_root().gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
    g.define_extern("copied_on_device", {f}, Int(32), {x, y}, NameMangling::Default,
                    DeviceAPI::Default_GPU);
    g.compute_root();
    h(x, y) = g(x, y) + f(x, y);
    h.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
    Pipeline p(h);
    p.set_jit_externs({{"copied_on_device", JITExtern(ExternCFunction(copied_on_device))}});
    stayed_on_device = false;
    Buffer<int> result = p.realize({13, 11}, gpu_target());
    result.copy_to_host();
    result.for_each_element([&](int i, int j) { EXPECT_EQ(result(i, j), 2 * (i * 3 + j)); });
    EXPECT_TRUE(stayed_on_device);
}

}  // namespace
}  // namespace calotype::test
