// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines with a linkable of each kind: what they compute, and that its setup and teardown are
// called once.
#include "gpu/corpus/corpus_test.h"

#include "harness/cache_stats.h"
#include "linked_functions.h"
#include "runtime/abi/linkables.h"
#include "runtime/abi/nrt.h"

using namespace calotype_test;

namespace {

int setups, teardowns;

}  // namespace

// The host part of the linkable. Where its table is a variable of the module, 77 goes into it.
extern "C" int rng_setup(const calotype_callback_args *args) {
    setups++;
    const int32_t value = 77;
    if (args->user) {
        return int(args->svc->copy_to_global(args, "rng_table", 4, &value, sizeof value));
    }
    return 0;
}

extern "C" int rng_teardown(const calotype_callback_args *) {
    teardowns++;
    return 0;
}

extern "C" int rng_user;
int rng_user = 1;

// In the bitcode for the host, if a compiler for that was there.
extern "C" __attribute__((weak)) int rng_table[4];

namespace {

using Pipeline = int (*)(calotype_buffer_t *, calotype_buffer_t *);

int32_t expected(int32_t a, int32_t x, bool reads_table) {
    const int32_t table[4] = {10, 77, 30, 40};
    int32_t value = a + 2 + 1000 * table[x & 3] + int32_t(float(a) * 2 + float(x) * 2 + 8);
    value += a % 2 == 0 ? int8_t(a) : int16_t(uint16_t(x));
    value += int32_t(double(a) / 2) + (x % 2 ? 7 : 0);
    return value + (reads_table ? table[0] + 1 : 0);
}

void check_values(Pipeline pipeline, bool reads_table) {
    for (int width : {64, 65, 1001}) {
        Image<int32_t, 1> in(width), out(width);
        fill(in);
        expect_success(pipeline(in, out), out);
        for (int x = 0; x < width; x++) {
            ASSERT_EQ(out(x), expected(in(x), x, reads_table)) << x;
        }
    }
}

void check(Pipeline pipeline, bool reads_table) {
    setups = teardowns = 0;
    check_values(pipeline, reads_table);
    EXPECT_EQ(setups, 1);
    EXPECT_EQ(teardowns, 0);
    ASSERT_EQ(calotype_shutdown(10000), CALOTYPE_OK) << calotype_last_error()->log;
    EXPECT_EQ(setups, 1);
    EXPECT_EQ(teardowns, 1);
}

enum class Where : uint8_t { cuda, opencl, host, heap, without_lto };

struct Row {
    const char *name;
    Pipeline pipeline;
    Where where;
};

void PrintTo(const Row &row, std::ostream *out) {
    *out << row.name;
}

const Row rows[] = {
#define LINKED(name, where) {#name, name, Where::where},
#include "linked_functions.def"
};

/// Every call allocates and frees once.
void check_heap(Pipeline pipeline) {
    const int width = 1001;
    ASSERT_EQ(calotype_nrt_enable_stats(nullptr, 1), CALOTYPE_OK);
    ASSERT_EQ(calotype_nrt_reset(nullptr), CALOTYPE_OK);
    Image<int32_t, 1> in(width), out(width);
    fill(in);
    expect_success(pipeline(in, out), out);
    for (int x = 0; x < width; x++) {
        ASSERT_EQ(out(x), in(x) + x);
    }
    calotype_nrt_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(calotype_nrt_read(nullptr, &stats), CALOTYPE_OK);
    EXPECT_EQ(stats.alloc, uint64_t(width));
    EXPECT_EQ(stats.free_, uint64_t(width));
    EXPECT_EQ(stats.alloc_bytes, uint64_t(8 * width));
    EXPECT_EQ(stats.failed + stats.mi_alloc + stats.mi_free, 0u);
    EXPECT_EQ(calotype_nrt_enable_stats(nullptr, 0), CALOTYPE_OK);
    EXPECT_EQ(calotype_shutdown(10000), CALOTYPE_OK);
}

/// Nothing comes from the disk: what an earlier run of this program linked is linked again.
class EveryForm : public ::testing::TestWithParam<Row> {
protected:
    void SetUp() override {
        ASSERT_EQ(calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF), CALOTYPE_OK);
    }
    void TearDown() override {
        EXPECT_EQ(calotype_set_store_dir(nullptr, 0, 0), CALOTYPE_OK);
    }
};

// L12.
TEST_P(EveryForm, GivesTheSame) {
    const Where where = GetParam().where;
    if (where == Where::host) {
        // The variable is one for the program; nothing is loaded, so nothing is set up.
        rng_table[1] = 77;
        check_values(GetParam().pipeline, true);
        return;
    }
    if (where == Where::opencl ? !calotype_opencl_can_run() : !has_cuda()) {
        GTEST_SKIP() << "no device";
    }
    if (where == Where::heap) {
        check_heap(GetParam().pipeline);
        return;
    }
    const uint64_t missed = cache_stats().lto_missed;
    Image<int32_t, 1> in(64), out(64);
    if (where == Where::without_lto && GetParam().pipeline(in, out) != 0) {
        const std::string log = calotype_last_error()->log;
        ASSERT_NE(log.find("nvJitLink, which is not found"), std::string::npos) << log;
        GTEST_SKIP() << "no nvJitLink on this machine";
    }
    ASSERT_EQ(calotype_shutdown(10000), CALOTYPE_OK);
    check(GetParam().pipeline, where != Where::opencl);
    EXPECT_EQ(cache_stats().lto_missed > missed, where == Where::without_lto);
}

INSTANTIATE_TEST_SUITE_P(Linked, EveryForm, ::testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
