// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of floating-point numbers against those of the C library, at each width and on each
// target.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "targets.h"

namespace calotype::test {

using namespace internal;

namespace {

struct Function {
    const char *name;
    Expr (*expr)(Expr);
    double (*meaning)(double);
    double min, max;  ///< of the operand
};

#define FUNCTION(name, min, max)                                                                   \
    Function {                                                                                     \
#name, [](Expr e) {                                                                        \
            return calotype::name(e);                                                              \
        }, [](double v) {                                                                          \
            return std::name(v);                                                                   \
        }, min, max                                                                                \
    }

const std::vector<Function> functions = {
    FUNCTION(sin, -20, 20),
    FUNCTION(cos, -20, 20),
    FUNCTION(tan, -1.5, 1.5),
    FUNCTION(asin, -1, 1),
    FUNCTION(acos, -1, 1),
    FUNCTION(atan, -20, 20),
    FUNCTION(sinh, -5, 5),
    FUNCTION(cosh, -5, 5),
    FUNCTION(tanh, -5, 5),
    FUNCTION(asinh, -9, 9),
    FUNCTION(acosh, 1, 9),
    FUNCTION(atanh, -0.9, 0.9),
    FUNCTION(sqrt, 0, 100),
    FUNCTION(exp, -10, 10),
    FUNCTION(log, 0.01, 100),
    FUNCTION(erf, -3, 3),
    FUNCTION(floor, -20, 20),
    FUNCTION(ceil, -20, 20),
    FUNCTION(trunc, -20, 20),
    Function{"round", [](Expr e) { return round(e); }, [](double v) { return std::nearbyint(v); },
             -20, 20},
    Function{"fract", [](Expr e) { return fract(e); }, [](double v) { return v - std::trunc(v); },
             -20, 20},
    Function{"abs", [](Expr e) { return abs(e); }, [](double v) { return std::fabs(v); }, -20, 20},
    Function{"negated", [](Expr e) { return -e; }, [](double v) { return -v; }, -20, 20},
};

/// Operands at quarters, so that every type holds them and ties come up.
template<typename T>
Buffer<T> operands(const Function &f) {
    constexpr int count = 131;
    Buffer<T> values(count);
    for (int i = 0; i < count; i++) {
        const double v = f.min + (f.max - f.min) * i / (count - 1);
        const double quarters = std::round(v * 4) / 4;
        values(i) = T(quarters >= f.min && quarters <= f.max ? quarters : v);
    }
    return values;
}

template<typename T>
void check_functions(double tolerance, const std::vector<int> &all_lanes) {
    for (int lanes : all_lanes) {
        for (const Target &t :
             lanes > 1 ? targets() : std::vector<Target>{get_jit_target_from_environment()}) {
            std::vector<Func> funcs;
            std::vector<Buffer<void>> results;
            std::vector<Buffer<T>> inputs;
            for (const Function &function : functions) {
                Var x("x");
                Func f(function.name);
                inputs.push_back(operands<T>(function));
                f(x) = cast<T>(function.expr(inputs.back()(x)));
                f.vectorize(x, lanes, TailStrategy::GuardWithIf);
                funcs.push_back(f);
                results.push_back(Buffer<T>(inputs.back().width()));
            }
            Pipeline(funcs).realize(Realization(results), t);
            for (size_t n = 0; n < functions.size(); n++) {
                const Buffer<T> result = results[n];
                for (int i = 0; i < result.width(); i++) {
                    const double v = double(float(inputs[n](i))),
                                 expected = functions[n].meaning(v);
                    ASSERT_NEAR(double(result(i)), expected,
                                tolerance * std::max(1.0, std::abs(expected)))
                        << functions[n].name << "(" << v << "), " << lanes << " lanes on "
                        << t.to_string();
                }
            }
        }
    }
}

TEST(Math, float32) {
    check_functions<float>(2e-6, {1, 8});
}

TEST(Math, float64) {
    check_functions<double>(2e-7, {1, 4});
}

TEST(Math, float16) {
    check_functions<float16_t>(4e-3, {8});
}

TEST(Math, bfloat16) {
    check_functions<bfloat16_t>(2e-2, {8});
}

TEST(Math, bfloat16_gives_float32) {
    Var x("x");
    const Expr e = cast<bfloat16_t>(cast<float>(x) + 0.5f);
    EXPECT_EQ(sqrt(e).type(), Float(32));
    EXPECT_EQ(floor(e).type(), BFloat(16));
    Func f("f");
    f(x) = sqrt(e);
    Buffer<float> values = f.realize({4});
    for (int i = 0; i < 4; i++) {
        EXPECT_NEAR(values(i), std::sqrt(float(i) + 0.5f), 1e-6f);
    }
}

TEST(Math, of_two_operands) {
    Buffer<float> a(40), b(40);
    for (int i = 0; i < 40; i++) {
        a(i) = 0.1f + float(i) * 0.3f;
        b(i) = float(i % 7) - 3.0f;
    }
    for (const Target &t : targets()) {
        Var x("x");
        Func f("f");
        f(x) = Tuple(pow(a(x), b(x)), atan2(b(x), a(x)), hypot(a(x), b(x)), fma(a(x), b(x), a(x)),
                     pow(a(x), 3));
        f.vectorize(x, 8);
        Realization r = f.realize({40}, t);
        Buffer<float> power = r[0], angle = r[1], length = r[2], sum = r[3], cube = r[4];
        for (int i = 0; i < 40; i++) {
            const double p = std::pow(double(a(i)), double(b(i)));
            EXPECT_NEAR(power(i), p, 1e-5 * std::max(1.0, p)) << a(i) << " to the " << b(i);
            EXPECT_NEAR(angle(i), std::atan2(b(i), a(i)), 1e-6);
            EXPECT_NEAR(length(i), std::hypot(a(i), b(i)), 1e-5);
            EXPECT_EQ(sum(i), std::fma(a(i), b(i), a(i)));
            EXPECT_NEAR(cube(i), double(a(i)) * a(i) * a(i), 1e-3);
        }
    }
}

TEST(Math, fast_approximations) {
    for (const Target &t : targets()) {
        Var x("x");
        Func f("f");
        const Expr v = cast<float>(x) * 0.11f + 0.05f;
        f(x) = Tuple(fast_exp(v), fast_log(v), fast_pow(v, 1.5f), fast_sin(v), fast_cos(v),
                     fast_inverse(v), fast_inverse_sqrt(v));
        f.vectorize(x, 8);
        Realization r = f.realize({64}, t);
        for (int i = 0; i < 64; i++) {
            const float v = float(i) * 0.11f + 0.05f;
            const double expected[] = {std::exp(v), std::log(v), std::pow(v, 1.5),  std::sin(v),
                                       std::cos(v), 1.0 / v,     1.0 / std::sqrt(v)};
            const double tolerance[] = {1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 2e-3, 2e-3};
            for (size_t k = 0; k < r.size(); k++) {
                const Buffer<float> result = r[k];
                EXPECT_NEAR(result(i), expected[k],
                            tolerance[k] * std::max(1.0, std::abs(expected[k])))
                    << "value " << k << " of " << v << " on " << t.to_string();
            }
        }
    }
}

// As near as ir/language/math.h says, also where code generation may change the order of operations.
TEST(Math, fast_approximations_of_large_values) {
    for (const Target &t : targets()) {
        Var x("x");
        Func f("f");
        const Expr angle = cast<float>(x) * 3.9f, exponent = cast<float>(x) * 0.042f;
        f(x) = Tuple(fast_sin(angle), fast_cos(angle), fast_exp(exponent), fast_log(angle));
        f.vectorize(x, 8);
        Buffer<float> sine(4096), cosine(4096), exponential(4096), logarithm(4096);
        sine.set_min(-2048);
        cosine.set_min(-2048);
        exponential.set_min(-2048);
        logarithm.set_min(-2048);
        f.realize({sine, cosine, exponential, logarithm}, t);
        for (int i = -2048; i < 2048; i++) {
            const float a = float(i) * 3.9f, e = float(i) * 0.042f;
            ASSERT_NEAR(sine(i), std::sin(double(a)), 3e-6) << a << " on " << t.to_string();
            ASSERT_NEAR(cosine(i), std::cos(double(a)), 3e-6) << a << " on " << t.to_string();
            ASSERT_NEAR(exponential(i) / std::exp(double(e)), 1, 1e-6 + 5e-8 * std::fabs(e)) << e;
            if (i > 0) {
                ASSERT_NEAR(logarithm(i) / std::log(double(a)), 1, 3e-6) << a;
            }
        }
    }
}

TEST(Math, of_what_is_no_number) {
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> values = {0.0f, -1.5f, infinity, -infinity,
                                       std::numeric_limits<float>::quiet_NaN()};
    Buffer<float> in(int(values.size()));
    std::copy(values.begin(), values.end(), in.data());
    for (const Target &t : targets()) {
        Var x("x");
        Func f("f");
        f(x) = Tuple(is_nan(in(x)), is_inf(in(x)), is_finite(in(x)));
        f.vectorize(x, 4, TailStrategy::GuardWithIf);
        Realization r = f.realize({in.width()}, t);
        Buffer<bool> nan = r[0], inf = r[1], finite = r[2];
        for (int i = 0; i < in.width(); i++) {
            EXPECT_EQ(nan(i), std::isnan(in(i))) << in(i);
            EXPECT_EQ(inf(i), std::isinf(in(i))) << in(i);
            EXPECT_EQ(finite(i), std::isfinite(in(i))) << in(i);
        }
    }
}

TEST(Math, lerp_of_every_weight) {
    Var x("x"), y("y");
    Func f("f");
    const Expr low = cast<uint8_t>(17), high = cast<uint8_t>(y);
    f(x, y) = lerp(low, high, cast<uint8_t>(x));
    f.vectorize(x, 32);
    for (const Target &t : targets()) {
        Buffer<uint8_t> result = f.realize({256, 256}, t);
        for (int j = 0; j < 256; j++) {
            for (int i = 0; i < 256; i++) {
                const int exact = (17 * (255 - i) + j * i + 127) / 255;
                ASSERT_EQ(int(result(i, j)), exact) << j << " with weight " << i;
            }
        }
    }
}

/// Weights are brought to the bits of the values before the product: what is more exact is cut.
template<typename T, typename W>
void check_lerp(const std::vector<W> &weights) {
    const int bits = 8 * int(sizeof(T)), extent = int(weights.size());
    const double top = std::pow(2.0, bits) - 1;
    Buffer<W> in(extent);
    std::copy(weights.begin(), weights.end(), in.begin());
    Var x("x");
    Func f("f");
    const uint64_t low = 40, high = uint64_t(top) - 7;
    f(x) = lerp(cast<T>(Expr(low)), cast<T>(Expr(high)), in(x));
    f.vectorize(x, 4, TailStrategy::GuardWithIf);
    for (const Target &t : targets()) {
        Buffer<T> result = f.realize({extent}, t);
        for (int i = 0; i < extent; i++) {
            const double part =
                std::is_floating_point<W>::value
                    ? double(weights[size_t(i)]) * top
                    : double(weights[size_t(i)]) * top / (std::pow(2.0, 8.0 * sizeof(W)) - 1);
            const uint64_t w = uint64_t(part), whole = uint64_t(top);
            const uint64_t exact = (low * (whole - w) + high * w + whole / 2) / whole;
            ASSERT_EQ(uint64_t(result(i)), exact)
                << bits << " bits, weight " << +weights[size_t(i)];
        }
    }
}

TEST(Math, weights_of_lerps_take_the_bits_of_the_values) {
    const std::vector<float> floats = {0, 0.25f, 0.5f, 0.75f, 0.998f, 1};
    check_lerp<uint8_t, float>(floats);
    check_lerp<uint16_t, float>(floats);
    check_lerp<uint8_t, uint16_t>({0, 1, 256, 300, 30000, 65534, 65535});
    check_lerp<uint8_t, uint32_t>({0, 1, 1u << 24, 3000000000u, ~0u});
    check_lerp<uint16_t, uint8_t>({0, 1, 17, 128, 254, 255});
    check_lerp<uint16_t, uint32_t>({0, 65535, 65536, 65537, 3000000000u, ~0u});
}

TEST(Math, lerps_of_floats_go_beyond_their_ends) {
    Var x("x");
    Func f("f");
    f(x) = lerp(cast<float>(x), cast<float>(x) + 2.0f, 1.5f);
    Buffer<float> result = f.realize({4});
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(result(i), float(i + 3));
    }
}

// All channels of a pixel need a function of each channel.
TEST(Math, channels_share_functions_of_what_they_read) {
    ImageParam image(Float(32), 2);
    Param<float> gamma;
    Var x("x"), c("c");
    Func curve("curve"), grey("grey"), f("f");
    curve(x, c) = pow(log(image(x, c) + 2.0f), gamma);
    grey(x) = curve(x, 0) * 0.25f + curve(x, 1) * 0.5f + curve(x, 2) * 0.25f;
    f(x, c) = grey(x) + (curve(x, c) - grey(x)) * 2.0f;
    f.bound(c, 0, 3).reorder(c, x).unroll(c).vectorize(x, 4, TailStrategy::GuardWithIf);
    gamma.set(0.75f);
    Buffer<float> values(13, 3);
    values.for_each_element(
        [&](int i, int channel) { values(i, channel) = float(i * 7 + channel * 31) * 0.125f; });
    image.set(values);
    const Buffer<float> result = f.realize({13, 3});
    const auto curve_of = [&](int i, int channel) {
        return std::pow(std::log(values(i, channel) + 2.0f), 0.75f);
    };
    for (int i = 0; i < 13; i++) {
        const float mean = curve_of(i, 0) * 0.25f + curve_of(i, 1) * 0.5f + curve_of(i, 2) * 0.25f;
        for (int channel = 0; channel < 3; channel++) {
            EXPECT_NEAR(result(i, channel), mean + (curve_of(i, channel) - mean) * 2.0f, 1e-5f)
                << i << ", " << channel;
        }
    }
}

// What parameters choose between is computed as chosen, of scalars, lanes and the channels of a pixel.
TEST(Math, choices_by_parameters) {
    for (const int lanes : {1, 4}) {
        ImageParam image(Float(32), 2);
        Param<bool> wide;
        Param<float> gamma;
        Var x("x"), c("c");
        Func curve("curve"), near("near"), f("f");
        const Expr v = image(x, c);
        curve(x, c) = select(gamma == 1.0f, v, pow(v + 1.0f, gamma));
        near(x, c) = image(x, c) + image(x + 1, c);
        f(x, c) = select(wide, near(x, c) + near(x + 2, c) * near(x + 4, c) - near(x + 6, c) * 3.0f,
                         near(x, c)) +
                  curve(x, 0) + curve(x, 1);
        f.bound(c, 0, 2).reorder(c, x).unroll(c);
        if (lanes > 1) {
            f.vectorize(x, lanes);
        }
        Buffer<float> values(24, 2);
        values.for_each_element(
            [&](int i, int channel) { values(i, channel) = float(i * 7 % 5 + channel) * 0.25f; });
        image.set(values);
        for (const auto &[is_wide, power] :
             {std::pair(false, 1.0f), {true, 1.0f}, {false, 0.5f}, {true, 0.5f}}) {
            wide.set(is_wide);
            gamma.set(power);
            const Buffer<float> result = f.realize({16, 2});
            const auto curve_of = [&](int i, int channel) {
                const float value = values(i, channel);
                return power == 1.0f ? value : std::pow(value + 1.0f, power);
            };
            result.for_each_element([&](int i, int channel) {
                const auto near_of = [&](int j) {
                    return values(j, channel) + values(j + 1, channel);
                };
                const float far = near_of(i + 2) * near_of(i + 4) - near_of(i + 6) * 3.0f;
                EXPECT_NEAR(result(i, channel),
                            near_of(i) + (is_wide ? far : 0.0f) + curve_of(i, 0) + curve_of(i, 1),
                            1e-4f)
                    << i << ", " << channel << " in " << lanes << " lanes";
            });
        }
    }
}

// The first step of an unrolled loop writes what all steps read.
TEST(Math, steps_share_no_functions_of_what_they_write) {
    Var x("x");
    RDom r(0, 3);
    Func f("f");
    f(x, Var("c")) = cast<float>(x) + 3.0f;
    f(x, r) = log(f(x, 0) + 2.0f) + log(f(x, 0) + 2.0f) * cast<float>(r);
    f.update().reorder(r, x).unroll(r);
    const Buffer<float> result = f.realize({5, 3});
    for (int i = 0; i < 5; i++) {
        float first = std::log(float(i) + 5.0f);
        EXPECT_NEAR(result(i, 0), first, 1e-6f);
        EXPECT_NEAR(result(i, 1), std::log(first + 2.0f) * 2.0f, 1e-6f);
        EXPECT_NEAR(result(i, 2), std::log(first + 2.0f) * 3.0f, 1e-6f);
    }
}

}  // namespace
}  // namespace calotype::test
