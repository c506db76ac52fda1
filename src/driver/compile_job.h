// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileJob: one compilation as a value: what is compiled and how. Everything that compiles goes
// through it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/progress.h"
#include "lang/schedule/autoscheduler.h"
#include "pipeline/source.h"
#include "target/target.h"

namespace calotype::internal {

/// What changes how a job is compiled, but not what it means.
struct CompileOptions {
    /// Verify the IR after every pass. By default in builds with assertions, and with CT_VERIFY=1.
    bool verify =
#ifdef NDEBUG
        false;
#else
        true;
#endif
    /// Pass after which the statement is printed on stderr; empty: none; "all": after every pass.
    std::string print_after;
    /// Print the time of each pass on stderr. The default is CT_TIME_LOWERING_PASSES=1.
    bool print_pass_times = false;
    /// 1: say on stderr what is compiled, and what is found compiled. 2 and more: print_after is
    /// "all" too.
    int debug_level = 0;
    /// Told of each step; no part of what makes jobs equal. The default is that of ProgressScope.
    CompileProgress progress;

    /// What the environment asks for a pipeline of that name. CT_TIME_LOWERING_PASSES=1 sets
    /// print_pass_times. CT_DEBUG_CODEGEN is a list of LEVEL or LEVEL@NAME with semicolons: the
    /// debug level of all pipelines, or of one; the highest that applies counts.
    static CompileOptions from_environment(const std::string &pipeline);
    bool operator==(const CompileOptions &other) const;
};

struct CompileJob {
    PipelineSource source;
    Target target;
    CompileOptions options;
    /// What wrote the schedule, if an autoscheduler did: for the outputs that say so.
    AutoSchedulerResults autoscheduled;
    /// Addresses that extern functions of a JIT job have; empty ahead of time.
    std::map<std::string, const void *> jit_symbols;
    /// What these addresses need to stay good.
    std::vector<std::shared_ptr<const void>> keep_alive;
};

/// The value of a job as text: equal keys mean the same result. The hash only finds the bucket.
struct JobKey {
    std::string text;
    uint64_t hash = 0;
    /// False if part of the job is opaque (a pass that the user added, headers that CUDA C++
    /// includes): then nothing is shared.
    bool is_shareable = true;

    bool operator==(const JobKey &other) const {
        return hash == other.hash && text == other.text;
    }
    bool operator<(const JobKey &other) const {
        return hash != other.hash ? hash < other.hash : text < other.text;
    }
};

/// What lowering depends on: algorithm, schedule, arguments, and the target without those features
/// that only code generation looks at. Names of the function and of the module are not part of it,
/// unless lowering puts them into the code (profiling, tracing).
JobKey front_half_key(const CompileJob &job);

/// What the artifact depends on: the front half, the names, the linkage, the whole target, the
/// options and, for CUDA, the toolkit.
JobKey artifact_key(const CompileJob &job);

/// The artifact's key without what is good in this process only: the names of extern functions, not
/// their addresses. Good in other processes of the same build of the compiler. None if part of the
/// job is opaque.
std::optional<std::string> portable_key(const CompileJob &job);

/// The target without the features that lowering does not look at.
Target front_half_target(const Target &target);

}  // namespace calotype::internal
