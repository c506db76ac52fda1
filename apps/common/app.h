// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of the apps have in common: pictures are read, the pipeline is called and
// timed, its results are compared with those of plain C++, and a picture is written.
//
//     int main(int argc, char **argv) {
//         return app::run("invert", argc, argv, [](app::Run &run, const app::Picture &picture) {
//             app::Image<float> input = app::from_picture<float>(picture);
//             app::Image<float> output = app::same_size<float>(input);
//             run.call(output, [&] { return invert(input, output); });
//             run.compare(output, invert_reference(input), 1e-6);
//             run.show(output);
//         });
//     }
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <calotype/buffer.h>
#include <calotype/tools/benchmark.h>
#include <calotype/tools/image_io.h>

namespace app {

template<typename T, int D = 3>
using Image = calotype::Runtime::Buffer<T, D>;

/// x, y, three channels, 8 bits each.
using Picture = Image<uint8_t>;

/// The value of white.
template<typename T>
double white() {
    return std::is_floating_point<T>::value ? 1 : double(std::numeric_limits<T>::max());
}

/// Floats from 0 to 1; integers in their whole range.
template<typename T>
Image<T> from_picture(const Picture &picture) {
    Image<T> image(picture.width(), picture.height(), picture.channels());
    image.for_each_element([&](int x, int y, int c) {
        image(x, y, c) = T(double(picture(x, y, c)) * (white<T>() / 255));
    });
    return image;
}

/// The brightness of a picture.
template<typename T>
Image<T, 2> gray_from_picture(const Picture &picture) {
    Image<T, 2> image(picture.width(), picture.height());
    image.for_each_element([&](int x, int y) {
        const double gray =
            0.299 * picture(x, y, 0) + 0.587 * picture(x, y, 1) + 0.114 * picture(x, y, 2);
        image(x, y) = T(gray * (white<T>() / 255));
    });
    return image;
}

/// One channel becomes three; what is darker than black or brighter than white is cut.
template<typename T, int D>
Picture to_picture(const Image<T, D> &image) {
    static_assert(D == 2 || D == 3, "pictures have two dimensions, and channels");
    Picture picture(image.width(), image.height(), 3);
    picture.for_each_element([&](int x, int y, int c) {
        double value = 0;
        if constexpr (D == 2) {
            value = double(image(x, y));
        } else {
            value = double(image(x, y, c));
        }
        picture(x, y, c) = uint8_t(std::clamp(value / white<T>() * 255 + 0.5, 0.0, 255.0));
    });
    return picture;
}

template<typename T, typename U, int D>
Image<T, D> same_size(const Image<U, D> &image) {
    return Image<T, D>::make_with_shape_of(image);
}

/// A coordinate that lies beyond the image is that of its nearest pixel.
inline int clamped(int i, int extent) {
    return std::clamp(i, 0, extent - 1);
}

/// One app on several inputs.
class Run {
public:
    Run(const char *name, bool time) : name_(name), time_(time) {
    }

    /// Calls the pipeline; --time also prints how long that takes.
    template<typename Output>
    void call(Output &output, const std::function<int()> &pipeline) {
        if (pipeline() != 0) {
            throw std::runtime_error("the pipeline failed");
        }
        on_device_ = output.device_dirty();
        if (time_) {
            const double seconds = calotype::Tools::benchmark([&] {
                pipeline();
                output.device_sync();  // a device works on its own
            });
            std::printf("%s on the %s:", name_, place());
            for (int i = 0; i < output.dimensions(); i++) {
                std::printf("%s %d", i == 0 ? "" : " x", output.dim(i).extent());
            }
            std::printf(": %.3f ms\n", seconds * 1e3);
        }
        output.copy_to_host();
    }

    /// Integers must be within the tolerance, floats within tolerance * max(1, |expected|).
    template<typename T, int D>
    void compare(const Image<T, D> &output, const Image<T, D> &expected, double tolerance) {
        results_++;
        allowed_ = std::max(allowed_, tolerance);
        output.for_each_element([&](const int *at) {
            const double e = double(expected(at)), distance = std::abs(double(output(at)) - e);
            const bool is_exact = std::is_integral<T>::value;
            const double difference = is_exact ? distance : distance / std::max(1.0, std::abs(e));
            wrong_ += difference <= tolerance ? 0 : 1;  // NaN is wrong
            worst_ = difference <= worst_ ? worst_ : difference;
        });
    }

    /// The first result that is shown is written.
    template<typename T, int D>
    void show(const Image<T, D> &image) {
        if (!shown_.data()) {
            shown_ = to_picture(image);
        }
    }

    const Picture &shown() const {
        return shown_;
    }

    /// Prints what was found; the exit code.
    int finish() const {
        std::printf(
            "%s on the %s: %d results, largest difference from plain C++ %.3g (%g allowed), "
            "%zu values differ\n",
            name_, place(), results_, worst_, allowed_, wrong_);
        return wrong_ != 0 || results_ == 0 ? 1 : 0;
    }

private:
    const char *place() const {
        return on_device_ ? "GPU" : "processor";
    }

    const char *name_;
    bool time_, on_device_ = false;
    int results_ = 0;
    double worst_ = 0, allowed_ = 0;
    size_t wrong_ = 0;
    Picture shown_;
};

/// A part of a picture, in memory of its own.
inline Picture part_of(const Picture &picture, int width, int height) {
    const int x0 = (picture.width() - width) / 2, y0 = (picture.height() - height) / 2;
    Picture part(width, height, picture.channels());
    part.for_each_element([&](int x, int y, int c) { part(x, y, c) = picture(x0 + x, y0 + y, c); });
    return part;
}

/// The program of an app: runs it on the picture INPUT.png, and on two parts of it of odd sizes,
/// and writes what it shows of the first to OUTPUT.png.
inline int run(const char *name, int argc, char **argv,
               const std::function<void(Run &, const Picture &)> &on_picture) {
    const bool time = argc == 4 && std::strcmp(argv[1], "--time") == 0;
    if (argc != 3 && !time) {
        std::fprintf(stderr, "usage: %s [--time] INPUT.png OUTPUT.png\n", argv[0]);
        return 2;
    }
    try {
        const Picture picture = calotype::Tools::load_image(argv[argc - 2]);
        Run all(name, time);
        on_picture(all, picture);
        for (const auto &[width, height] : {std::pair{257, 129}, std::pair{133, 211}}) {
            if (width < picture.width() && height < picture.height()) {
                on_picture(all, part_of(picture, width, height));
            }
        }
        if (all.shown().data()) {
            calotype::Tools::save_image(all.shown(), argv[argc - 1]);
        }
        return all.finish();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s: %s\n", name, e.what());
        return 1;
    }
}

}  // namespace app
