// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines under the schedules of Mullapudi2016 give what they give where each Func is computed as a
// whole.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calotype.h"
#include "harness/expect_error.h"

namespace calotype {
namespace {

const Var x("x"), y("y"), c("c"), n("n");

int doubled(calotype_buffer_t *in, calotype_buffer_t *out) {
    for (int d = 0; !in->host && d < 2; d++) {
        in->dim[d].min = out->dim[d].min;
        in->dim[d].extent = out->dim[d].extent;
    }
    if (in->host && out->host) {
        Buffer<int> from(*in), to(*out);
        to.for_each_element([&](int i, int j) { to(i, j) = 2 * from(i, j); });
    }
    return 0;
}

using Make = std::function<std::vector<Func>()>;
using Sizes = std::vector<int32_t>;

std::string autoschedule(const std::vector<Func> &outputs, const Sizes &estimates,
                         const std::map<std::string, std::string> &extra = {}) {
    for (Func f : outputs) {
        for (int d = 0; d < f.dimensions(); d++) {
            f.set_estimate(f.args()[size_t(d)], 0, estimates[size_t(d)]);
        }
    }
    return Pipeline(outputs)
        .apply_autoscheduler(get_jit_target_from_environment(), {"Mullapudi2016", extra})
        .schedule_source;
}

/// The Funcs of the pipeline but for its outputs.
std::vector<Func> others(const std::vector<Func> &outputs) {
    std::vector<Func> result;
    try {
        for (size_t i = 0;; i++) {
            result.push_back(Pipeline(outputs).get_func(i));
        }
    } catch (const CompileError &) {
        result.resize(result.size() - outputs.size());
    }
    return result;
}

/// Of sizes that are the estimates, and that are not; all values, bit by bit.
Realization realized(const std::vector<Func> &outputs, const Sizes &size) {
    Pipeline p(outputs);
    p.set_jit_externs({{"doubled", JITExtern(ExternCFunction(doubled))}});
    return p.realize(size);
}

void expect_same(const Make &make, const Sizes &estimates, const std::vector<Sizes> &sizes) {
    for (const auto &extra : std::vector<std::map<std::string, std::string>>{
             {}, {{"last_level_cache_size", "32768"}, {"parallelism", "4"}}}) {
        const std::vector<Func> plain = make(), scheduled = make();
        const std::string text = autoschedule(scheduled, estimates, extra);
        for (Func f : others(plain)) {
            f.compute_root();
        }
        for (const Sizes &s : sizes) {
            const Realization expected = realized(plain, s), given = realized(scheduled, s);
            for (size_t i = 0; i < expected.size(); i++) {
                const Buffer<> &a = expected[int(i)], &b = given[int(i)];
                ASSERT_EQ(0, std::memcmp(a.data(), b.data(), a.size_in_bytes())) << text;
            }
        }
    }
}

Func source() {
    Func f("source");
    f(x, y) = (x * 7 + y * 13 + x * y) % 251;
    return f;
}

TEST(Autoscheduled, stencil_chains) {
    const Make make = [] {
        Func f = source();
        for (int i = 0; i < 5; i++) {
            Func g("stage");
            g(x, y) = (f(x - 1, y) + f(x + 1, y) + f(x, y - 1) + f(x, y + 1) + f(x, y)) % 1000;
            f = g;
        }
        return std::vector<Func>{f};
    };
    expect_same(make, {640, 480}, {{640, 480}, {641, 479}, {1, 1}, {3, 100}, {100, 3}, {33, 17}});
}

TEST(Autoscheduled, pyramids) {
    const Make make = [] {
        std::vector<Func> down = {source()};
        for (int i = 0; i < 4; i++) {
            Func f("down"), g = down.back();
            f(x, y) = (g(2 * x, 2 * y) + g(2 * x + 1, 2 * y) + g(2 * x, 2 * y + 1)) / 3;
            down.push_back(f);
        }
        Func up = down.back();
        for (int i = 3; i >= 0; i--) {
            Func f("up");
            f(x, y) = up(x / 2, y / 2) + up((x + 1) / 2, (y + 1) / 2) - down[size_t(i)](x, y);
            up = f;
        }
        return std::vector<Func>{up};
    };
    expect_same(make, {512, 512}, {{512, 512}, {117, 53}, {2, 1}});
}

TEST(Autoscheduled, histograms) {
    const Make make = [] {
        Func f = source(), histogram("histogram"), sums("sums"), out("out");
        RDom r(0, 200, 0, 100), s(1, 255);
        histogram(x) = 0;
        histogram(clamp(f(r.x, r.y), 0, 255)) += 1;
        sums(x) = histogram(0);
        sums(s) = sums(s - 1) + histogram(s);
        out(x, y) = sums(clamp(f(x, y), 0, 255));
        return std::vector<Func>{out};
    };
    expect_same(make, {200, 100}, {{200, 100}, {7, 5}});
}

TEST(Autoscheduled, matrix_products) {
    for (const bool is_output : {true, false}) {
        const Make make = [&] {
            Func a("a"), b("b"), product("product"), out("out");
            a(x, y) = x - 3 * y;
            b(x, y) = x * y % 17;
            RDom r(0, 64);
            product(x, y) = 0;
            product(x, y) += a(r, y) * b(x, r);
            out(x, y) = max(product(x, y), 0);
            return std::vector<Func>{is_output ? product : out};
        };
        expect_same(make, {256, 256}, {{256, 256}, {255, 129}, {5, 3}});
    }
}

TEST(Autoscheduled, tuples_and_several_outputs) {
    const Make make = [] {
        Func f = source(), both("both"), sum("sum"), difference("difference");
        both(x, y) = Tuple(f(x, y) + f(x + 1, y), cast<uint8_t>(f(x, y + 2)));
        sum(x, y) = both(x, y)[0] + both(x + 1, y)[1];
        difference(x, y) = Tuple(both(x, y)[0] - both(x, y + 1)[1], sum(x, y) * 2);
        return std::vector<Func>{sum, difference};
    };
    expect_same(make, {300, 200}, {{300, 200}, {31, 9}});
}

TEST(Autoscheduled, updates) {
    const Make make = [] {
        Func f = source(), scan("scan"), out("out");
        RDom rows(1, 99), columns(1, 50);
        scan(x, y) = f(x, y);
        scan(x, rows) = (scan(x, rows - 1) * 3 + f(x, rows)) % 1009;
        scan(columns, y) = (scan(columns - 1, y) + scan(columns, y)) % 1009;
        scan(x, 5) = f(x, 7);
        scan(3, y) += f(y, 4);
        out(x, y) = scan(x, y) + scan(x + 1, y + 1);
        return std::vector<Func>{out};
    };
    expect_same(make, {160, 90}, {{160, 90}, {60, 4}, {1, 1}});
}

TEST(Autoscheduled, one_four_and_no_dimensions) {
    expect_same(
        [] {
            Func f("f"), g("g");
            f(x) = x % 997;
            g(x) = f(x) + f(x + 3) * f(x - 2);
            return std::vector<Func>{g};
        },
        {100000}, {{100000}, {99999}, {1}});
    expect_same(
        [] {
            Func f("f"), g("g"), h("h");
            RDom r(0, 3, 0, 3);
            f(c, x, y, n) = c + 2 * x + 3 * y + 5 * n;
            g(c, x, y, n) = 0;
            g(c, x, y, n) += f(c, x + r.x, y + r.y, n) * (r.x + 1);
            h(c, x, y, n) = max(g(c, x, y, n), 100);
            return std::vector<Func>{h};
        },
        {32, 40, 40, 3}, {{32, 40, 40, 3}, {3, 5, 7, 2}});
    expect_same(
        [] {
            Func f = source(), total("total");
            RDom r(0, 100, 0, 50);
            total() = 0;
            total() += f(r.x, r.y);
            return std::vector<Func>{total};
        },
        {}, {{}});
}

TEST(Autoscheduled, extern_stages) {
    const Make make = [] {
        Func f = source(), twice("twice"), out("out");
        twice.define_extern("doubled", {f}, Int(32), {x, y});
        out(x, y) = twice(x, y) + twice(x + 1, y);
        return std::vector<Func>{out};
    };
    expect_same(make, {200, 100}, {{200, 100}, {9, 5}});
}

TEST(Autoscheduled, memoized_and_bounded) {
    const Make make = [] {
        Func f = source(), kept("kept"), out("out");
        kept(x, y) = f(x, y) + f(x, y + 1);
        kept.memoize();
        out(x, y, c) = kept(x, y) * (c + 1) + kept(x + 1, y);
        out.bound(c, 0, 3);
        return std::vector<Func>{out};
    };
    expect_same(make, {200, 100, 3}, {{200, 100, 3}, {9, 5, 3}});
}

TEST(Autoscheduled, reads_of_inputs_stay_within_them) {
    ImageParam in(Int(32), 2, "in");
    Func f("f"), out("out");
    f(x, y) = in(x, y) * 3;
    out(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 1) + f(x + 2, y + 2);
    autoschedule({out}, {640, 480});
    for (const Sizes &s : {Sizes{21, 9}, Sizes{1, 1}, Sizes{100, 70}}) {
        Buffer<int> exact(s[0] + 2, s[1] + 2);
        exact.fill(1);
        in.set(exact);
        const Buffer<int> result = out.realize(s);
        result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), 12); });
    }
}

TEST(Autoscheduled, what_is_written_down) {
    Func f = source(), blurred("blurred");
    blurred(x, y) = f(x, y) + f(x + 1, y);
    const std::string text = autoschedule({blurred}, {1000, 1000});
    EXPECT_NE(text.find("inline void apply_schedule(const ::calotype::Pipeline &"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(".vectorize("), std::string::npos) << text;
    EXPECT_NE(text.find(".parallel(y"), std::string::npos) << text;
}

TEST(Autoscheduled, estimates_of_parameters) {
    const Target target = get_jit_target_from_environment();
    Param<int> radius("radius");
    Func f = source(), sum("sum");
    RDom r(0, radius);
    sum(x, y) = 0;
    sum(x, y) += f(x + r, y);
    sum.set_estimates({{0, 100}, {0, 100}});
    EXPECT_COMPILE_ERROR(Pipeline(sum).apply_autoscheduler(target, {"Mullapudi2016"}),
                         "parameter 'radius' has no estimate, and the domain of " +
                             sum.rvars()[0].name() + " in func " + sum.name() + " depends on it");
    radius.set_estimate(5);
    Pipeline(sum).apply_autoscheduler(target, {"Mullapudi2016"});
    radius.set(3);
    EXPECT_GE(Buffer<int>(sum.realize({10, 10}))(0, 0), 0);
}

TEST(Autoscheduled, errors) {
    const Target target = get_jit_target_from_environment();
    const auto apply = [&](const Func &f, const std::map<std::string, std::string> &extra = {}) {
        Pipeline(f).apply_autoscheduler(target, {"Mullapudi2016", extra});
    };
    Func f("unestimated"), g("scheduled");
    f(x, y) = x + y;
    f.set_estimate(x, 0, 100);
    EXPECT_COMPILE_ERROR(apply(f),
                         "dimension 1 (y) of output " + f.name() +
                             " has no estimate, which an autoscheduler needs: see set_estimate");
    f.set_estimate(y, 0, 100);
    EXPECT_COMPILE_ERROR(apply(f, {{"paralelism", "4"}}),
                         "autoscheduler Mullapudi2016 has no parameter 'paralelism', did you mean "
                         "'parallelism'?");
    EXPECT_COMPILE_ERROR(apply(f, {{"parallelism", "many"}}),
                         "autoscheduler.parallelism is 'many', must be a number from 1 to 1048576");
    g(x, y) = f(x, y) + f(x + 1, y);
    g.set_estimates({{0, 100}, {0, 100}});
    f.compute_root();
    EXPECT_COMPILE_ERROR(apply(g), "func " + f.name() +
                                       " has a place where it is computed or stored, and an "
                                       "autoscheduler writes the whole schedule of a pipeline");
    f.compute_inline();
    g.vectorize(x, 8);
    EXPECT_COMPILE_ERROR(apply(g), "func " + g.name() +
                                       " has loops that are split, fused or renamed, and an "
                                       "autoscheduler writes the whole schedule of a pipeline");
}

TEST(Autoscheduled, loops_in_another_order_are_a_schedule) {
    for (const bool of_update : {false, true}) {
        RDom r(0, 10);
        Func f("f");
        f(x, y) = x;
        f(x, y) += r * y;
        f.set_estimates({{0, 100}, {0, 100}});
        of_update ? f.update().reorder(x, r) : Stage(f).reorder(y, x);
        EXPECT_COMPILE_ERROR(Pipeline(f).apply_autoscheduler(get_host_target(), {"Mullapudi2016"}),
                             "func " + f.name() +
                                 " has loops that are reordered, and an autoscheduler writes the "
                                 "whole schedule of a pipeline");
    }
}

}  // namespace
}  // namespace calotype
