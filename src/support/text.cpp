// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "support/error.h"

namespace calotype::internal {

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
    internal_assert(!separator.empty()) << "empty separator";
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end; (end = text.find(separator, begin)) != std::string_view::npos;
         begin = end + separator.size()) {
        parts.emplace_back(text.substr(begin, end - begin));
    }
    parts.emplace_back(text.substr(begin));
    return parts;
}

std::string join(const std::vector<std::string> &parts, std::string_view separator) {
    std::string text;
    for (size_t i = 0; i < parts.size(); i++) {
        if (i > 0) {
            text += separator;
        }
        text += parts[i];
    }
    return text;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    return join(split(text, from), to);
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view space = " \t\r\n\v\f";
    const size_t begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

int edit_distance(std::string_view a, std::string_view b) {
    // row[j] is the distance of the first i letters of a to the first j of b.
    std::vector<int> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= a.size(); i++) {
        int diagonal = row[0];
        row[0] = int(i);
        for (size_t j = 1; j <= b.size(); j++) {
            const int substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string> &candidates) {
    std::optional<std::string> nearest;
    int best = int(std::max<size_t>(1, name.size() / 3)) + 1;
    for (const std::string &candidate : candidates) {
        const int distance = edit_distance(name, candidate);
        if (distance < best && distance < int(candidate.size())) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string> &candidates) {
    const auto nearest = nearest_name(name, candidates);
    return nearest ? ", did you mean '" + *nearest + "'?" : "";
}

namespace {

// Whether `name` is one of the prefixes, as "f1", and a number below that of the prefix, as "f12" where the
// next one is "f13". So that the names that were made need not be kept.
bool is_numbered(const std::map<std::string, int> &next, const std::string &name) {
    constexpr size_t most_digits = 9;
    for (size_t at = name.size();
         at > 0 && name.size() - at < most_digits && isdigit(uint8_t(name[at - 1]));) {
        at--;
        const bool has_zeros = name[at] == '0' && at + 1 < name.size();
        const auto found = has_zeros ? next.end() : next.find(name.substr(0, at));
        if (found != next.end() && std::stoi(name.substr(at)) < found->second) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string UniqueNames::unique(std::string_view prefix) {
    const std::string key = replace_all(prefix, "$", "_");
    std::lock_guard<std::mutex> lock(mutex_);
    const auto [used, is_first] = used_.try_emplace(key, 0);
    if (is_first && is_numbered(numbers_, key)) {
        used->second = 1;
    }
    const int n = used->second++;
    return n == 0 ? key : key + "$" + std::to_string(n);
}

std::string UniqueNames::numbered(std::string_view prefix) {
    const std::string key = replace_all(prefix, "$", "_");
    std::lock_guard<std::mutex> lock(mutex_);
    int &next = numbers_[key];
    for (;;) {
        // It might have been asked for as a prefix of unique(), or be that of another prefix: b1 and 2, b and 12.
        std::string name = key + std::to_string(next);
        const bool is_taken = used_.count(name) > 0 || is_numbered(numbers_, name);
        next++;
        if (!is_taken) {
            return name;
        }
    }
}

namespace {

thread_local UniqueNames *names_of_scope = nullptr;

/// Names that were made: of each prefix the first so many.
class MadeNames {
public:
    void add(std::string_view prefix, bool numbered, const std::string &name) {
        const std::string key = replace_all(prefix, "$", "_");
        const std::string rest = name.substr(key.size());
        const int number = rest.empty() ? 0 : std::stoi(rest.substr(numbered ? 0 : 1));
        int &next = (numbered ? numbers_ : unique_)[key];
        next = std::max(next, number + 1);
    }
    bool has(const std::string &name) const {
        const size_t end = name.find('$');
        const auto found = unique_.find(name.substr(0, end));
        const int number = end == std::string::npos ? 0 : std::stoi(name.substr(end + 1));
        return (found != unique_.end() && number < found->second) || is_numbered(numbers_, name);
    }

private:
    std::map<std::string, int> unique_, numbers_;  ///< the next, by prefix
};

/// The names of a process, and which of them were made before its first scope: those of global
/// objects, which pipelines in scopes may use.
class NamesOfProcess {
public:
    static NamesOfProcess &get() {
        static NamesOfProcess names;
        return names;
    }

    std::string make(std::string_view prefix, bool numbered) {
        std::string name = make_in(names_, prefix, numbered);
        std::lock_guard<std::mutex> lock(mutex_);
        if (!had_scope_) {
            early_.add(prefix, numbered, name);
        }
        return name;
    }

    void begin_scope() {
        std::lock_guard<std::mutex> lock(mutex_);
        had_scope_ = true;
    }

    /// None that is an early one. Those are looked at without the lock: once a scope began there are no more.
    std::string make_in_scope(UniqueNames &names, std::string_view prefix, bool numbered) const {
        std::string name;
        do {
            name = make_in(names, prefix, numbered);
        } while (early_.has(name));
        return name;
    }

private:
    static std::string make_in(UniqueNames &names, std::string_view prefix, bool numbered) {
        return numbered ? names.numbered(prefix) : names.unique(prefix);
    }

    UniqueNames names_;
    std::mutex mutex_;
    bool had_scope_ = false;
    MadeNames early_;
};

std::string make_name(std::string_view prefix, bool numbered) {
    return names_of_scope ? NamesOfProcess::get().make_in_scope(*names_of_scope, prefix, numbered)
                          : NamesOfProcess::get().make(prefix, numbered);
}

}  // namespace

UniqueNameScope::UniqueNameScope() : outer_(names_of_scope) {
    NamesOfProcess::get().begin_scope();
    names_of_scope = &names_;
}

UniqueNameScope::~UniqueNameScope() {
    names_of_scope = outer_;
}

std::string unique_name(std::string_view prefix) {
    return make_name(prefix, false);
}

std::string unique_name(char prefix) {
    return make_name(std::string_view(&prefix, 1), true);
}

}  // namespace calotype::internal
