// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// infer_arguments: the parameters and images that a pipeline depends on.
#pragma once

#include <string>
#include <vector>

#include "pipeline/source.h"

namespace calotype::internal {

/// An argument of a pipeline together with what it was declared as: a parameter or an embedded
/// image.
struct InferredArgument {
    Argument arg;
    Parameter parameter;
    Image image;
};

/// All that the outputs and the requirements refer to, images too: buffers first, each kind by
/// name. A CompileError if two have one name.
std::vector<InferredArgument> infer_arguments(const std::vector<Function> &outputs,
                                              const std::vector<Requirement> &requirements = {});

/// Whether an argument has that name. Images may have one too: in process they are passed rather
/// than copied into the code.
bool is_argument(const std::vector<Argument> &args, const std::string &name);

}  // namespace calotype::internal
