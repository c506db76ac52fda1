// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/pass_table.h"

#include <map>

namespace calotype {

#define PASS(folder, name, when) Stmt name(const Stmt &, LowerContext &);
#include "lower/passes.def"

namespace test {

Pass find_pass(const std::string &wanted) {
    static const std::map<std::string, Pass> passes = {
#define PASS(folder, name, when) {#name, name},
#include "lower/passes.def"
    };
    auto it = passes.find(wanted);
    return it == passes.end() ? nullptr : it->second;
}

}  // namespace test
}  // namespace calotype
