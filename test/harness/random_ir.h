// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RandomIr: well-typed random expressions and statements of all node kinds, from a fixed seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/constants.h"
#include "ir/stmt_nodes.h"

namespace calotype::test {

using namespace internal;

/// What may occur; all of it unless switched off.
struct RandomIrOptions {
    bool vectors = true;
    bool floats = true;
    bool loads_and_calls = true;  ///< Load and Call of any kind
    bool handles = true;
    bool intrinsics = false;  ///< calls of pure intrinsics that have code in kernels, too
    int variables = 5;        ///< names a, b, ... of each type
};

class RandomIr {
public:
    explicit RandomIr(uint32_t seed, const RandomIrOptions &options = {})
        : random_(seed), options_(options) {
    }

    /// From 0 to n - 1.
    int below(int n) {
        return int(random_() % uint32_t(n));
    }
    bool one_in(int n) {
        return below(n) == 0;
    }
    template<typename T>
    const T &one_of(const std::vector<T> &choices) {
        return choices[size_t(below(int(choices.size())))];
    }

    Type scalar_type();
    Type type() {
        return scalar_type().with_lanes(
            options_.vectors ? one_of(std::vector<int>{1, 1, 1, 2, 4, 6, 8}) : 1);
    }

    /// An expression of that type, at most `depth` operations deep.
    Expr expr(Type t, int depth);

    /// A statement, at most `depth` deep.
    Stmt stmt(int depth);

    /// A constant, often one at the edges of the type.
    Expr constant(Type t);

    Expr variable(Type t) {
        return Variable::make(t, std::string(1, char('a' + below(options_.variables))));
    }

private:
    std::mt19937 random_;
    const RandomIrOptions options_;

    std::string name();
    Expr int32() {
        return expr(Int(32), 2);
    }
    Expr maybe_true() {
        return one_in(2) ? const_true() : expr(Bool(), 1);
    }
    MemoryType memory() {
        return MemoryType(below(8));
    }
    Alignment alignment() {
        return one_in(2) ? Alignment() : Alignment{below(3) * 4, below(3) - 1};
    }

    Expr leaf(Type t);

    Expr arithmetic_or_condition(Type t, int depth) {
        return t.is_bool() ? condition(t, depth) : arithmetic(t, depth);
    }

    Expr arithmetic(Type t, int depth);

    Expr condition(Type t, int depth);

    Expr conversion(Type t, int depth);

    Expr vector(Type t, int depth);

    Expr reduction(Type t, int depth);

    Expr load_or_call(Type t, int depth);

    Expr intrinsic(Type t, int depth);
    Expr widening(Type t, int depth);
    Expr fixed_point(Type t, int depth);
    Expr bits(Type t, int depth);
    Expr choice(Type t, int depth);
    Expr float_intrinsic(Type t, int depth);
    Expr bool_intrinsic(Type t, int depth);
    Expr distance(Type t, int depth);
    Type of_either_sign(Type t);

    Region bounds();
    std::vector<Type> types();

    Stmt loop(int depth);

    Stmt allocation(int depth);

    Stmt flat_stmt();
};

}  // namespace calotype::test
