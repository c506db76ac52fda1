// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whatever is called with whatever arguments, what does not compile is refused as the user's error. To look at seeds, as
// random_seeds.h says, with --gtest_filter='RandomCalls*'.
#include <gtest/gtest.h>

#include <iostream>

#include "fault_report.h"
#include "random_calls.h"
#include "random_seeds.h"

namespace calotype::test {
namespace {

/// Whether it compiles.
bool compiles(const RandomCalls &calls) {
    const Func f = calls.output();
    if (!f.defined()) {
        return false;
    }
    try {
        Pipeline(f).compile_jit();
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const RuntimeError &e) {
        return refused(e);  // an extern function that is nowhere
    }
    return true;
}

bool run(uint64_t seed) {
    const FaultReport report("seed " + std::to_string(seed) + " of RandomCalls\n");
    try {
        const RandomCalls calls(seed);
        if (seed_looked_at()) {
            std::cout << calls.text();
        }
        const FaultReport what(calls.text());
        try {
            return compiles(calls);
        } catch (const std::exception &e) {
            ADD_FAILURE() << "seed " << seed << "\n" << calls.text() << e.what();
        }
    } catch (const std::exception &e) {
        ADD_FAILURE() << "seed " << seed << ": " << e.what();
    }
    return false;
}

TEST(RandomCalls, end_in_code_or_in_errors_of_the_user) {
    if (const auto seed = seed_looked_at()) {
        run(*seed);
        return;
    }
    const SeedRange range = seeds_searched().value_or(SeedRange{0, 100});
    uint64_t compiled = 0;
    for (uint64_t seed = range.first; seed < range.first + range.count; seed++) {
        compiled += run(seed) ? 1 : 0;
    }
    if (seeds_searched()) {
        std::cout << compiled << " of " << range.count << " compile\n";
    }
    EXPECT_GE(compiled, range.count / 8);
}

}  // namespace
}  // namespace calotype::test
