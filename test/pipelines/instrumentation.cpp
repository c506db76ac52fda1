// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline reports while it runs: trace events, profiles, files; and what it finds in the
// cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x"), y("y");

// Handlers are plain C functions.
std::map<int, int> event_counts;
int largest_stored;
int next_event_id;

int32_t count_event(JITUserContext *, const calotype_trace_event_t *e) {
    const bool is_access = e->event == calotype_trace_load || e->event == calotype_trace_store;
    event_counts[e->event] += is_access ? e->type.lanes : 1;
    for (int i = 0; e->event == calotype_trace_store && i < e->type.lanes; i++) {
        largest_stored = std::max(largest_stored, static_cast<const int32_t *>(e->value)[i]);
    }
    return ++next_event_id;
}

TEST(Tracing, every_event_of_one_func) {
    event_counts.clear();
    largest_stored = next_event_id = 0;
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x + 1, y);
    g.compute_at(f, y).trace_stores().trace_loads().trace_realizations().add_trace_tag("a tag");
    f.vectorize(x, 4);
    f.jit_handlers().custom_trace = count_event;
    f.realize({8, 3});
    EXPECT_EQ(event_counts[calotype_trace_load], 8 * 3 * 2);
    EXPECT_EQ(event_counts[calotype_trace_store], 9 * 3);
    EXPECT_EQ(largest_stored, 8 + 2);
    for (int event :
         {calotype_trace_begin_realization, calotype_trace_end_realization, calotype_trace_produce,
          calotype_trace_end_produce, calotype_trace_consume, calotype_trace_end_consume}) {
        EXPECT_EQ(event_counts[event], 3) << event;
    }
    EXPECT_EQ(event_counts[calotype_trace_begin_pipeline], 1);
    EXPECT_EQ(event_counts[calotype_trace_end_pipeline], 1);
    EXPECT_EQ(event_counts[calotype_trace_tag], 2);  // what g is, and its own
}

TEST(Tracing, a_feature_that_reports_stores_reports_realizations) {
    event_counts.clear();
    next_event_id = 0;
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + 1;
    g.compute_at(f, y);
    f.jit_handlers().custom_trace = count_event;
    f.realize({8, 3}, get_jit_target_from_environment().with_feature(Target::TraceStores));
    EXPECT_EQ(event_counts[calotype_trace_store], 2 * 8 * 3);
    EXPECT_EQ(event_counts[calotype_trace_begin_realization], 3 + 1);
    EXPECT_EQ(event_counts[calotype_trace_end_realization], 3 + 1);
    EXPECT_EQ(event_counts[calotype_trace_load], 0);
}

std::vector<std::string> seen_tags, produced;

int32_t record_regions(JITUserContext *, const calotype_trace_event_t *e) {
    std::string text = e->func;
    if (e->event == calotype_trace_tag) {
        seen_tags.push_back(text + ": " + e->trace_tag);
    }
    for (int i = 0; e->event == calotype_trace_produce && i < e->dimensions; i++) {
        text += " " + std::to_string(e->coordinates[i]);
    }
    if (e->event == calotype_trace_produce) {
        produced.push_back(text);
    }
    return 0;
}

TEST(Tracing, tells_types_and_regions) {
    ImageParam im(Float(32), 2, "traced_image");
    im.trace_loads();
    Func g("slid"), f("whole");
    g(x, y) = Tuple(cast<uint16_t>(x), im(x, y));
    f(x, y) = g(x, y)[1] + g(x, y + 1)[1] + g(x, y)[0];
    g.store_root().compute_at(f, y).trace_realizations();
    Buffer<float> picture(4, 4);
    picture.fill(1.0f);
    im.set(picture);
    f.jit_handlers().custom_trace = record_regions;
    seen_tags.clear();
    produced.clear();
    f.realize({4, 3});
    // Of each how many types, their codes, bits and lanes; how many dimensions, min and extent.
    EXPECT_EQ(seen_tags,
              (std::vector<std::string>{"traced_image: func_type_and_dim: 1 2 32 1 2 0 4 0 4",
                                        "slid: func_type_and_dim: 2 1 16 1 2 32 1 2 0 4 0 4"}));
    EXPECT_EQ(produced, (std::vector<std::string>{"slid 0 4 0 2", "slid 0 4 2 1", "slid 0 4 3 1"}));
}

struct SeenEvent {
    int code, parent, thread;
    std::string func;
};
std::mutex seen_lock;
std::vector<SeenEvent> seen;

int32_t record_event(JITUserContext *, const calotype_trace_event_t *e) {
    std::lock_guard lock(seen_lock);
    seen.push_back({e->event, e->parent_id, e->thread_id, e->func});
    return int32_t(seen.size());
}

TEST(Tracing, an_event_belongs_to_the_innermost_around_it) {
    seen.clear();
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + 1;
    g.compute_at(f, y).trace_stores();
    f.trace_realizations().parallel(y);
    f.jit_handlers().custom_trace = record_event;
    f.realize({4, 5});
    int stores = 0, tasks = 0;
    for (const SeenEvent &e : seen) {
        const SeenEvent *parent = e.parent == 0 ? nullptr : &seen[size_t(e.parent - 1)];
        EXPECT_EQ(e.thread != 0, e.code == calotype_trace_begin_parallel_task);
        if (e.code == calotype_trace_begin_parallel_task) {
            tasks++;
            EXPECT_EQ(e.func, f.name() + ".s0.y");
            EXPECT_EQ(parent->code, calotype_trace_produce);
        } else if (e.code == calotype_trace_store) {
            stores++;
            EXPECT_EQ(parent->code, calotype_trace_begin_parallel_task);
        } else if (e.code == calotype_trace_produce) {
            EXPECT_EQ(parent->code, calotype_trace_begin_realization);
        } else if (e.code == calotype_trace_begin_realization) {
            EXPECT_EQ(parent->code, calotype_trace_begin_pipeline);
        }
    }
    EXPECT_EQ(tasks, 5);
    EXPECT_EQ(stores, 4 * 5);
}

/// Under a guard lanes are traced one by one, in each copy of the body.
TEST(Tracing, loads_of_guarded_lanes_in_unrolled_rows) {
    event_counts.clear();
    Func g("g"), f("f");
    g(x, y) = x * 3 + y;
    f(x, y) = g(x, y) * 2;
    g.compute_root().trace_loads();
    f.reorder(y, x).vectorize(x, 4, TailStrategy::GuardWithIf).unroll(y, 2);
    f.jit_handlers().custom_trace = count_event;
    Buffer<int> result = f.realize({10, 4});
    result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), 6 * i + 2 * j); });
    EXPECT_EQ(event_counts[calotype_trace_load], 10 * 4);
}

TEST(Memoization, a_second_run_finds_the_first_result) {
    Param<int> p("p");
    Func g("g"), f("f");
    g(x) = x * p;
    g.compute_root().memoize().trace_stores();
    f(x) = g(x) + 1;
    auto stores_of = [&](int value) {
        event_counts.clear();
        p.set(value);
        f.jit_handlers().custom_trace = count_event;
        Buffer<int> result = f.realize({10});
        EXPECT_EQ(result(4), 4 * value + 1);
        return event_counts[calotype_trace_store];
    };
    EXPECT_EQ(stores_of(3), 10);
    EXPECT_EQ(stores_of(3), 0);
    EXPECT_EQ(stores_of(4), 10);
    EXPECT_EQ(stores_of(3), 0);
}

/// What a parameter makes computed may be less than what is allocated for all that uses may touch.
TEST(Memoization, results_are_of_the_region_that_was_computed) {
    Param<int> choice("choice");
    Func g("g"), f("f");
    g(x) = x * 3;
    g.compute_root().memoize();
    f(x) = select(choice > 1, g(clamp(x, 0, 9)), g(x - 3));
    for (const int c : {2, 0, 1, 2}) {
        choice.set(c);
        Buffer<int> result(30);
        result.set_min(5);
        f.realize(result);
        for (int i = 5; i < 35; i++) {
            ASSERT_EQ(result(i), 3 * (c > 1 ? std::min(i, 9) : i - 3)) << c << ", " << i;
        }
    }
}

/// What is found has been computed in another iteration, into a copy that is not this one's.
/// Tails that write more than is required do not make of it what is.
TEST(Memoization, results_are_of_the_region_that_is_required) {
    Var xo("xo"), xi("xi");
    Func f("f"), g("g");
    f(x) = x;
    f(x) += x * 10;
    g(x) = f(0) + f(x);
    f.compute_at(g, x).memoize();
    f.update().split(x, xo, xi, 8, TailStrategy::PredicateLoads);
    Buffer<int> result = g.realize({30});
    result.for_each_element([&](int i) { EXPECT_EQ(result(i), 11 * i); });
}

TEST(Memoization, results_have_storage_of_their_own) {
    for (const bool is_async : {false, true}) {
        for (const bool is_ring : {false, true}) {
            Func g("g"), f("f");
            const int own = (is_async ? 1 : 0) + (is_ring ? 2 : 0);  // nobody else has computed it
            g(x, y) = x * 3 + y * 5 + own;
            f(x, y) = g(x, y / 2);
            g.compute_at(f, y).hoist_storage_root().memoize();
            if (is_async) {
                g.async();
            }
            if (is_ring) {
                g.ring_buffer(2);
            }
            for (int again = 0; again < 3; again++) {
                Buffer<int> result = f.realize({16, 10});
                result.for_each_element(
                    [&](int i, int j) { ASSERT_EQ(result(i, j), 3 * i + 5 * (j / 2) + own); });
            }
        }
    }
}

TEST(Memoization, clones_share_results) {
    Func f("f"), g("g"), h("h");
    f(x, y) = x + y;
    f(x, y) += f(x, y) * x;
    g(x, y) = f(x, y) * 2;
    h(x, y) = f(x, y) + g(x, y);
    h.bound(x, 0, 8).bound(y, 0, 4);
    g.compute_root();
    f.clone_in(h).compute_at(h, y).memoize().trace_stores();
    f.compute_at(g, y).memoize().trace_stores();
    event_counts.clear();
    h.jit_handlers().custom_trace = count_event;
    Buffer<int> result = h.realize({8, 4});
    EXPECT_EQ(result(5, 2), 3 * 7 * 6);
    EXPECT_EQ(event_counts[calotype_trace_store], 2 * 8 * 4);
}

TEST(Memoization, depends_on_the_shape_of_a_buffer) {
    ImageParam in(UInt(8), 1, "in");
    Func g("g"), f("f");
    g() = in.dim(0).extent() * 10 + in.dim(0).min();
    g.compute_root().memoize();
    f() = g() + 1;
    const auto result_for = [&](int extent, int min) {
        Buffer<uint8_t> b(extent);
        b.set_min(min);
        in.set(b);
        return Buffer<int>(f.realize())();
    };
    EXPECT_EQ(result_for(3, 0), 31);
    EXPECT_EQ(result_for(5, 0), 51);
    EXPECT_EQ(result_for(5, 2), 53);
    EXPECT_EQ(result_for(3, 0), 31);
}

TEST(Memoization, depends_on_where_a_reduction_runs) {
    Param<int> first("first"), extent("extent"), limit("limit");
    Func g("g"), f("f");
    RDom r(first, extent, "r");
    r.where(r < limit);
    g(x) = x;
    g(x) += r;
    g.compute_root().memoize();
    f(x) = g(x) + 1;
    const auto result_for = [&](int from, int count, int below) {
        first.set(from);
        extent.set(count);
        limit.set(below);
        return Buffer<int>(f.realize({4}))(2);
    };
    EXPECT_EQ(result_for(0, 4, 100), 3 + 6);
    EXPECT_EQ(result_for(1, 4, 100), 3 + 10);
    EXPECT_EQ(result_for(1, 5, 100), 3 + 15);
    EXPECT_EQ(result_for(1, 5, 3), 3 + 3);
    EXPECT_EQ(result_for(0, 4, 100), 3 + 6);
}

TEST(DebugToFile, writes_all_of_the_storage) {
    const std::string file = ::testing::TempDir() + "calotype_debug_to_file.npy";
    std::remove(file.c_str());
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x, y + 1);
    g.store_root().compute_at(f, y).debug_to_file(file);
    f.realize({16, 8});
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    ASSERT_TRUE(in) << file;
    EXPECT_GE(int(in.tellg()), 16 * 9 * 4);
    std::remove(file.c_str());
}

TEST(Profiling, a_run_is_counted) {
    Func g("g"), f("profiled");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x, y + 1);
    g.compute_root();
    f.parallel(y);
    Buffer<int> result =
        f.realize({64, 64}, get_jit_target_from_environment().with_feature(Target::Profile));
    EXPECT_EQ(result(5, 7), 5 + 7 + 5 + 8);
}

}  // namespace
}  // namespace calotype
