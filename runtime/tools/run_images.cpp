// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_images.h"

#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <type_traits>

#include "image_io.h"

namespace calotype {
namespace run {

namespace {

void warn(const std::string &text) {
    std::cerr << "warning: " << text << "\n";
}

bool is_extents_word(const std::string &text) {
    return text == "auto" || text == "estimate" || text == "estimate_then_auto";
}

template<typename T>
T random_value(std::mt19937_64 &engine) {
    if constexpr (std::is_floating_point<T>::value) {
        return std::uniform_real_distribution<T>(0, 1)(engine);
    } else {
        return T(engine() >> (64 - (std::is_same<T, bool>::value ? 1 : 8 * sizeof(T))));
    }
}

template<typename T>
void fill_identity(Runtime::Buffer<T> &image) {
    image.for_each_element([&](const int *pos) {
        image(pos) = T(image.dimensions() < 2 || pos[0] == pos[1] ? 1 : 0);
    });
}

}  // namespace

ImageSpec parse_image_spec(const std::string &what, const std::string &text) {
    const std::pair<const char *, ImageSpec::Kind> kinds[] = {{"zero", ImageSpec::Zero},
                                                              {"constant", ImageSpec::Constant},
                                                              {"identity", ImageSpec::Identity},
                                                              {"random", ImageSpec::Random}};
    if (is_extents_word(text)) {
        return {ImageSpec::Zero, "", text};
    }
    const std::vector<std::string> parts = split(text, ':');
    for (const auto &kind : kinds) {
        if (parts[0] != kind.first) {
            continue;
        }
        const bool has_value =
            kind.second == ImageSpec::Constant || kind.second == ImageSpec::Random;
        const size_t wanted = has_value ? 3 : 2;
        if (parts.size() != wanted) {
            fail(what + " is \"" + text + "\", must be like " + kind.first +
                 (has_value ? ":1:[640,480]" : ":[640,480]"));
        }
        return {kind.second, has_value ? parts[1] : "", parts.back()};
    }
    return {ImageSpec::File, text, ""};
}

Image load_input(const std::string &what, const std::string &filename, calotype_type_t type,
                 int dimensions) {
    Image image = Tools::internal::format_of(filename).load(filename);
    if (image.dimensions() != dimensions) {
        const int found = image.dimensions();
        Tools::internal::fit_dimensions(image, dimensions, filename);
        warn(what + ": " + filename + " has " + std::to_string(found) + " dimensions, taken as " +
             std::to_string(dimensions) + " by ones of extent 1");
    }
    if (image.type() != type) {
        warn(what + ": " + filename + " is of type " + name_of_type(image.type()) +
             ", converted to " + name_of_type(type));
        image = Tools::internal::convert_image_to(*image.raw_buffer(), type);
    }
    image.set_host_dirty();
    return image;
}

void allocate_image(const std::string &what, Image &image) {
    std::vector<int64_t> extents;
    for (int d = 0; d < image.dimensions(); d++) {
        extents.push_back(image.extent(d));
    }
    Tools::internal::check_image_size(what, extents, image.type().bytes());
    image.allocate();  // also an empty one: without memory it would ask for bounds
    if (!image.data()) {
        fail(what + " of " + to_text(image) + " does not fit into memory");
    }
}

void fill_image(const std::string &what, const ImageSpec &spec, Image &image) {
    memset(image.begin(), 0, image.number_of_elements() ? image.size_in_bytes() : 0);
    image.set_host_dirty();
    if (spec.kind == ImageSpec::Zero) {
        return;
    }
    const calotype_type_t type = image.type();
    const bool known = Tools::internal::with_type(type, [&](auto example) {
        using T = decltype(example);
        auto &typed = image.template as<T>();
        if (spec.kind == ImageSpec::Constant) {
            const calotype_scalar_value_t value = parse_value(what, spec.value, type);
            typed.fill(*reinterpret_cast<const T *>(&value.u));
        } else if (spec.kind == ImageSpec::Identity) {
            fill_identity(typed);
        } else {
            std::mt19937_64 engine(uint64_t(parse_int("the seed of " + what, spec.value, 0,
                                                      std::numeric_limits<int64_t>::max())));
            typed.for_each_value([&](T &value) { value = random_value<T>(engine); });
        }
        return true;
    });
    if (!known) {
        fail(what + " is of type " + name_of_type(type) + ", which can only be zero or a file");
    }
}

void save_output(const std::string &what, Image image, const std::string &filename) {
    const auto &format = Tools::internal::format_of(filename);
    while (image.dimensions() > 2 && image.extent(image.dimensions() - 1) == 1) {
        image.slice(image.dimensions() - 1);
    }
    if (!Tools::internal::can_hold_type(format, image.type())) {
        warn(what + " is of type " + name_of_type(image.type()) + ", converted for " + filename);
    }
    Tools::internal::convert_and_save(*image.raw_buffer(), filename);
}

std::string to_text(const Image &image) {
    std::string text = name_of_type(image.type());
    for (int d = 0; d < image.dimensions(); d++) {
        text += (d ? " x [" : " [") + std::to_string(image.min(d)) + ", " +
                std::to_string(image.min(d) + image.extent(d)) + ")";
    }
    return text;
}

}  // namespace run
}  // namespace calotype
