// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPU schedules that no GPU can run.
#include <calotype/calotype.h>

#include "harness/expect_error.h"

#include <gtest/gtest.h>

namespace calotype {
namespace {

Var x("x"), y("y"), z("z"), w("w"), xi("xi"), yi("yi");

void lower_for_cuda(Func f) {
    f.compile_to_module({}, "p", Target("x86-64-linux-cuda"));
}

Func two_dimensional(const std::string &name) {
    Func f(name);
    f(x, y) = x + y;
    return f;
}

TEST(GpuSchedules, threads_without_blocks) {
    Func f = two_dimensional("threads_only");
    f.gpu_threads(x);
    EXPECT_COMPILE_ERROR(lower_for_cuda(f), "thread loop threads_only.s0.x stands inside of no "
                                            "block loop: use gpu_blocks too");
}

TEST(GpuSchedules, elements_of_three_bytes) {
    Func f = two_dimensional("adds_threes"), g("threes");
    g(x, y) = cast(UInt(24), x + y);
    f(x, y) += cast<int>(g(x + 1, y));
    f.update().gpu_tile(x, y, xi, yi, 8, 8);
    const std::string expected =
        "func threes, which is used inside of block loop adds_threes.s1.y.y, "
        "has elements of type uint24, of 3 bytes, must be of a type of 1, 2, "
        "4 or 8";
    lower_for_cuda(f);
    g.compute_root();
    EXPECT_COMPILE_ERROR(lower_for_cuda(f), expected);
    g.compute_at(f, x).gpu_threads(x, y);
    EXPECT_COMPILE_ERROR(lower_for_cuda(f), expected);
    Func inlined("narrow");
    inlined(x, y) = cast<int>(cast(UInt(24), x * y) / 3);
    inlined.gpu_tile(x, y, xi, yi, 8, 8);
    EXPECT_COMPILE_ERROR(
        inlined.compile_to_object("/dev/null", {}, "p", Target("x86-64-linux-opencl")),
        "OpenCL C has no type for uint24, which a kernel computes");
}

TEST(GpuSchedules, blocks_inside_of_threads) {
    Func f = two_dimensional("inside_out");
    f.gpu_blocks(y).gpu_threads(x);
    Func g = two_dimensional("wrong_order");
    g.gpu_threads(y).gpu_blocks(x);
    lower_for_cuda(f);
    EXPECT_COMPILE_ERROR(lower_for_cuda(g),
                         "block loop wrong_order.s0.x stands inside of thread loop "
                         "wrong_order.s0.y: blocks must be outside of threads");
}

TEST(GpuSchedules, too_many_dimensions) {
    Func f("four");
    f(x, y, z, w) = x;
    f.gpu_blocks(x, y, z).gpu_blocks(w);
    EXPECT_COMPILE_ERROR(lower_for_cuda(f),
                         "block loop four.s0.x stands inside of three others: a kernel has at "
                         "most three dimensions of blocks");
    Func g("four_threads");
    Var b("b");
    g(x, y, z, w, b) = x;
    g.gpu_blocks(b).gpu_threads(x, y, z).gpu_threads(w);
    EXPECT_COMPILE_ERROR(lower_for_cuda(g),
                         "thread loop four_threads.s0.x stands inside of three others: a block "
                         "has at most three dimensions of threads");
}

TEST(GpuSchedules, too_many_threads) {
    Func f = two_dimensional("crowded");
    f.gpu_tile(x, y, xi, yi, 64, 32);
    EXPECT_COMPILE_ERROR(lower_for_cuda(f),
                         "the kernel of crowded.s0.y.y has blocks of 64 x 32 x 1 "
                         "threads, more than 1024");
}

TEST(GpuSchedules, too_many_threads_in_one_dimension) {
    Var zi("zi");
    const auto deep = [&](const std::string &name, int extent) {
        Func f(name);
        f(x, y, z) = x;
        f.gpu_tile(x, y, z, xi, yi, zi, 1, 1, extent);
        return f;
    };
    lower_for_cuda(deep("deep_enough", 64));
    EXPECT_COMPILE_ERROR(lower_for_cuda(deep("too_deep", 128)),
                         "thread loop too_deep.s0.zi has extent 128, but a block has at most 64 "
                         "threads in dimension z");
    Func wide = two_dimensional("too_wide");
    wide.gpu_blocks(y).split(x, x, xi, 1025).gpu_threads(xi);
    EXPECT_COMPILE_ERROR(lower_for_cuda(wide),
                         "thread loop too_wide.s0.xi has extent 1025, but a block has at most "
                         "1024 threads in dimension x");
    deep("deep_on_opencl", 128).compile_to_module({}, "p", Target("x86-64-linux-opencl"));
}

TEST(GpuSchedules, lanes) {
    Func f = two_dimensional("wide_lanes");
    f.split(x, x, xi, 64).gpu_blocks(y).gpu_lanes(xi);
    EXPECT_COMPILE_ERROR(lower_for_cuda(f), "lane loop wide_lanes.s0.xi has extent 64, must be a "
                                            "constant of at most 32");
    Func any = two_dimensional("any_lanes");
    any.gpu_blocks(y).gpu_lanes(x);
    EXPECT_COMPILE_ERROR(lower_for_cuda(any), "lane loop any_lanes.s0.x has extent "
                                              "any_lanes.extent.0, must be a constant of at most "
                                              "32");
    Func inner = two_dimensional("inner_lanes"), around = two_dimensional("around");
    around(x, y) += inner(x + 1, y);
    around.update().split(x, x, xi, 32).gpu_blocks(y).gpu_lanes(xi);
    inner.compute_at(around, x).gpu_lanes(x).store_in(MemoryType::Register);
    inner.bound_extent(x, 33);
    EXPECT_COMPILE_ERROR(lower_for_cuda(around),
                         "lane loop inner_lanes.s0.x has extent 33, must be "
                         "a constant of at most 32");
    Func g = two_dimensional("outer_lanes");
    g.split(x, x, xi, 32).gpu_blocks(y).gpu_lanes(x).gpu_threads(xi);
    EXPECT_COMPILE_ERROR(lower_for_cuda(g), "thread loop outer_lanes.s0.xi stands inside of lane "
                                            "loop outer_lanes.s0.x.x: lanes must be innermost");
}

TEST(GpuSchedules, host_loops_in_kernels) {
    Func f = two_dimensional("host_loop");
    f.gpu_blocks(y).parallel(x);
    EXPECT_COMPILE_ERROR(lower_for_cuda(f),
                         "parallel loop host_loop.s0.x stands inside of block loop host_loop.s0.y: "
                         "a kernel has serial, unrolled, vectorized and thread loops only");
}

TEST(GpuSchedules, blocks_of_another_func) {
    Func f = two_dimensional("producer"), g("consumer");
    g(x, y) = f(x, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).gpu_tile(x, y, xi, yi, 4, 4);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(g),
        "func producer has block loop producer.s0.y.y, but is computed inside of a kernel, that of "
        "consumer: give it threads only, or compute it outside of block loop consumer.s0.y.y");
}

TEST(GpuSchedules, blocks_that_are_no_nest) {
    Func f = two_dimensional("between"), g("around_it");
    g(x, y) = f(x, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, y);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(g),
        "func between is computed inside of block loop around_it.s0.y.y, but outside of block loop "
        "around_it.s0.x.x: compute it inside of the innermost of them, or outside of all");

    Func rows = two_dimensional("rows_of_blocks");
    Var yo("yo");
    rows.split(y, yo, yi, 4).gpu_blocks(yo, x);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(rows),
        "block loop rows_of_blocks.s0.x stands inside of serial loop "
        "rows_of_blocks.s0.yi, and that inside of block loop rows_of_blocks.s0.yo: "
        "the blocks of a kernel are one nest of loops");

    Func a = two_dimensional("first_of_two"), b = two_dimensional("second_of_two"), sum("sum");
    sum(x, y) = a(x, y) + b(x, y);
    for (Func h : {a, b}) {
        h.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
    }
    b.compute_with(a, y);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(sum),
        "block loop first_of_two.s0.x.x is one of several inside of block loop "
        "first_of_two.s0.y.y: the "
        "blocks of a kernel are one nest of loops, so compute_with needs the innermost of them");
}

TEST(GpuSchedules, what_kernels_cannot_do) {
    Func f = two_dimensional("async_producer"), g("async_consumer");
    g(x, y) = f(x, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).async();
    EXPECT_COMPILE_ERROR(lower_for_cuda(g),
                         "func async_producer is async, but computed inside of block loop "
                         "async_consumer.s0.y.y: kernels cannot do that");
    const auto in_kernel = [](const std::string &name, auto schedule) {
        Func producer = two_dimensional(name), consumer("user_of_" + name);
        consumer(x, y) = producer(x, y) + producer(x + 1, y);
        consumer.gpu_tile(x, y, xi, yi, 8, 8);
        schedule(producer.compute_at(consumer, x).gpu_threads(x, y));
        lower_for_cuda(consumer);
    };
    EXPECT_COMPILE_ERROR(
        in_kernel("dumped", [](Func f) { f.debug_to_file("/tmp/dumped.tmp"); }),
        "func dumped is written to a file by debug_to_file, but computed inside of block loop "
        "user_of_dumped.s0.y.y: kernels cannot do that");
    EXPECT_COMPILE_ERROR(in_kernel("tiled", [](Func f) { f.store_in(MemoryType::AMXTile); }),
                         "func tiled is stored in amx_tile, which kernels do not have");
    Func original = two_dimensional("original"), copy("copy"), user("user_of_copy");
    original.compute_root();
    copy(x, y) = original(x, y);
    user(x, y) = copy(x, y);
    user.gpu_tile(x, y, xi, yi, 8, 8);
    copy.compute_at(user, x).copy_to_device();
    EXPECT_COMPILE_ERROR(lower_for_cuda(user),
                         "func copy is a copy between host and device, but computed inside of "
                         "block loop user_of_copy.s0.y.y: kernels cannot do that");
    Func watched = two_dimensional("watched");
    watched.gpu_tile(x, y, xi, yi, 8, 8).trace_stores();
    EXPECT_COMPILE_ERROR(lower_for_cuda(watched),
                         "watched is traced inside of block loop watched.s0.y.y: kernels cannot "
                         "trace");
    Func all_watched = two_dimensional("all_watched");
    all_watched.gpu_tile(x, y, xi, yi, 8, 8);
    EXPECT_COMPILE_ERROR(
        all_watched.compile_to_module({}, "p", Target("x86-64-linux-opencl-trace_all")),
        "all_watched is traced inside of block loop all_watched.s0.y.y: kernels cannot trace");
    Param<void *> address("address");
    Func uses_address("uses_address");
    uses_address(x, y) = select(reinterpret<uint64_t>(address) == 0, x, y);
    uses_address.gpu_tile(x, y, xi, yi, 8, 8);
    EXPECT_COMPILE_ERROR(
        uses_address.compile_to_module({address}, "p", Target("x86-64-linux-cuda")),
        "parameter address, an address, is used inside of block loop uses_address.s0.y.y: kernels "
        "take numbers and buffers only");
    Func h("printer");
    h(x, y) = print(x);
    h.gpu_tile(x, y, xi, yi, 8, 8);
    EXPECT_COMPILE_ERROR(lower_for_cuda(h), "print is used inside of block loop printer.s0.y.y: "
                                            "kernels cannot print");
}

TEST(GpuSchedules, tiles_outside_of_kernels) {
    Func f = two_dimensional("tiled_root"), g("tiled_consumer");
    g(x, y) = f(x, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_root().store_in(MemoryType::AMXTile);
    EXPECT_COMPILE_ERROR(lower_for_cuda(g),
                         "func tiled_root is stored in amx_tile, which kernels do not have");
}

TEST(GpuSchedules, shared_memory) {
    Func f = two_dimensional("shared_root"), g("shared_consumer");
    g(x, y) = f(x, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_root().store_in(MemoryType::GPUSharedAsync);
    EXPECT_COMPILE_ERROR(lower_for_cuda(g),
                         "func shared_root is stored in gpu_shared_async, but outside of all block "
                         "loops: what is shared is shared by the threads of a block");
    Func big = two_dimensional("big"), h("big_consumer");
    h(x, y) = big(x, y) + big(x + 300, y + 300);
    h.gpu_tile(x, y, xi, yi, 8, 1);
    big.compute_at(h, x).gpu_threads(y);
    EXPECT_COMPILE_ERROR(lower_for_cuda(h),
                         "kernel big_consumer.s0.y.y needs 370832 bytes of shared memory a block; "
                         "devices have at most 232448");
}

TEST(GpuSchedules, storage_of_a_thread) {
    Func f = two_dimensional("own_stack"), g("stack_consumer");
    g(x, y) = f(x, y) + f(x + 1, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).gpu_threads(x).store_in(MemoryType::Stack);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(g),
        "storage of own_stack is in stack, which each thread has its own of, but it stands "
        "outside of the thread loops that use it, and it cannot be shown that each uses a part of "
        "its own, of constant size; compute it inside of them, or store it in GPUShared");
    Func s = two_dimensional("unbounded"), h("unbounded_consumer");
    Param<int> n("n");
    RDom r(0, n);
    h(x, y) = 0;
    h(x, y) += s(x + r, y);
    Func out("out");
    out(x, y) = h(x, y);
    out.gpu_tile(x, y, xi, yi, 8, 8);
    h.compute_at(out, xi);
    s.compute_at(out, xi);
    // What is bounded outside of the kernel, the host makes.
    out.compile_to_module({n}, "p", Target("x86-64-linux-cuda"));
    s.store_in(MemoryType::Heap);
    out.compile_to_module({n}, "p", Target("x86-64-linux-opencl"));
}

TEST(GpuSchedules, tiles_of_several_sizes) {
    Func lanes = two_dimensional("of_lanes"), row("row_consumer");
    row(x, y) = lanes(x, y) + lanes(x + 5, y);
    row.split(x, x, xi, 30, TailStrategy::GuardWithIf).gpu_blocks(x, y).gpu_lanes(xi);
    lanes.compute_at(row, x).gpu_lanes(x);
    EXPECT_COMPILE_ERROR(lower_for_cuda(row),
                         "lane loop of_lanes.s0.x has extent 35, must be a constant of at most 32");
    Func kept = two_dimensional("kept"), tile("tile_consumer");
    kept(x, y) += x;
    tile(x, y) = kept(x, y);
    tile.gpu_tile(x, y, xi, yi, 16, 16, TailStrategy::GuardWithIf);
    kept.compute_at(tile, x).store_in(MemoryType::Register).gpu_threads(x, y);
    kept.update().gpu_threads(x, y);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(tile),
        "storage of kept is in register, which each thread has its own of, but it stands outside "
        "of the thread loops that use it, and it cannot be shown that each uses a part of its own, "
        "of constant size; compute it inside of them, or store it in GPUShared; the split of "
        "tile_consumer.x with guard_with_if makes the last tile smaller, with shift_inwards or "
        "round_up all are of one size");
}

TEST(GpuSchedules, storage_of_a_thread_that_is_too_large) {
    const auto lower = [](const std::string &name, MemoryType memory) {
        Func f = two_dimensional(name), g("user_of_" + name);
        Param<int> distance("distance");
        g(x, y) = f(x, y) + f(x + clamp(distance, 0, 300), y + 300);
        g.gpu_tile(x, y, xi, yi, 8, 8);
        f.compute_at(g, xi).store_in(memory);
        g.compile_to_module({distance}, "p", Target("x86-64-linux-cuda"));
    };
    const std::string why =
        " is a thread's own and takes up to 362404 bytes, must take at most 262144 where its size "
        "is not constant; compute it outside of the thread loops, or store it in GPUShared or in "
        "Heap";
    EXPECT_COMPILE_ERROR(lower("in_registers", MemoryType::Register),
                         "storage of in_registers" + why);
    lower("on_the_stack", MemoryType::Stack);
    lower("anywhere", MemoryType::Auto);
    lower("on_the_heap", MemoryType::Heap);
}

TEST(GpuSchedules, atomic_updates_that_take_a_mutex) {
    Func pairs("pairs");
    RDom r(0, 100);
    RVar ro("ro"), ri("ri");
    pairs(x) = Tuple(0, 0);
    pairs(r % 7) = Tuple(pairs(r % 7)[1] + 1, pairs(r % 7)[0] + r);
    pairs.update().atomic(true).gpu_tile(r, ro, ri, 32);
    EXPECT_COMPILE_ERROR(
        lower_for_cuda(pairs),
        "an atomic update of pairs sets several values that depend on each "
        "other, or reads it elsewhere, which takes a mutex: kernels on a GPU have none");
}

}  // namespace
}  // namespace calotype
