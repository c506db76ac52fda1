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

std::optional<uint64_t> number(const char *name) {
    const char *text = std::getenv(name);
    return text ? std::optional<uint64_t>(std::strtoull(text, nullptr, 10)) : std::nullopt;
}

/// Directives may be refused for what others do. Then some are left out.
bool run_legal_part(uint64_t seed, const RunSeed &run) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (const std::optional<std::set<int>> given = directives_left_out()) {
        return run(seed, *given, false);
    }
    std::set<int> skipped;
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

std::optional<uint64_t> seed_looked_at() {
    return number("CT_TEST_SEED");
}

std::optional<std::set<int>> directives_left_out() {
    const char *given = std::getenv("CT_TEST_SKIP");
    if (!given) {
        return std::nullopt;
    }
    std::istringstream numbers(given);
    return std::set<int>(std::istream_iterator<int>(numbers), {});
}

std::optional<SeedRange> seeds_searched() {
    const std::optional<uint64_t> count = number("CT_TEST_SEEDS");
    if (!count) {
        return std::nullopt;
    }
    return SeedRange{number("CT_TEST_FIRST").value_or(0), *count};
}

void compare_seeds(uint64_t seeds, const RunSeed &run) {
    if (const std::optional<uint64_t> seed = seed_looked_at()) {
        EXPECT_TRUE(run_legal_part(*seed, run));
        return;
    }
#ifdef __SANITIZE_THREAD__
    seeds = 6;  // its shadow of code compiled in process is never given back
#endif
    const std::optional<SeedRange> searched = seeds_searched();
    const SeedRange range = searched.value_or(SeedRange{0, seeds});
    uint64_t compared = 0;
    for (uint64_t seed = range.first; seed < range.first + range.count; seed++) {
        compared += run_legal_part(seed, run) ? 1 : 0;
    }
    if (searched) {
        std::cout << compared << " of " << range.count << " seeds compared\n";
    }
    EXPECT_GE(compared, range.count * 2 / 3);
}

bool refused(const std::exception &e) {
    if (seed_looked_at() || seeds_searched()) {
        std::cout << "refused: " << e.what() << "\n";
    }
    return false;
}

}  // namespace calotype::test
