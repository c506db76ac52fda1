// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_seeds.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "random_pipeline.h"

namespace calotype::test {

namespace {

uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Directives may be refused for what others do. Then some are left out.
bool run_legal_part(uint64_t seed, const RunSeed &run) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::set<int> skipped;
    if (const char *given = std::getenv("CT_TEST_SKIP")) {
        std::istringstream numbers(given);
        skipped.insert(std::istream_iterator<int>(numbers), {});
        return run(seed, skipped, false);
    }
    constexpr int most_directives = 64, most_attempts = 6;
    Dice dice(seed);
    for (int attempt = 0; attempt < most_attempts; attempt++) {
        if (run(seed, skipped, true)) {
            return true;
        }
        for (int d = 0; d < most_directives; d++) {
            if (dice.chance(25)) {
                skipped.insert(d);
            }
        }
    }
    return false;
}

}  // namespace

void compare_seeds(uint64_t seeds, const RunSeed &run) {
    if (std::getenv("CT_TEST_SEED")) {
        EXPECT_TRUE(run_legal_part(number("CT_TEST_SEED", 0), run));
        return;
    }
#ifdef __SANITIZE_THREAD__
    seeds = 6;  // its shadow of code compiled in process is never given back
#endif
    const uint64_t first = number("CT_TEST_FIRST", 0);
    seeds = number("CT_TEST_SEEDS", seeds);
    uint64_t compared = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        compared += run_legal_part(seed, run) ? 1 : 0;
    }
    if (std::getenv("CT_TEST_SEEDS")) {
        std::cout << compared << " of " << seeds << " seeds compared\n";
    }
    EXPECT_GT(compared, seeds * 2 / 3);
}

bool refused(const std::exception &e) {
    if (std::getenv("CT_TEST_SEED")) {
        std::cout << e.what() << "\n";
    }
    return false;
}

}  // namespace calotype::test
