// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PipelineSnapshot: whether a pipeline is still what it was when it was compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/source.h"
#include "support/copyable_atomic.h"

namespace calotype::internal {

/// What a pipeline consists of at one time: its Functions, the parameters that they use, and the
/// values of all their fields. While nothing is edited in this process, nothing but the shapes of
/// constant images needs to be compared. Expressions do not change, so that one is known by its
/// address; that makes comparing far cheaper than the key of a compile job (KeyText), of which every
/// field here is a part.
class PipelineSnapshot {
public:
    /// Of no pipeline.
    PipelineSnapshot() = default;
    explicit PipelineSnapshot(const PipelineSource &source);

    /// False for a pipeline of which not all that counts is in its fields: passes of the
    /// application's, and linkables.
    bool is_complete() const {
        return is_complete_;
    }
    /// True if nothing has changed since, in the pipeline that it was made of: these are its members.
    bool is_of(const std::vector<Function> &outputs, const std::vector<Requirement> &requirements,
               bool trace_pipeline) const;

private:
    std::vector<Function> outputs_, functions_;
    std::vector<Parameter> parameters_;
    std::vector<Image> images_;
    std::vector<uint64_t> words_;
    std::string texts_;                                    ///< one after the other
    std::vector<IntrusivePtr<const RefCounted>> objects_;  ///< what words_ has the addresses of
    bool is_complete_ = false;
    mutable CopyableAtomic<uint64_t> edits_{0};  ///< edit_count() when all was the same
};

}  // namespace calotype::internal
