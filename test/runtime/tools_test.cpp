// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Image files, there and back in every format, and what is said of bad ones; the benchmark timer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

#include "runtime/buffer.h"
#include "runtime/tools/benchmark.h"
#include "runtime/tools/image_io.h"
#include "runtime/tools/thread_pool.h"

namespace {

using namespace calotype::Tools;
using calotype::Runtime::Buffer;

class Images : public ::testing::Test {
protected:
    std::filesystem::path folder;

    void SetUp() override {
        char name[] = "/tmp/calotype_images_XXXXXX";
        folder = mkdtemp(name);
    }
    void TearDown() override {
        std::filesystem::remove_all(folder);
    }
    std::string path(const std::string &name) const {
        return (folder / name).string();
    }
    void write(const std::string &name, const std::string &text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    /** What is thrown, without the folder. */
    template<typename Fn>
    std::string error_of(Fn &&f) const {
        try {
            f();
        } catch (const std::runtime_error &e) {
            const std::string text = e.what(), prefix = folder.string() + "/";
            return text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text;
        }
        return "nothing thrown";
    }
};

template<typename T>
Buffer<T> noise(std::vector<int> extents, unsigned seed) {
    std::mt19937 rng(seed);
    Buffer<T> image(extents);
    image.for_each_value([&](T &v) { v = T(rng()); });
    return image;
}

template<typename T>
bool same(const Buffer<T> &a, const Buffer<T> &b) {
    if (a.dimensions() != b.dimensions() || a.number_of_elements() != b.number_of_elements()) {
        return false;
    }
    bool equal = true;
    a.for_each_value([&](T x, T y) { equal = equal && x == y; }, b);
    return equal;
}

template<typename T>
void round_trip(const std::string &filename, const std::vector<int> &extents) {
    Buffer<T> image = noise<T>(extents, 1);
    image.set_min(3, -4);
    save_image(image, filename);
    Buffer<T> back = load_image(filename);
    EXPECT_TRUE(same(image, back)) << filename;
    // The same from another layout in memory.
    image.transpose(0, 1);
    save_image(image, filename);
    Buffer<T> turned = load_image(filename);
    EXPECT_TRUE(same(image, turned)) << filename;
}

TEST_F(Images, GoThereAndBack) {
    for (int channels : {2, 3, 4}) {
        round_trip<uint8_t>(path("a.png"), {31, 17, channels});
        round_trip<uint16_t>(path("a.png"), {31, 17, channels});
    }
    round_trip<uint8_t>(path("a.png"), {31, 17});
    round_trip<uint16_t>(path("a.png"), {1, 1});
    round_trip<uint8_t>(path("a.pgm"), {31, 17});
    round_trip<uint16_t>(path("a.pgm"), {31, 17});
    round_trip<uint8_t>(path("a.ppm"), {31, 17, 3});
    round_trip<uint16_t>(path("a.PPM"), {31, 17, 3});
    round_trip<float>(path("a.npy"), {5, 4, 3, 2});
    round_trip<float>(path("a.mat"), {5, 4, 3, 2});
    round_trip<uint8_t>(path("b.mat"), {5, 3});
    round_trip<int64_t>(path("c.mat"), {5, 3, 2});
    round_trip<float>(path("a.tiff"), {5, 4, 3});
    round_trip<int16_t>(path("b.tif"), {5, 3});
    round_trip<uint64_t>(path("c.tiff"), {5, 3, 2});
    round_trip<double>(path("a.npy"), {5, 4});
    round_trip<int8_t>(path("a.npy"), {5, 4, 3, 2, 2});
    round_trip<uint64_t>(path("a.npy"), {5, 4});
    round_trip<bool>(path("a.npy"), {5, 4});
    round_trip<int32_t>(path("a.tmp"), {5, 4, 3, 2});
    round_trip<float>(path("a.tmp"), {5, 4, 3, 2});
}

TEST_F(Images, OfTiffMayHaveOneStripOfUnlimitedRows) {
    const Buffer<uint8_t> image = noise<uint8_t>({5, 4}, 1);
    save_image(image, path("a.tiff"));
    // The eighth entry of twelve bytes holds the rows per strip; its value is in the last four.
    std::fstream file(path("a.tiff"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8 + 2 + 7 * 12 + 8);
    file.write("\xff\xff\xff\xff", 4);
    file.close();
    const Buffer<uint8_t> back = load_image(path("a.tiff"));
    EXPECT_TRUE(same(image, back));
}

TEST_F(Images, AreAlmostTheSameAsJpeg) {
    for (int channels : {1, 3}) {
        Buffer<uint8_t> image(64, 48, channels);
        image.fill([](int x, int y, int c) { return uint8_t(2 * x + y + 10 * c); });
        save_image(image, path("a.jpg"));
        Buffer<uint8_t, 3> back = load_image(path("a.jpg"));
        int worst = 0;
        image.for_each_value([&](int a, int b) { worst = std::max(worst, std::abs(a - b)); }, back);
        EXPECT_LE(worst, 6);
    }
}

TEST_F(Images, FitTheDimensionsAskedFor) {
    Buffer<uint8_t> grey = noise<uint8_t>({4, 3}, 2);
    save_image(grey, path("a.png"));
    Buffer<uint8_t, 3> three = load_image(path("a.png"));
    EXPECT_EQ(1, three.channels());
    Buffer<uint8_t, 2> two = load_image(path("a.png"));
    EXPECT_EQ(4, two.width());
    Buffer<> any = load_image(path("a.png"));
    EXPECT_EQ(calotype_type_of<uint8_t>(), any.type());
    save_image(three, path("b.png"));
    const Buffer<const uint8_t> constant = two;
    save_image(constant, path("c.png"));
    Buffer<uint8_t> colour = noise<uint8_t>({4, 3, 3}, 2);
    save_image(colour, path("d.png"));
    EXPECT_EQ("d.png: has 3 dimensions, must have 2",
              error_of([&] { Buffer<uint8_t, 2> b = load_image(path("d.png")); }));
}

TEST_F(Images, AreNewToDevices) {
    Buffer<uint8_t> image = noise<uint8_t>({5, 4, 3}, 2);
    save_image(image, path("a.png"));
    const Buffer<uint8_t, 3> fixed = load_image(path("a.png"));
    const Buffer<> any = load_image(path("a.png"));
    const Buffer<float> converted = load_and_convert_image(path("a.png"));
    EXPECT_TRUE(fixed.host_dirty());
    EXPECT_TRUE(any.host_dirty());
    EXPECT_TRUE(converted.host_dirty());
}

TEST_F(Images, AreConverted) {
    Buffer<uint8_t> image(3, 1);
    image(0, 0) = 0;
    image(1, 0) = 51;
    image(2, 0) = 255;
    save_image(image, path("a.png"));
    Buffer<float> f = load_and_convert_image(path("a.png"));
    EXPECT_EQ(0, f(0, 0));
    EXPECT_FLOAT_EQ(0.2f, f(1, 0));
    EXPECT_EQ(1, f(2, 0));
    Buffer<uint16_t> w = load_and_convert_image(path("a.png"));
    EXPECT_EQ(51 * 257, w(1, 0));
    f(0, 0) = -1;
    f(2, 0) = 7;
    convert_and_save_image(f, path("b.png"));
    Buffer<uint16_t> back = load_image(path("b.png"));
    EXPECT_EQ(0, back(0, 0));
    EXPECT_EQ(13107, back(1, 0));
    EXPECT_EQ(65535, back(2, 0));
    convert_and_save_image(f, path("b.jpg"));
    Buffer<uint8_t> jpeg = load_image(path("b.jpg"));
    EXPECT_EQ(3, jpeg.width());
    auto bytes = ImageTypeConversion::convert_image<uint8_t>(w);
    EXPECT_EQ(51, bytes(1, 0));
    EXPECT_EQ(
        51,
        (ImageTypeConversion::convert_image(w, calotype_type_of<int16_t>()).as<int16_t>()(1, 0) *
             255 +
         16383) /
            32767);
}

TEST(Conversion, KeepsTheEndsOfEveryRange) {
    using calotype::Tools::internal::convert_value;
    EXPECT_EQ(UINT64_MAX, convert_value<uint64_t>(1.0f));
    EXPECT_EQ(INT64_MAX, convert_value<int64_t>(uint8_t(255)));
    EXPECT_EQ(INT8_MIN, convert_value<int8_t>(-2.0));
    EXPECT_EQ(0, convert_value<uint8_t>(NAN));
    EXPECT_EQ(true, convert_value<bool>(uint8_t(255)));
    EXPECT_EQ(255, convert_value<uint8_t>(true));
    EXPECT_EQ(-1.0f, convert_value<float>(int8_t(-127)));
}

TEST_F(Images, ThatAreBadAreSaidToBe) {
    auto load = [&](const char *name) {
        return error_of([&] { Buffer<uint8_t> b = load_image(path(name)); });
    };
    EXPECT_EQ("none.png: cannot be opened", load("none.png"));
    EXPECT_EQ("a.bmp: unknown image format \"bmp\", must be one of png, jpg, jpeg, pgm, ppm, npy, "
              "mat, tif, tiff, tmp",
              load("a.bmp"));
    write("a.png", "This is not an image but text.");
    EXPECT_EQ("a.png: Not a PNG file", load("a.png"));
    Buffer<uint8_t> cut = noise<uint8_t>({50, 50}, 3);
    save_image(cut, path("cut.png"));
    std::filesystem::resize_file(path("cut.png"), 500);
    EXPECT_EQ("cut.png: Read Error", load("cut.png"));
    write("a.pgm", "P2\n1 1\n255\n1");
    EXPECT_EQ("a.pgm: is not a binary PGM or PPM file", load("a.pgm"));
    write("b.pgm", "P5\n2 2\n255\nabc");
    EXPECT_EQ("b.pgm: ends too early", load("b.pgm"));
    write("c.pgm", "P5\n# a comment\n2 x\n255\nabc");
    EXPECT_EQ("c.pgm: has a malformed header", load("c.pgm"));
    write("d.pgm", "P5\n2 2\n15\nabc");
    EXPECT_EQ("d.pgm: has maximum 15, must be 255 or 65535", load("d.pgm"));
    write("e.ppm", "P6\n2147483647 2147483647\n65535\n");
    EXPECT_EQ("e.ppm: has an impossible size", load("e.ppm"));
    const uint8_t one_bit[] = {
        // eight grey pixels
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
        0x44, 0x52, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00,
        0x00, 0xcb, 0x7b, 0xd2, 0xee, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78,
        0x01, 0x01, 0x02, 0x00, 0xfd, 0xff, 0x00, 0xaa, 0x00, 0xac, 0x00, 0xab, 0xa1, 0x77,
        0xb0, 0x79, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
    write("grey.png", std::string(reinterpret_cast<const char *>(one_bit), sizeof one_bit));
    EXPECT_EQ("grey.png: has samples of fewer than 8 bits", load("grey.png"));
    write("negative.npy", std::string("\x93NUMPY\x01\0\x40\0", 10) +
                              "{'descr': '|u1', 'fortran_order': False, 'shape': (4, -1), }    ");
    EXPECT_EQ("negative.npy: has an impossible size", load("negative.npy"));
    write("a.npy", "no npy at all");
    EXPECT_EQ("a.npy: is not an NPY file", load("a.npy"));
    write("a.tmp", std::string(20, '\x7f'));
    EXPECT_EQ("a.tmp: has type number 2139062143, must be 0 to 9", load("a.tmp"));
    write("a.jpg", "no jpeg");
    EXPECT_EQ(0u, load("a.jpg").find("a.jpg: Not a JPEG file"));
    Buffer<float> floats(2, 2);
    floats.fill(0);
    write("a.tiff", "II*\0");
    EXPECT_EQ("a.tiff: is not a little-endian TIFF file", load("a.tiff"));
    write("a.tiff", std::string("II*\0\x08\0\0\0\1\0", 10));
    EXPECT_EQ("a.tiff: ends too early", load("a.tiff"));
    save_image(floats, path("f.npy"));
    EXPECT_EQ("f.npy: has elements of type float32, must have uint8", load("f.npy"));
}

TEST_F(Images, ThatDoNotFitLeaveNoFile) {
    Buffer<float> floats(2, 2);
    floats.fill(0);
    EXPECT_EQ("a.png: the format cannot hold elements of type float32",
              error_of([&] { save_image(floats, path("a.png")); }));
    EXPECT_FALSE(std::filesystem::exists(path("a.png")));
    Buffer<uint8_t> five(2, 2, 5);
    EXPECT_EQ("a.png: the format cannot hold images of 3 dimensions and 5 channels",
              error_of([&] { save_image(five, path("a.png")); }));
    Buffer<uint8_t> empty(nullptr, 2, 2);
    EXPECT_EQ("a.png: the image has no memory",
              error_of([&] { save_image(empty, path("a.png")); }));
    Buffer<uint8_t> fine(2, 2);
    fine.fill(0);
    EXPECT_EQ("no/a.png: cannot be opened for writing",
              error_of([&] { save_image(fine, path("no/a.png")); }));
    EXPECT_FALSE(save(fine, path("no/a.png")));
    EXPECT_FALSE(calotype::Tools::load(path("none.png"), &fine));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(Benchmark, MeasuresWhatItCalls) {
    auto sleep = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
    };
    EXPECT_GE(benchmark(2, 2, sleep), 0.003);
    BenchmarkConfig config;
    config.min_time = 0.02;
    config.max_time = 0.05;
    const BenchmarkResult result = benchmark(sleep, config);
    EXPECT_GE(result.wall_time, 0.003);
    EXPECT_GE(result.samples, 3u);
    EXPECT_EQ(result.wall_time, double(result));
    volatile uint64_t calls = 0;  // or all calls of a sample would be made at once
    const BenchmarkResult quick = benchmark([&] { calls = calls + 1; }, config);
    EXPECT_LT(quick.wall_time, 1e-5);
    EXPECT_GE(calls, quick.iterations);
}

TEST(ThreadPool, AnswersOfTasksComeOutOfTheirFutures) {
    ThreadPool<int> pool(2);
    std::vector<std::future<int>> squares;
    for (int i = 0; i < 50; i++) {
        squares.push_back(pool.async([](int x) { return x * x; }, i));
    }
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(squares[size_t(i)].get(), i * i);
    }
    std::future<int> bad = pool.async([]() -> int { throw std::runtime_error("no"); });
    EXPECT_THROW(bad.get(), std::runtime_error);
    EXPECT_EQ(pool.async([] { return 7; }).get(), 7);
}

}  // namespace
