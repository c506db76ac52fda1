// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings: splitting, joining, searching, the nearest of some names, and fresh names.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace calotype::internal {

bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);

/// The parts between separators: n separators give n + 1 parts, some may be empty.
std::vector<std::string> split(std::string_view text, std::string_view separator);

std::string join(const std::vector<std::string> &parts, std::string_view separator);

/// `text` with every non-overlapping `from`, left to right, replaced. `from` must not be empty.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

/// Without white space at both ends.
std::string_view trim(std::string_view text);

/// Insertions, deletions and substitutions that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, if one is near enough to be what was meant: at most a third of
/// its letters differ. For "did you mean" in errors.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string> &candidates);

/// ", did you mean 'X'?", or nothing when no candidate is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string> &candidates);

/// Hands out names that differ from each other. One object makes the same names in every run; it
/// may be used on several threads.
class UniqueNames {
public:
    /// `prefix` itself the first time, then prefix$1, prefix$2, ... A $ in the prefix becomes _.
    std::string unique(std::string_view prefix);
    /// Prefix with a number always: prefix0, prefix1, ...
    std::string numbered(std::string_view prefix);

private:
    std::mutex mutex_;
    std::map<std::string, int> used_;     ///< of unique(), and names of numbered()
    std::map<std::string, int> numbers_;  ///< the next, by prefix
};

/// As UniqueNames::unique, over the whole process: for objects that the user makes in any order, as
/// Funcs and Params. Passes use a UniqueNames of their own, so that what they make does not depend
/// on what ran before.
std::string unique_name(std::string_view prefix);
/// As UniqueNames::numbered, over the whole process: 'f' gives f0, f1, ...
std::string unique_name(char prefix);

/// While it lives, unique_name() on this thread begins anew: what is built inside gets the same
/// names in every run of a process and on every thread. For whole pipelines that have no part made
/// outside. Scopes nest.
class UniqueNameScope {
public:
    UniqueNameScope();
    ~UniqueNameScope();
    UniqueNameScope(const UniqueNameScope &) = delete;
    UniqueNameScope &operator=(const UniqueNameScope &) = delete;

private:
    UniqueNames names_;
    UniqueNames *outer_;
};

}  // namespace calotype::internal
