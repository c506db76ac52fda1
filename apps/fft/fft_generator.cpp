// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two-dimensional Fourier transform of complex numbers, by Stockham's algorithm with radix 4.
#include <calotype/calotype.h>

#include <cmath>
#include <string>
#include <vector>

class Fft : public calotype::Generator<Fft> {
public:
    GeneratorParam<int> size{"size", 256, 16, 4096};  ///< of both dimensions: a power of 4

    Input<Buffer<float, 3>> input{"input"};     ///< x, y, real and imaginary part
    Output<Buffer<float, 3>> output{"output"};  ///< same size

    void generate() {
        Expr angle = cast<float>(u) * float(-2 * M_PI / int(size));
        twiddle(u) = calotype::Tuple(calotype::cos(angle), calotype::sin(angle));

        // Columns are transformed and become rows, twice.
        Func in{"in"};
        in(x, i) = calotype::Tuple(input(x, i, 0), input(x, i, 1));
        Func first = transformed(in, "column");
        turned(x, y) = first(y, x);
        Func second = transformed(turned, "row");
        output(x, y, c) = calotype::mux(c, {second(y, x)[0], second(y, x)[1]});

        for (int d = 0; d < 3; d++) {
            input.dim(d).set_bounds(0, d < 2 ? int(size) : 2);
            output.dim(d).set_bounds(0, d < 2 ? int(size) : 2);
        }
        input.set_estimates({{0, size}, {0, size}, {0, 2}});
        output.set_estimates({{0, size}, {0, size}, {0, 2}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        const bool on_gpu = get_target().has_gpu_feature();
        Var yi{"yi"}, xi{"xi"};
        twiddle.compute_root();
        if (on_gpu) {
            twiddle.gpu_tile(u, xi, 16);
        }
        // Strips of columns: all their steps stay in the first-level cache, or in shared memory.
        const int strip = on_gpu ? 8 : natural_vector_size<float>();
        turned.compute_root();
        output.reorder(c, x, y).unroll(c);
        for (Func last : {turned, Func(output)}) {
            last.split(y, y, yi, strip).split(x, x, xi, on_gpu ? size / 4 : strip);
            if (on_gpu) {
                last.reorder(x, yi, xi, y).gpu_blocks(y).gpu_threads(yi, xi);
            } else {
                last.reorder(yi, xi, x, y).parallel(y).vectorize(yi);
            }
        }
        output.reorder(c, on_gpu ? x : yi);
        for (const Step &step : steps) {
            // The four results of a butterfly are made together.
            Func f = step.f;
            Var k{"k"}, q{"q"}, t{"t"};
            f.compute_at(step.of_rows ? Func(output) : turned, y)
                .split(i, i, q, 4 * step.stride)
                .split(q, k, q, step.stride)
                .reorder(x, k, q, i)
                .unroll(k);
            if (on_gpu) {
                f.bound_extent(i, size).reorder(k, x, q, i).fuse(q, i, t).gpu_threads(x, t);
            } else {
                f.vectorize(x);
            }
        }
    }

private:
    struct Step {
        Func f;
        int stride;
        bool of_rows;
    };

    /// Of all columns. A step combines four values each, so that `stride` transforms of `n` values
    /// become four times as many of a quarter; it leaves them in such an order that in the end,
    /// with transforms of one value, all are in place.
    Func transformed(Func in, const std::string &name) {
        for (int n = size, stride = 1; n > 1; n /= 4, stride *= 4) {
            Expr q = i % stride, k = i / stride % 4, p = i / (4 * stride);
            std::vector<Complex> v;
            for (int j = 0; j < 4; j++) {
                Expr at = q + stride * (p + j * (n / 4));
                v.push_back({in(x, at)[0], in(x, at)[1]});
            }
            Complex even = v[0] + v[2], odd = v[1] + v[3];
            Complex even_difference = v[0] - v[2], odd_difference = v[1] - v[3];
            Complex turned_difference = {odd_difference.im, -odd_difference.re};
            const Complex sums[4] = {even + odd, even_difference + turned_difference, even - odd,
                                     even_difference - turned_difference};
            Expr re[4], im[4];
            for (int j = 0; j < 4; j++) {
                Expr at = p * (j * stride);
                Complex result =
                    n == 4 || j == 0 ? sums[j] : sums[j] * Complex{twiddle(at)[0], twiddle(at)[1]};
                re[j] = result.re;
                im[j] = result.im;
            }
            Func f(name + "_step_" + std::to_string(n));
            f(x, i) = calotype::Tuple(calotype::mux(k, {re[0], re[1], re[2], re[3]}),
                                      calotype::mux(k, {im[0], im[1], im[2], im[3]}));
            steps.push_back({f, stride, name == "row"});
            in = f;
        }
        return in;
    }

    struct Complex {
        Expr re, im;
        Complex operator+(const Complex &b) const {
            return {re + b.re, im + b.im};
        }
        Complex operator-(const Complex &b) const {
            return {re - b.re, im - b.im};
        }
        Complex operator*(const Complex &b) const {
            return {re * b.re - im * b.im, re * b.im + im * b.re};
        }
    };

    Var x{"x"}, y{"y"}, c{"c"}, i{"i"}, u{"u"};
    std::vector<Step> steps;
    Func twiddle{"twiddle"}, turned{"turned"};
};

CALOTYPE_REGISTER_GENERATOR(Fft, fft)
