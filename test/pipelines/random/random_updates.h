// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RandomUpdates: updates of a Func whose places, conditions and values are of what they write, drawn from a seed; Funcs
// that do so, and a plain evaluator of one iteration after another.
#pragma once

#include <string>
#include <vector>

#include "random_pipeline.h"
#include "random_schedule.h"

namespace calotype::test {

/// A whole number, of what an iteration sees.
struct Term {
    enum class Kind {
        Constant,  ///< number
        Loop,      ///< the RVar of dimension number
        Row,       ///< v
        Element,   ///< f(place of terms[0], v)[number]
        Entry,     ///< table(terms[0])
        Sum,
        Product,  ///< modulo the width
        Smaller,
        Larger,
        Choice,  ///< terms[2] where terms[0] < terms[1], else terms[3]
    };
    Kind kind = Kind::Constant;
    int number = 0;
    std::vector<Term> terms;
};

/// f(place, v) = values where condition[0] < condition[1], if there is one.
struct ScatterUpdate {
    std::vector<int> mins, extents;  ///< of the reduction domain
    Term place;
    std::vector<Term> values, condition;
};

/// f(x, v), x in [min, min + width), v in [0, height), of values in [0, width).
struct RandomUpdates {
    explicit RandomUpdates(uint64_t seed);

    Type type;
    int values = 1;  ///< of f's Tuple
    int min = 0, width = 1, height = 1;
    bool is_output = true;    ///< else a sum of f's values is
    bool rows_first = false;  ///< f(v, x)
    std::vector<ScatterUpdate> updates;
};

/// The Funcs that compute it, for parameters that hold its min.
struct BuiltUpdates {
    explicit BuiltUpdates(const RandomUpdates &p);

    const Var x{"x"}, v{"v"};
    Func f{"f"}, table{"table"}, sum{"sum"};
    Param<int> min{"min"};
    std::vector<RDom> domains;  ///< of each update
    Func output;
};

/// The updates, and the directives.
std::string text(const BuiltUpdates &built, const Directives &directives);

/// Memory for the outputs.
std::vector<Buffer<void>> outputs_of(const RandomUpdates &p);
/// Where they differ from what the evaluator gives; empty if nowhere.
std::string difference(const RandomUpdates &p, const std::vector<Buffer<void>> &outputs);

}  // namespace calotype::test
