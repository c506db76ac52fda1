// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random schedule for a RandomPipeline: loops of every stage changed, every Func placed
// somewhere.
#pragma once

#include "random_pipeline.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace calotype::test {

/// Applies directives one after another and can leave some out, to find which of them a failure
/// needs.
class Directives {
public:
    /// Numbers of directives to leave out.
    std::set<int> skipped;
    /// But apply those of them that say where a Func is computed: without one, it may be computed as a
    /// whole for each element of another.
    bool keeps_places = false;

    /// Apply, unless that is skipped or refused, which changes nothing. Returns whether it was.
    bool apply(const std::string &text, const std::function<void()> &directive);
    /// Those that were applied, as lines of C++.
    const std::string &text() const {
        return text_;
    }
    int count() const {
        return count_;
    }

private:
    int count_ = 0;
    std::string text_;
};

struct NamedTail {
    TailStrategy strategy;
    const char *name;
};

/// Those that go with RVars first, and those that write beyond the end last.
const std::vector<NamedTail> &named_tails();

/// Schedule the Funcs of `built`. Whether all directives can be kept together is seen when the
/// pipeline is compiled, and whether a tail strategy's output is large enough when it runs.
void random_schedule(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed,
                     Directives &directives);

}  // namespace calotype::test
