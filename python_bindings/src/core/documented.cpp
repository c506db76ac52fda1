// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "documented.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace calotype::python {

namespace {

using Key = std::pair<std::string, std::string>;

struct Row {
    const char *cls, *name, *comment;
};

// Classes whose members C++ has in base classes or namespaces of other names.
constexpr std::pair<const char *, const char *> bases[] = {
    {"Func", "FuncDirectives"},        {"Func", "LoopDirectives"},
    {"Func", "GpuDirectives"},         {"Func", "Pipeline"},
    {"Stage", "LoopDirectives"},       {"Stage", "GpuDirectives"},
    {"ImageParam", "OutputImageParam"}};

const std::map<Key, const char *> &comments() {
    static const auto *const table = [] {
        constexpr Row rows[] = {
#include "header_comments.inc"
        };
        auto *made = new std::map<Key, const char *>;
        for (const Row &row : rows) {
            made->emplace(Key(row.cls, row.name), row.comment);
        }
        return made;
    }();
    return *table;
}

const char *find(const std::string &cls, const std::string &name) {
    const auto found = comments().find({cls, name});
    if (found != comments().end()) {
        return found->second;
    }
    for (const auto &[heir, base] : bases) {
        if (const char *comment = heir == cls ? find(base, name) : nullptr) {
            return comment;
        }
    }
    return nullptr;
}

}  // namespace

const char *header_comment(const char *cls, const char *name) {
    const std::string plain = name;
    const char *comment = find(cls, plain);
    if (!comment && plain.back() == '_' && plain[0] != '_') {
        comment = find(cls, plain.substr(0, plain.size() - 1));
    }
    return comment ? comment : "";
}

}  // namespace calotype::python
