// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PipelineSource: everything that is compiled together, as one value: where user types end and the
// compiler starts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"
#include "linkables/linkable.h"
#include "pipeline/function.h"

namespace calotype::internal {

/// A pass that the user adds after ours.
using CustomPass = std::function<Stmt(const Stmt &)>;

struct PipelineSource {
    std::string name;  ///< of the generated function, may hold namespaces
    std::vector<Function> outputs;
    std::vector<Argument>
        args;  ///< inputs in order of the signature; outputs are appended by lowering
    std::vector<Requirement> requirements;
    std::vector<CustomPass> custom_passes;
    LinkageType linkage = LinkageType::ExternalPlusMetadata;
    bool trace_pipeline = false;
    std::vector<Linkable> linkables;       ///< declared, in order of set-up; others may be used
    MetadataNameMap metadata_names;        ///< names of arguments that metadata shows under others
    RuntimeNamespaceMap runtime_prefixes;  ///< in the names of the runtime's functions
    /// Of a deep copy: keeps what bounds its Parameters, which may name each other.
    std::shared_ptr<const void> bounds_of_parameters;
};

/// The same pipeline with Functions and Parameters of its own, which nobody else changes. As when it is compiled, the
/// loop levels of `source` are locked.
PipelineSource deep_copy(const PipelineSource &source);

}  // namespace calotype::internal
