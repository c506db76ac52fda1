// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of pipelines: Funcs that compute how the output changes with each Func and input.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "lang/buffer.h"
#include "lang/func.h"
#include "lang/param.h"

namespace calotype {

/// What propagate_adjoints found: for each Func that the output depends on, the Func of the
/// derivatives of the output with respect to each of its elements. They are Funcs like others, to
/// be read, differentiated again, and scheduled; those with update definitions begin as
/// compute_root.
class Derivative {
public:
    /// A name, and the number of an update definition; -1: the pure one.
    using FuncKey = std::pair<std::string, int>;
    explicit Derivative(std::map<FuncKey, Func> adjoints) : adjoints(std::move(adjoints)) {
    }

    /// With respect to the values that the pure definition of `func` gives, or those after its
    /// update `update_id`; of elements of a buffer; of a scalar (a Func without dimensions). An
    /// undefined Func if the output does not depend on it through floats.
    Func operator()(const Func &func, int update_id = -1) const;
    Func operator()(const Buffer<> &buffer) const;
    Func operator()(const Param<> &param) const;
    Func operator()(const std::string &name) const;

private:
    std::map<FuncKey, Func> adjoints;
};

/// Differentiate with respect to all that `output` depends on. `adjoint(x, y, ...)` is the
/// derivative of what is wanted with respect to output(x, y, ...), for the coordinates from min to
/// min + extent of each of `output_bounds`: programs give the extent of the output there or its last
/// coordinate, and both are covered. Past the output the adjoint should be 0.
///
///     loss() += pow(f(r) - target(r), 2);
///     Derivative d = propagate_adjoints(loss);
///     next(x) = weights(x) - 0.1f * d(weights)(x);
///
/// A CompileError says what cannot be differentiated: extern stages and C functions, updates in
/// which several iterations write one element (unless it is a sum, or a scan over the elements of
/// pure Vars), reads at coordinates without bounds.
Derivative propagate_adjoints(const Func &output, const Func &adjoint, const Region &output_bounds);
/// The bounds are those of the buffer.
Derivative propagate_adjoints(const Func &output, const Buffer<float> &adjoint);
/// The derivative of each value of the output with respect to itself is 1, wherever it is: of the sum of
/// all of them. What is summed over all of the output's coordinates, as the adjoint of a parameter
/// is, then has no bounds, which is a CompileError.
Derivative propagate_adjoints(const Func &output);

}  // namespace calotype
