// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing image files, for calotype.imageio.
#include <calotype/tools/image_io.h>

#include "bindings.h"
#include "buffer.h"

namespace calotype::python {

namespace {

// A path whose ending is that of the format.
const Tools::internal::ImageFormat &format_of(const std::string &path, const std::string &format) {
    return Tools::internal::format_of(format.empty() ? path : path + "." + format);
}

// What the reading and writing of files throws, as our own exceptions.
template<typename F>
decltype(auto) with_errors(F f) {
    try {
        return f();
    } catch (const std::runtime_error &e) {
        throw Error(e.what());
    }
}

Buffer<> load(const std::string &path, const std::string &format) {
    ReleasedGil without_gil;
    return with_errors([&]() {
        Runtime::Buffer<> image = format_of(path, format).load(path);
        image.set_host_dirty();
        return Buffer<>(image);
    });
}

void save(const Buffer<> &image, const std::string &path, const std::string &format) {
    ReleasedGil without_gil;
    const std::string problem = why_not_shown(image);
    user_assert(problem.empty()) << path << ": " << problem;
    const auto &f = with_errors([&]() -> auto & { return format_of(path, format); });
    const int bits = image.type().bits();
    const int channels = image.dimensions() > 2 ? image.channels() : 1;
    const bool fits =
        f.bits.empty() || (image.type().is_uint() && Tools::internal::contains(f.bits, bits) &&
                           Tools::internal::contains(f.channels, channels));
    user_assert(fits && image.dimensions() >= 2 && image.dimensions() <= 3)
        << path << ": an image of " << image.dimensions() << " dimensions, " << channels
        << " channels and elements of type " << image.type() << " cannot be written in this format";
    with_errors([&]() {
        f.save(*image.raw_buffer(), path);
        return true;
    });
}

}  // namespace

void bind_image(PythonModule &m) {
    m.def("_load_image", &load, "path"_a, "format"_a);
    m.def("_save_image", &save, "image"_a, "path"_a, "format"_a);
}

}  // namespace calotype::python
