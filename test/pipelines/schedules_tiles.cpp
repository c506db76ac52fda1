// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products in tile registers (AMX), of random sizes. Where the processor has none, they are
// compiled and not run.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "calotype.h"

namespace calotype {
namespace {

/// What is done with the product of tiles.
enum class Use { Copy, Arithmetic, Narrower };
const char *const names_of_uses[] = {"copy", "arithmetic", "narrower"};

struct Case {
    Type a, b;
    int width, height, depth;    ///< of the matrices
    int tile_x, tile_y, tile_k;  ///< of a tile, in elements
    int tiles_x, tiles_y;        ///< held at once
    Use use = Use::Copy;
    bool starts_at_zero = true, widens = false, transposed = false;

    int packed() const {
        return 32 / a.bits();
    }
    std::string text() const {
        std::ostringstream out;
        out << a << " " << b << ", " << width << "x" << height << "x" << depth << " in tiles of "
            << tile_x << "x" << tile_y << "x" << tile_k << ", " << tiles_x << "x" << tiles_y
            << " at once, " << names_of_uses[int(use)] << (starts_at_zero ? "" : ", bias")
            << (widens ? ", widening_mul" : "") << (transposed ? ", transposed" : "");
        return out.str();
    }
};

struct Products {
    std::mt19937 random{20261123};

    int from(int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    }

    /// Of a tile: most often the largest, or a single row or column.
    int side() {
        const int kind = from(0, 5);
        return kind < 4 ? 16 : kind < 5 ? from(1, 16) : 1;
    }

    Case next() {
        Case c;
        const bool is_float = from(0, 3) == 0;
        const Type bytes[] = {Int(8), UInt(8)};
        c.a = is_float ? BFloat(16) : bytes[from(0, 1)];
        c.b = is_float ? BFloat(16) : bytes[from(0, 1)];
        c.tile_x = side();
        c.tile_y = side();
        c.tile_k = c.packed() * (from(0, 2) ? 16 : from(1, 16));
        c.tiles_x = from(1, 3);
        c.tiles_y = from(1, 2);
        const int tiles = std::max(c.tiles_x, c.tiles_y);
        c.width = c.tile_x * tiles + from(0, 2) * from(0, 20);
        c.height = c.tile_y * tiles + from(0, 2) * from(0, 20);
        c.depth = c.tile_k * from(1, 3) + from(0, 1) * from(0, 9);
        c.use = Use(from(0, 2));
        c.starts_at_zero = from(0, 2) != 0;
        c.widens = from(0, 1);
        c.transposed = from(0, 3) == 0;
        return c;
    }

    Buffer<> values(Type t, std::vector<int> sizes) {
        Buffer<> result(t, std::move(sizes));
        if (t.is_bfloat()) {
            result.as<bfloat16_t>().for_each_value(
                [&](bfloat16_t &v) { v = bfloat16_t(float(from(-8, 8))); });
        } else if (t.is_int()) {
            result.as<int8_t>().for_each_value([&](int8_t &v) { v = int8_t(from(-128, 127)); });
        } else {
            result.as<uint8_t>().for_each_value([&](uint8_t &v) { v = uint8_t(from(0, 255)); });
        }
        return result;
    }
};

int value_at(const Buffer<> &b, const std::vector<int> &at) {
    Buffer<> copy = b;
    if (b.type().is_bfloat()) {
        return int(float(copy.as<bfloat16_t>()(at.data())));
    }
    return b.type().is_int() ? copy.as<int8_t>()(at.data()) : copy.as<uint8_t>()(at.data());
}

/// The pipeline, its tiles in `storage`. a(k, y) and b(k % n, x, k / n).
Func product(const Case &c, const Buffer<> &a, const Buffer<> &b, MemoryType storage) {
    const Var x("x"), y("y"), xi("xi"), yi("yi"), xt("xt"), yt("yt");
    Func sum("sum"), result("result");
    RDom k(0, c.depth, "k");
    const Type t = c.a.is_bfloat() ? Float(32) : Int(32);
    const std::vector<Expr> at = c.transposed ? std::vector<Expr>{y, x} : std::vector<Expr>{x, y};
    const Expr row = at[1], column = at[0];
    sum(x, y) = c.starts_at_zero ? cast(t, 0) : cast(t, x * 3 - y);
    const Expr left = a(k, row), right = b(k % c.packed(), column, k / c.packed());
    sum(x, y) += c.widens ? cast(t, widening_mul(left, right)) : cast(t, left) * cast(t, right);
    result(x, y) = c.use == Use::Copy         ? sum(x, y)
                   : c.use == Use::Arithmetic ? max(sum(x, y), 7) * 3 - cast(t, x)
                                              : cast(t, cast<int8_t>(cast<int>(sum(x, y)) / 256));
    RVar ko("ko"), ki("ki");
    // Rows of the tile are where its columns are neighbours in storage.
    const int tx = c.transposed ? c.tile_y : c.tile_x, ty = c.transposed ? c.tile_x : c.tile_y;
    result.tile(x, y, xt, yt, xi, yi, tx * c.tiles_x, ty * c.tiles_y)
        .vectorize(xi, tx)
        .vectorize(yi, ty);
    if (storage == MemoryType::AMXTile) {
        result.unroll(xi).unroll(yi);
    }
    sum.compute_at(result, xt).store_in(storage);
    if (c.transposed) {
        sum.reorder_storage(y, x);
    }
    sum.tile(x, y, xi, yi, tx, ty).vectorize(xi).vectorize(yi).unroll(x).unroll(y);
    Stage update = sum.update();
    update.tile(x, y, xi, yi, tx, ty, TailStrategy::GuardWithIf).split(k, ko, ki, c.tile_k);
    update.reorder({ki, c.transposed ? yi : xi, c.transposed ? xi : yi, x, y, ko})
        .unroll(x)
        .unroll(y);
    update.atomic().vectorize(ki).vectorize(xi).vectorize(yi);
    return result;
}

TEST(TileRegisters, RandomProducts) {
    const Target target = get_host_target();
    const bool runs = target.has_feature(Target::AVX512_SapphireRapids);
    const Target amx("x86-64-linux-avx512_sapphirerapids");
    Products products;
    for (int i = 0; i < (runs ? 60 : 15); i++) {
        const Case c = products.next();
        SCOPED_TRACE(c.text());
        const int groups = (c.depth + c.packed() - 1) / c.packed();
        const Buffer<> a = products.values(c.a, {c.depth, c.height}),
                       b = products.values(c.b, {c.packed(), c.width, groups});
        Func f = product(c, a, b, MemoryType::AMXTile);
        if (!runs) {
            f.compile_to_module({}, "f", amx);
            continue;
        }
        const int w = c.transposed ? c.height : c.width, h = c.transposed ? c.width : c.height;
        Buffer<> result = f.realize({w, h}, target);
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                const int row = c.transposed ? x : y, column = c.transposed ? y : x;
                int sum = c.starts_at_zero ? 0 : x * 3 - y;
                for (int k = 0; k < c.depth; k++) {
                    sum += value_at(a, {k, row}) *
                           value_at(b, {k % c.packed(), column, k / c.packed()});
                }
                const int narrow = int8_t(sum >= 0 ? sum / 256 : -((-sum + 255) / 256));
                const int expected = c.use == Use::Copy         ? sum
                                     : c.use == Use::Arithmetic ? std::max(sum, 7) * 3 - x
                                                                : narrow;
                const int found =
                    c.a.is_bfloat() ? int(result.as<float>()(x, y)) : result.as<int>()(x, y);
                ASSERT_EQ(found, expected) << "at " << x << ", " << y;
            }
        }
    }
}

}  // namespace
}  // namespace calotype
