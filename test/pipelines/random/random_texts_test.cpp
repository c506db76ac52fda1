// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines that are written as bytes and read again are the same, and bytes that were changed are refused or
// compile. To look at seeds, as random_seeds.h says, with --gtest_filter='RandomTexts*'.
#include <gtest/gtest.h>

#include <calotype/calotype.h>

#include <string>
#include <vector>

#include "fault_report.h"
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

/// Below its first line.
Bytes changed(Bytes data, uint64_t seed) {
    Dice dice(seed);
    constexpr int first_line = 37, most_moved = 60;
    for (int changes = 1 + dice(3); changes > 0; changes--) {
        const auto place = [&] {
            return first_line + dice(int(data.size()) - first_line - most_moved);
        };
        const auto at = data.begin() + place();
        const int count = 1 + dice(most_moved - 1);
        switch (dice(3)) {
        case 0:
            *at = uint8_t(dice(256));
            break;
        case 1:
            data.erase(at, at + 1 + count / 4);
            break;
        default: {
            const auto from = data.begin() + place();
            const Bytes part(from, from + count);
            data.insert(at, part.begin(), part.end());
        }
        }
    }
    return data;
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

TEST(RandomTexts, that_were_changed_are_refused_or_compile) {
    for (uint64_t seed = first_seed(), n = seed_count(20); n > 0; seed++, n--) {
        const Bytes data = bytes_of_seed(seed);
        for (uint64_t i = 0; i < 20; i++) {
            const Bytes other = changed(data, seed * 1000 + i);
            const FaultReport report("seed " + std::to_string(seed) + ", change " +
                                     std::to_string(i) + " of RandomTexts\n");
            try {
                Pipeline p = deserialize_pipeline(other);
                p.compile_to_module(p.infer_arguments(), "read");
            } catch (const CompileError &) {
            } catch (const std::exception &e) {
                ADD_FAILURE() << "seed " << seed << ", change " << i << ": " << e.what() << "\n"
                              << std::string(other.begin(), other.end());
            }
        }
    }
}

}  // namespace
}  // namespace calotype::test
