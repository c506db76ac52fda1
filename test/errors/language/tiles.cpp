// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Funcs in tile registers (MemoryType::AMXTile) that are no products of tiles.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "calotype.h"
#include "harness/expect_error.h"

namespace calotype {
namespace {

const Var x("x"), y("y"), xi("xi"), yi("yi");
const RVar ko("ko"), ki("ki");

/// A product of 64 x 64 elements; the update is for the test to define.
struct Product {
    Buffer<int8_t> a{64, 64}, b{4, 64, 16};
    RDom k{0, 64, "k"};
    Func sum{"sum"}, result{"result"};

    Expr right(const Expr &column, const Expr &depth) {
        return cast<int>(b(depth % 4, column, depth / 4));
    }

    explicit Product(Type t = Int(32)) {
        sum(x, y) = cast(t, 0);
    }
    /// Tiles of so many columns, rows and bytes of depth.
    void schedule(int columns = 16, int rows = 16, int depth = 64) {
        result(x, y) = sum(x, y);
        result.tile(x, y, xi, yi, columns, rows).vectorize(xi).vectorize(yi);
        sum.compute_at(result, x).store_in(MemoryType::AMXTile);
        sum.tile(x, y, xi, yi, columns, rows).vectorize(xi).vectorize(yi);
        for (int i = 0; i < sum.num_update_definitions(); i++) {
            Stage update = sum.update(i);
            update.tile(x, y, xi, yi, columns, rows).split(k, ko, ki, depth);
            update.reorder({ki, xi, yi, ko, x, y})
                .atomic()
                .vectorize(ki)
                .vectorize(xi)
                .vectorize(yi);
        }
    }
    /// The same for tiles of one update, of which several stand in one of the result's.
    Stage schedule_update(int i, int columns, int rows, int depth) {
        sum.compute_at(result, x).store_in(MemoryType::AMXTile);
        Stage update = sum.update(i);
        update.tile(x, y, xi, yi, columns, rows).split(k, ko, ki, depth);
        update.reorder({ki, xi, yi, x, y, ko}).atomic().vectorize(ki).vectorize(xi).vectorize(yi);
        return update;
    }
    void compile(const char *target = "x86-64-linux-avx512_sapphirerapids") {
        result.compile_to_module({}, "f", Target(target));
    }
};

void compile_sum_of(const std::function<Expr(Product &)> &term) {
    Product p;
    p.sum(x, y) += term(p);
    p.schedule();
    p.compile();
}

/// The names of Funcs are made unique by numbers, so that parts of messages are compared.
void expect_error(const std::function<void()> &f, const std::string &part) {
    const std::string message = test::error_of<CompileError>(f);
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(TileErrors, targets_and_types) {
    Product p, of_short(Int(16));
    p.sum(x, y) += cast<int>(p.a(p.k, y)) * p.right(x, p.k);
    p.schedule();
    expect_error(
        [&] { p.compile("x86-64-linux-avx2"); },
        "is stored in amx_tile, which target x86-64-linux-avx2 does not have: that takes x86 "
        "with avx512_sapphirerapids");
    of_short.sum(x, y) += cast<int16_t>(of_short.a(of_short.k, y));
    of_short.schedule();
    expect_error([&] { of_short.compile(); }, "is stored in amx_tile with elements of type int16");
    expect_error(
        [&] {
            compile_sum_of([](Product &q) {
                return cast<int>(cast<int16_t>(q.a(q.k, y)) * 300) * q.right(x, q.k);
            });
        },
        "its operands are not loads with affine indices");
    expect_error(
        [&] {
            compile_sum_of(
                [](Product &q) { return cast<int>(cast<uint8_t>(q.a(q.k, y))) * q.right(x, q.k); });
        },
        "an operand is cast after being loaded, to values that tiles do not hold");
}

TEST(TileErrors, what_is_no_product) {
    expect_error([&] { compile_sum_of([](Product &p) { return cast<int>(p.a(p.k, y)); }); },
                 "it must add a product to its own value, but computes");
    expect_error([&] { compile_sum_of([](Product &p) { return cast<int>(p.a(p.k, y)); }); },
                 ": such operand or result types are not supported");
    expect_error(
        [&] {
            compile_sum_of(
                [](Product &p) { return cast<int>(p.a(p.k, y)) * cast<int>(p.a(x, p.k)); });
        },
        "the storage layout for a matrix multiply operand is unsupported");
    expect_error(
        [&] {
            compile_sum_of([](Product &p) {
                return cast<int>(p.a(p.k, clamp(cast<int>(p.a(0, y)), 0, 9))) * p.right(x, p.k);
            });
        },
        "its operands are not loads with affine indices");
    expect_error(
        [&] {
            compile_sum_of(
                [](Product &p) { return cast<int>(p.a(p.k % 8 + x % 8, y)) * p.right(x, p.k); });
        },
        "the storage layout for a matrix multiply operand is unsupported");
    Product none;
    none.schedule();
    expect_error([&] { none.compile(); },
                 "is stored in amx_tile, but no matrix multiply operation was found in it");
}

TEST(TileErrors, sizes) {
    const auto compile = [](int columns, int rows, int depth) {
        Product p;
        p.sum(x, y) += cast<int>(p.a(p.k, y)) * p.right(x, p.k);
        p.schedule(columns, rows, depth);
        p.compile();
    };
    expect_error(
        [&] { compile(32, 16, 64); },
        "is stored in amx_tile with 16 rows, 32 columns and 64 bytes of depth, too large to "
        "fit in a tile: that has at most 16 rows, 16 columns and 64 "
        "bytes of depth");
    expect_error([&] { compile(16, 32, 64); }, "with 32 rows");
    // Seven tiles at once.
    Product p;
    p.sum(x, y) += cast<int>(p.a(p.k, y)) * p.right(x, p.k);
    p.result(x, y) = p.sum(x, y);
    p.result.tile(x, y, xi, yi, 56, 16);
    p.schedule_update(0, 8, 16, 64).unroll(x).unroll(y);
    expect_error([&] { p.compile(); },
                 "is stored in amx_tile and has 7 tiles, must have at most 6");
    // Of different shapes.
    Product two;
    for (int i = 0; i < 2; i++) {
        two.sum(x, y) += cast<int>(two.a(two.k, y)) * two.right(x, two.k);
    }
    two.result(x, y) = two.sum(x, y);
    two.result.tile(x, y, xi, yi, 8, 8);
    for (int i = 0; i < 2; i++) {
        two.schedule_update(i, 8, 8 >> i, 64).unroll(x).unroll(y);
    }
    expect_error([&] { two.compile(); },
                 "it does not have the same shape, but has different size and strides");
    // The shape is looked at before the places, which are not constant here.
    Product turned;
    for (int i = 0; i < 2; i++) {
        turned.sum(x, y) += cast<int>(turned.a(turned.k, y)) * turned.right(x, turned.k);
    }
    turned.result(x, y) = turned.sum(x, y);
    turned.result.tile(x, y, xi, yi, 8, 8);
    turned.schedule_update(0, 8, 4, 64);
    turned.schedule_update(1, 4, 8, 64);
    expect_error([&] { turned.compile(); },
                 "one product in it has 4 rows, 8 columns and 64 bytes of depth, another 8 rows, 4 "
                 "columns and 64 bytes of depth");
}

TEST(TileErrors, places) {
    // The loop over tiles is not unrolled.
    Product p;
    p.sum(x, y) += cast<int>(p.a(p.k, y)) * p.right(x, p.k);
    p.result(x, y) = p.sum(x, y);
    p.result.tile(x, y, xi, yi, 32, 16);
    Stage update = p.schedule_update(0, 16, 16, 16);
    expect_error([&] { p.compile(); }, "which is not constant: unroll the loops over its tiles");
    // Several threads.
    update.parallel(ko);
    update.unroll(x).unroll(y);
    expect_error([&] { p.compile(); }, "the registers are those of one thread");
}

}  // namespace
}  // namespace calotype
