// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a ReductionProgram as it is written, one iteration after another, on plain arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "reduction_program.h"

namespace calotype::test {

/// Every point of [min, max], the first dimension innermost.
void for_each_point(const std::vector<int> &min, const std::vector<int> &max,
                    const std::function<void(const std::vector<int> &)> &visit);

class ReductionEvaluator {
public:
    using Point = std::vector<int>;
    /// What ends an evaluation that takes more steps than it may.
    struct TooManySteps {};

    ReductionEvaluator(const ReductionProgram &p, const ReductionProgram::Inputs &inputs,
                       int64_t most_steps = std::numeric_limits<int64_t>::max());

    int64_t operator()(int stage, int value, const Point &at);

private:
    /// A stage's values in a box, after all updates.
    struct Grid {
        Point min, max;
        std::vector<std::vector<int64_t>> values;

        bool holds(const Point &at) const;
        size_t index(const Point &at) const;
        void include(const Point &at, int margin);
    };
    /// What a term sees.
    struct Place {
        const Point *vars = nullptr, *loops = nullptr;
        int stage = 0;
    };

    void compute(int stage);
    void define(int stage, Grid &grid);
    void update(int stage, const ReductionUpdate &u, Grid &grid);
    void iterate(const ReductionUpdate &u, const Place &place, Grid &grid);
    int64_t merged(const ReductionStage &s, const ReductionUpdate &u, size_t value, int64_t before,
                   const std::vector<int64_t> &after, int64_t first) const;
    bool holds(const ReductionCondition &c, const Place &place);
    int64_t term(const ReductionTerm &t, const Place &place);
    int64_t read(const ReductionTerm &t, const Point &at);
    Point inside(const ReductionStage &s, const Point &at, bool &is_outside);
    Point points(const std::vector<ReductionTerm> &terms, const Place &place);

    const ReductionProgram &p_;
    const ReductionProgram::Inputs &inputs_;
    int64_t steps_left_;  ///< terms
    std::map<int, Grid> grids_;
    Grid *updated_ = nullptr;
    std::vector<Point>
        escaped_;  ///< places of the Func under update that were read outside of its box
    std::map<std::pair<int, Point>, std::vector<int64_t>> pure_;
};

}  // namespace calotype::test
