// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ReductionProgram: a few Funcs with updates over reduction domains, drawn from a seed, as plain data.
#pragma once

#include <calotype/calotype.h>

#include <cstdint>
#include <vector>

#include "pipelines/random/random_pipeline.h"

namespace calotype::test {

/// A whole number, of what a definition sees.
struct ReductionTerm {
    enum class Kind {
        Constant,    ///< number
        Var,         ///< the pure Var of dimension number
        Loop,        ///< the RVar of dimension number
        Param,       ///< parameter number
        Extent,      ///< of dimension 0 of image number
        Pixel,       ///< image number at terms
        Read,        ///< value of stage number at terms
        Self,        ///< value of the Func under update at terms
        Sum,         ///< terms[0] + terms[1]
        Difference,  ///< terms[0] - terms[1]
        Product,     ///< terms[0] * terms[1] mod `modulus`
        Scaled,      ///< terms[0] * number
        Quotient,    ///< terms[0] / number
        Remainder,   ///< terms[0] % number
        Clamped,     ///< terms[0], not below number nor above value
        Smaller,
        Larger,
        Choice,  ///< terms[2] where terms[0] < terms[1], else terms[3]
    };
    Kind kind = Kind::Constant;
    int number = 0, value = 0;
    std::vector<ReductionTerm> terms;
};

/// Numbers of 32 bits and floats are taken modulo this where they are read, so that no sum overflows.
constexpr int modulus = 61;
/// Whether a read of such values is taken modulo that.
inline bool is_reduced(const Type &t) {
    return t.is_float() || t.bits() >= 32;
}
/// Sums of floats are of numbers below this, so that they are exact.
constexpr int float_modulus = 101;

struct ReductionCondition {
    enum class Operator { Less, LessOrEqual, Equal, NotEqual };
    Operator op = Operator::Less;
    ReductionTerm a, b;
};

enum class ReductionMerge { Add, Subtract, Multiply, Larger, Smaller, Replace, ReplaceIfLarger };

/// f(place) = merge(f(place), values) for the domain's points where all conditions hold.
struct ReductionUpdate {
    std::vector<ReductionTerm> mins, extents;
    std::vector<ReductionCondition> conditions;
    std::vector<ReductionTerm> place;  ///< pure where that of a dimension is its Var
    ReductionMerge merge = ReductionMerge::Add;
    std::vector<ReductionTerm> values;

    bool is_pure(int dimension) const {
        const ReductionTerm &t = place[size_t(dimension)];
        return t.kind == ReductionTerm::Kind::Var && t.number == dimension;
    }
};

enum class ReductionOutside { Edge, Repeat, MirrorImage, MirrorInterior, Constant };

/// A Func of definition and updates, or another with a boundary condition.
struct ReductionStage {
    int dimensions = 1;
    std::vector<Type> types;
    std::vector<ReductionTerm> definition;
    std::vector<ReductionUpdate> updates;

    bool is_bounded = false;
    ReductionOutside outside = ReductionOutside::Edge;
    ReductionTerm source;                      ///< a Read or a Pixel
    std::vector<ReductionTerm> mins, extents;  ///< of what lies inside
};

struct ReductionImage {
    Type type;
    int dimensions = 1;
    bool is_sized =
        false;  ///< reduction domains are of its size, which is not asked of a bounds query
};

constexpr int outside_value = 5;

/// Whether its definition (stage 0) or an update has a term of that kind and number.
bool uses(const ReductionStage &s, size_t stage, ReductionTerm::Kind kind, int number);

struct ReductionProgram {
    explicit ReductionProgram(uint64_t seed);

    std::vector<ReductionImage> images;
    std::vector<ReductionStage> stages;  ///< the last is the output
    /// What it is run with.
    struct Inputs {
        std::vector<int> mins, extents;  ///< of the output
        std::vector<int> params;
        int size = 0;  ///< of sized images
    };
    std::vector<Inputs> runs;

private:
    void draw(uint64_t seed);
    /// Whether a plain evaluator is done within seconds.
    bool is_quick() const;
};

constexpr int params = 3;

/// Of an image.
int64_t pixel_value(const Type &t, const std::vector<int> &at);

/// t's number that is the same modulo 2^bits.
int64_t wrapped(const Type &t, int64_t v);

}  // namespace calotype::test
