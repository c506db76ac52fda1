// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is evaluated when: conditions on what an update itself changes, values that are undef on one
// side of a choice, and values that nobody wrote.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>

namespace calotype::test {
namespace {

const Var x("x"), y("y");

// ---- predicates that read the Func under update ----

/// f(x) = x; f(x) = f(x) * 2 + r as long as f(x) < 100, for up to 12 values of r.
int grown(int value) {
    for (int r = 0; r < 12; r++) {
        value = value < 100 ? value * 2 + r : value;
    }
    return value;
}

void expect_grown(const std::function<void(Func, RVar)> &schedule) {
    Func f("f");
    RDom r(0, 12, "r");
    f(x) = x;
    r.where(f(x) < 100);
    f(x) = f(x) * 2 + r;
    schedule(f, r.x);
    Buffer<int> result = f.realize({160});
    result.for_each_element([&](int i) { ASSERT_EQ(result(i), grown(i)) << i; });
}

TEST(Predicates, see_what_earlier_iterations_did) {
    expect_grown([](Func, RVar) {});
}

TEST(Predicates, see_it_in_lanes) {
    expect_grown([](Func f, RVar) { f.update().vectorize(x, 8); });
}

TEST(Predicates, see_it_where_the_reduction_is_outermost) {
    expect_grown([](Func f, RVar r) { f.update().reorder(x, r).vectorize(x, 8); });
}

TEST(Predicates, see_it_in_unrolled_iterations) {
    expect_grown([](Func f, RVar r) { f.update().unroll(r, 4); });
    expect_grown([](Func f, RVar r) { f.update().unroll(r, 5).unroll(x, 2); });
}

TEST(Predicates, see_it_in_tasks) {
    expect_grown([](Func f, RVar r) { f.update().parallel(x, 16).unroll(r); });
}

TEST(Predicates, see_it_in_a_func_without_dimensions) {
    Param<int> a("a"), b("b");
    for (int unrolled : {1, 2, 4, 7}) {
        Func f("f");
        RDom r(0, a, "r");
        f() = Tuple(a, b, 0);
        const Expr first = f()[0], second = f()[1];
        r.where(second != 0);
        f() = Tuple(second, first % second, r);
        f.update().unroll(r, unrolled);
        a.set(7 * 11 * 5);
        b.set(7 * 11 * 3);
        Realization result = f.realize();
        EXPECT_EQ(Buffer<int>(result[0])(), 77) << unrolled;
    }
}

TEST(Predicates, see_what_other_elements_became) {
    Func f("f");
    RDom r(1, 30, "r");
    f(x) = x % 3;
    r.where(f(r - 1) % 2 == 0);
    f(r) = f(r - 1) + f(r) + 1;
    f.update().unroll(r, 3);
    Buffer<int> result = f.realize({32});
    std::vector<int> wanted;
    for (int i = 0; i < 32; i++) {
        wanted.push_back(i % 3);
    }
    for (int i = 1; i < 31; i++) {
        wanted[size_t(i)] = wanted[size_t(i) - 1] % 2 == 0
                                ? wanted[size_t(i) - 1] + wanted[size_t(i)] + 1
                                : wanted[size_t(i)];
    }
    result.for_each_element([&](int i) { ASSERT_EQ(result(i), wanted[size_t(i)]) << i; });
}

TEST(Domains, may_have_bounds_with_lets_of_the_name_of_a_variable) {
    Param<int> p("p");
    const Expr squared =
        internal::Let::make("x", p + 1, internal::Variable::make(Int(32), "x") * 2);
    RDom r(0, squared, "r");
    Func f("f");
    f(x) = 0;
    f(x) += r;
    p.set(4);
    Buffer<int> result = f.realize({3});
    EXPECT_EQ(result(2), 45);
}

// What is computed for them has storage of no elements.
TEST(Domains, may_have_conditions_that_never_hold) {
    for (const bool contradictory : {false, true}) {
        RDom r(0, 5, "r");
        r.where(contradictory ? r > 3 && r < 2 : r > 10);
        Func f("f"), g("g");
        g(x) = x * 2;
        f(x) = 1;
        f(x) += g(r);
        g.store_root().compute_at(f, r);
        Buffer<int> result = f.realize({5});
        EXPECT_EQ(result(1), 1) << contradictory;
    }
}

TEST(RandomNumbers, differ_by_the_variables_that_an_update_has) {
    Func f("f");
    RDom r(0, 5, "r");
    f(x, y) = 0;
    f(x, 3) = random_int() & 0xffff;
    f(r, y) = random_int() & 0xffff;
    Buffer<int> result = f.realize({9, 4});
    EXPECT_NE(result(7, 3), result(8, 3));
    EXPECT_NE(result(0, 0), result(1, 0));
    EXPECT_NE(result(0, 0), result(0, 1));
    EXPECT_EQ(result(7, 2), 0);
}

TEST(RandomNumbers, have_seeds_of_either_sign) {
    Func f("f");
    Param<uint32_t> seed("seed");
    f(x) = random_uint(seed);
    std::vector<uint32_t> first;
    for (const uint32_t s : {7u, 0xffffffffu, 7u}) {
        seed.set(s);
        first.push_back(Buffer<uint32_t>(f.realize({3}))(1));
    }
    EXPECT_EQ(first[0], first[2]);
    EXPECT_NE(first[0], first[1]);
}

// ---- atomic updates under a guard ----

TEST(AtomicTails, touch_nothing_beyond) {
    for (bool is_float : {false, true}) {
        Func g("g"), f("f");
        const Type t = is_float ? Float(32) : Int(32);
        RDom r(0, 61, 0, 64, "r");
        g(x, y) = cast(t, x + y);
        f(x) = cast(t, 0);
        f(r.x) += g(r.x, r.y);
        g.compute_root();
        f.update().reorder(r.x, r.y).atomic().vectorize(r.x, 8).parallel(r.y);
        std::vector<int> memory(80, -77);
        Buffer<void> result(t, memory.data(), std::vector<int>{61});
        f.realize(result);
        for (int i = 0; i < 61; i++) {
            const int wanted = 64 * i + 63 * 32;
            float as_float = 0;
            std::memcpy(&as_float, &memory[size_t(i)], sizeof as_float);
            ASSERT_EQ(is_float ? int(as_float) : memory[size_t(i)], wanted) << i;
        }
        for (size_t i = 61; i < memory.size(); i++) {
            ASSERT_EQ(memory[i], -77) << i;
        }
    }
}

// ---- atomic updates of vectors in two dimensions ----

template<typename T>
class AtomicVectors : public testing::Test {};
using ElementTypes = testing::Types<uint8_t, uint16_t, int32_t, float>;
TYPED_TEST_SUITE(AtomicVectors, ElementTypes);

// Tasks add to the same elements at the same time.
TYPED_TEST(AtomicVectors, lose_no_update) {
    const Type t = type_of<TypeParam>();
    const int steps = 20000;
    RDom r(0, steps, "r");
    RVar ro("ro"), ri("ri");
    Var yo("yo"), yi("yi");
    Func f("f");
    Buffer<TypeParam> one(8, steps);
    one.fill(1);
    f(x, y) = cast(t, 0);
    f(x, y) += one(x, r) + cast(t, y);
    f.bound(x, 0, 8).bound(y, 0, 4);
    f.update().atomic().split(y, yo, yi, 4).split(r, ro, ri, 100).reorder(x, yi, yo, ri, ro);
    f.update().vectorize(x, 8).vectorize(yi).parallel(ro);
    for (int run = 0; run < 10; run++) {
        Buffer<TypeParam> result = f.realize({8, 4});
        result.for_each_element([&](int i, int j) {
            ASSERT_EQ(result(i, j), TypeParam(steps * (1 + j))) << i << ", " << j;
        });
    }
}

// ---- undef ----

TEST(PartlyUndef, counts_only_on_the_side_that_is_chosen) {
    Func f("f"), g("g");
    f(x) = select(x < 2, x * 10, undef<int>());
    g(x) = select(x < 3, f(x), f(x - 3) + 1);
    Buffer<int> result(7);
    result.fill(-1);
    g.realize(result);
    const int wanted[] = {0, 10, -1, 1, 11, -1, -1};
    result.for_each_element([&](int i) { ASSERT_EQ(result(i), wanted[i]) << i; });
}

TEST(PartlyUndef, keeps_the_values_of_a_tuple) {
    Func f("f");
    f(x) = Tuple(select(x % 2 == 0, undef<int>(), x), select(x % 2 == 0, undef<int>(), -x));
    Buffer<int> a(12), b(12);
    a.fill(-77);
    b.fill(-77);
    f.vectorize(x, 4);
    f.realize({a, b});
    for (int i = 0; i < 12; i++) {
        ASSERT_EQ(a(i), i % 2 == 0 ? -77 : i);
        ASSERT_EQ(b(i), i % 2 == 0 ? -77 : -i);
    }
}

// ---- what is computed beyond what is needed ----

/// Memory that looks as if it had been used for something else.
void *malloc_garbage(JITUserContext *, size_t size) {
    void *p = nullptr;
    if (posix_memalign(&p, 128, size) != 0) {
        return nullptr;
    }
    std::memset(p, 0xa5, size);
    return p;
}

void free_garbage(JITUserContext *, void *p) {
    std::free(p);
}

TEST(Garbage, is_no_coordinate_of_an_input) {
    Buffer<int> input(100);
    input.fill([](int i) { return i * 3; });
    Func place("place"), g("g"), f("f");
    place(x) = clamp(x * 7, 0, 99);
    g(x) = input(place(x));
    f(x) = g(x);
    place.compute_root();
    f.vectorize(x, 8, TailStrategy::GuardWithIf);
    g.compute_at(f, x).bound_extent(x, 2000);
    f.jit_handlers().custom_malloc = malloc_garbage;
    f.jit_handlers().custom_free = free_garbage;
    Buffer<int> result = f.realize({100});
    result.for_each_element([&](int i) { ASSERT_EQ(result(i), std::min(i * 7, 99) * 3); });
}

TEST(Garbage, is_no_coordinate_of_a_store) {
    Func place("place"), g("g"), f("f");
    place(x) = (x * 5) % 16;
    RDom r(0, 3, "r");
    g(x, y) = 0;
    g(place(y) + r, y) += r + 1;
    f(x, y) = g(x, y);
    place.compute_root();
    f.vectorize(y, 4, TailStrategy::GuardWithIf);
    g.compute_at(f, y).bound_extent(y, 1000);
    f.jit_handlers().custom_malloc = malloc_garbage;
    f.jit_handlers().custom_free = free_garbage;
    Buffer<int> result = f.realize({20, 13});
    result.for_each_element([&](int i, int j) {
        const int k = i - (j * 5) % 16;
        ASSERT_EQ(result(i, j), k >= 0 && k < 3 ? k + 1 : 0) << i << ", " << j;
    });
}

}  // namespace
}  // namespace calotype::test
