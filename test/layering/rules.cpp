// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layering/rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "layering/source_text.h"

namespace layering {

namespace {

using Layers = std::set<std::string>;

/// layer -> what it may include besides itself and the standard library. "LLVM" stands for LLVM's
/// headers, "public" for the headers that users are told to include.
const std::map<std::string, Layers> &include_table() {
    static const std::map<std::string, Layers> table = {
        {"support", {}},
        {"target", {"support"}},
        {"ir", {"support", "runtime/abi"}},
        {"arith", {"ir", "support"}},
        {"linkables", {"ir", "support"}},
        {"pipeline",
         {"linkables", "arith", "ir", "target", "support", "runtime/abi", "runtime/cpp"}},
        {"lang",
         {"pipeline", "linkables", "arith", "ir", "target", "support", "runtime/abi",
          "runtime/cpp"}},
        {"lower", {"pipeline", "linkables", "arith", "ir", "target", "support", "runtime/abi"}},
        {"autoschedule",
         {"lower", "lang", "pipeline", "linkables", "arith", "ir", "target", "support",
          "runtime/abi", "runtime/cpp"}},
        {"legalize", {"ir", "support"}},
        {"codegen", {"legalize", "arith", "ir", "target", "support", "runtime/abi", "LLVM"}},
        {"driver",
         {"codegen", "autoschedule", "lower", "lang", "pipeline", "linkables", "arith", "ir",
          "target", "support", "runtime/abi", "runtime/cpp"}},
        {"generator", {"driver", "lang", "target", "support", "runtime/abi", "runtime/cpp"}},
        {"public",
         {"generator", "driver", "lang", "pipeline", "linkables", "arith", "ir", "target",
          "support", "runtime/abi", "runtime/cpp"}},
        // Halide.h: a user of the public headers that also shows the nodes, and runs generators.
        {"generator/compat",
         {"public", "generator", "driver", "pipeline", "arith", "ir", "support"}},
        {"runtime/abi", {}},
        {"runtime/host", {"runtime/abi"}},
        {"runtime/device", {"runtime/host", "runtime/abi"}},
        {"runtime/cuda", {"runtime/device", "runtime/host", "runtime/abi"}},
        {"runtime/opencl", {"runtime/device", "runtime/host", "runtime/abi"}},
        {"runtime/text",
         {"runtime/cuda", "runtime/opencl", "runtime/device", "runtime/host", "runtime/abi"}},
        {"runtime/nrt", {"runtime/abi"}},
        {"runtime/cpp", {"runtime/abi"}},
        {"runtime/tools", {"runtime/cpp", "runtime/abi"}},
        {"runtime/compat", {"runtime/tools", "runtime/cpp", "runtime/abi", "public"}},
        {"apps", {"public"}},
        {"generators", {"public"}},
        {"python_bindings", {"public"}},
        {"test/pipelines", {"public", "harness"}},
        {"test/generator", {"public", "harness"}},
        {"test/package", {"public"}},
    };
    return table;
}

const std::set<std::string> &c_standard_headers() {
    static const std::set<std::string> headers = {
        "assert.h", "errno.h",  "float.h",   "inttypes.h", "limits.h",
        "math.h",   "stdarg.h", "stdbool.h", "stddef.h",   "stdint.h",
        "stdio.h",  "stdlib.h", "string.h",  "type_traits"};  // for the part that C++ alone sees
    return headers;
}

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

/// The first `n` components of a path, if it has more than those.
std::string leading(std::string_view path, int n) {
    size_t end = 0;
    for (int i = 0; i < n; i++) {
        end = path.find('/', i == 0 ? 0 : end + 1);
        if (end == std::string_view::npos) {
            return "";
        }
    }
    return std::string(path.substr(0, end));
}

std::string extension_of(const std::string &path) {
    return std::filesystem::path(path).extension().string();
}

bool is_header(const std::string &path) {
    return extension_of(path) == ".h" || extension_of(path) == ".hpp";
}

bool is_source(const std::string &path) {
    return extension_of(path) == ".cpp" || extension_of(path) == ".c";
}

/// The layer that an include leads to: "std" for what is outside of the project, "?" for what no
/// layer owns.
std::string layer_of_include(const Include &include) {
    const std::string first = leading(include.path, 1);
    if (first == "llvm" || first == "llvm-c") {
        return "LLVM";
    }
    if (include.path == "calotype.h" || first == "calotype") {
        return "public";
    }
    if (first == "runtime") {
        const std::string part = leading(include.path, 2);
        return part.empty() ? "public" : part;
    }
    if (first == "harness" || include_table().count(first)) {
        return first;
    }
    return include.angled ? "std" : "?";
}

/// The headers of the runtime include each other by relative paths, so that they may be installed
/// anywhere. `from` is their folder.
std::string from_the_root(const std::string &from, const std::string &path) {
    if (starts_with(path, "../")) {
        return "runtime/" + path.substr(3);
    }
    return path.find('/') == std::string::npos ? from + "/" + path : path;
}

/// An include of a header that lies in the same folder, or of one that the build makes.
bool is_local(const Include &include) {
    return include.path.find('/') == std::string::npos;
}

bool is_allowed(const std::string &from, const Include &include) {
    const std::string to = layer_of_include(include);
    const Layers &allowed = include_table().at(from);
    if (to == from || to == "std" || allowed.count(to)) {
        return from != "runtime/abi" || to == from || c_standard_headers().count(include.path);
    }
    const bool is_downstream = allowed.count("public") != 0;
    if (is_downstream) {
        return to == "runtime/abi" || to == "runtime/cpp" || (to == "?" && is_local(include)) ||
               (to == "?" && starts_with(include.path, from.substr(from.find('/') + 1) + "/"));
    }
    return false;
}

std::string explain(const std::string &from, const Include &include) {
    const std::string to = layer_of_include(include);
    if (from == "runtime/abi" && to == "std") {
        return "runtime/abi may include C standard headers only, not <" + include.path + ">";
    }
    if (to == "?") {
        return "include \"" + include.path + "\" does not begin with a layer";
    }
    return from + " may not include " + to + " (" + include.path + ")";
}

void check_includes(const std::string &path, std::string_view text, std::vector<Violation> &out) {
    const std::string from = layer_of(path);
    if (from.empty()) {
        return;
    }
    for (Include include : find_includes(text)) {
        if (starts_with(from, "runtime/") && !include.angled) {
            include.path = from_the_root(from, include.path);
        }
        if (!is_allowed(from, include)) {
            out.push_back({path, include.line, explain(from, include)});
        }
    }
}

void check_lengths(const std::string &path, std::string_view text, const Caps &caps,
                   std::vector<Violation> &out) {
    const int lines = count_lines(text);
    const int cap = is_header(path) ? caps.header_lines : caps.source_lines;
    if (lines > cap) {
        out.push_back({path, lines,
                       std::string(is_header(path) ? "header" : "source") + " has " +
                           std::to_string(lines) + " lines, at most " + std::to_string(cap)});
    }
    for (const FunctionExtent &function : find_functions(text)) {
        if (function.lines > caps.function_lines) {
            out.push_back({path, function.line,
                           "function has " + std::to_string(function.lines) + " lines, at most " +
                               std::to_string(caps.function_lines) + ": " + function.head});
        }
    }
}

void check_preamble(const std::string &path, std::string_view text, std::vector<Violation> &out) {
    if (!starts_with(text, "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception") &&
        !starts_with(text, "/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")) {
        out.push_back({path, 1, "the first line must be the SPDX licence line"});
    }
    if (is_header(path) && blank_out(text).find_first_not_of(" \n") != std::string::npos &&
        text.find("#pragma once") == std::string_view::npos &&
        text.find("#ifndef") == std::string_view::npos) {
        out.push_back({path, 1, "header without #pragma once"});
    }
}

/// Names of the IR are made in one place. Those of which one place alone makes and reads a fresh one
/// may say what they are about.
void check_names(const std::string &path, std::string_view text, std::vector<Violation> &out) {
    if (!starts_with(path, "src/lower/") || path == "src/lower/names.cpp") {
        return;
    }
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); number++) {
        static const std::regex made(R"re(\+ "\.[a-z])re");
        if (std::regex_search(line, made) && line.find("names.unique(") == std::string::npos) {
            out.push_back({path, number, "names are made by lower/names.h"});
        }
    }
}

std::string read(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void append(std::vector<Violation> &to, const std::vector<Violation> &from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

bool operator==(const Violation &a, const Violation &b) {
    return a.file == b.file && a.line == b.line && a.rule == b.rule;
}

std::string to_string(const Violation &violation) {
    return violation.file + ":" + std::to_string(violation.line) + ": " + violation.rule;
}

std::string layer_of(std::string_view path) {
    if (starts_with(path, "src/generator/compat/")) {
        return "generator/compat";
    }
    if (starts_with(path, "src/")) {
        const std::string folder = leading(path.substr(4), 1);
        return folder.empty() ? "public" : folder;
    }
    for (int components : {2, 1}) {
        const std::string folder = leading(path, components);
        if (!starts_with(folder, "src") && include_table().count(folder)) {
            return folder;
        }
    }
    return "";
}

std::vector<Violation> check_file(const std::string &path, std::string_view text,
                                  const Caps &caps) {
    std::vector<Violation> found;
    const std::string layer = layer_of(path);
    if (starts_with(path, "src/") && !include_table().count(layer)) {
        return {{path, 1, "no layer is named " + layer}};
    }
    check_includes(path, text, found);
    if (is_header(path) || is_source(path)) {
        check_lengths(path, text, caps, found);
        check_preamble(path, text, found);
        check_names(path, text, found);
    }
    return found;
}

std::vector<Violation> check_folder(const std::string &path, int files, const Caps &caps) {
    if (files <= caps.files_in_folder) {
        return {};
    }
    return {{path, 0,
             "folder has " + std::to_string(files) + " files, at most " +
                 std::to_string(caps.files_in_folder)}};
}

std::vector<Violation> check_readme(const std::string &folder, int lines, const Caps &caps) {
    if (lines >= caps.readme_lines_least && lines <= caps.readme_lines) {
        return {};
    }
    return {{folder + "/README.md", 0,
             "the README of a folder has " + std::to_string(lines) + " lines, must have " +
                 std::to_string(caps.readme_lines_least) + " to " +
                 std::to_string(caps.readme_lines)}};
}

std::vector<Violation> check_links(const std::string &path, std::string_view text) {
    const std::string layer = layer_of(path);
    const auto entry = include_table().find(layer);
    std::vector<Violation> found;
    if (!starts_with(path, "src/") || entry == include_table().end()) {
        return found;
    }
    Layers allowed = entry->second;
    allowed.insert(layer);
    if (allowed.count("LLVM")) {
        allowed.insert("llvm");
    }
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); number++) {
        static const std::regex link(
            R"(\bcalotype_(support|target|ir|arith|linkables|pipeline|lang|lower)"
            R"(|legalize|codegen|driver|generator|llvm)\b)");
        for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it) {
            const std::string to = (*it)[1];
            const bool is_pch = line.find("REUSE_FROM") != std::string::npos;
            if (!is_pch && !allowed.count(to)) {
                found.push_back({path, number, layer + " may not link " + to});
            }
        }
    }
    return found;
}

std::vector<Violation> check_tree(const std::string &root) {
    namespace fs = std::filesystem;
    std::vector<Violation> found;
    for (const char *top : {"src", "runtime", "generators", "apps", "python_bindings", "test"}) {
        const fs::path start = fs::path(root) / top;
        if (!fs::exists(start)) {
            continue;
        }
        std::map<std::string, int> files_in;
        for (const auto &entry : fs::recursive_directory_iterator(start)) {
            const std::string path = fs::relative(entry.path(), root).generic_string();
            if (!entry.is_regular_file() || path.find("/.") != std::string::npos ||
                path.find("__pycache__") != std::string::npos) {
                continue;
            }
            files_in[fs::path(path).parent_path().generic_string()]++;
            const std::string extension = extension_of(path);
            if (is_header(path) || is_source(path) || extension == ".def" || extension == ".inc") {
                append(found, check_file(path, read(entry.path())));
            } else if (entry.path().filename() == "CMakeLists.txt") {
                append(found, check_links(path, read(entry.path())));
            }
        }
        for (const auto &[folder, files] : files_in) {
            append(found, check_folder(folder, files));
            if (starts_with(folder, "src")) {
                const std::string readme = read(fs::path(root) / folder / "README.md");
                append(found, check_readme(folder, readme.empty() ? 0 : count_lines(readme)));
            }
        }
    }
    std::sort(found.begin(), found.end(), [](const Violation &a, const Violation &b) {
        return std::tie(a.file, a.line, a.rule) < std::tie(b.file, b.line, b.rule);
    });
    return found;
}

}  // namespace layering
