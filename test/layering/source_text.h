// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C or C++ source seen as text: its includes and the lengths of its functions. No parser:
// comments, strings and directives are blanked out, then braces are matched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace layering {

struct Include {
    int line;
    bool angled;  ///< <...> rather than "..."
    std::string path;
};

struct FunctionExtent {
    int line;  ///< of its first token
    int lines;
    std::string head;  ///< the text before its body
};

std::vector<Include> find_includes(std::string_view text);

/// Function bodies at namespace or class level; what is inside one belongs to it.
std::vector<FunctionExtent> find_functions(std::string_view text);

int count_lines(std::string_view text);

/// `text` with comments, string and character literals, and preprocessor directives as blanks. The
/// lines stay where they are.
std::string blank_out(std::string_view text);

}  // namespace layering
