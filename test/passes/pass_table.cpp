// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/pass_table.h"

#include <map>

#include "lower/loops/simplify_early.h"
#include "lower/loops/simplify_late.h"
#include "lower/loops/unroll_loops.h"
#include "lower/loops/vectorize_loops.h"
#include "lower/storage/flatten_storage.h"
#include "lower/storage/split_tuples.h"

namespace calotype::test {

Pass find_pass(const std::string &name) {
    static const std::map<std::string, Pass> passes = {
        {"flatten_storage", flatten_storage}, {"simplify_early", simplify_early}, {"simplify_late", simplify_late},
        {"split_tuples", split_tuples},       {"unroll_loops", unroll_loops},     {"vectorize_loops", vectorize_loops},
    };
    auto it = passes.find(name);
    return it == passes.end() ? nullptr : it->second;
}

}  // namespace calotype::test
