// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The snippets of the documentation's pages, as test_docs runs them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace docs {

/// A snippet adds itself to the list by being constructed.
struct Snippet {
    /// `expected`: what it must print on stdout and stderr; null: anything.
    Snippet(const char *place, void (*run)(), const char *expected);

    std::string place;
    void (*run)();
    const char *expected;
};

std::vector<Snippet> &all_snippets();

/// What assert() is in a snippet: also in release builds, and the other snippets still run.
inline void check(bool holds, const char *condition) {
    if (!holds) {
        throw std::logic_error(std::string("does not hold: ") + condition);
    }
}

}  // namespace docs
