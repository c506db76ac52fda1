// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters, constant images and linkables that a pipeline uses.
#pragma once

#include <map>
#include <string>

#include "linkables/linkable.h"
#include "pipeline/source.h"

namespace calotype::internal {

struct UsedParameters {
    std::map<std::string, Parameter> parameters;  ///< scalars and buffers, by name
    std::map<std::string, Image> images;          ///< by name
    /// By name: functions of linkables that are called, variables and functions whose address is
    /// taken.
    std::map<std::string, IntrusivePtr<const LinkedDeclaration>> linked_functions, linked_symbols;
};

/// Everything that definitions, schedules, extern arguments, requirements and constraints of
/// parameters refer to; the outputs' own buffers are not included. CompileError if two different
/// parameters share a name, or functions that are called do.
UsedParameters parameters_used(const Environment &env,
                               const std::vector<Requirement> &requirements);

}  // namespace calotype::internal
