// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of the code base, as docs/architecture.md section 2 sets it: who may include whom, and
// how long things may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace layering {

struct Violation {
    std::string file;
    int line;
    std::string rule;
};

bool operator==(const Violation &a, const Violation &b);

/// FILE:LINE: RULE
std::string to_string(const Violation &violation);

struct Caps {
    int header_lines = 300;
    int source_lines = 800;
    int function_lines = 100;
    int files_in_folder = 40;
    int readme_lines_least = 5, readme_lines = 15;
};

/// The layer that a file of the project belongs to, as "ir", "runtime/host" or "test/pipelines"; ""
/// where the include table has nothing to say.
std::string layer_of(std::string_view path);

/// All that is wrong with one file; `path` is relative to the root of the project.
std::vector<Violation> check_file(const std::string &path, std::string_view text,
                                  const Caps &caps = {});

/// A folder with the given number of files.
std::vector<Violation> check_folder(const std::string &path, int files, const Caps &caps = {});

/// The README.md of a folder of the compiler; 0 lines: it has none.
std::vector<Violation> check_readme(const std::string &folder, int lines, const Caps &caps = {});

/// The layers that the CMakeLists.txt of a layer links.
std::vector<Violation> check_links(const std::string &path, std::string_view text);

/// Everything below `root`.
std::vector<Violation> check_tree(const std::string &root);

}  // namespace layering
