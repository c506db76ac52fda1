// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/linkable.h"

namespace calotype::internal {

std::string origin_of(const LinkableData &linkable, const std::vector<std::string> &files) {
    std::string text = linkable.parameter.empty() ? "" : "parameter " + linkable.parameter;
    for (const std::string &file : files) {
        text += (text.empty() || file.empty() ? "" : ", ") + file;
    }
    return text.empty() ? "" : " (" + text + ")";
}

}  // namespace calotype::internal
