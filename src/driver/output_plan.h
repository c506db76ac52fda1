// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From one pipeline and one or several targets to the contents of all output files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/output_type.h"
#include "driver/compile_job.h"

namespace calotype::internal {

/// Contents by path.
using FileContents = std::map<std::string, std::string>;

/// What is to be made.
struct OutputPlan {
    std::string function;   ///< as the user calls it, may hold namespaces
    std::string path_base;  ///< folder and name of all files, without an extension
    std::vector<OutputFileType> types;
    /// Several give one function that chooses as it runs; the first that the machine can run is taken, the last
    /// without a look. The texts are those in the names of files.
    std::vector<std::pair<std::string, Target>> targets;
};

/// The job of a function for a target; called once a target.
using JobFactory = std::function<CompileJob(const std::string &function, const Target &target)>;

/// All files of the plan. A CompileError if a type cannot be made, or the targets do not go together.
FileContents compile_outputs(const OutputPlan &plan, const JobFactory &job_of);

/// Writes all files or none: into temporary files beside their places, which are then renamed.
void write_files_together(const FileContents &files);

/// The runtime as a static library that serves the target.
std::string standalone_runtime(const Target &target);

}  // namespace calotype::internal
