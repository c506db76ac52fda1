// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Debug files, traces and profiles: what stands in them.
#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "capture.h"
#include "runtime/buffer.h"

namespace {

using calotype::Runtime::Buffer;

class Files : public ::testing::Test {
protected:
    std::filesystem::path folder;

    void SetUp() override {
        char name[] = "/tmp/calotype_files_XXXXXX";
        folder = mkdtemp(name);
    }
    void TearDown() override {
        std::filesystem::remove_all(folder);
    }
    std::string path(const char *name) const {
        return (folder / name).string();
    }
    std::string contents(const char *name) const {
        std::ifstream in(folder / name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    int debug(const char *name, calotype_buffer_t *buf) const {
        return calotype_debug_to_file(nullptr, path(name).c_str(), buf);
    }
};

TEST_F(Files, Npy) {
    Buffer<int16_t> b(3, 2);
    b.fill([](int x, int y) { return int16_t(x + 10 * y); });
    b.transpose(0, 1);  // not in memory order
    ASSERT_EQ(0, debug("a.npy", b));
    const std::string text = contents("a.npy");
    const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }";
    EXPECT_EQ(std::string("\x93NUMPY\x01\0", 8), text.substr(0, 8));
    EXPECT_EQ(header, text.substr(10, header.size()));
    ASSERT_EQ(128u + 12, text.size());
    EXPECT_EQ('\n', text[127]);
    const int16_t expected[] = {0, 10, 1, 11, 2, 12};
    EXPECT_EQ(0, memcmp(expected, text.data() + 128, 12));
}

TEST_F(Files, Mat) {
    Buffer<int16_t> b(3, 1);
    b.fill([](int x, int y) { return int16_t(x); });
    ASSERT_EQ(0, debug("a.mat", b));
    const std::string text = contents("a.mat");
    // Header, tag of the matrix, its flags, extents, name, and elements.
    ASSERT_EQ(128u + 8 + 16 + 16 + 16 + 8 + 8, text.size());
    EXPECT_EQ("MATLAB 5.0 MAT-file ", text.substr(0, 20));
    EXPECT_EQ(std::string("\0\x01IM", 4), text.substr(124, 4));
    uint32_t words[18];
    memcpy(words, text.data() + 128, sizeof words);
    EXPECT_EQ(14u, words[0]);
    EXPECT_EQ(text.size() - 136, words[1]);
    EXPECT_EQ(10u, words[4]);  // a matrix of int16
    EXPECT_EQ(3u, words[8]);
    EXPECT_EQ(1u, words[9]);
    EXPECT_EQ(3u, words[14]);  // elements of int16
    EXPECT_EQ(6u, words[15]);
    const int16_t expected[] = {0, 1, 2};
    EXPECT_EQ(0, memcmp(expected, text.data() + 128 + 64, 6));
}

TEST_F(Files, NpyOfOneDimensionAndNone) {
    Buffer<float> b(3);
    b.fill(1);
    ASSERT_EQ(0, debug("a.npy", b));
    EXPECT_NE(std::string::npos,
              contents("a.npy").find("'<f4', 'fortran_order': False, 'shape': (3, )"));
    auto s = Buffer<bool>::make_scalar();
    s() = true;
    ASSERT_EQ(0, debug("s.npy", s));
    EXPECT_NE(std::string::npos,
              contents("s.npy").find("'|b1', 'fortran_order': False, 'shape': ()"));
}

TEST_F(Files, PgmAndPpm) {
    Buffer<uint8_t> grey(3, 2);
    grey.fill([](int x, int y) { return uint8_t('a' + x + 3 * y); });
    ASSERT_EQ(0, debug("a.pgm", grey));
    EXPECT_EQ("P5\n3 2\n255\nabcdef", contents("a.pgm"));
    Buffer<uint16_t> colour(2, 1, 3);
    colour.fill([](int x, int, int c) { return uint16_t(256 * ('a' + c) + ('x' + x)); });
    ASSERT_EQ(0, debug("a.ppm", colour));
    EXPECT_EQ("P6\n2 1\n65535\naxbxcxaybycy", contents("a.ppm"));
}

TEST_F(Files, Tiff) {
    Buffer<float> b(3, 2);
    b.fill(0.5f);
    ASSERT_EQ(0, debug("a.tiff", b));
    const std::string text = contents("a.tiff");
    EXPECT_EQ(std::string("II*\0\x08\0\0\0", 8), text.substr(0, 8));
    EXPECT_EQ(8u + 2 + 11 * 12 + 4 + 24, text.size());
    float last;
    memcpy(&last, text.data() + text.size() - 4, 4);
    EXPECT_EQ(0.5f, last);
}

TEST_F(Files, Raw) {
    Buffer<int32_t> b(2, 3);
    b.fill([](int x, int y) { return x + 2 * y; });
    ASSERT_EQ(0, debug("a.tmp", b));
    const std::string text = contents("a.tmp");
    const int32_t expected[] = {2, 3, 1, 1, 7, 0, 1, 2, 3, 4, 5};
    ASSERT_EQ(sizeof expected, text.size());
    EXPECT_EQ(0, memcmp(expected, text.data(), sizeof expected));
}

TEST_F(Files, ThatCannotBeWrittenAreNotThere) {
    calotype_test::CaptureErrors errors;
    Buffer<int> ints(3, 2);
    EXPECT_EQ(-13, debug("a.pgm", ints));
    EXPECT_FALSE(std::filesystem::exists(path("a.pgm")));
    EXPECT_EQ(-13, debug("no/such/folder/a.npy", ints));
    Buffer<int> five(1, 1, 1, 1, 2);
    EXPECT_EQ(-13, debug("a.tmp", five));
    EXPECT_FALSE(std::filesystem::exists(path("a.tmp")));
    EXPECT_EQ(-38, debug("a.tmp", nullptr));
    EXPECT_EQ("buffer given to calotype_debug_to_file is null", errors.take());
}

// ---- traces
// --------------------------------------------------------------------------------------

calotype_trace_event_t store_event(void *value, int32_t *coordinates) {
    calotype_trace_event_t event = {};
    event.func = "f";
    event.value = value;
    event.coordinates = coordinates;
    event.trace_tag = "";
    event.type = calotype_type_of<uint8_t>().with_lanes(2);
    event.event = calotype_trace_store;
    event.parent_id = 3;
    event.value_index = 1;
    event.dimensions = 4;
    return event;
}

TEST(Trace, IsTextByDefault) {
    calotype_test::CapturePrint print;
    uint8_t value[2] = {5, 6};
    int32_t coordinates[4] = {1, 2, 7, 7};
    calotype_trace_event_t event = store_event(value, coordinates);
    const int32_t id = calotype_trace(nullptr, &event);
    EXPECT_GT(id, 0);
    EXPECT_EQ("store f(<1, 2>, <7, 7>).1 = <5, 6>\n", print.take());

    event = {};
    event.func = "g";
    event.event = calotype_trace_tag;
    event.trace_tag = "hello";
    event.type = calotype_type_of<int>();
    EXPECT_EQ(id + 1, calotype_trace(nullptr, &event));
    EXPECT_EQ("tag g tag \"hello\"\n", print.take());
}

TEST_F(Files, TracePackets) {
    const int fd = open(path("trace").c_str(), O_CREAT | O_RDWR, 0644);
    calotype_set_trace_file(fd);
    EXPECT_EQ(fd, calotype_get_trace_file(nullptr));
    uint8_t value[2] = {5, 6};
    int32_t coordinates[4] = {1, 2, 7, 7};
    calotype_trace_event_t event = store_event(value, coordinates);
    const int32_t first = calotype_trace(nullptr, &event);
    event.trace_tag = "tagged";
    calotype_trace(nullptr, &event);
    EXPECT_EQ(0, calotype_shutdown_trace());
    close(fd);

    const std::string text = contents("trace");
    alignas(4) char bytes[512] = {};
    memcpy(bytes, text.data(), std::min(text.size(), sizeof bytes));
    auto *packet = reinterpret_cast<calotype_trace_packet_t *>(bytes);
    EXPECT_EQ(first, packet->id);
    EXPECT_EQ(28u + 16 + 2 + 2 + 1 + 3, packet->size);
    EXPECT_EQ(calotype_trace_store, packet->event);
    EXPECT_EQ(3, packet->parent_id);
    EXPECT_EQ(7, packet->coordinates()[2]);
    EXPECT_EQ(6, static_cast<uint8_t *>(packet->value())[1]);
    EXPECT_STREQ("f", packet->func());
    EXPECT_STREQ("", packet->trace_tag());
    packet = reinterpret_cast<calotype_trace_packet_t *>(bytes + packet->size);
    EXPECT_EQ(first + 1, packet->id);
    EXPECT_STREQ("tagged", packet->trace_tag());
}

TEST_F(Files, TraceThatCannotBeOpened) {
    calotype_shutdown_trace();
    setenv("CT_TRACE_FILE", path("no/such/folder").c_str(), 1);
    calotype_test::CaptureErrors errors;
    EXPECT_EQ(-30, calotype_get_trace_file(nullptr));
    EXPECT_EQ("cannot open trace file " + path("no/such/folder") + ": No such file or directory",
              errors.take());
    unsetenv("CT_TRACE_FILE");
    calotype_shutdown_trace();
    EXPECT_EQ(0, calotype_get_trace_file(nullptr));
}

// ---- profiles
// ------------------------------------------------------------------------------------

/** A pipeline that spends its time in its second Func. */
void run_profiled(int milliseconds) {
    static const char *const names[] = {"overhead", "busy"};
    calotype_profiler_func_stats funcs[2];
    calotype_profiler_instance_state run;
    ASSERT_EQ(0, calotype_profiler_instance_start(nullptr, "pipe", 2, names, nullptr, funcs, &run));
    calotype_profiler_set_current_func(&run, 1);
    calotype_profiler_memory_allocate(nullptr, &run, 1, 100);
    calotype_profiler_memory_allocate(nullptr, &run, 1, 50);
    calotype_profiler_memory_free(nullptr, &run, 1, 100);
    calotype_profiler_memory_allocate(nullptr, &run, 1, 60);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    const uint64_t stack[2] = {0, 77};
    calotype_profiler_stack_peak(nullptr, &run, stack);
    EXPECT_EQ(0, calotype_profiler_instance_end(nullptr, &run));
}

TEST(Profiler, BillsTheFuncAtWork) {
    run_profiled(30);
    run_profiled(30);
    calotype_profiler_state *state = calotype_profiler_get_state();
    calotype_profiler_lock(state);
    const auto *pipeline = calotype_profiler_get_pipeline_state("pipe");
    ASSERT_NE(nullptr, pipeline);
    EXPECT_EQ(nullptr, calotype_profiler_get_pipeline_state("other"));
    EXPECT_EQ(2, pipeline->runs);
    EXPECT_GE(pipeline->time, 60000000u);
    EXPECT_GT(pipeline->samples, 2);
    EXPECT_EQ(6, pipeline->num_allocs);
    EXPECT_EQ(150u, pipeline->memory_peak);
    EXPECT_EQ(420u, pipeline->memory_total);
    EXPECT_GT(pipeline->funcs[1].time, 10 * pipeline->funcs[0].time);
    EXPECT_EQ(77u, pipeline->funcs[1].stack_peak);
    calotype_profiler_unlock(state);

    calotype_test::CapturePrint print;
    calotype_profiler_report(nullptr);
    const std::string report = print.take();
    EXPECT_EQ(0u, report.find("pipe\n total time: "));
    EXPECT_NE(std::string::npos, report.find("runs: 2"));
    EXPECT_NE(std::string::npos, report.find("  busy:"));
    EXPECT_NE(std::string::npos, report.find("peak: 150 num: 6 avg: 70 stack: 77"));
    calotype_profiler_shutdown();
    calotype_profiler_lock(state);
    EXPECT_EQ(nullptr, calotype_profiler_get_pipeline_state("pipe"));
    calotype_profiler_unlock(state);
}

TEST_F(Files, ProfileAsJson) {
    run_profiled(5);
    setenv("CT_PROFILER_JSON_OUTPUT", path("profile.json").c_str(), 1);
    calotype_profiler_shutdown();
    unsetenv("CT_PROFILER_JSON_OUTPUT");
    const std::string text = contents("profile.json");
    EXPECT_EQ(0u, text.find("{\n  \"pipelines\": [\n    {\"name\": \"pipe\", \"time_ns\": "));
    EXPECT_NE(std::string::npos, text.find("{\"name\": \"busy\", \"kind\": \"compute\", "));
    EXPECT_EQ("\n  ]\n}\n", text.substr(text.size() - 7));
}

}  // namespace
