// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cached_outputs: the files of a build, from the disk cache if the same build was made before.
#pragma once

#include <functional>
#include <string>

#include "driver/compile_job.h"
#include "driver/output_plan.h"

namespace calotype::internal {

/// The job of a function for a target.
using JobFactory = std::function<CompileJob(const std::string &function, const Target &target)>;

/// The files of the function for one target, or with dispatch for several; see
/// driver/output_plan.h. All paths are in one folder, which does not count in what follows. With
/// CT_CACHE_DIR set, a build whose jobs, targets and types of output equal an earlier one's is read
/// rather than made.
FileContents cached_outputs(const std::string &function, const OutputPaths &paths,
                            const NamedTargets &targets, const JobFactory &job_of);

}  // namespace calotype::internal
