// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kinds of device code: which a file's extension promises, and which its bytes hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/linkable.h"

namespace calotype::internal {

/// As it is written behind `kind=`: "ptx", "opencl_c".
std::string kind_name(calotype_kind kind);
/// A CompileError with the nearest known name if there is none.
calotype_kind kind_from_name(const std::string &name);

/// The file with its kind: that of the extension, or the one given. A CompileError that names the
/// file, the kind found and the kind expected if it holds something else, or cannot be read.
LinkableImage load_image(const std::string &path, std::optional<calotype_kind> kind);

/// The same of bytes that come from no file. `name` is what messages call them.
LinkableImage check_image(calotype_kind kind, std::string bytes, const std::string &name);

/// A CompileError that begins with `title` unless the path leads to a regular file: others may
/// never end.
void check_is_file(const std::string &title, const std::string &path);

/// Says what the image is for. A CompileError if its content says something else.
void set_architecture(LinkableImage &image, uint32_t sm, char suffix);

/// "sm_90a".
std::string architecture_name(uint32_t sm, char suffix);

/// From "90a" or "sm_90a". A CompileError if it is neither.
struct Architecture {
    uint32_t sm;
    char suffix;
};
Architecture architecture_from_text(const std::string &text);

}  // namespace calotype::internal
