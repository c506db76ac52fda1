// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing images. The format follows from the name's extension: png, jpg, pgm, ppm,
// npy, mat, tiff, tmp. Works with Runtime::Buffer and Buffer. Failures throw std::runtime_error. Header
// only, C++17.
//
//     Runtime::Buffer<uint8_t, 3> image = load_image("in.png");   // must be 8 bits, colour
//     Runtime::Buffer<float> any = load_and_convert_image("in.png");
//     save_image(image, "out.png");
//     convert_and_save_image(any, "out.png");
//
// PNG needs libpng and JPEG libjpeg linked, unless CALOTYPE_NO_PNG or CALOTYPE_NO_JPEG is defined.
#pragma once

#include <utility>

#include "image_convert.h"
#include "image_mat.h"
#include "image_plain.h"
#include "image_tiff.h"
#ifndef CALOTYPE_NO_PNG
#include "image_png.h"
#endif
#ifndef CALOTYPE_NO_JPEG
#include "image_jpeg.h"
#endif

namespace calotype {
namespace Tools {

/** What a format can hold: an element type and a number of dimensions. */
struct FormatInfo {
    calotype_type_t type;
    int dimensions;

    bool operator<(const FormatInfo &other) const {
        return type == other.type ? dimensions < other.dimensions : type < other.type;
    }
};

namespace internal {

struct ImageFormat {
    const char *extension;
    AnyBuffer (*load)(const std::string &filename);
    void (*save)(const calotype_buffer_t &image, const std::string &filename);
    /** Bits of unsigned elements that it can hold, and channels; empty stands for anything. */
    std::vector<int> bits, channels;
};

inline const std::vector<ImageFormat> &image_formats() {
    static const std::vector<ImageFormat> formats = {
#ifndef CALOTYPE_NO_PNG
        {"png", load_png, save_png, {8, 16}, {1, 2, 3, 4}},
#endif
#ifndef CALOTYPE_NO_JPEG
        {"jpg", load_jpg, save_jpg, {8}, {1, 3}},
        {"jpeg", load_jpg, save_jpg, {8}, {1, 3}},
#endif
        {"pgm", load_pnm, save_pnm, {8, 16}, {1}},
        {"ppm", load_pnm, save_pnm, {8, 16}, {3}},
        {"npy", load_npy, save_npy, {}, {}},
        {"mat", load_mat, save_mat, {}, {}},
        {"tif", load_tiff, save_tiff, {}, {}},
        {"tiff", load_tiff, save_tiff, {}, {}},
        {"tmp", load_tmp, save_tmp, {}, {}},
    };
    return formats;
}

inline const ImageFormat &format_of(const std::string &filename) {
    const std::string extension = extension_of(filename);
    std::string known;
    for (const ImageFormat &format : image_formats()) {
        if (extension == format.extension) {
            return format;
        }
        known += (known.empty() ? "" : ", ") + std::string(format.extension);
    }
    image_error(filename, "unknown image format \"" + extension + "\", must be one of " + known);
}

inline bool contains(const std::vector<int> &list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

inline bool can_hold_type(const ImageFormat &format, calotype_type_t type) {
    if (!format.bits.empty()) {
        return type.code == calotype_type_uint && contains(format.bits, type.bits);
    }
    if (format.save == save_tmp) {
        return std::find(tmp_types().begin(), tmp_types().end(), type) != tmp_types().end();
    }
    return with_type(type, [](auto) { return true; });
}

inline bool can_hold_shape(const ImageFormat &format, const calotype_buffer_t &image) {
    if (format.channels.empty()) {
        const bool tiff = format.save == save_tiff;
        return image.dimensions <= (format.save == save_tmp ? 4 : tiff ? 3 : INT32_MAX);
    }
    const int channels = image.dimensions > 2 ? image.dim[2].extent : 1;
    return (image.dimensions == 2 || image.dimensions == 3) && contains(format.channels, channels);
}

inline void check_shape(const ImageFormat &format, const calotype_buffer_t &image,
                        const std::string &filename) {
    if (image.is_bounds_query()) {
        image_error(filename, "the image has no memory");
    }
    if (!can_hold_shape(format, image)) {
        image_error(filename, std::string("the format cannot hold images of ") +
                                  std::to_string(image.dimensions) + " dimensions" +
                                  (image.dimensions > 2
                                       ? " and " + std::to_string(image.dim[2].extent) + " channels"
                                       : ""));
    }
}

inline std::string name_of(calotype_type_t type) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    return names[type.code] + std::to_string(type.bits);
}

inline void save(const calotype_buffer_t &image, const std::string &filename) {
    const ImageFormat &format = format_of(filename);
    check_shape(format, image, filename);
    if (!can_hold_type(format, image.type)) {
        image_error(filename, "the format cannot hold elements of type " + name_of(image.type));
    }
    format.save(image, filename);
}

inline void convert_and_save(const calotype_buffer_t &image, const std::string &filename) {
    const ImageFormat &format = format_of(filename);
    check_shape(format, image, filename);
    if (can_hold_type(format, image.type)) {
        format.save(image, filename);
        return;
    }
    // The widest type that the format has, unless eight bits say it all.
    const bool narrow = image.type.bits <= 8 || !contains(format.bits, 16);
    const AnyBuffer converted =
        convert_image_to(image, {calotype_type_uint, uint8_t(narrow ? 8 : 16)});
    format.save(*converted.raw_buffer(), filename);
}

/** Fit the number of dimensions where only extents of one are concerned. */
inline void fit_dimensions(AnyBuffer &image, int dimensions, const std::string &filename) {
    const int found = image.dimensions();
    while (image.dimensions() < dimensions) {
        image.add_dimension();
    }
    while (image.dimensions() > dimensions && image.extent(image.dimensions() - 1) == 1) {
        image.slice(image.dimensions() - 1);
    }
    if (image.dimensions() != dimensions) {
        image_error(filename, "has " + std::to_string(found) + " dimensions, must have " +
                                  std::to_string(dimensions));
    }
}

/** An image file on its way into a Buffer of whatever kind it is assigned to. */
class LoadedImage {
    std::string filename;
    bool convert;

public:
    LoadedImage(std::string filename, bool convert)
        : filename(std::move(filename)), convert(convert) {
    }

    template<typename ImageType, typename T = typename ImageType::ElemType>
    operator ImageType() const {
        AnyBuffer image = format_of(filename).load(filename);
        if constexpr (ImageType::has_static_dimensions) {
            fit_dimensions(image, ImageType::static_dimensions(), filename);
        }
        if constexpr (!std::is_void<T>::value) {
            const calotype_type_t wanted = calotype_type_of<T>();
            if (image.type() != wanted && convert) {
                image = convert_image_to(*image.raw_buffer(), wanted);
            } else if (image.type() != wanted) {
                image_error(filename, "has elements of type " + name_of(image.type()) +
                                          ", must have " + name_of(wanted));
            }
        }
        // No device has this yet.
        image.set_host_dirty();
        return ImageType(Runtime::Buffer<T>(std::move(image)));
    }
};

}  // namespace internal

/** The image in a file, of the type that it is assigned to, which must be the file's. */
inline internal::LoadedImage load_image(const std::string &filename) {
    return {filename, false};
}

/** The same, converting elements: full scale becomes full scale. */
inline internal::LoadedImage load_and_convert_image(const std::string &filename) {
    return {filename, true};
}

/** Write an image to a file whose format can hold it. A newer device copy is fetched first. */
template<typename ImageType>
void save_image(ImageType &image, const std::string &filename) {
    if constexpr (!std::is_const<ImageType>::value) {
        image.copy_to_host();
    }
    internal::save(*image.raw_buffer(), filename);
}

/** The same, converting to the nearest type that the format can hold. */
template<typename ImageType>
void convert_and_save_image(ImageType &image, const std::string &filename) {
    if constexpr (!std::is_const<ImageType>::value) {
        image.copy_to_host();
    }
    internal::convert_and_save(*image.raw_buffer(), filename);
}

/** The same as functions that answer instead of throwing, and take the image by pointer. */
template<typename ImageType>
bool load(const std::string &filename, ImageType *image) {
    try {
        *image = ImageType(load_image(filename));
        return true;
    } catch (const std::runtime_error &) {
        return false;
    }
}

template<typename ImageType>
bool save(ImageType &image, const std::string &filename) {
    try {
        save_image(image, filename);
        return true;
    } catch (const std::runtime_error &) {
        return false;
    }
}

}  // namespace Tools
}  // namespace calotype
