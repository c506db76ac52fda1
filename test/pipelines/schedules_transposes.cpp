// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that lie across what is dense in memory, however a schedule comes to them.
#include <calotype/calotype.h>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace calotype;

namespace {

struct Tile {
    int width, height;
};

/// Of sizes that are powers of two, multiples of something, and neither.
const std::vector<Tile> all_tiles = {{8, 16}, {7, 5}, {6, 9}};
const std::vector<Tile> odd_tiles = {{7, 5}};

/// g(x, y) = f(y, x), in tiles, of a size that they divide and of one that they do not.
template<typename T>
void check_transpose(const std::vector<Tile> &tiles,
                     const std::function<void(Func f, Func g, const Tile &tile)> &schedule) {
    for (const Tile &tile : tiles) {
        for (const int rest : {0, 1}) {
            Var x("x"), y("y");
            Func f("f"), g("g");
            f(x, y) = cast<T>(x + 37 * y);
            g(x, y) = f(y, x);
            f.compute_root();
            schedule(f, g, tile);
            Buffer<T> result = g.realize({2 * tile.width + rest, 3 * tile.height + rest});
            result.for_each_element([&](int i, int j) {
                ASSERT_EQ(result(i, j), T(j + 37 * i))
                    << tile.width << " by " << tile.height << " at " << i << ", " << j;
            });
        }
    }
}

template<typename T>
void check_all_transposes() {
    Var x("x"), y("y"), xi("xi"), yi("yi");
    const auto tails = {TailStrategy::ShiftInwards, TailStrategy::GuardWithIf,
                        TailStrategy::Predicate};
    for (const TailStrategy tail : tails) {
        const auto &tiles = tail == TailStrategy::ShiftInwards ? all_tiles : odd_tiles;
        check_transpose<T>(tiles, [&](Func, Func g, const Tile &tile) {
            g.tile(x, y, xi, yi, tile.width, tile.height, tail).vectorize(xi).vectorize(yi);
        });
        check_transpose<T>(tiles, [&](Func, Func g, const Tile &tile) {
            g.tile(x, y, xi, yi, tile.width, tile.height, tail)
                .reorder(yi, xi)
                .vectorize(xi)
                .vectorize(yi);
        });
        check_transpose<T>(tiles, [&](Func f, Func g, const Tile &tile) {
            g.tile(x, y, xi, yi, tile.width, tile.height, tail).vectorize(xi).unroll(yi);
            f.in().compute_at(g, x).vectorize(x, tile.height).unroll(y, tile.width);
        });
        check_transpose<T>(tiles, [&](Func f, Func g, const Tile &tile) {
            g.tile(x, y, xi, yi, tile.width, tile.height, tail).vectorize(xi).unroll(yi);
            f.in()
                .compute_at(g, x)
                .reorder_storage(y, x)
                .vectorize(x, tile.height)
                .unroll(y, tile.width);
        });
    }
}

TEST(Transposes, OfWords) {
    check_all_transposes<int32_t>();
}

TEST(Transposes, OfBytes) {
    check_all_transposes<uint8_t>();
}

/// Every n-th element, and its neighbours: from a buffer that ends with the last one that is read.
TEST(Transposes, EveryNthElement) {
    Var x("x");
    for (const int stride : {2, 3, 4, 5, 7, 8, 16}) {
        for (const int columns : {1, 2, stride}) {
            const int size = 64, needed = stride * (size - 1) + columns;
            Buffer<int16_t> in(needed);
            in.for_each_element([&](int i) { in(i) = int16_t(i * 3); });
            Func f("f");
            Expr sum = cast<int16_t>(0);
            for (int k = 0; k < columns; k++) {
                sum += in(stride * x + k) * cast<int16_t>(k + 1);
            }
            f(x) = sum;
            f.vectorize(x, 8);
            Buffer<int16_t> result = f.realize({size});
            for (int i = 0; i < size; i++) {
                int expected = 0;
                for (int k = 0; k < columns; k++) {
                    expected += (stride * i + k) * 3 * (k + 1);
                }
                ASSERT_EQ(result(i), int16_t(expected)) << stride << ", " << columns << ", " << i;
            }
        }
    }
}

/// A sum over each of three dimensions, all of them vectors, in every order of the loops.
TEST(Transposes, SumsOverAnyDimension) {
    Var x("x"), y("y");
    Buffer<int> in(4, 8, 4);
    in.for_each_element([&](int i, int j, int k) { in(i, j, k) = i + 10 * j + 100 * k; });
    for (int dense = 0; dense < 3; dense++) {
        for (int order = 0; order < 6; order++) {
            RDom r(0, 4);
            Func f("f");
            f(x, y) += dense == 0 ? in(r, y, x) : dense == 1 ? in(x, y, r) : in(x, r * 2 + 1, y);
            const std::vector<std::vector<VarOrRVar>> orders = {{x, y, r}, {x, r, y}, {r, x, y},
                                                                {y, x, r}, {y, r, x}, {r, y, x}};
            f.bound(x, 0, 4).bound(y, 0, 4).vectorize(x).vectorize(y);
            f.update().vectorize(x).vectorize(y).atomic().vectorize(r).reorder(
                orders[size_t(order)]);
            Buffer<int> result = f.realize({4, 4});
            result.for_each_element([&](int i, int j) {
                int expected = 0;
                for (int k = 0; k < 4; k++) {
                    expected += dense == 0   ? in(k, j, i)
                                : dense == 1 ? in(i, j, k)
                                             : in(i, k * 2 + 1, j);
                }
                ASSERT_EQ(result(i, j), expected) << dense << ", " << order;
            });
        }
    }
}

/// Bits that are taken apart, and put together again.
/// Channels of an interleaved image, in an order that is given, and what is none of its channels at the others.
template<typename T>
void check_channels(const std::vector<int> &order, int channels, int lanes, bool constant) {
    Var x("x"), c("c");
    Func image("image"), plane("plane"), out("out");
    image(x, c) = cast<T>(x * 5 + c * 77);
    plane(x) = cast<T>(x * 3 + 1);
    Expr value = constant ? cast<T>(-3) : plane(x);
    for (int i = 0; i < int(order.size()); i++) {
        value = order[size_t(i)] < 0 ? value : select(c == i, image(x, order[size_t(i)]), value);
    }
    out(x, c) = value;
    image.compute_root().bound(c, 0, channels).reorder_storage(c, x);
    plane.compute_root();
    const int n = int(order.size());
    out.reorder(c, x).bound(c, 0, n).unroll(c).vectorize(x, lanes);
    out.output_buffer().dim(0).set_stride(n).dim(1).set_stride(1);
    Buffer<T> result = Buffer<T>::make_interleaved(70, 1, n).sliced(1);
    out.realize(result);
    result.for_each_element([&](int i, int k) {
        const int from = order[size_t(k)];
        const T other = constant ? T(-3) : T(i * 3 + 1);
        ASSERT_EQ(result(i, k), from < 0 ? other : T(i * 5 + from * 77))
            << "of " << n << " channels, " << lanes << " lanes, at " << i << ", " << k;
    });
}

template<typename T>
void check_all_channels() {
    for (const int lanes : {8, 16, 32}) {
        for (const bool constant : {true, false}) {
            check_channels<T>({0, 1, 2, -1}, 3, lanes, constant);
            check_channels<T>({-1, 2, 1, 0}, 3, lanes, constant);
            check_channels<T>({2, -1, 0, -1}, 3, lanes, constant);
            check_channels<T>({0, 4, -1, 1, 2, 3}, 5, lanes, constant);
            check_channels<T>({-1, 0, 1}, 2, lanes, constant);
            check_channels<T>({2, 1, -1}, 4, lanes, constant);
        }
    }
}

TEST(Transposes, ChannelsBesideOthers) {
    check_all_channels<uint8_t>();
    check_all_channels<int16_t>();
    check_all_channels<float>();
}

TEST(Transposes, BytesOfWords) {
    Var x("x");
    Func words("words"), bytes("bytes"), again("again");
    words(x) = cast<uint32_t>(x) * Expr(0x01030507u);
    bytes(x) = extract_bits<uint8_t>(words(x / 4), 8 * (x % 4));
    again(x) = concat_bits({bytes(4 * x), bytes(4 * x + 1), bytes(4 * x + 2), bytes(4 * x + 3)});
    words.compute_root().vectorize(x, 8);
    bytes.compute_root().align_bounds(x, 4).vectorize(x, 32);
    again.vectorize(x, 8);
    Buffer<uint32_t> result = again.realize({100});
    for (int i = 0; i < 100; i++) {
        ASSERT_EQ(result(i), uint32_t(i) * 0x01030507u) << i;
    }
}

}  // namespace
