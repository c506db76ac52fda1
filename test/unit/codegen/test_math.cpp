// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transcendental functions against the C library's long double versions, in units of the last
// place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "ir/constants.h"
#include "ir/language/math.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

template<typename T>
double ulps(T got, long double expected) {
    if (std::isnan(expected) || std::isnan(got)) {
        return std::isnan(expected) && std::isnan(got) ? 0 : 1e30;
    }
    T rounded = T(expected);
    if (got == rounded) {
        return got != 0 || std::signbit(got) == std::signbit(rounded) ? 0 : 1e30;
    }
    if (std::isinf(rounded) || std::isinf(got)) {
        // One beyond the largest number may be either.
        return std::abs(got) >= std::numeric_limits<T>::max() &&
                       std::abs(rounded) >= std::numeric_limits<T>::max()
                   ? 1
                   : 1e30;
    }
    T unit =
        std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity()) - std::abs(rounded);
    return double(std::abs((long double)got - expected) / unit);
}

struct Function {
    const char *name;
    Expr (*make)(Expr);
    long double (*expected)(long double);
    double low, high;  ///< where to sample densely
    double ulps32, ulps64;
    bool subnormal_is_zero = false;
};

const Function functions[] = {
    {"exp", [](Expr x) { return exp(x); }, expl, -20, 20, 2, 2, true},
    {"log", [](Expr x) { return log(x); }, logl, 0, 4, 2, 2},
    {"sin", [](Expr x) { return sin(x); }, sinl, -40, 40, 2, 2},
    {"cos", [](Expr x) { return cos(x); }, cosl, -40, 40, 2, 2},
    {"tan", [](Expr x) { return tan(x); }, tanl, -10, 10, 3, 4},
    {"asin", [](Expr x) { return asin(x); }, asinl, -1, 1, 3, 3},
    {"acos", [](Expr x) { return acos(x); }, acosl, -1, 1, 3, 3},
    {"atan", [](Expr x) { return atan(x); }, atanl, -4, 4, 3, 3},
    {"sinh", [](Expr x) { return sinh(x); }, sinhl, -4, 4, 3, 3},
    {"cosh", [](Expr x) { return cosh(x); }, coshl, -4, 4, 3, 3},
    {"tanh", [](Expr x) { return tanh(x); }, tanhl, -4, 4, 3, 3},
    {"asinh", [](Expr x) { return asinh(x); }, asinhl, -4, 4, 2, 2},
    {"acosh", [](Expr x) { return acosh(x); }, acoshl, 1, 4, 2, 2},
    {"atanh", [](Expr x) { return atanh(x); }, atanhl, -1, 1, 2, 2},
    {"erf", [](Expr x) { return erf(x); }, erfl, -4, 4, 3, 2},
};

template<typename T>
std::vector<T> samples(double low, double high) {
    using L = std::numeric_limits<T>;
    std::vector<T> x = {T(0),
                        T(-0.0),
                        T(1),
                        T(-1),
                        T(0.5),
                        T(-0.5),
                        T(2),
                        L::infinity(),
                        -L::infinity(),
                        L::quiet_NaN(),
                        L::min(),
                        -L::min(),
                        L::denorm_min(),
                        L::max(),
                        L::lowest(),
                        T(1e-10),
                        T(1e-4),
                        T(88.7),
                        T(-103.5),
                        T(709.7),
                        T(-740),
                        T(M_PI),
                        T(M_PI / 2),
                        T(1e5),
                        T(-3e5),
                        T(1e7),
                        T(1e15),
                        T(0.9999999),
                        T(1.0000001),
                        T(0.70710678),
                        T(0.625)};
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(low, high), exponent(-30, 7);
    while (x.size() < 3000) {
        x.push_back(T(uniform(random)));
    }
    while (x.size() < 4080) {
        x.push_back(T((random() % 2 ? 1 : -1) * std::exp2(exponent(random))));
    }
    return x;
}

template<typename T>
void check(const Target &target, int lanes, const Function &f) {
    std::vector<T> x = samples<T>(f.low, f.high);
    std::vector<T> out = map1<T, T>(target, lanes, x, [&](Expr e) { return f.make(e); });
    double bound = sizeof(T) == 4 ? f.ulps32 : f.ulps64, worst = 0;
    for (size_t i = 0; i < x.size(); i++) {
        long double expected = f.expected(x[i]);
        if (f.subnormal_is_zero && std::abs(expected) < std::numeric_limits<T>::min()) {
            expected = 0;
        }
        double error = ulps(out[i], expected);
        worst = std::max(worst, error);
        EXPECT_LE(error, bound) << f.name << "(" << x[i] << ") = " << out[i] << " lanes " << lanes
                                << " on " << target.to_string();
    }
    testing::Test::RecordProperty(std::string(f.name) + std::to_string(sizeof(T) * 8),
                                  std::to_string(worst));
}

TEST(Math, UnaryFunctions) {
    for (const Target &target : runnable_targets()) {
        for (const Function &f : functions) {
            for (int lanes : {1, 8}) {
                check<float>(target, lanes, f);
                check<double>(target, lanes, f);
            }
        }
    }
}

/// Vectors of these lanes have samples that are special beside ones that are not.
const int lane_counts[] = {2, 3, 4, 5, 8, 16, 32};

template<typename T>
std::vector<T> whole_vectors(std::vector<T> x) {
    while (x.size() % (32 * 3 * 5) != 0) {
        x.push_back(x[x.size() % 31]);
    }
    return x;
}

template<typename T>
void expect_same(const std::vector<T> &scalars, const std::vector<T> &vectors,
                 const std::string &what) {
    for (size_t i = 0; i < scalars.size(); i++) {
        const bool both_nan = std::isnan(scalars[i]) && std::isnan(vectors[i]);
        EXPECT_TRUE(both_nan || std::memcmp(&scalars[i], &vectors[i], sizeof(T)) == 0)
            << what << " of number " << i << " is " << scalars[i] << ", in a vector " << vectors[i];
    }
}

template<typename T>
void check_lanes_are_scalars(const Target &target, const Function &f) {
    const std::vector<T> x = whole_vectors(samples<T>(f.low, f.high));
    const auto make = [&](Expr e) {
        return f.make(std::move(e));
    };
    const std::vector<T> scalars = map1<T, T>(target, 1, x, make);
    for (int lanes : lane_counts) {
        expect_same(scalars, map1<T, T>(target, lanes, x, make),
                    f.name + std::to_string(lanes) + " on " + target.to_string());
    }
}

template<typename T>
void check_lanes_of_powers_are_scalars(const Target &target) {
    const std::vector<T> x = whole_vectors(samples<T>(0, 4));
    std::vector<T> y = x;
    std::shuffle(y.begin(), y.end(), std::mt19937_64(5));
    const auto make = [](Expr a, Expr b) {
        return pow(std::move(a), std::move(b));
    };
    const std::vector<T> scalars = map2<T, T, T>(target, 1, x, y, make);
    for (int lanes : lane_counts) {
        expect_same(scalars, map2<T, T, T>(target, lanes, x, y, make),
                    "pow" + std::to_string(lanes) + " on " + target.to_string());
    }
}

// Whatever the other lanes are.
TEST(Math, VectorsGiveWhatScalarsGive) {
    for (const Target &target : runnable_targets()) {
        for (const Function &f : functions) {
            check_lanes_are_scalars<float>(target, f);
            check_lanes_are_scalars<double>(target, f);
        }
        check_lanes_of_powers_are_scalars<float>(target);
        check_lanes_of_powers_are_scalars<double>(target);
    }
}

/// The bits of x with those of f of the first of each eight.
Expr bits_with_first(const Function &f, const Expr &x) {
    const Type bits = UInt(32, 8);
    const Expr v = Broadcast::make(f.make(Shuffle::make_extract_element(x, 0)), 8);
    return Reinterpret::make(Float(32, 8), Reinterpret::make(bits, x) ^ Reinterpret::make(bits, v));
}

uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}

// What is computed beside a scalar whose value is rare stays what it is.
TEST(Math, RareScalarsLeaveVectorsAlone) {
    for (const Target &target : runnable_targets()) {
        for (const Function &f : functions) {
            const std::vector<float> x = whole_vectors(samples<float>(f.low, f.high));
            const std::vector<float> of_x =
                map1<float, float>(target, 1, x, [&](Expr e) { return f.make(std::move(e)); });
            const std::vector<float> out = map1<float, float>(
                target, 8, x, [&](const Expr &e) { return bits_with_first(f, e); });
            for (size_t i = 0; i < x.size(); i++) {
                EXPECT_TRUE(bits_of(out[i]) == (bits_of(x[i]) ^ bits_of(of_x[i / 8 * 8])))
                    << "beside " << f.name << "(" << x[i / 8 * 8] << ") on " << target.to_string();
            }
        }
    }
}

// A product that underflows takes a processor many times as long as another one: where the result is
// zero, also in place of a subnormal number, there is none.
template<typename T>
void check_zero_without_underflow(const Target &target, int lanes) {
    const T inf = std::numeric_limits<T>::infinity();
    const T first = sizeof(T) == 4 ? T(-87.337) : T(-708.3965),
            last = sizeof(T) == 4 ? T(-103) : T(-745);
    std::vector<T> x = {first, last,    T(-1e5),  T(-1e30),
                        -inf,  T(-900), T(-2000), (first + last) / 2};
    std::feclearexcept(FE_ALL_EXCEPT);
    const std::vector<T> out =
        map1<T, T>(target, lanes, x, [](Expr e) { return exp(std::move(e)); });
    EXPECT_FALSE(std::fetestexcept(FE_UNDERFLOW))
        << "lanes " << lanes << " of " << sizeof(T) * 8 << " bits on " << target.to_string();
    EXPECT_EQ(out, std::vector<T>(x.size(), T(0)));
}

TEST(Math, ExpThatIsZero) {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {1, 8}) {
            check_zero_without_underflow<float>(target, lanes);
            check_zero_without_underflow<double>(target, lanes);
        }
    }
}

template<typename T>
void check_binary(const Target &target, const char *name, Expr (*make)(Expr, Expr),
                  long double (*expected)(long double, long double), double bound) {
    std::vector<T> special = {T(0),
                              T(-0.0),
                              T(1),
                              T(-1),
                              T(2),
                              T(-2),
                              T(3),
                              T(-3),
                              T(0.5),
                              T(-0.5),
                              std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity(),
                              std::numeric_limits<T>::quiet_NaN(),
                              std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::min(),
                              T(1e-3)};
    std::vector<T> a, b;
    for (T x : special) {
        for (T y : special) {
            a.push_back(x);
            b.push_back(y);
        }
    }
    std::mt19937_64 random(9);
    std::uniform_real_distribution<double> uniform(-5, 5), base(0, 10);
    while (a.size() < 4096) {
        a.push_back(T(base(random)));
        b.push_back(T(uniform(random)));
    }
    for (int lanes : {1, 8}) {
        auto out = map2<T, T, T>(target, lanes, a, b, [&](Expr x, Expr y) { return make(x, y); });
        for (size_t i = 0; i < a.size(); i++) {
            EXPECT_LE(ulps(out[i], expected(a[i], b[i])), bound)
                << name << "(" << a[i] << ", " << b[i] << ") = " << out[i] << " lanes " << lanes
                << " on " << target.to_string();
        }
    }
}

/// Where the result is nearly too large or too small, an error of the logarithm counts most.
template<typename T>
void check_powers_near_the_ends(const Target &target, double largest, double bound) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> base(0.5, 1.5), exponent(-largest, largest);
    std::vector<T> a, b;
    while (a.size() < 4096) {
        a.push_back(T(base(random)));
        b.push_back(T(exponent(random) / std::log(double(a.back()))));
    }
    const auto out = map2<T, T, T>(target, 8, a, b, [](Expr x, Expr y) { return pow(x, y); });
    for (size_t i = 0; i < a.size(); i++) {
        EXPECT_LE(ulps(out[i], powl(a[i], b[i])), bound)
            << a[i] << " to the " << b[i] << " is " << out[i] << " on " << target.to_string();
    }
}

TEST(Math, PowersNearTheEndsOfTheRange) {
    for (const Target &target : runnable_targets()) {
        check_powers_near_the_ends<float>(target, 87, 3);
        check_powers_near_the_ends<double>(target, 708, 20);
    }
}

// Bases that are subnormal, and results that are, too large or too small.
TEST(Math, PowersBeyondTheRange) {
    const float tiny = std::numeric_limits<float>::denorm_min();
    const std::vector<float> a = {tiny, 3e-40f, tiny, 1e-42f, 2, 0.5f, 2, 10, 1e-10f, 10},
                             b = {0.5f, 0.75f, -0.5f, -1.5f, -149, 149, -151, 39, 3.9f, -60};
    for (const Target &target : runnable_targets()) {
        const auto out =
            map2<float, float, float>(target, 1, a, b, [](Expr x, Expr y) { return pow(x, y); });
        for (size_t i = 0; i < a.size(); i++) {
            EXPECT_LE(ulps(out[i], powl(a[i], b[i])), 1)
                << a[i] << " to the " << b[i] << " is " << out[i] << " on " << target.to_string();
        }
    }
}

TEST(Math, BinaryFunctions) {
    for (const Target &target : runnable_targets()) {
        check_binary<float>(
            target, "pow", [](Expr x, Expr y) { return pow(x, y); }, powl, 2);
        check_binary<double>(
            target, "pow", [](Expr x, Expr y) { return pow(x, y); }, powl, 2);
        check_binary<float>(
            target, "atan2", [](Expr x, Expr y) { return atan2(x, y); }, atan2l, 3);
        check_binary<double>(
            target, "atan2", [](Expr x, Expr y) { return atan2(x, y); }, atan2l, 3);
    }
}

// Of the two steps to what is left of the operand, the one whose product is exact is one operation.
TEST(Math, FastExponentialsFuseWhatIsExact) {
    const std::string text = assembly("x86-64-linux-avx2-fma", fast_exp(load(Float(32, 8), "a")));
    EXPECT_EQ(count(text, "vmulps"), 3u) << text;  // by 1 / log(2), a square, and by 2^n
    EXPECT_EQ(count(text, "vsubps") + count(text, "vaddps"), 0u) << text;
}

/// A logarithm is bound by units that multiply: nine terms of a polynomial, their square, and what is added to them. AVX-512
/// finds the mantissa without a product, AVX2 what is not normal without unsigned comparisons, which it does not have.
TEST(Math, LogarithmsOfVectorsMultiplyElevenTimes) {
    for (const char *target : {"x86-64-linux-avx2-fma", "x86-64-linux-avx512_skylake-avx2-fma"}) {
        const std::string text = assembly(target, log(load(Float(32, 8), "a")));
        const std::string inline_part = text.substr(0, text.find("retq"));
        EXPECT_EQ(count(inline_part, "vfmadd") + count(inline_part, "vfnmadd"), 10u) << text;
        EXPECT_EQ(count(inline_part, "vmulps"), 1u) << text;
        EXPECT_EQ(count(text, "vpminud"), 0u) << text;
    }
}

/// The code of a loop that adds up f(a[i]).
std::string sum_of(Expr (*f)(Expr)) {
    const Expr i = Variable::make(Int(32), "i");
    const Expr x = Load::make(Float(32), "a", i, const_true(), Alignment());
    const Expr sum = Load::make(Float(32), "out", 0, const_true(), Alignment());
    const Stmt add = Store::make("out", sum + f(x), 0, const_true(), Alignment());
    const Stmt loop = For::make("i", 0, Load::make(Int(32), "n", 0, const_true(), Alignment()),
                                ForType::Serial, Partition::Auto, DeviceAPI::None, add);
    return CompiledModule(
               one_function({pointer_argument("out"), pointer_argument("a"), pointer_argument("n")},
                            loop),
               Target("x86-64-linux-avx2-fma"))
        .assembly();
}

/// What is rare keeps the registers of the loop that calls it, such as those of sums.
TEST(Math, RareArgumentsOfScalarsTakeNothingFromLoops) {
    const std::string text = sum_of([](Expr x) { return log(std::move(x)); });
    const size_t called = text.find("callq\tcalotype.");
    ASSERT_NE(called, std::string::npos) << text;
    const std::string function = text.substr(0, text.find("retq", called));
    EXPECT_EQ(count(function, "(%rsp)"), 0u) << text;
}

/// Results near zero are not rare: they take no call, and one conversion to float64 and back, whose exponents have
/// room for all scales.
TEST(Math, ExponentialsOfScalarsCallNothing) {
    const std::string text = sum_of([](Expr x) { return exp(std::move(x)); });
    EXPECT_EQ(count(text, "callq"), 0u) << text;
    EXPECT_EQ(count(text, "(%rsp)"), 0u) << text;
    EXPECT_EQ(count(text, "vcvtss2sd"), 1u) << text;
    EXPECT_EQ(count(text, "vcvtsd2ss"), 1u) << text;
}

/// Nothing is computed for one that the other has: they are lanes of one vector.
TEST(Math, SineAndCosineOfAScalarAreTwoLanes) {
    const Expr x = Variable::make(Float(32), "x");
    const Stmt store =
        LetStmt::make("x", Load::make(Float(32), "a", 0, const_true(), Alignment()),
                      Store::make("out", sin(x) + cos(x) * 0.5f, 0, const_true(), Alignment()));
    const std::string text =
        CompiledModule(one_function({pointer_argument("out"), pointer_argument("a")}, store),
                       Target("x86-64-linux-avx2-fma"))
            .assembly();
    const auto instructions = [&](const std::string &suffix) {
        return count(text, "vfmadd132" + suffix) + count(text, "vfmadd213" + suffix) +
               count(text, "vfmadd231" + suffix);
    };
    EXPECT_EQ(instructions("sd"), 0u) << text;
    EXPECT_LE(instructions("pd"), 7u) << text;
    EXPECT_EQ(count(text, "vblendvpd"), 1u) << text;
}

}  // namespace
}  // namespace calotype::internal
