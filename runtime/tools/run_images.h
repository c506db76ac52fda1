// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of buffers: from files, made up, and into files.
#pragma once

#include <string>
#include <vector>

#include "../cpp/buffer.h"
#include "run_values.h"

namespace calotype {
namespace run {

using Image = Runtime::Buffer<void>;

struct Range {
    int min, extent;
};
using Shape = std::vector<Range>;

/** "like zero:[3,4]", taken apart. */
struct ImageSpec {
    enum Kind { File, Zero, Constant, Identity, Random } kind = File;
    /** The file, or the value or seed. */
    std::string value;
    /** "[3,4]", "auto", "estimate" or "estimate_then_auto". */
    std::string extents;
};

ImageSpec parse_image_spec(const std::string &what, const std::string &text);

/** The image of a file as an input of this type and number of dimensions. Warns on stderr where it
 * must be changed for that. */
Image load_input(const std::string &what, const std::string &filename, calotype_type_t type,
                 int dimensions);

/** Memory for an image that has a shape, which may be empty. */
void allocate_image(const std::string &what, Image &image);

/** Write the elements that the spec says. */
void fill_image(const std::string &what, const ImageSpec &spec, Image &image);

/** Warns on stderr where the format holds another type. */
void save_output(const std::string &what, Image image, const std::string &filename);

/** "[0, 640) x [0, 480)". */
std::string to_text(const Image &image);

}  // namespace run
}  // namespace calotype
