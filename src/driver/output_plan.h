// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From modules for one or several targets to the contents of all output files, and those to disk.
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
/// Where each type of output goes.
using OutputPaths = std::map<OutputFileType, std::string>;
/// Targets with the text that stands for each in the names of files and functions.
using NamedTargets = std::vector<std::pair<std::string, Target>>;
/// The module of a function for a target; called once a target. It holds one function.
using LoweredModuleFactory =
    std::function<LoweredModule(const std::string &function, const Target &target)>;

/// The paths that these types have, each `path_base` and its extension.
OutputPaths output_paths(const std::string &path_base, const std::vector<OutputFileType> &types);

/// True if module_outputs can make that type.
bool can_make_output(OutputFileType type);

/// For the outputs that say what an autoscheduler did.
void put_results(const AutoSchedulerResults &results, LoweredModule *module);

/// The files of one module. A CompileError if a type cannot be made. Without the feature
/// no_runtime, a static library holds the runtime too.
FileContents module_outputs(const LoweredModule &module, const Target &target,
                            const OutputPaths &paths);

/// One function that chooses as it runs: the first target that the machine can run is taken, the
/// last without a look; one target needs no choice. Types of which there is one file a target get
/// the target's text into their names: out.o gives out-TEXT.o for each target, out_wrapper.o for the
/// choice and, without the feature no_runtime, out_runtime.o, the runtime as a static library. The
/// header declares the function and, for each target, FUNCTION_TEXT with ___ for -. A CompileError
/// if the targets do not go together.
FileContents multitarget_outputs(const std::string &function, const OutputPaths &paths,
                                 const NamedTargets &targets,
                                 const LoweredModuleFactory &module_of);

/// Writes all files or none: into temporary files beside their places, which are then renamed.
void write_files_together(const FileContents &files);

/// True if the runtime that the compiler carries serves the target.
bool has_runtime_for(const Target &target);
/// The runtime as a static library that serves the target, under names with these prefixes.
std::string standalone_runtime(const Target &target, const RuntimeNamespaceMap &prefixes = {});
/// The same as one object file, all of which goes into what it is linked to.
std::string standalone_runtime_object(const Target &target,
                                      const RuntimeNamespaceMap &prefixes = {});

}  // namespace calotype::internal
