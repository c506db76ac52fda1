// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/pass_table.h"

namespace calotype {

namespace internal {
#define PASS(folder, name, when, needs, gives, ends) Stmt name(const Stmt &, LowerContext &);
#include "lower/passes.def"
}  // namespace internal

namespace test {

using namespace internal;

namespace {

struct Row {
    std::string name;
    Pass run;
    bool (*applies)(const LowerContext &);
};

const std::vector<Row> &rows() {
    static const std::vector<Row> table = {
#define PASS(folder, name, when, needs, gives, ends)                                               \
    {#name, name, [](const LowerContext &ctx) {                                                    \
         (void)ctx;                                                                                \
         return bool(when);                                                                        \
     }},
#include "lower/passes.def"
    };
    return table;
}

}  // namespace

Pass find_pass(const std::string &wanted) {
    for (const Row &row : rows()) {
        if (row.name == wanted) {
            return row.run;
        }
    }
    return nullptr;
}

std::vector<std::string> all_passes() {
    std::vector<std::string> names;
    for (const Row &row : rows()) {
        names.push_back(row.name);
    }
    return names;
}

Stmt run_passes_before(const std::string &name, LowerContext &ctx) {
    Stmt s;
    for (const Row &row : rows()) {
        if (row.name == name) {
            break;
        }
        s = row.applies(ctx) ? row.run(s, ctx) : s;
    }
    return s;
}

}  // namespace test
}  // namespace calotype
