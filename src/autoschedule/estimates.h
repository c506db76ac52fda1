// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates: what is typical of the parameters and of the outputs of a pipeline.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "autoschedule/formula.h"
#include "autoschedule/region.h"
#include "pipeline/function.h"
#include "pipeline/parameters_used.h"

namespace calotype::internal {

class Estimates {
public:
    explicit Estimates(UsedParameters used);

    /// Of a Variable that stands for a scalar parameter or for a part of the shape of a buffer: its
    /// estimate, else its default or what it must be, else what it has for runs in this process.
    std::optional<double> find(const std::string &variable) const;
    /// As Formula wants it.
    KnownValue known() const;
    /// A number that the schedule depends on; a CompileError that names what has no estimate.
    /// `what` is for that error.
    double require(const Expr &e, const std::string &what) const;
    /// Of the buffer of that name, if each of its dimensions has one.
    std::optional<ConcreteRegion> region_of_input(const std::string &name) const;
    /// Of an element of that input.
    double bytes_of_input(const std::string &name) const;
    /// What is computed of an output; a CompileError names the Func and a dimension without one.
    ConcreteRegion region_of_output(const Function &f) const;

private:
    std::optional<double> scalar(const Parameter &parameter) const;
    void add_shape(const Parameter &parameter);
    void add_shape(const Image &image);
    std::optional<ConcreteRange> dimension_of_output(const Function &f, int d) const;

    UsedParameters used_;
    std::map<std::string, double> values_;
};

}  // namespace calotype::internal
