// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that are kept from one run to the next, of Funcs that are computed or used on a device:
// the cache has them on the host, so they are copied when they are computed and when they are
// found.
#include "gpu_pipelines/gpu.h"

namespace calotype::test {

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

struct Where {
    bool producer, consumer;  ///< on the device
};

void check(const Where &where) {
    Param<int> p("p");
    Func g("g"), f("f");
    g(x, y) = x * p + y;
    f(x, y) = g(x, y) + g(x, y) * 2 + 1;
    g.compute_root().memoize();
    if (where.producer) {
        g.gpu_tile(x, y, xi, yi, 8, 8);
    }
    if (where.consumer) {
        f.gpu_tile(x, y, xi, yi, 8, 8);
    }
    for (int value : {3, 3, 4, 3, 4, 4}) {
        p.set(value);
        expect_values<int>(f, 37, 21, [&](int i, int j) { return 3 * (i * value + j) + 1; });
    }
}

TEST(GpuMemoized, computed_and_used_there) {
    REQUIRE_GPU();
    check({true, true});
}

TEST(GpuMemoized, computed_there_alone) {
    REQUIRE_GPU();
    check({true, false});
}

TEST(GpuMemoized, used_there_alone) {
    REQUIRE_GPU();
    check({false, true});
}

TEST(GpuMemoized, several_values_and_another_that_needs_them) {
    REQUIRE_GPU();
    Param<int> p("p"), q("q");
    Func g("g"), h("h"), f("f");
    g(x, y) = Tuple(x * p, cast<uint8_t>(y + p));
    h(x, y) = g(x, y)[0] - cast<int>(g(x, y)[1]) * q;
    f(x, y) = h(x, y) + h(x + 1, y) + g(x, y)[0];
    for (Func stage : {g, h}) {
        stage.compute_root().memoize().gpu_tile(x, y, xi, yi, 8, 8);
    }
    f.gpu_tile(x, y, xi, yi, 8, 8);
    for (int i = 0; i < 8; i++) {
        p.set(2 + i % 2);
        q.set(7 + i / 4);
        const auto at = [&](int u, int v) {
            return u * (2 + i % 2) - (v + 2 + i % 2) * (7 + i / 4);
        };
        expect_values<int>(f, 24, 17,
                           [&](int u, int v) { return at(u, v) + at(u + 1, v) + u * (2 + i % 2); });
    }
}

}  // namespace

}  // namespace calotype::test
