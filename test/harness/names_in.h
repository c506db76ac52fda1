// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lies in a folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace calotype::test {

/// Names of the files, sorted.
inline std::vector<std::string> names_in(const std::string &dir) {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(dir)) {
        names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace calotype::test
