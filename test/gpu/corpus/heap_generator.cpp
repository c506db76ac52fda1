// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage of each thread out of the device's heap, of a size that arguments or the input decide.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

/** A running sum of `count` elements a thread. */
class ThreadHeap : public Generator<ThreadHeap> {
public:
    Input<Buffer<int32_t, 1>> input{"input"};
    Input<int32_t> count{"count"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi"), i("i");
        Func line("line"), total("total");
        RDom r(1, max(count, 1) - 1, "r"), k(0, count, "k");
        line(x, i) = input(x) + i;
        line(x, r) += line(x, r - 1);
        total(x) = 0;
        total(x) += line(x, k) * (k % 3 + 1);
        output(x) = total(x);
        output.gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
        total.compute_at(output, xi);
        line.compute_at(output, xi).store_in(MemoryType::Heap);
    }
};

/** Two at once, one of two dimensions and in vectors; how large they are differs by thread. */
class ThreadHeaps : public Generator<ThreadHeaps> {
public:
    Input<Buffer<uint16_t, 1>> sizes{"sizes"};
    Input<int32_t> columns{"columns"};
    Input<int32_t> most{"most"};
    Output<Buffer<double, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi"), i("i"), j("j");
        Func table("table"), row("row"), total("total");
        const Expr size = cast<int>(sizes(x));
        RDom k(0, most, "k"), c(0, columns, 0, most, "c");
        k.where(k < size);
        c.where(c.y < size);
        table(x, i, j) = cast<float>(i * 3 + j * 5 + x);
        row(x, j) = Expr(0.0);
        row(x, c.y) += cast<double>(table(x, c.x, c.y));
        total(x, y) = cast<double>(y);
        total(x, y) += row(x, k) * cast<double>(k + 1);
        output(x, y) = total(x, y);
        output.gpu_tile(x, y, xi, yi, 16, 2, TailStrategy::GuardWithIf);
        total.compute_at(output, xi);
        row.compute_at(output, xi).store_in(MemoryType::Heap);
        table.compute_at(output, xi).store_in(MemoryType::Heap).vectorize(i, 4);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(ThreadHeap, thread_heap)
CALOTYPE_REGISTER_GENERATOR(ThreadHeaps, thread_heaps)
