// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of files: what functions take is a str or an os.PathLike.
#pragma once

#include <nanobind/stl/filesystem.h>

#include <filesystem>

#include "bindings.h"

namespace calotype::python {

using Path = std::filesystem::path;
using OutputPaths = std::map<OutputFileType, Path>;

inline std::map<OutputFileType, std::string> names_of(const OutputPaths &outputs) {
    return {outputs.begin(), outputs.end()};
}

}  // namespace calotype::python
