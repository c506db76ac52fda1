// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors whose even and odd lanes are of different kinds, in random expressions: the result is that of plain loops, from
// any first coordinate, on targets with narrow and with wide registers.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x"), y("y");
constexpr int width = 80, height = 3, room = 200;

class Maker {
public:
    Maker(Type type, uint32_t seed) : type_(type), engine_(seed) {
        Func values("values");
        values(x) = cast(type, (x * 37 + 11) % 251);
        source_ = values.realize({room});
        Func table("table");
        table(x) = cast(type, (x * 113 + 5) % 127);
        table_ = table.realize({256});
    }

    Expr make(int depth = 4) {
        if (depth == 0 || chance(10)) {
            return tap();
        }
        const Expr a = make(depth - 1), b = make(depth - 1);
        switch (below(9)) {
        case 0:
            return a + b;
        case 1:
            return a - b;
        case 2:
            return cast(type_, a * 3);
        case 3:
            return max(a, b);
        case 4:
            return select(x % 2 == below(2), a, b);
        case 5:
            return select(a < b, a, cast(type_, b + 1));
        case 6:
            return cast(type_, cast<int>(a) * 3 + cast<int>(b));
        case 7:
            return looked_up(a);
        default:
            return select((x + y) % 2 == 0 && a > cast(type_, 40), a, b);
        }
    }

private:
    int below(int n) {
        return int(engine_() % uint32_t(n));
    }
    bool chance(int percent) {
        return below(100) < percent;
    }

    Expr at(const Expr &index) {
        return source_(clamp(index + 20, 0, room - 1));
    }
    Expr tap() {
        const int d = below(5) - 2;
        switch (below(5)) {
        case 0:
            return at(x / 2 + d);
        case 1:
            return at((x + 1) / 2 + d);
        case 2:
            return at(2 * x + d);
        case 3:
            return at((x + d) / 4);
        default:
            return at(x + d);
        }
    }
    Expr looked_up(const Expr &e) {
        return table_(clamp(cast<int>(e), 0, 255));
    }

    Type type_;
    std::mt19937 engine_;
    Buffer<> source_, table_;
};

Buffer<> run(Type type, uint32_t seed, int min, int lanes, const Target &target) {
    Func f("f");
    f(x, y) = Maker(type, seed).make();
    if (lanes > 1) {
        f.vectorize(x, lanes, TailStrategy::GuardWithIf);
    }
    Buffer<> result(type, width, height);
    result.set_min(min, 0);
    f.realize(result, target);
    return result;
}

template<typename T>
void expect_same(const Buffer<> &one, const Buffer<> &other) {
    const Buffer<T> a(one), b(other);
    for (int j = 0; j < height; j++) {
        for (int i = a.dim(0).min(); i <= a.dim(0).max(); i++) {
            ASSERT_EQ(a(i, j), b(i, j)) << "at " << i << ", " << j;
        }
    }
}

template<typename T>
class AlternatingLanes : public ::testing::Test {};
using Types = ::testing::Types<uint8_t, int16_t, uint16_t, int32_t, float>;
TYPED_TEST_SUITE(AlternatingLanes, Types);

TYPED_TEST(AlternatingLanes, AreThoseOfPlainLoops) {
    const Type type = type_of<TypeParam>();
    Target host = get_host_target();
    Target narrow = host;
    for (Target::Feature f :
         {Target::AVX2, Target::AVX512, Target::AVX512_Skylake, Target::AVX512_Cannonlake,
          Target::AVX512_Zen4, Target::AVX512_Zen5, Target::AVX512_SapphireRapids}) {
        narrow.set_feature(f, false);
    }
    for (uint32_t seed = 1; seed <= 6; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const int min = int(seed % 7) - 3, lanes = seed % 3 == 0 ? 8 : 16;
        const Buffer<> plain = run(type, seed, min, 1, host);
        expect_same<TypeParam>(plain, run(type, seed, min, lanes, host));
        expect_same<TypeParam>(plain, run(type, seed, min, lanes, narrow));
    }
}

}  // namespace
}  // namespace calotype
