// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which seeds a random test runs. Of one, with CT_TEST_SEED=<seed>, directives are left out with CT_TEST_SKIP='3 7', as
// its text numbers them; at more of them one looks with CT_TEST_SEEDS=<how many> and CT_TEST_FIRST=<from which on>.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <set>

namespace calotype::test {

/// CT_TEST_SEED, if it is set.
std::optional<uint64_t> seed_looked_at();
/// CT_TEST_SKIP, if it is set.
std::optional<std::set<int>> directives_left_out();

struct SeedRange {
    uint64_t first = 0, count = 0;
};
/// CT_TEST_SEEDS and CT_TEST_FIRST, if the former is set.
std::optional<SeedRange> seeds_searched();

/// Whether what is drawn for a seed was legal, without directives of such numbers, so that its values were compared.
/// Without `keeps_places`, directives that say where a Func is computed may be left out, too.
using RunSeed = std::function<bool(uint64_t seed, const std::set<int> &skipped, bool keeps_places)>;

/// Each seed as it is drawn, or else without some of its directives, until that is legal; for two thirds it is to be.
void compare_seeds(uint64_t seeds, const RunSeed &run);

/// False; says why where seeds are looked at.
bool refused(const std::exception &e);

}  // namespace calotype::test
