// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime::Buffer: random sequences of operations against a naive model, and each member once.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "runtime/buffer.h"

namespace {

using calotype::Runtime::Buffer;

// ---- against a model
// -----------------------------------------------------------------------------

/** An array as a map from coordinates to values. */
struct Model {
    std::vector<int> min, extent;
    std::map<std::vector<int>, int> values;

    int dimensions() const {
        return int(min.size());
    }
    /** Replace every coordinate by f(coordinate); those for which keep says no go. */
    template<typename Keep, typename Fn>
    void rebuild(Keep &&keep, Fn &&f) {
        std::map<std::vector<int>, int> old;
        old.swap(values);
        for (auto &[pos, value] : old) {
            if (keep(pos)) {
                values[f(pos)] = value;
            }
        }
    }
};

using Rng = std::mt19937;

int pick(Rng &rng, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(rng);
}

bool always(const std::vector<int> &) {
    return true;
}

void crop(Rng &rng, Model &m, Buffer<int> &b) {
    const int d = pick(rng, 0, m.dimensions() - 1);
    const int skip = pick(rng, 0, m.extent[d] - 1), size = pick(rng, 1, m.extent[d] - skip);
    m.min[d] += skip;
    m.extent[d] = size;
    const int min = m.min[d];
    m.rebuild([=](auto &pos) { return pos[d] >= min && pos[d] < min + size; },
              [](auto pos) { return pos; });
    pick(rng, 0, 1) ? b.crop(d, min, size) : void(b = b.cropped(d, min, size));
}

void translate(Rng &rng, Model &m, Buffer<int> &b) {
    const int d = pick(rng, 0, m.dimensions() - 1), delta = pick(rng, -20, 20);
    m.min[d] += delta;
    m.rebuild(always, [=](auto pos) { return pos[d] += delta, pos; });
    pick(rng, 0, 1) ? b.translate(d, delta) : void(b = b.translated(d, delta));
}

void transpose(Rng &rng, Model &m, Buffer<int> &b) {
    const int d = pick(rng, 0, m.dimensions() - 1), e = pick(rng, 0, m.dimensions() - 1);
    std::swap(m.min[d], m.min[e]);
    std::swap(m.extent[d], m.extent[e]);
    m.rebuild(always, [=](auto pos) { return std::swap(pos[d], pos[e]), pos; });
    pick(rng, 0, 1) ? b.transpose(d, e) : void(b = b.transposed(d, e));
}

void slice(Rng &rng, Model &m, Buffer<int> &b) {
    const int d = pick(rng, 0, m.dimensions() - 1);
    const int at = pick(rng, m.min[d], m.min[d] + m.extent[d] - 1);
    m.min.erase(m.min.begin() + d);
    m.extent.erase(m.extent.begin() + d);
    m.rebuild([=](auto &pos) { return pos[d] == at; },
              [=](auto pos) { return pos.erase(pos.begin() + d), pos; });
    pick(rng, 0, 1) ? b.slice(d, at) : void(b = b.sliced(d, at));
}

void embed(Rng &rng, Model &m, Buffer<int> &b) {
    const int d = pick(rng, 0, m.dimensions()), at = pick(rng, -5, 5);
    m.min.insert(m.min.begin() + d, at);
    m.extent.insert(m.extent.begin() + d, 1);
    m.rebuild(always, [=](auto pos) { return pos.insert(pos.begin() + d, at), pos; });
    pick(rng, 0, 1) ? b.embed(d, at) : void(b = b.embedded(d, at));
}

void copy(Rng &, Model &, Buffer<int> &b) {
    const Buffer<int> old = b;
    b = b.copy();
    EXPECT_NE(old.data(), b.data());
    EXPECT_EQ(b.number_of_elements() * sizeof(int), b.size_in_bytes());
}

void write(Rng &rng, Model &m, Buffer<int> &b) {
    for (auto &[pos, value] : m.values) {
        if (pick(rng, 0, 3) == 0) {
            value = pick(rng, -1000, 1000);
            b(pos.data()) = value;
        }
    }
}

void expect_same(const Model &m, const Buffer<int> &b) {
    ASSERT_EQ(m.dimensions(), b.dimensions());
    for (int d = 0; d < m.dimensions(); d++) {
        ASSERT_EQ(m.min[d], b.min(d));
        ASSERT_EQ(m.extent[d], b.extent(d));
    }
    ASSERT_EQ(m.values.size(), b.number_of_elements());
    size_t seen = 0;
    b.for_each_element([&](const int *pos) {
        const std::vector<int> key(pos, pos + m.dimensions());
        const auto found = m.values.find(key);
        ASSERT_NE(m.values.end(), found);
        ASSERT_EQ(found->second, b(pos));
        ASSERT_TRUE(b.contains(key));
        seen++;
    });
    ASSERT_EQ(m.values.size(), seen);
    int64_t sum = 0, expected = 0;
    b.for_each_value([&](int v) { sum += v; });
    for (const auto &[pos, value] : m.values) {
        expected += value;
    }
    ASSERT_EQ(expected, sum);
}

TEST(BufferModel, AgreesAfterRandomOperations) {
    for (unsigned seed = 0; seed < 200; seed++) {
        Rng rng(seed);
        const int dimensions = pick(rng, 1, 5);
        Model m;
        std::vector<int> order;
        for (int d = 0; d < dimensions; d++) {
            m.min.push_back(0);
            m.extent.push_back(pick(rng, 1, 5));
            order.push_back(d);
        }
        std::shuffle(order.begin(), order.end(), rng);
        Buffer<int> b(m.extent, order);
        b.for_each_element([&](const int *pos) {
            const int value = pick(rng, -1000, 1000);
            b(pos) = value;
            m.values[std::vector<int>(pos, pos + dimensions)] = value;
        });
        for (int step = 0; step < 12; step++) {
            using Operation = void (*)(Rng &, Model &, Buffer<int> &);
            static const Operation operations[] = {crop,  translate, transpose, slice,
                                                   embed, copy,      write};
            const Operation operation = operations[pick(rng, 0, 6)];
            if (m.dimensions() > 0 || operation == embed || operation == copy) {
                operation(rng, m, b);
            }
            expect_same(m, b);
            if (HasFatalFailure()) {
                FAIL() << "seed " << seed << ", step " << step;
            }
        }
    }
}

TEST(BufferModel, CopyFromTakesTheCommonRegion) {
    for (unsigned seed = 0; seed < 200; seed++) {
        Rng rng(seed);
        auto make = [&](int value) {
            Buffer<int16_t> b =
                pick(rng, 0, 1)
                    ? Buffer<int16_t>(pick(rng, 1, 6), pick(rng, 1, 6), 3)
                    : Buffer<int16_t>::make_interleaved(pick(rng, 1, 6), pick(rng, 1, 6), 3);
            b.set_min(pick(rng, -3, 3), pick(rng, -3, 3), pick(rng, -1, 1));
            b.fill([=](int x, int y, int c) { return int16_t(value + x + 10 * y + 100 * c); });
            return b;
        };
        Buffer<int16_t> dst = make(1000), src = make(5000);
        dst.copy_from(src);
        dst.for_each_element([&](int x, int y, int c) {
            const int base = src.contains(x, y, c) ? 5000 : 1000;
            ASSERT_EQ(base + x + 10 * y + 100 * c, dst(x, y, c)) << seed;
        });
    }
}

// ---- making them
// ---------------------------------------------------------------------------------

TEST(BufferMake, DenseFirstDimensionInnermost) {
    Buffer<uint8_t> b(5, 4, 3);
    EXPECT_EQ(3, b.dimensions());
    EXPECT_EQ(1, b.stride(0));
    EXPECT_EQ(5, b.stride(1));
    EXPECT_EQ(20, b.stride(2));
    EXPECT_EQ(60u, b.number_of_elements());
    EXPECT_EQ(60u, b.size_in_bytes());
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(b.data()) % 128);
    EXPECT_TRUE(b.owns_host_memory());
    EXPECT_EQ(b.data(), b.begin());
    EXPECT_EQ(b.data() + 60, b.end());
}

TEST(BufferMake, InterleavedAndOrdered) {
    auto b = Buffer<uint8_t>::make_interleaved(5, 4, 3);
    EXPECT_EQ(3, b.stride(0));
    EXPECT_EQ(15, b.stride(1));
    EXPECT_EQ(1, b.stride(2));
    Buffer<> c(calotype_type_of<float>(), {5, 4}, {1, 0});
    EXPECT_EQ(4, c.stride(0));
    EXPECT_EQ(1, c.stride(1));
    auto any = Buffer<>::make_interleaved(calotype_type_of<int>(), 5, 4, 3);
    EXPECT_EQ(calotype_type_of<int>(), any.type());
    uint8_t memory[60];
    auto d = Buffer<uint8_t>::make_interleaved(memory, 5, 4, 3);
    EXPECT_EQ(&memory[3 * 5 * 2 + 3 * 1 + 2], &d(1, 2, 2));
    EXPECT_FALSE(d.owns_host_memory());
}

TEST(BufferMake, AroundForeignMemory) {
    int memory[12];
    for (int i = 0; i < 12; i++) {
        memory[i] = i;
    }
    Buffer<int> b(memory, 4, 3);
    EXPECT_EQ(7, b(3, 1));
    Buffer<const int> c(memory, std::vector<int>{4, 3});
    EXPECT_EQ(7, c(3, 1));
    const calotype_dimension_t backwards[] = {{0, 4, -1}, {2, 3, 4}};
    Buffer<int> d(memory + 3, 2, backwards);
    EXPECT_EQ(3, d(0, 2));
    EXPECT_EQ(8, d(3, 4));
    EXPECT_EQ(memory, d.begin());
    EXPECT_EQ(memory + 12, d.end());
    Buffer<> e(calotype_type_of<int>(), memory, {backwards[0], backwards[1]});
    EXPECT_EQ(2, e.dimensions());
    int matrix[3][4] = {};
    matrix[2][1] = 5;
    Buffer<int, 2> f(matrix);
    EXPECT_EQ(4, f.width());
    EXPECT_EQ(3, f.height());
    EXPECT_EQ(5, f(1, 2));
}

TEST(BufferMake, ScalarsAndBoundsQueries) {
    auto s = Buffer<float>::make_scalar();
    s() = 0.5f;
    EXPECT_EQ(0, s.dimensions());
    EXPECT_EQ(1u, s.number_of_elements());
    EXPECT_EQ(0.5f, s());
    float value = 2;
    EXPECT_EQ(2, Buffer<float>::make_scalar(&value)());
    EXPECT_EQ(4u, Buffer<>::make_scalar(calotype_type_of<float>()).size_in_bytes());
    Buffer<float> q(0, 10);
    EXPECT_TRUE(q.is_bounds_query());
    Buffer<float> p(nullptr, 10, 10);
    EXPECT_TRUE(p.is_bounds_query());
    p.allocate();
    EXPECT_FALSE(p.is_bounds_query());
    p.fill(1);
    EXPECT_TRUE(p.all_equal(1));
}

template<typename T>
void expect_parts_filled() {
    Buffer<T> whole(13, 7, 3);
    whole.fill(T(1));
    Buffer<T> part = whole.cropped(0, 2, 9).cropped(1, 3, 2), column = whole.sliced(0, 12);
    part.fill(T(2));
    column.transposed(0, 1).fill(T(3));
    part.cropped(2, 1, 0).fill(T(4));
    whole.for_each_element([&](int x, int y, int c) {
        const bool in_part = x >= 2 && x < 11 && y >= 3 && y < 5;
        EXPECT_EQ(T(x == 12 ? 3 : in_part ? 2 : 1), whole(x, y, c)) << x << " " << y << " " << c;
    });
}

TEST(BufferMake, FillsPartsOfIt) {
    expect_parts_filled<uint8_t>();
    expect_parts_filled<int16_t>();
    expect_parts_filled<double>();
    expect_parts_filled<bool>();
    Buffer<uint8_t> upside_down = Buffer<uint8_t>(5, 4);
    calotype_buffer_t raw = *upside_down.raw_buffer();
    std::vector<calotype_dimension_t> shape(raw.dim, raw.dim + 2);
    shape[1].stride = -shape[1].stride;
    raw.dim = shape.data();
    raw.host += 3 * 5;
    Buffer<uint8_t>(raw).fill(7);
    EXPECT_TRUE(upside_down.all_equal(7));
}

int live_allocations;

TEST(BufferMake, WithOtherAllocators) {
    auto allocate = [](size_t size) {
        live_allocations++;
        return malloc(size);
    };
    auto deallocate = [](void *p) {
        live_allocations--;
        free(p);
    };
    {
        Buffer<int> b(nullptr, 10);
        b.allocate(allocate, deallocate);
        Buffer<int> c = b.copy(allocate, deallocate);
        EXPECT_EQ(2, live_allocations);
    }
    EXPECT_EQ(0, live_allocations);
    Buffer<int>::set_default_allocate_fn(allocate);
    Buffer<int>::set_default_deallocate_fn(deallocate);
    {
        Buffer<float> b(10);
        EXPECT_EQ(1, live_allocations);
    }
    EXPECT_EQ(0, live_allocations);
    Buffer<int>::set_default_allocate_fn(nullptr);
    Buffer<int>::set_default_deallocate_fn(nullptr);
    Buffer<int> none(nullptr, 10);
    none.allocate([](size_t) -> void * { return nullptr; });
    EXPECT_EQ(nullptr, none.data());
}

// ---- sharing and converting
// ----------------------------------------------------------------------

TEST(BufferShare, CopiesShareTheMemory) {
    Buffer<int> a(4);
    a.fill(1);
    Buffer<int> b = a, c = a.alias();
    b(2) = 5;
    EXPECT_EQ(5, a(2));
    a = Buffer<int>(2);
    EXPECT_EQ(5, c(2));
    b = std::move(c);
    EXPECT_EQ(nullptr, c.data());
    EXPECT_EQ(5, b(2));
    b.reset();
    EXPECT_EQ(0, b.dimensions());
    EXPECT_EQ(nullptr, b.data());
    Buffer<int> &self = a;
    a = self;
    EXPECT_EQ(2, a.width());
}

int sum_of(const Buffer<const int> &b) {
    int sum = 0;
    b.for_each_value([&](int v) { sum += v; });
    return sum;
}

int code_bits(Buffer<const void> &b) {
    return b.type().bits;
}

TEST(BufferShare, ConvertsWhereThatIsSafe) {
    Buffer<int> a(2, 3);
    a.fill(2);
    EXPECT_EQ(12, sum_of(a));
    EXPECT_EQ(32, code_bits(a));
    Buffer<> any = a;
    Buffer<int, 2> exact = any;
    Buffer<const int, 2> constant = exact;
    EXPECT_EQ(2, constant(1, 2));
    EXPECT_EQ(a.data(), constant.data());
    const Buffer<int> &const_ref = a;
    Buffer<const int> from_const = const_ref;
    EXPECT_EQ(a.data(), from_const.data());
    EXPECT_EQ(2, (any.as<int, calotype::Runtime::AnyDims>()(0, 0)));
    EXPECT_EQ(a.data(), a.as_const().data());

    EXPECT_TRUE((Buffer<int, 2>::can_convert_from(any)));
    EXPECT_FALSE((Buffer<int, 3>::can_convert_from(any)));
    EXPECT_FALSE((Buffer<float, 2>::can_convert_from(any)));
    EXPECT_FALSE((Buffer<int>::can_convert_from(constant)));
    EXPECT_TRUE((Buffer<const void>::can_convert_from(constant)));
    static_assert(std::is_convertible<Buffer<int> &, calotype_buffer_t *>::value, "");
    static_assert(Buffer<int, 2>::has_static_dimensions && Buffer<int>::has_static_calotype_type,
                  "");
    static_assert(!Buffer<>::has_static_calotype_type && Buffer<int, 2>::static_dimensions() == 2,
                  "");
}

TEST(BufferShare, AllocatingAgainGivesUpTheShare) {
    Buffer<int> a(3);
    a.fill(1);
    Buffer<int> b = a;
    a.allocate();
    a.fill(2);
    EXPECT_TRUE(b.all_equal(1));
    EXPECT_TRUE(a.all_equal(2));
}

// Leaks are the sanitizer's to find.
TEST(BufferShare, ManyDimensionsAreFreed) {
    Buffer<int, 5, 2> b(2, 1, 2, 1, 2);
    b.fill(3);
    EXPECT_TRUE(b.copy().all_equal(3));
    EXPECT_TRUE(b.copy_to_planar().all_equal(3));
    Buffer<int, 5, 2> other = std::move(b);
    EXPECT_EQ(5, other.dimensions());
    EXPECT_EQ(0, b.dimensions());
}

TEST(BufferShare, ManyDimensionsMoveToTheHeap) {
    Buffer<int> b(2, 1, 2, 1, 2, 1, 2);
    int n = 0;
    b.for_each_value([&](int &v) { v = n++; });
    Buffer<int> c = b;
    EXPECT_EQ(15, c(1, 0, 1, 0, 1, 0, 1));
    Buffer<int, 7> d = std::move(c);
    EXPECT_EQ(15, d(1, 0, 1, 0, 1, 0, 1));
    b.slice(1, 0);
    b.embed(0, 3);
    EXPECT_EQ(15, b(3, 1, 1, 0, 1, 0, 1));
}

// ---- the rest
// ------------------------------------------------------------------------------------

TEST(BufferShape, TakesAnyOrder) {
    Buffer<int> b(3, 4, 2);
    b.fill([](int x, int y, int c) { return x + 10 * y + 100 * c; });
    Buffer<int> t = b.transposed({1, 2, 0});  // x becomes dimension 1, y 2, c 0
    EXPECT_EQ(2, t.extent(0));
    EXPECT_EQ(3, t.extent(1));
    EXPECT_EQ(4, t.extent(2));
    EXPECT_EQ(132, t(1, 2, 3));
    // Channels innermost in memory are the last dimension then.
    Buffer<int> pixels(3, 5, 4);
    pixels.transpose({2, 0, 1});
    EXPECT_EQ(5, pixels.width());
    EXPECT_EQ(3, pixels.channels());
    EXPECT_EQ(1, pixels.stride(2));
}

TEST(BufferShape, GoesWithWhatIsMoved) {
    Buffer<int> a(3, 4);
    Buffer<int, 2> b = std::move(a), c;
    EXPECT_EQ(0, a.dimensions());
    c = std::move(b);
    EXPECT_EQ(0, b.dimensions());
    EXPECT_EQ(4, c.extent(1));
    b = c;
    a = Buffer<int>(7);
    EXPECT_EQ(4, b.extent(1));
    EXPECT_EQ(7, a.extent(0));
}

TEST(BufferShape, HasConventionalNames) {
    Buffer<int> b(5, 4, 3);
    b.set_min(10, 20);
    EXPECT_EQ(5, b.width());
    EXPECT_EQ(4, b.height());
    EXPECT_EQ(3, b.channels());
    EXPECT_EQ(10, b.left());
    EXPECT_EQ(14, b.right());
    EXPECT_EQ(20, b.top());
    EXPECT_EQ(23, b.bottom());
    EXPECT_EQ(0, b.min(2));
    EXPECT_TRUE(b.contains(10, 20));
    EXPECT_FALSE(b.contains(15, 20));
    std::vector<int> xs;
    for (int x : b.dim(0)) {
        xs.push_back(x);
    }
    EXPECT_EQ((std::vector<int>{10, 11, 12, 13, 14}), xs);
    EXPECT_EQ(1, Buffer<int>(7).height());
    b.transpose({2, 0, 1});
    EXPECT_EQ(4, b.width());
    EXPECT_EQ(3, b.height());
    EXPECT_EQ(5, b.channels());
    b.translate({1, 2, 3});
    EXPECT_EQ(21, b.min(0));
    EXPECT_EQ(2, b.min(1));
    EXPECT_EQ(13, b.min(2));
    b.crop({{22, 1}, {3, 2}});
    EXPECT_EQ(1, b.width());
    EXPECT_EQ(2, b.height());
    b.add_dimension();
    EXPECT_EQ(1, b.extent(3));
    b.add_dimension_with_stride(7);
    EXPECT_EQ(7, b.stride(4));
}

TEST(BufferLoops, WalkSeveralBuffersTogether) {
    Buffer<int> a(5, 4, 3);
    auto b = Buffer<float>::make_interleaved(5, 4, 3);
    b.set_min(100, 100, 100);
    a.fill([](int x, int y, int c) { return x + 10 * y + 100 * c; });
    b.for_each_value([](float &to, int from) { to = float(from); }, a);
    for (int c = 0; c < 3; c++) {
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 5; x++) {
                EXPECT_EQ(a(x, y, c), b(100 + x, 100 + y, 100 + c));
            }
        }
    }
    const Buffer<int> &constant = a;
    int sum = 0;
    constant.for_each_value([&](const int &v, const float &w) { sum += v == int(w); }, b);
    EXPECT_EQ(60, sum);
}

TEST(BufferLoops, WalkMemoryInOrder) {
    auto b = Buffer<int>::make_interleaved(5, 4, 3);
    const int *next = b.data();
    b.for_each_value([&](int &v) { EXPECT_EQ(next++, &v); });
    b.transpose(0, 1);
    next = b.data();
    b.for_each_value([&](int &v) { EXPECT_EQ(next++, &v); });
}

TEST(BufferLoops, VisitTheOneElementWithoutDimensions) {
    Buffer<int> b = Buffer<int>::make_scalar();
    b() = 5;
    int calls = 0;
    b.for_each_element([&]() { calls++; });
    b.for_each_element([&](const int *) { calls++; });
    EXPECT_EQ(2, calls);
    EXPECT_EQ(5, b());
}

TEST(BufferLoops, DoNothingWhenEmpty) {
    Buffer<int> b(nullptr, 4, 0);
    b.for_each_element([](int, int) { FAIL(); });
    b.for_each_value([](int &) { FAIL(); });
    EXPECT_EQ(0u, b.number_of_elements());
}

TEST(BufferLoops, LeaveOutTheLastDimensions) {
    Buffer<int> b(3, 2, 4);
    b.fill(0);
    b.fill([](int x, int y) { return 1 + x + 10 * y; });
    int calls = 0, sum = 0;
    b.for_each_element([&](int x) { calls += b(x, 1, 0) == 11 + x; });
    b.for_each_value([&](int v) { sum += v; });
    EXPECT_EQ(3, calls);
    EXPECT_EQ(3 * 1 + 3 + 3 * 11 + 3, sum);
    Buffer<int>(3, 0).fill([](int x) { return x; });  // has no lowest coordinate in the last one
    Buffer<int, 3> c = b;
    c.for_each_element([&](int x, int y) { c(x, y, 2) = c(x, y, 0); });
    EXPECT_EQ(13, b(2, 1, 2));
}

TEST(BufferLoops, WriteToWhatOnlyTheBufferObjectIsConstantOf) {
    const Buffer<int> a(3, 2), b(3, 2);
    a.for_each_value([](int &v) { v = 4; });
    Buffer<const int> source = a;
    source.for_each_value([](const int &from, int &to) { to = 2 * from; }, b);
    EXPECT_TRUE(b.all_equal(8));
}

#ifndef NDEBUG
TEST(BufferElements, CoordinatesAreChecked) {
    Buffer<int> b(4, 3);
    const Buffer<int> &constant = b;
    const int inside[] = {3, 2}, outside[] = {4, 0};
    b(3, 2) = 7;
    EXPECT_EQ(7, constant(inside));
    EXPECT_DEATH(b(4, 0) = 1, "no element has these coordinates");
    EXPECT_DEATH(b(outside) = 1, "no element has these coordinates");
    EXPECT_DEATH((void)constant(outside), "no element has these coordinates");
}

TEST(BufferLoops, WantHostMemory) {
    Buffer<int> nothing(nullptr, 4), other(4);
    EXPECT_DEATH(nothing.for_each_value([](int &v) { v = 0; }), "no host memory");
    EXPECT_DEATH(other.for_each_value([](int &v, int w) { v = w; }, nothing), "no host memory");
}
#endif

TEST(BufferCopy, ChangesTheLayout) {
    Buffer<uint8_t> b(5, 4, 3);
    b.set_min(1, 2, 3);
    b.fill([](int x, int y, int c) { return uint8_t(x + 10 * y + 50 * c); });
    Buffer<uint8_t> i = b.copy_to_interleaved(), p = i.copy_to_planar();
    EXPECT_EQ(1, i.stride(2));
    EXPECT_EQ(1, p.stride(0));
    int same = 0;
    b.for_each_element(
        [&](int x, int y, int c) { same += b(x, y, c) == i(x, y, c) && b(x, y, c) == p(x, y, c); });
    EXPECT_EQ(60, same);
    Buffer<float> f = Buffer<float>::make_with_shape_of(i);
    EXPECT_EQ(1, f.stride(2));
    EXPECT_EQ(2, f.min(1));
    Buffer<void> anything = i;
    EXPECT_EQ(calotype_type_of<uint8_t>(), anything.copy().type());
}

TEST(BufferCopy, IsPlanarInAnyNumberOfDimensions) {
    Buffer<int> b(5, 4);
    b.set_min(1, 2);
    b.fill([](int x, int y) { return x + 10 * y; });
    b.transpose(0, 1);
    Buffer<int> planar = b.copy_to_planar();
    EXPECT_EQ(4, planar.stride(1));
    EXPECT_EQ(21, planar(2, 1));
    EXPECT_EQ(0, Buffer<int>::make_scalar().copy_to_planar().dimensions());
}

TEST(BufferCopy, TakesElementsOfOneSize) {
    Buffer<int> numbers(3);
    numbers.fill(-1);
    Buffer<unsigned> bits(3);
    bits.copy_from(numbers);
    EXPECT_EQ(~0u, bits(1));
}

TEST(BufferCopy, OfAConstantBufferIsNot) {
    int memory[4] = {1, 2, 3, 4};
    Buffer<const int> b(memory, 4);
    Buffer<int> c = b.copy();
    c(0) = 9;
    EXPECT_EQ(1, b(0));
    EXPECT_TRUE(c.host_dirty());
}

}  // namespace
