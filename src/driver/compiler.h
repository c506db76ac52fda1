// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiler: carries out CompileJobs, and keeps what it made.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "codegen/jit.h"
#include "driver/compile_counts.h"
#include "driver/compile_job.h"
#include "driver/single_flight.h"
#include "ir/module.h"

struct calotype_module_desc;

namespace calotype::internal {

/// Code of one pipeline in memory.
struct JitCode {
    std::shared_ptr<JitLibrary> library;
    std::vector<LoweredArgument> args;  ///< __user_context first
    int (*argv)(const void *const *) =
        nullptr;                     ///< takes a pointer to each scalar's value, and the buffers
    const void *function = nullptr;  ///< the function itself
    /// Null if it has no device code.
    const calotype_module_desc *const *(*device_modules)() = nullptr;
    std::vector<std::shared_ptr<const void>> keep_alive;
};

/// All members may be called on any number of threads at once.
class Compiler {
public:
    Compiler();
    /// The one that everything in this process shares.
    static Compiler &of_process();

    /// The front half: lowered once for all jobs that differ in names and code generation alone.
    LoweredModule lower(const CompileJob &job);
    /// The job as code in this process. The target must be that of this machine.
    std::shared_ptr<const JitCode> compile_jit(const CompileJob &job);

    /// For tests and for CT_DEBUG_CODEGEN.
    CompileCounts counts() const;

private:
    std::string jit_object(const CompileJob &job, const JobKey &key);

    SingleFlightCache<LoweredModule> lowered_;
    SingleFlightCache<JitCode> jit_;
    std::atomic<int64_t> objects_found_on_disk_{0};
};

}  // namespace calotype::internal
