// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines that are written as bytes and read again are the same. To look at seeds, as random_seeds.h says,
// with --gtest_filter='RandomTexts*'.
#include <gtest/gtest.h>

#include <calotype/calotype.h>

#include <vector>

#include "random_run.h"
#include "random_schedule.h"
#include "random_seeds.h"

namespace calotype::test {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytes_of(const Pipeline &p) {
    Bytes data;
    serialize_pipeline(p, data);
    return data;
}

Bytes bytes_of_seed(uint64_t seed) {
    RandomRun run(full_random_pipeline(seed));
    random_schedule(run.p, run.built, seed * 77 + 5, run.directives);
    return bytes_of(run.pipeline());
}

uint64_t first_seed() {
    return seed_looked_at().value_or(seeds_searched().value_or(SeedRange{0, 0}).first);
}
uint64_t seed_count(uint64_t otherwise) {
    return seed_looked_at() ? 1 : seeds_searched().value_or(SeedRange{0, otherwise}).count;
}

TEST(RandomTexts, are_the_same_when_they_are_read) {
    for (uint64_t seed = first_seed(), n = seed_count(40); n > 0; seed++, n--) {
        const Bytes data = bytes_of_seed(seed);
        EXPECT_EQ(bytes_of(deserialize_pipeline(data)), data) << "seed " << seed;
    }
}

}  // namespace
}  // namespace calotype::test
