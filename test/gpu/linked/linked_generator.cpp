// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline that calls functions of a linkable, which the build chooses.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

class Linked : public Generator<Linked> {
public:
    LinkableParam rng{"rng"};
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        const Type i32 = Int(32);
        Expr a = input(x), real = cast<float>(a);
        Expr sum = pure_extern_device_call(rng, "rng_next", i32, {a, 2});
        Expr found = pure_extern_device_call(rng, "rng_look_up", i32, {x});
        Tuple scaled = pure_extern_device_call_vector(rng, "rng_scale", Float(32, 4),
                                                      {{real, cast<float>(x), 3.0f, 4.0f}, 2.0f});
        Expr small = pure_extern_device_call(rng, "rng_small", Int(16),
                                             {cast<int8_t>(a), a % 2 == 0, cast<uint16_t>(x)});
        Expr half = pure_extern_device_call(rng, "rng_half", Float(64), {cast<double>(a)});
        Expr odd = pure_extern_device_call(rng, "rng_is_odd", Bool(), {cast<uint64_t>(x)});
        Expr value = sum + 1000 * found + cast(i32, scaled[0] + scaled[1] + scaled[3]) +
                     cast(i32, small) + cast(i32, half) + select(odd, 7, 0);
        // OpenCL has no pointers to all kinds of memory.
        if (!get_target().has_feature(Target::OpenCL)) {
            value += pure_extern_device_call(rng, "rng_read", i32,
                                             {extern_device_symbol(rng, "rng_table")});
        }
        output(x) = value;
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, xi, 64);
        } else {
            output.vectorize(x, 8);
        }
    }
};

// One that calls a function which allocates device memory.
class LinkedHeap : public Generator<LinkedHeap> {
public:
    LinkableParam rng{"rng"};
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        output(x) = extern_device_call(rng, "heap_sum", Int(32), {input(x), x});
        output.gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
    }
};

// What bench_first calls: one kernel, and the same with an addition that a linkable does.
class OneKernel : public Generator<OneKernel> {
public:
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        output(x) = input(x) + 2;
        output.gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
    }
};

class OneLinkedKernel : public Generator<OneLinkedKernel> {
public:
    LinkableParam rng{"rng"};
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        output(x) = pure_extern_device_call(rng, "rng_next", Int(32), {input(x), 2});
        output.gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Linked, linked)
CALOTYPE_REGISTER_GENERATOR(LinkedHeap, linked_heap)
CALOTYPE_REGISTER_GENERATOR(OneKernel, one_kernel)
CALOTYPE_REGISTER_GENERATOR(OneLinkedKernel, one_linked_kernel)
