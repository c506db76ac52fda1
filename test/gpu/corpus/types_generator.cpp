// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic in each type that kernels have.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

/** (a * b + a / b - a % b) clamped away from zero, in one type. */
class Arithmetic : public Generator<Arithmetic> {
public:
    GeneratorParam<Type> type{"type", Int(32)};
    Input<Buffer<void, 1>> a{"a"}, b{"b"};
    Output<Buffer<void, 1>> output{"output"};

    void configure() {
        a.set_type(type);
        b.set_type(type);
        output.set_type(type);
    }
    void generate() {
        Var x("x"), xi("xi");
        Expr value = a(x) * b(x) + a(x) / b(x);
        if (!Type(type).is_float()) {
            value = value - a(x) % b(x);
        }
        output(x) = cast(type, value);
        output.gpu_tile(x, xi, 32);
    }
};

/** Functions of floats, of which back ends have some of their own. */
class Functions : public Generator<Functions> {
public:
    Input<Buffer<float, 1>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Var x("x"), c("c"), xi("xi");
        const Expr v = input(x);
        output(x, c) = mux(c, {sqrt(v), exp(v), log(v), sin(v), cos(v), pow(v, 1.5f), floor(v),
                               tanh(v), atan2(v, 2.0f), fast_inverse(v)});
        output.bound(c, 0, 10).unroll(c).reorder(c, x).gpu_tile(x, xi, 32);
    }
};

/** Vectors of four, loaded and stored at once. */
class Vectors : public Generator<Vectors> {
public:
    Input<Buffer<float, 1>> input{"input"};
    Output<Buffer<float, 1>> output{"output"};

    void generate() {
        Var x("x"), xo("xo"), xi("xi"), lane("lane");
        output(x) = input(x) * 0.5f + 3.0f;
        output.dim(0).set_min(0).set_extent(output.dim(0).extent() / 4 * 4);
        input.dim(0).set_min(0);
        output.split(x, xo, lane, 4).vectorize(lane).gpu_tile(xo, xi, 64);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Arithmetic, arithmetic)
CALOTYPE_REGISTER_GENERATOR(Functions, functions)
CALOTYPE_REGISTER_GENERATOR(Vectors, vectors)
