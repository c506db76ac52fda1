// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store_in(GPUTexture): images in OpenCL, which hold what any memory would.
#include "gpu.h"

#include <cstring>

namespace calotype::test {
namespace {

Var x("x"), y("y"), z("z"), c("c"), xi("xi"), yi("yi"), zi("zi");

int plain(int i, int j) {
    return i * 3 + j * 7 + ((i * j) & 15);
}

Func source(const std::string &name) {
    Func f(name);
    f(x, y) = x * 3 + y * 7 + ((x * y) & 15);
    return f;
}

TEST(GpuTextures, between_kernels) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(x + 1, y - 2);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.gpu_tile(x, y, xi, yi, 16, 8);
    expect_values<int>(g, 101, 37, [](int i, int j) { return plain(i, j) + plain(i + 1, j - 2); });
}

/// out = in, in = out of a first kernel, all in images of T: every bit pattern of `values`.
template<typename T>
void check_type(const std::vector<T> &values) {
    const int width = 7, height = int(values.size() + 6) / 7;
    Buffer<T> in(width, height);
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            in(i, j) = values[size_t(j * width + i) % values.size()];
        }
    }
    in.set_host_dirty();
    ImageParam image(type_of<T>(), 2, "image");
    Func f("f"), g("g");
    f(x, y) = image(x, y);
    g(x, y) = f(x, y);
    image.store_in(MemoryType::GPUTexture);
    const TailStrategy tail = TailStrategy::GuardWithIf;
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4, tail);
    g.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 4, 4, tail);
    image.set(in);
    Buffer<T> out = g.realize({width, height}, gpu_target());
    out.copy_to_host();
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            const T got = out(i, j), want = in(i, j);
            ASSERT_EQ(memcmp(&got, &want, sizeof got), 0)
                << type_of<T>() << " at " << i << ", " << j;
        }
    }
}

template<typename T>
std::vector<T> integers() {
    std::vector<T> values = {0, 1, 2, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    for (int i = 0; i < 32; i++) {
        values.push_back(T(i * 1234577));
    }
    return values;
}

TEST(GpuTextures, elements_of_all_types) {
    REQUIRE_GPU();
    check_type(integers<int8_t>());
    check_type(integers<int16_t>());
    check_type(integers<int32_t>());
    check_type(integers<uint8_t>());
    check_type(integers<uint16_t>());
    check_type(integers<uint32_t>());
    check_type<float>({0.0f, -0.0f, 1.5f, -3e38f, 1e-30f, std::numeric_limits<float>::infinity()});
}

template<typename T>
std::vector<T> from_bits(std::initializer_list<uint16_t> bits) {
    std::vector<T> values;
    for (const uint16_t b : bits) {
        values.push_back(T::make_from_bits(b));
    }
    return values;
}

TEST(GpuTextures, elements_of_small_floats) {
    REQUIRE_GPU();
    check_type(from_bits<float16_t>({0, 0x8000, 0x3c00, 0xbc01, 0x7bff, 0x0400, 0x7c00, 0x3555}));
    check_type(from_bits<bfloat16_t>({0, 0x8000, 0x3f80, 0x0001, 0x7f7f, 0x7fc1, 0xff80, 0x4049}));
}

TEST(GpuTextures, bools) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    f(x, y) = (x + y) % 3 == 0;
    g(x, y) = select(f(x, y), 5, 7);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.gpu_tile(x, y, xi, yi, 8, 4);
    expect_values<int>(g, 19, 11, [](int i, int j) { return (i + j) % 3 == 0 ? 5 : 7; });
}

TEST(GpuTextures, of_one_dimension_and_none) {
    REQUIRE_GPU();
    Func one("one"), none("none"), g("g");
    one(x) = x * x - 5;
    none() = 42;
    g(x, y) = one(x + y - 9) + none();
    one.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, xi, 32);
    none.compute_root().store_in(MemoryType::GPUTexture).gpu_single_thread();
    g.gpu_tile(x, y, xi, yi, 8, 4);
    expect_values<int>(g, 33, 5, [](int i, int j) {
        const int k = i + j - 9;
        return k * k - 5 + 42;
    });
}

TEST(GpuTextures, of_three_dimensions) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    f(x, y, z) = cast<uint16_t>(x + 10 * y + 100 * z);
    g(x, y) = cast<int>(f(x, y, x % 3)) + f(y, x, 2) + f(-4, -5, y % 2);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, z, xi, yi, zi, 4, 4, 2);
    g.gpu_tile(x, y, xi, yi, 8, 4);
    const auto value = [](int i, int j, int k) {
        return int(uint16_t(i + 10 * j + 100 * k));
    };
    expect_values<int>(g, 21, 13, [&](int i, int j) {
        return value(i, j, i % 3) + value(j, i, 2) + value(-4, -5, j % 2);
    });
}

TEST(GpuTextures, a_buffer_next_to_it) {
    REQUIRE_GPU();
    Func f = source("f"), g("g"), h("h");
    g(x, y) = f(x, y) * 2;
    h(x, y) = g(x, y) - f(x + 3, y);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    h.gpu_tile(x, y, xi, yi, 8, 4);
    expect_values<int>(h, 45, 23, [](int i, int j) { return plain(i, j) * 2 - plain(i + 3, j); });
}

TEST(GpuTextures, read_on_the_host) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(x - 1, y + 1);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.vectorize(x, 4);
    const auto want = [](int i, int j) {
        return plain(i, j) + plain(i - 1, j + 1);
    };
    expect_values<int>(g, 45, 23, want);
    // Whatever the layout there.
    f.reorder_storage(y, x).align_storage(y, 8);
    expect_values<int>(g, 45, 23, want);
}

TEST(GpuTextures, written_on_the_host) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(x - 1, y + 1);
    f.compute_root().store_in(MemoryType::GPUTexture).vectorize(x, 4);
    g.gpu_tile(x, y, xi, yi, 8, 4);
    const auto want = [](int i, int j) {
        return plain(i, j) + plain(i - 1, j + 1);
    };
    expect_values<int>(g, 45, 23, want);
    f.reorder_storage(y, x);
    expect_values<int>(g, 45, 23, want);
}

TEST(GpuTextures, vectors_of_threads) {
    REQUIRE_GPU();
    for (const int lanes : {2, 3, 4, 8}) {
        Func f = source("f"), g("g");
        g(x, y) = f(x, y) + f(x * 2, y) + f(y, x);
        f.compute_root()
            .store_in(MemoryType::GPUTexture)
            .gpu_tile(x, y, xi, yi, 24, 4)
            .vectorize(xi, lanes);
        g.store_in(MemoryType::GPUTexture)
            .gpu_tile(x, y, xi, yi, 24, 4, TailStrategy::GuardWithIf)
            .vectorize(xi, lanes);
        expect_values<int>(
            g, 45, 23, [](int i, int j) { return plain(i, j) + plain(i * 2, j) + plain(j, i); });
    }
}

TEST(GpuTextures, by_way_of_shared_memory) {
    REQUIRE_GPU();
    Func f = source("f"), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = g(x, y) + g(x + 1, y + 1);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    h.gpu_tile(x, y, xi, yi, 8, 8);
    for (const MemoryType shared : {MemoryType::GPUShared, MemoryType::GPUSharedAsync}) {
        g.compute_at(h, x).store_in(shared).gpu_threads(x, y);
        expect_values<int>(h, 45, 23,
                           [](int i, int j) { return plain(i, j) + plain(i + 1, j + 1); });
    }
}

TEST(GpuTextures, updates_in_kernels_of_their_own_read_another) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    RDom r(0, 5);
    g(x, y) = 0;
    g(x, y) += f(x + r, y);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.gpu_tile(x, y, xi, yi, 8, 4);
    g.update().gpu_tile(x, y, xi, yi, 8, 4);
    expect_values<int>(g, 32, 12, [](int i, int j) {
        int sum = 0;
        for (int k = 0; k < 5; k++) {
            sum += plain(i + k, j);
        }
        return sum;
    });
}

TEST(GpuTextures, of_several_values) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    f(x, y) = Tuple(x - y, cast<uint8_t>(x + y), cast<float>(x) * 0.5f);
    g(x, y) = f(x, y)[0] + cast<int>(f(x + 1, y)[1]) + cast<int>(f(x, y + 1)[2] * 2);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.gpu_tile(x, y, xi, yi, 8, 4);
    expect_values<int>(g, 31, 17, [](int i, int j) { return i - j + int(uint8_t(i + 1 + j)) + i; });
}

TEST(GpuTextures, several_outputs) {
    REQUIRE_GPU();
    Func f("f");
    f(x, y) = Tuple(x - y, cast<float>(x * y));
    f.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    Realization r = f.realize({13, 5}, gpu_target());
    Buffer<int> a = r[0];
    Buffer<float> b = r[1];
    a.copy_to_host();
    b.copy_to_host();
    for (int j = 0; j < 5; j++) {
        for (int i = 0; i < 13; i++) {
            ASSERT_EQ(a(i, j), i - j);
            ASSERT_EQ(b(i, j), float(i * j));
        }
    }
}

TEST(GpuTextures, in_a_pipeline_that_runs_ahead) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(x, y + 1);
    f.compute_at(g, y).store_in(MemoryType::GPUTexture).gpu_tile(x, xi, 16).async();
    expect_values<int>(g, 37, 11, [](int i, int j) { return plain(i, j) + plain(i, j + 1); });
}

TEST(GpuTextures, folded_and_slid) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(x, y + 2);
    f.store_root().compute_at(g, y).store_in(MemoryType::GPUTexture).gpu_tile(x, xi, 16);
    g.gpu_tile(x, xi, 16);
    // Each row of g is a kernel of its own.
    expect_values<int>(g, 37, 11, [](int i, int j) { return plain(i, j) + plain(i, j + 2); });
}

TEST(GpuTextures, negative_mins_of_inputs_and_outputs) {
    REQUIRE_GPU();
    Buffer<int16_t> in(21, 13);
    in.set_min(-7, -100);
    in.for_each_element([&](int i, int j) { in(i, j) = int16_t(plain(i, j)); });
    in.set_host_dirty();
    ImageParam image(Int(16), 2, "image");
    Func g("g");
    g(x, y) = cast<int>(image(x, y)) + 1;
    image.store_in(MemoryType::GPUTexture);
    g.output_buffer().store_in(MemoryType::GPUTexture);
    g.gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    image.set(in);
    Buffer<int> out(9, 5);
    out.set_min(-5, -98);
    g.realize(out, gpu_target());
    out.copy_to_host();
    out.for_each_element([&](int i, int j) { ASSERT_EQ(out(i, j), plain(i, j) + 1); });
}

TEST(GpuTextures, without_elements) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y);
    f.compute_root()
        .store_in(MemoryType::GPUTexture)
        .gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    g.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    Buffer<int> out = g.realize({0, 5}, gpu_target());
    EXPECT_EQ(out.copy_to_host(), 0);
}

TEST(GpuTextures, copied_from_a_buffer_on_the_device) {
    REQUIRE_GPU();
    Func f = source("f"), g("g"), h("h");
    f.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    g(x, y) = f(x, y);
    h(x, y) = g(x, y) + g(x + 2, y);
    g.compute_root().store_in(MemoryType::GPUTexture).copy_to_device();
    h.gpu_tile(x, y, xi, yi, 8, 4);
    expect_values<int>(h, 45, 23, [](int i, int j) { return plain(i, j) + plain(i + 2, j); });
}

TEST(GpuTextures, copied_to_the_host) {
    REQUIRE_GPU();
    Func f = source("f"), g("g"), h("h");
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g(x, y) = f(x, y);
    h(x, y) = g(x, y) + g(x + 2, y);
    g.compute_root().copy_to_host();
    expect_values<int>(h, 45, 23, [](int i, int j) { return plain(i, j) + plain(i + 2, j); });
}

TEST(GpuTextures, memoized) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + 1;
    f.compute_root().memoize().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    g.gpu_tile(x, y, xi, yi, 8, 4);
    for (int i = 0; i < 2; i++) {
        expect_values<int>(g, 45, 23, [](int i, int j) { return plain(i, j) + 1; });
    }
}

TEST(GpuTextures, a_buffer_of_one_pipeline_is_an_image_of_the_next) {
    REQUIRE_GPU();
    Func f = source("f"), g("g"), h("h");
    f.gpu_tile(x, y, xi, yi, 8, 4);
    Buffer<int> first = f.realize({20, 10}, gpu_target());
    ImageParam image(Int(32), 2, "image"), again(Int(32), 2, "again");
    g(x, y) = image(x, y) * 2;
    image.store_in(MemoryType::GPUTexture);
    g.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 4);
    image.set(first);
    Buffer<int> second = g.realize({20, 10}, gpu_target());
    h(x, y) = again(x, y) + 1;
    h.gpu_tile(x, y, xi, yi, 8, 4);
    again.set(second);
    expect_values<int>(h, 20, 10, [](int i, int j) { return plain(i, j) * 2 + 1; });
}

}  // namespace
}  // namespace calotype::test
