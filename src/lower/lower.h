// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower(): from algorithm and schedule to flat, vectorised statements. The order of the passes is
// lower/passes.def.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "pipeline/source.h"
#include "target/target.h"

namespace calotype::internal {

/// What one pass took and left behind.
struct PassReport {
    std::string pass;
    double milliseconds = 0;
};

struct LowerOptions {
    /// Called before each pass that runs: its name, and where it stands among how many.
    std::function<void(const std::string &pass, int number, int count)> before_pass;
    /// Called with a pass's name and its result; nothing is printed by lowering itself.
    std::function<void(const std::string &pass, const Stmt &)> after_pass;
    /// Run the IR verifier after every pass.
    bool verify =
#ifdef NDEBUG
        false;
#else
        true;
#endif
    std::vector<PassReport> *reports = nullptr;  ///< filled if not null
};

/// Compile to statements. CompileError for a pipeline that cannot be compiled (message names Func
/// and reason). `source` is not changed; several calls may run at once, on the same source too.
LoweredModule lower(const PipelineSource &source, const Target &target,
                    const LowerOptions &options = {});

/// The names of all passes, in order: what --print-after accepts.
std::vector<std::string> pass_names();

/// The loop nest alone, before bounds: what print_loop_nest shows.
std::string print_loop_nest(const PipelineSource &source, const Target &target);

}  // namespace calotype::internal
