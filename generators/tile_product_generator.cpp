// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of two matrices in the tile registers of x86 processors (AMX): of bytes, or of
// bfloat16.
#include <calotype/calotype.h>

class TileProduct : public calotype::Generator<TileProduct> {
public:
    Input<Buffer<>> a{"a", 2};  ///< depth, row: int8 or bfloat16
    /// For each tile of 16 columns: elements of 32 bits, column, depth / as many, tile.
    Input<Buffer<>> b{"b", 4};
    Output<Buffer<>> product{"product", 2};  ///< column, row: int32 or float32

    void generate() {
        const calotype::Type t = a.type();
        const int packed = 32 / t.bits();
        const calotype::Type sum = t.is_bfloat() ? calotype::Float(32) : calotype::Int(32);
        k = RDom(0, a.dim(0).extent(), "k");
        rows(u, y) = a(u, y);
        tiles(x, y) = calotype::cast(sum, 0);
        tiles(x, y) += calotype::cast(sum, rows(k, y)) *
                       calotype::cast(sum, b(k % packed, x % columns, k / packed, x / columns));
        product(x, y) = tiles(x, y);

        a.dim(0).set_min(0);
        b.dim(0).set_bounds(0, packed).set_stride(1);
        b.dim(1).set_bounds(0, columns).set_stride(packed);
        b.dim(2).set_stride(packed * columns);
        product.dim(0).set_min(0);
    }

    // Two by two tiles at once, and 256 rows of a as long as they stay in the second-level cache:
    // in a copy, whose rows are not a power of two apart, so that those of a tile do not displace
    // each other.
    void schedule() {
        const int depth = row_bytes / a.type().bytes();
        Var xi{"xi"}, yi{"yi"}, yo{"yo"};
        RVar ko{"ko"}, ki{"ki"};
        product.split(x, x, xi, 2 * columns, calotype::TailStrategy::RoundUp)
            .split(y, y, yi, 2 * tile_rows, calotype::TailStrategy::ShiftInwards)
            .split(y, yo, y, 8, calotype::TailStrategy::GuardWithIf)
            .reorder(xi, yi, y, x, yo)
            .vectorize(xi, columns)
            .vectorize(yi, tile_rows)
            .unroll(xi)
            .unroll(yi)
            .parallel(yo);
        rows.compute_at(product, yo)
            .align_storage(u, 33 * depth)
            .vectorize(u, depth, calotype::TailStrategy::GuardWithIf);
        tiles.compute_at(product, y)
            .store_in(calotype::MemoryType::AMXTile)
            .tile(x, y, xi, yi, columns, tile_rows)
            .vectorize(xi)
            .vectorize(yi)
            .unroll(x)
            .unroll(y);
        tiles.update()
            .tile(x, y, xi, yi, columns, tile_rows)
            .split(k, ko, ki, depth)
            .reorder({ki, xi, yi, x, y, ko})
            .atomic()
            .vectorize(ki)
            .vectorize(xi)
            .vectorize(yi)
            .unroll(x)
            .unroll(y);
    }

private:
    static constexpr int columns = 16, tile_rows = 16, row_bytes = 64;  ///< of a tile
    Var x{"x"}, y{"y"}, u{"u"};
    RDom k;
    Func rows{"rows"}, tiles{"tiles"};
};

CALOTYPE_REGISTER_GENERATOR(TileProduct, tile_product)
