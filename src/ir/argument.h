// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument: one parameter of a compiled pipeline, as callers and generated metadata see it.
#pragma once

#include <string>

#include "ir/expr.h"
#include "runtime/abi/metadata.h"

namespace calotype {

/// What the author of a pipeline said about an argument. What was not said is undefined or empty.
struct ArgumentEstimates {
    /// Scalars: the default, the range and a typical value; constants of the argument's type.
    Expr scalar_def, scalar_min, scalar_max, scalar_estimate;
    /// Buffers: a typical min and extent a dimension.
    Region buffer_estimates;

    bool operator==(const ArgumentEstimates &other) const;
};

/// A scalar or buffer that a pipeline takes.
struct Argument {
    enum Kind {
        InputScalar = calotype_argument_kind_input_scalar,
        InputBuffer = calotype_argument_kind_input_buffer,
        OutputBuffer = calotype_argument_kind_output_buffer,
    };

    std::string name;
    Kind kind = InputScalar;
    uint8_t dimensions = 0;  ///< of a buffer
    Type type;               ///< of the scalar, or of the buffer's elements
    ArgumentEstimates argument_estimates;

    Argument() = default;
    Argument(const std::string &name, Kind kind, const Type &type, int dimensions,
             const ArgumentEstimates &estimates)
        : name(name), kind(kind), dimensions(uint8_t(dimensions)), type(type),
          argument_estimates(estimates) {
    }

    bool is_buffer() const {
        return kind == InputBuffer || kind == OutputBuffer;
    }
    bool is_scalar() const {
        return kind == InputScalar;
    }
    bool is_input() const {
        return kind == InputScalar || kind == InputBuffer;
    }
    bool is_output() const {
        return kind == OutputBuffer;
    }
    bool operator==(const Argument &other) const;
};

}  // namespace calotype
