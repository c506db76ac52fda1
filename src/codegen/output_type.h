// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OutputFileType: the kinds of file that a compilation can write.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace calotype {

/// One enumerator a row of output/output_types.def.
enum class OutputFileType {
#define OUTPUT_TYPE(name, extension, per_target) name,
#include "codegen/output/output_types.def"
};

namespace internal {

/// The row of a type.
struct OutputTypeInfo {
    const char *name;       ///< after -e: "static_library"
    const char *extension;  ///< ".a"
    bool per_target;        ///< a build for several targets writes one each
};
const OutputTypeInfo &output_type_info(OutputFileType type);

/// The type of that name; older names ("o", "h", "cpp", "html", "py.c") are known too.
std::optional<OutputFileType> output_type_from_name(const std::string &name);
/// All names that output_type_from_name knows, for messages.
std::vector<std::string> output_type_names();

}  // namespace internal
}  // namespace calotype
