// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SampleValues: a cheap test that tells expressions apart before the simplifier is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/expr_nodes.h"
#include "support/scope.h"

namespace calotype::internal {

/// Numbers in the place of names: expressions that are equal for all values of their variables have
/// the same one, but for what floats round and for names of equal values that are not arithmetic.
class SampleValues {
public:
    /// Each `set` has other numbers: what differs from one to the next is not a constant.
    explicit SampleValues(uint64_t set = 0) : set_(set) {
    }

    /// The value of an int32 or Bool; nothing if more than arithmetic on names, on what is read from
    /// memory and on what pure functions give is in it, or it gets too large.
    /// Marks of what is likely do not count.
    std::optional<int64_t> of(const Expr &e) const;

    /// From here on, until it is popped, the name stands for the value.
    void push(const std::string &name, const Expr &value) {
        lets_.push(name, of(value));
    }
    void pop(const std::string &name) {
        lets_.pop(name);
    }
    /// In `body`, the name stands for the value.
    template<typename Body>
    void with(const std::string &name, const Expr &value, Body &&body) {
        push(name, value);
        body();
        pop(name);
    }

private:
    std::optional<int64_t> value_of(const Expr &e) const;
    int64_t number_of(const std::string &name, uint64_t place) const;
    int64_t of_variable(const Variable *op) const;
    std::optional<int64_t> of_load(const Load *op) const;
    std::optional<int64_t> of_call(const Call *op) const;
    std::optional<double> of_float(const Expr &e) const;

    Scope<std::optional<int64_t>> lets_;
    uint64_t set_;
    mutable int nodes_left_ = 0;  ///< of the expression that is asked about
};

}  // namespace calotype::internal
