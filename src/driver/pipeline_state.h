// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JitState: what the driver keeps with a Pipeline: handlers and extern functions.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/compiler.h"
#include "driver/jit_handlers.h"
#include "driver/jit_runtime.h"
#include "lang/pipeline.h"
#include "pipeline/compare/snapshot.h"
#include "pipeline/infer_arguments.h"
#include "target/jit_target_text.h"

namespace calotype::internal {

/// A pipeline compiled for this process, with what it takes its values from.
struct CompiledPipeline {
    Target target;
    std::shared_ptr<const JitCode> code;
    std::vector<InferredArgument> inputs;  ///< without __user_context
};

struct JitState : PipelineDriverState {
    JITHandlers handlers;
    std::map<std::string, JITExtern> externs;

    void forget_target() override {
        set_target(Target());
    }
    /// Remembers what compile_jit was for: realize() with no target is for the same.
    void set_target(const Target &target);
    /// The JIT target that `target` stands for: an open one is that of the last compile_jit, or
    /// else that of the environment.
    Target resolve_target(const Target &target);
    /// What the pipeline was compiled to last, if that was for this target, or this is open and no
    /// compile_jit was for another, and nothing has changed since; null otherwise.
    std::shared_ptr<const CompiledPipeline> find(const PipelineContents &pipeline,
                                                 const Target &target);
    /// `snapshot` is of the pipeline as it was compiled.
    void remember(PipelineSnapshot snapshot, std::shared_ptr<const CompiledPipeline> compiled);
    /// The state of a pipeline, made when first needed.
    static JitState &of(const Pipeline &pipeline);

private:
    struct Compilation {
        PipelineSnapshot snapshot;
        std::shared_ptr<const CompiledPipeline> compiled;
    };
    std::mutex mutex_;
    Target target_;
    JitTargetVariable variable_;
    std::shared_ptr<const Compilation> last_;
};

/// A target that does not say what for.
bool is_open(const Target &target);
/// Compiles with the arguments that the pipeline depends on, or finds the code of an equal
/// pipeline. An open target is that of the code that the pipeline has, or else JitState's.
std::shared_ptr<const CompiledPipeline> compile_inferred(const Pipeline &pipeline,
                                                         const Target &target);
/// Compiles with these arguments. A CompileError if one is missing.
std::shared_ptr<const JitCode> compile_with_args(const Pipeline &pipeline,
                                                 const std::vector<Argument> &args,
                                                 const Target &target);

/// The argument that stands for the context in generated code.
Argument user_context_argument();

/// A target of this process that says cuda alone means the device that kernels will run on, so that
/// they are made for its capability. Where there is none, what fails is the run, with the runtime's
/// error.
Target with_capability_of_device(const Target &target);

}  // namespace calotype::internal
