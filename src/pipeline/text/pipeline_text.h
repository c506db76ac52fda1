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
// Structs and their members are those of pipeline/fields.h; members that are not named have their
// default. Expressions are the text of ir/printer.h.
#pragma once

#include <string>

#include "pipeline/source.h"

namespace calotype {

/// All that counts of the outputs and of what they call. A CompileError for what has no text:
/// embedded images, linkables, passes of the user.
std::string to_text(const PipelineSource &source);

/// Reads what to_text writes: code made of both is the same. What follows from the rest may be left
/// out: the loops and storage dimensions of a Func, from its arguments; those arguments in its pure
/// definition; its types, from the values; the buffers of outputs; dimensions of constraints.
PipelineSource parse_pipeline(const std::string &text);

}  // namespace calotype
