// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of values that are small as graphs and huge as trees: they are compiled, for CUDA too,
// and give what plain arithmetic does.
#include "gpu.h"

#include "support/file.h"

namespace calotype::test {
namespace {

constexpr int levels = 64;
Var x("x"), y("y"), xi("xi"), yi("yi");

template<typename V>
V squares(V v) {
    for (int i = 0; i < levels; i++) {
        v = v * v + i;
    }
    return v;
}

/// Compiled for CUDA, and run.
template<typename Make, typename Want>
void check(Make make, Want want) {
    const internal::TemporaryDirectory folder;
    Func compiled = make();
    compiled.compile_to({{OutputFileType::ptx, folder.path() + "/f.ptx"}},
                        compiled.infer_arguments(), "f",
                        Target("x86-64-linux-cuda-cuda_capability_80-no_runtime"));
    if (has_gpu()) {
        expect_values<uint32_t>(make(), 37, 5, want);
    }
}

TEST(GpuSharedValues, squares) {
    check(
        [] {
            Func f("f");
            f(x, y) = squares(cast<uint32_t>(x * 7 + y));
            f.gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
            return f;
        },
        [](int i, int j) { return squares(uint32_t(i * 7 + j)); });
}

TEST(GpuSharedValues, of_inlined_funcs_and_shared_memory) {
    check(
        [] {
            Func f("f"), g("g");
            f(x, y) = squares(cast<uint32_t>(x * 7 + y));
            Func h = f;
            for (int i = 0; i < levels; i++) {
                Func next("next");
                next(x, y) = h(x, y) * h(x, y) + h(x, y) / 3;
                h = next;
            }
            g(x, y) = h(x, y) + h(x + 1, y);
            g.gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
            f.compute_at(g, x).gpu_threads(x, y);
            return g;
        },
        [](int i, int j) {
            const auto value = [](uint32_t v) {
                v = squares(v);
                for (int k = 0; k < levels; k++) {
                    v = v * v + v / 3;
                }
                return v;
            };
            return value(uint32_t(i * 7 + j)) + value(uint32_t((i + 1) * 7 + j));
        });
}

TEST(GpuSharedValues, coordinates_in_shared_memory) {
    check(
        [] {
            Func f("f"), g("g");
            f(x, y) = cast<uint32_t>(x * 7 + y) * 3;
            g(x, y) = f(cast<int>(squares(cast<uint32_t>(x + y)) % 8), y);
            g.gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf).vectorize(xi, 2);
            f.compute_at(g, x).gpu_threads(x, y);
            return g;
        },
        [](int i, int j) { return (squares(uint32_t(i + j)) % 8 * 7 + uint32_t(j)) * 3u; });
}

}  // namespace
}  // namespace calotype::test
