// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An interpreter of expressions, written apart from the compiler's own arithmetic so that tests can
// check one against the other: scalars and vectors of all types, lets, and the pure intrinsics on
// integers and floats that tests need.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/expr_nodes.h"

namespace calotype::test {

using namespace internal;

/// One lane: `i` of an integer or Bool (exact, whatever the type), `f` of a float.
struct Lane {
    __int128 i = 0;
    double f = 0;
};

/// A value of a type, one Lane a lane.
struct Value {
    Type type;
    std::vector<Lane> lanes;

    static Value integer(Type t, int64_t x);
    static Value real(Type t, double x);
    /// Same type and, lane by lane, same value; NaN equals NaN, 0.0 equals -0.0.
    bool operator==(const Value &o) const;
    bool operator!=(const Value &o) const {
        return !(*this == o);
    }
};

/// "uint8x2(3, 255)".
std::string to_string(const Value &v);

class Interpreter {
public:
    /// Values of free Variables, by name; using another is an error.
    std::map<std::string, Value> variables;
    /// The lanes of buffer `load.name` at the lanes of `index`; without it a Load is an error.
    std::function<Value(const Load &load, const Value &index)> load;

    /// Throws InternalError for what it does not know (loads without `load`, Func calls, strings).
    Value evaluate(const Expr &e);

    /// True if an evaluation so far did something whose result the language leaves open: signed
    /// overflow of 32 or 64 bits, a float that does not fit the integer it is cast to, a shift by
    /// the width or more, lanes that were not read, the minimum of zeros of both signs.
    bool undefined() const {
        return undefined_;
    }
    /// True if an operator on floats gave NaN.
    bool met_nan() const {
        return met_nan_;
    }
    void forget() {
        undefined_ = met_nan_ = false;
    }

private:
    class Evaluation;
    bool undefined_ = false, met_nan_ = false;
};

/// The value of e with these int32 variables, for short tests.
Value evaluate(const Expr &e, const std::map<std::string, int> &int32_variables);

}  // namespace calotype::test
