// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which seeds a random test runs. Of one, with CT_TEST_SEED=<seed>, directives are left out with CT_TEST_SKIP='3 7', as
// its text numbers them; at more of them one looks with CT_TEST_SEEDS=<how many> and CT_TEST_FIRST=<from which on>.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <set>

namespace calotype::test {

/// `run` says whether what was drawn was legal, so that its values were compared; that of two thirds is to be.
void for_each_seed(uint64_t seeds, const std::function<bool(uint64_t)> &run);

/// `run`, which leaves out directives of such numbers, first without any, then without some of them until it says that
/// the rest is legal. Without `keeps_places`, those that say where a Func is computed may be left out, too.
bool run_some_directives(
    uint64_t seed, const std::function<bool(const std::set<int> &skipped, bool keeps_places)> &run);

/// False; says why where one seed is looked at.
bool refused(const std::exception &e);

}  // namespace calotype::test
