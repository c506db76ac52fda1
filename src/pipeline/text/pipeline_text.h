// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of a pipeline: algorithm and schedule as people and tests read and write them.
//
//     pipeline {name: "p", outputs: ["f"], inputs: ["in"]}
//     param {name: "in", type: uint8, is_buffer: true, dimensions: 2, ...}
//     func {
//       name: "f",
//       args: ["x", "y"],
//       init: {values: [image in(x, y) + (uint8)1]},
//       schedule: {compute_level: root}
//     }
//
// `image {...}` declares a constant image, and `value {param: "p", bits: "3"}` the value of a
// scalar, in hexadecimal digits.
// Structs and their members are those of pipeline/fields.h; members that are not named have their
// default. Expressions are the text of ir/printer.h.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/source.h"

namespace calotype::internal {

/// A constant image as text. Only the class of Buffers in lang/ knows how one is made.
struct ConstantImageText {
    struct Dimension {
        int min = 0, extent = 0, stride = 0;
    };
    std::string name;
    Type type;
    std::vector<Dimension> dims;
    std::string bytes;  ///< in the order of memory, two hexadecimal digits each
};

/// All that counts of the outputs and of what they call. A CompileError for what has no text:
/// constant images, linkables, passes of the user.
std::string to_text(const PipelineSource &source);

/// The same for whoever reads it in another process: with constant images, as image_text gives
/// them, and the values that scalars have for runs.
std::string to_whole_text(const PipelineSource &source,
                          const std::function<ConstantImageText(const Image &)> &image_text);

/// Reads what to_text writes: code made of both is the same. What follows from the rest may be left
/// out: the loops and storage dimensions of a Func, from its arguments; those arguments in its pure
/// definition; its types, from the values; the buffers of outputs; dimensions of constraints.
PipelineSource parse_pipeline(const std::string &text);

/// What stands for things that the text names.
struct TextBindings {
    /// In place of the declared ones of these names. A CompileError if one is of another kind.
    std::map<std::string, Parameter> params;
    std::function<Image(const ConstantImageText &)> make_image;
};
PipelineSource parse_pipeline(const std::string &text, const TextBindings &bindings);

}  // namespace calotype::internal
