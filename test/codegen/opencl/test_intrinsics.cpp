// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each intrinsic, with each integer type and vectors of many lengths: kernels on an OpenCL device
// against arithmetic in 128 bits; functions of floats against the C library.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "codegen/opencl/kernel_text.h"
#include "codegen/opencl/raw_opencl.h"
#include "ir/constants.h"
#include "ir/language/bits.h"
#include "ir/language/fixed_point.h"
#include "ir/operators.h"
#include "ir/printer.h"

namespace calotype::internal {
namespace {

using Wide = __int128;
constexpr int count = 96;  // a multiple of all lane counts in use
const int lane_counts[] = {1, 2, 3, 4, 8, 16, 32};

Wide wrapped(Type t, Wide x) {
    unsigned __int128 size = (unsigned __int128)(1) << t.bits();
    Wide r = Wide((unsigned __int128)(x) & (size - 1));
    return t.is_int() && r >= Wide(size / 2) ? r - Wide(size) : r;
}

Wide saturated(Type t, Wide x) {
    Wide low = t.is_int() ? Wide(t.imin()) : 0, high = t.is_int() ? Wide(t.imax()) : Wide(t.umax());
    return x < low ? low : x > high ? high : x;
}

/// An operation on a and b of type t.
struct Operation {
    const char *name;
    std::function<Expr(Expr, Expr)> expr;
    std::function<Wide(Type, Wide, Wide)> value;
    bool shifts = false;  ///< b is brought into the range of a distance
};

Wide floor_shift(Wide a, int by) {
    return by >= 0 ? a * (Wide(1) << by) : a >> -by;
}

Wide rounded_shift(Wide a, int right) {
    return right <= 0 ? a * (Wide(1) << -right) : (a >> right) + ((a >> (right - 1)) & 1);
}

std::vector<Operation> operations() {
    return {
        {"saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
         [](Type t, Wide a, Wide b) {
             return saturated(t, a + b);
         }},
        {"saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
         [](Type t, Wide a, Wide b) {
             return saturated(t, a - b);
         }},
        {"halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
         [](Type, Wide a, Wide b) {
             return (a + b) >> 1;
         }},
        {"halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
         [](Type, Wide a, Wide b) {
             return (a - b) >> 1;
         }},
        {"rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
         [](Type, Wide a, Wide b) {
             return (a + b + 1) >> 1;
         }},
        {"absd", [](Expr a, Expr b) { return absd(a, b); },
         [](Type, Wide a, Wide b) {
             return a > b ? a - b : b - a;
         }},
        {"abs", [](Expr a, Expr) { return a.type().is_int() ? abs(a) : a; },
         [](Type, Wide a, Wide) {
             return a < 0 ? -a : a;
         }},
        {"div_round_to_zero",
         [](Expr a, Expr b) {
             return Call::make(a.type(), Intrinsic::div_round_to_zero, {a, b | 1});
         },
         [](Type t, Wide a, Wide b) {
             return a / wrapped(t, b | 1);
         }},
        {"mod_round_to_zero",
         [](Expr a, Expr b) {
             return Call::make(a.type(), Intrinsic::mod_round_to_zero, {a, b | 1});
         },
         [](Type t, Wide a, Wide b) {
             return a % wrapped(t, b | 1);
         }},
        {"xor", [](Expr a, Expr b) { return a ^ b; },
         [](Type, Wide a, Wide b) {
             return a ^ b;
         }},
        {"popcount", [](Expr a, Expr) { return popcount(a); },
         [](Type t, Wide a, Wide) {
             return Wide(__builtin_popcountll(uint64_t(a) << (64 - t.bits())));
         }},
        {"count_leading_zeros", [](Expr a, Expr) { return count_leading_zeros(a | 1); },
         [](Type t, Wide a, Wide) {
             return Wide(__builtin_clzll(uint64_t(a | 1) << (64 - t.bits())));
         }},
        {"count_trailing_zeros", [](Expr a, Expr) { return count_trailing_zeros(a | 8); },
         [](Type, Wide a, Wide) {
             return Wide(__builtin_ctzll(uint64_t(a | 8)));
         }},
        {"shift_left", [](Expr a, Expr b) { return a << b; },
         [](Type, Wide a, Wide b) { return floor_shift(a, int(b)); }, true},
        {"shift_right", [](Expr a, Expr b) { return a >> b; },
         [](Type, Wide a, Wide b) { return floor_shift(a, -int(b)); }, true},
        {"rounding_shift_right", [](Expr a, Expr b) { return rounding_shift_right(a, b); },
         [](Type, Wide a, Wide b) { return rounded_shift(a, int(b)); }, true},
        {"rounding_shift_left", [](Expr a, Expr b) { return rounding_shift_left(a, b); },
         [](Type, Wide a, Wide b) { return rounded_shift(a, -int(b)); }, true},
        {"mul_shift_right",
         [](Expr a, Expr b) { return mul_shift_right(a, b, a.type().bits() - 1); },
         [](Type t, Wide a, Wide b) {
             return saturated(t, (a * b) >> (t.bits() - 1));
         }},
        {"rounding_mul_shift_right",
         [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, a.type().bits() - 2); },
         [](Type t, Wide a, Wide b) {
             int q = t.bits() - 2;
             return saturated(t, ((a * b) >> q) + (((a * b) >> (q - 1)) & 1));
         }},
    };
}

Type result_type(const Operation &op, Type t) {
    return op.expr(Variable::make(t, "a"), Variable::make(t, "b")).type();
}

std::vector<Wide> samples(Type t, unsigned seed, bool distances) {
    std::mt19937_64 random(seed);
    std::vector<Wide> values;
    Wide low = t.is_int() ? Wide(t.imin()) : 0, high = t.is_int() ? Wide(t.imax()) : Wide(t.umax());
    for (Wide x : {Wide(0), Wide(1), low, high, low + 1, high - 1, high / 2, low / 2}) {
        values.push_back(x);
    }
    while (values.size() < size_t(count)) {
        values.push_back(wrapped(t, Wide(random() >> (random() % 64))));
    }
    for (Wide &x : values) {
        Wide bits = t.bits();
        x = !distances ? x : t.is_int() ? x % bits : x % bits;
    }
    std::shuffle(values.begin(), values.end(), random);
    return values;
}

std::vector<uint8_t> bytes_of(Type t, const std::vector<Wide> &values) {
    std::vector<uint8_t> bytes;
    for (Wide x : values) {
        uint64_t bits = uint64_t(x);
        auto *p = reinterpret_cast<uint8_t *>(&bits);
        bytes.insert(bytes.end(), p, p + t.bytes());
    }
    return bytes;
}

Wide element(Type t, const std::vector<uint8_t> &bytes, int i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[size_t(i * t.bytes())], size_t(t.bytes()));
    return wrapped(t, Wide(bits));
}

std::string out_name(int op, int lanes) {
    return "out" + std::to_string(op) + "_" + std::to_string(lanes);
}

/// One kernel for a type and a number of lanes: out_k[i] = op_k(a[i], b[i]), or of distances c.
DeviceModule kernel_of(const std::vector<Operation> &ops, Type t, int lanes) {
    Expr i = Variable::make(Int(32), "i");
    Expr index = lanes == 1 ? i : Ramp::make(i * lanes, 1, lanes);
    std::vector<KernelArgument> args = {in_buffer("a", t), in_buffer("b", t), in_buffer("c", t)};
    auto load = [&](const char *name) {
        return Load::make(t.with_lanes(lanes), name, index, const_true(lanes), Alignment());
    };
    std::vector<Stmt> stores;
    for (size_t k = 0; k < ops.size(); k++) {
        Expr e = ops[k].expr(load("a"), load(ops[k].shifts ? "c" : "b"));
        std::string name = out_name(int(k), lanes);
        args.push_back(out_buffer(name, e.type().element_of()));
        stores.push_back(Store::make(name, e, index, const_true(lanes), Alignment()));
    }
    Stmt loop = For::make("i", 0, count / lanes, ForType::Serial, Partition::Auto, DeviceAPI::None,
                          Block::make(stores));
    return one_kernel(args, loop);
}

void check_integers(Type t, int lanes) {
    std::vector<Operation> ops = operations();
    // Parameters of a kernel are few: some operations at a time.
    for (size_t first = 0; first < ops.size(); first += 7) {
        std::vector<Operation> some(ops.begin() + long(first),
                                    ops.begin() + long(std::min(first + 7, ops.size())));
        std::vector<Wide> a = samples(t, 1, false), b = samples(t, 2, false),
                          c = samples(t, 3, true);
        std::vector<std::vector<uint8_t>> memory = {bytes_of(t, a), bytes_of(t, b), bytes_of(t, c)};
        for (const Operation &op : some) {
            memory.emplace_back(size_t(count * result_type(op, t).bytes()));
        }
        std::vector<test::RawArgument> args;
        for (auto &m : memory) {
            args.push_back(test::RawArgument::bytes(m));
        }
        std::string text = opencl_text(kernel_of(some, t, lanes));
        ASSERT_EQ(test::run_opencl(text, "k", args), "") << text;
        for (size_t k = 0; k < some.size(); k++) {
            Type r = result_type(some[k], t);
            for (int i = 0; i < count; i++) {
                Wide y = some[k].shifts ? c[size_t(i)] : b[size_t(i)];
                Wide expected = wrapped(r, some[k].value(t, a[size_t(i)], y));
                ASSERT_EQ(int64_t(element(r, memory[3 + k], i)), int64_t(expected))
                    << some[k].name << " of " << int64_t(a[size_t(i)]) << " and " << int64_t(y)
                    << ", " << t << "x" << lanes;
            }
        }
    }
}

class Integers : public testing::TestWithParam<Type> {};

TEST_P(Integers, OfAllLengths) {
    if (!test::have_opencl()) {
        GTEST_SKIP() << "no OpenCL device on this machine";
    }
    for (int lanes : {1, 3, 32}) {
        check_integers(GetParam(), lanes);
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Integers,
                         testing::Values(Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32),
                                         Int(64), UInt(64)),
                         [](const auto &info) { return to_string(info.param); });

struct FloatFunction {
    Intrinsic id;
    double (*value)(double);
    double low, high;
};

double round_to_even(double x) {
    return std::nearbyint(x);
}

const FloatFunction float_functions[] = {
    {Intrinsic::sqrt, std::sqrt, 0, 100},     {Intrinsic::sin, std::sin, -10, 10},
    {Intrinsic::cos, std::cos, -10, 10},      {Intrinsic::tan, std::tan, -1, 1},
    {Intrinsic::asin, std::asin, -1, 1},      {Intrinsic::acos, std::acos, -1, 1},
    {Intrinsic::atan, std::atan, -10, 10},    {Intrinsic::sinh, std::sinh, -4, 4},
    {Intrinsic::cosh, std::cosh, -4, 4},      {Intrinsic::tanh, std::tanh, -4, 4},
    {Intrinsic::asinh, std::asinh, -9, 9},    {Intrinsic::acosh, std::acosh, 1, 9},
    {Intrinsic::atanh, std::atanh, -.9, .9},  {Intrinsic::exp, std::exp, -9, 9},
    {Intrinsic::log, std::log, .01, 99},      {Intrinsic::erf, std::erf, -3, 3},
    {Intrinsic::floor, std::floor, -9, 9},    {Intrinsic::ceil, std::ceil, -9, 9},
    {Intrinsic::round, round_to_even, -9, 9}, {Intrinsic::trunc, std::trunc, -9, 9},
};

void check_function(const FloatFunction &f, Type t, int lanes) {
    Expr i = Variable::make(Int(32), "i");
    Expr index = lanes == 1 ? i : Ramp::make(i * lanes, 1, lanes);
    Expr x = Load::make(t.with_lanes(lanes), "x", index, const_true(lanes), Alignment());
    Expr y = Cast::make(Float(32, lanes), Call::make(x.type(), f.id, {x}));
    Stmt store = Store::make("y", y, index, const_true(lanes), Alignment());
    Stmt loop =
        For::make("i", 0, count / lanes, ForType::Serial, Partition::Auto, DeviceAPI::None, store);
    std::vector<float> in(count), out(count);
    std::vector<uint8_t> a, b(count * 4);
    for (int k = 0; k < count; k++) {
        double v = f.low + (f.high - f.low) * (k + .5) / count;
        uint64_t bits = 0;
        in[size_t(k)] = float(v);
        if (t.bits() == 16) {
            in[size_t(k)] = t.is_bfloat() ? float(bfloat16_t(v)) : float(float16_t(v));
            bits = t.is_bfloat() ? bfloat16_t(v).to_bits() : float16_t(v).to_bits();
        } else if (t.bits() == 64) {
            double d = double(in[size_t(k)]);
            std::memcpy(&bits, &d, 8);
        } else {
            std::memcpy(&bits, &in[size_t(k)], 4);
        }
        auto *p = reinterpret_cast<uint8_t *>(&bits);
        a.insert(a.end(), p, p + t.bytes());
    }
    std::string text =
        opencl_text(one_kernel({in_buffer("x", t), out_buffer("y", Float(32))}, loop));
    ASSERT_EQ(
        test::run_opencl(text, "k", {test::RawArgument::bytes(a), test::RawArgument::bytes(b)}), "")
        << text;
    std::memcpy(out.data(), b.data(), b.size());
    double tolerance = t.bits() > 16 ? 1e-6 : t.is_bfloat() ? 1e-2 : 1e-3;
    for (int k = 0; k < count; k++) {
        double expected = f.value(double(in[size_t(k)]));
        ASSERT_NEAR(out[size_t(k)], expected, tolerance * (1 + std::fabs(expected)))
            << intrinsic_info(f.id).name << " of " << in[size_t(k)] << ", " << t << "x" << lanes;
    }
}

TEST(Floats, Functions) {
    if (!test::have_opencl()) {
        GTEST_SKIP() << "no OpenCL device on this machine";
    }
    int n = 0;
    for (const FloatFunction &f : float_functions) {
        check_function(f, Float(32), lane_counts[n++ % 7]);
    }
    check_function(float_functions[1], Float(16), 4);
    check_function(float_functions[13], BFloat(16), 3);
    if (test::opencl_has("cl_khr_fp64")) {
        check_function(float_functions[1], Float(64), 2);
    }
}

}  // namespace
}  // namespace calotype::internal
