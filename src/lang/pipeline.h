// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline: one or more output Funcs that are compiled and run together.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/argument.h"
#include "ir/module.h"
#include "lang/realization.h"
#include "lang/schedule/autoscheduler.h"
#include "pipeline/source.h"
#include "target/target.h"

namespace calotype {

class Callable;
class Func;
class Module;
struct JITExtern;
struct JITHandlers;
struct JITUserContext;
enum class OutputFileType;

namespace internal {

class Mutator;

/// What the driver keeps with a pipeline: compiled code and handlers. The driver derives from it.
struct PipelineDriverState : RefCounted {
    /// Forget what target it was compiled for, keep handlers and externs.
    virtual void forget_target() = 0;
};

}  // namespace internal

enum StmtOutputFormat { Text, HTML };

/// The integer (or pointer) that groups memoized results: see Func::memoize.
class EvictionKey {
public:
    explicit EvictionKey(const Expr &key = Expr()) : key_(key) {
    }
    const Expr &key() const {
        return key_;
    }

private:
    Expr key_;
};

/// A pass of the user's on the lowered code, and how to get rid of it.
struct CustomLoweringPass {
    internal::Mutator *pass;
    std::function<void()> deleter;
};

template<typename Pass>
void delete_lowering_pass(Pass *pass) {
    delete pass;
}

/// The data behind Pipeline.
struct PipelineContents : internal::RefCounted {
    std::vector<internal::Function> outputs;
    std::vector<internal::Requirement> requirements;
    std::vector<CustomLoweringPass> custom_passes;
    std::vector<Linkable> linkables;
    RuntimeNamespaceMap runtime_prefixes;
    bool trace_pipeline = false;
    internal::IntrusivePtr<internal::PipelineDriverState> driver_state;
    std::atomic<bool> has_driver_state{false};
    ~PipelineContents() override;
};

/// A handle: copies are the same pipeline.
class Pipeline {
public:
    /// Where a run puts its results: a Realization, or one or several buffers.
    struct RealizationArg {
        Realization *r = nullptr;
        calotype_buffer_t *buf = nullptr;
        std::unique_ptr<std::vector<Buffer<>>> buffer_list;

        RealizationArg(Realization &realization) : r(&realization) {
        }
        RealizationArg(Realization &&realization) : r(&realization) {
        }
        RealizationArg(calotype_buffer_t *buffer) : buf(buffer) {
        }
        template<typename T, int Dims, int Storage>
        RealizationArg(Runtime::Buffer<T, Dims, Storage> &buffer) : buf(buffer.raw_buffer()) {
        }
        template<typename T, int Dims>
        RealizationArg(const Buffer<T, Dims> &buffer)
            : buffer_list(new std::vector<Buffer<>>{Buffer<>(buffer.image())}) {
        }
        template<typename T, int Dims, typename... Args,
                 typename = std::enable_if_t<(std::is_convertible<Args, Buffer<>>::value && ...)>>
        RealizationArg(const Buffer<T, Dims> &a, Args &&...rest)
            : buffer_list(
                  new std::vector<Buffer<>>{Buffer<>(a.image()), Buffer<>(rest.image())...}) {
        }
        RealizationArg(std::vector<Buffer<>> buffers)
            : buffer_list(new std::vector<Buffer<>>(std::move(buffers))) {
        }
        size_t size() const {
            return r ? r->size() : buffer_list ? buffer_list->size() : 1;
        }
    };

    Pipeline() = default;
    Pipeline(const Func &output);
    /// A CompileError if there are none, or one is undefined.
    Pipeline(const std::vector<Func> &outputs);

    bool defined() const {
        return contents_.defined();
    }
    std::vector<Func> outputs() const;
    /// Func `index` of all Funcs of the pipeline, from those that others need to the outputs.
    Func get_func(size_t index);
    /// The parameters that the pipeline depends on: buffers first, each kind by name.
    std::vector<Argument> infer_arguments();

    /// Check a condition when the pipeline starts; the other arguments (strings, numbers, Exprs of
    /// parameters) make up the message of the error.
    void add_requirement(const Expr &condition, const std::vector<Expr> &error_args);
    template<typename... Args,
             typename = std::enable_if_t<(std::is_constructible<Expr, Args>::value && ...)>>
    void add_requirement(const Expr &condition, Args &&...error_args) {
        add_requirement(condition, std::vector<Expr>{Expr(std::forward<Args>(error_args))...});
    }
    std::vector<internal::Requirement> requirements() const;
    /// Declares device code from elsewhere: linkables are set up in the order of their declaration,
    /// and one that is pinned is linked. What is called need not be declared.
    void add_linkable(const Linkable &linkable);
    /// Report the begin and end of each run to the tracing callback.
    void trace_pipeline();

    /// Run a pass of the user's after ours. The pipeline owns it (or calls the deleter).
    template<typename Pass>
    void add_custom_lowering_pass(Pass *pass) {
        add_custom_lowering_pass(pass, [pass]() { delete_lowering_pass<Pass>(pass); });
    }
    void add_custom_lowering_pass(internal::Mutator *pass, std::function<void()> deleter);
    void clear_custom_lowering_passes();
    const std::vector<CustomLoweringPass> &custom_lowering_passes();
    /// Let an autoscheduler write the schedule of all Funcs. A CompileError if there is none of
    /// that name.
    AutoSchedulerResults apply_autoscheduler(const Target &target,
                                             const AutoschedulerParams &params) const;
    /// From now on there is one of that name in this process. A CompileError if there was.
    static void add_autoscheduler(const std::string &name, const AutoSchedulerFn &autoscheduler);
    /// Code that is written out calls the runtime's functions by names with these prefixes, so that
    /// one process can have several runtimes: see docs/generators.md. Code that runs in this process
    /// calls the runtime of the process. A CompileError if there is no prefix, or the target is for
    /// this process alone (jit).
    void apply_runtime_prefixes(const Target &target, const RuntimePrefixParams &params) const;
    /// Forget the target that it was compiled for. Code is found by the value of the pipeline, so
    /// that a changed one is never served old code, whether this is called or not.
    void invalidate_cache();
    /// Everything that compiling needs to know, with these arguments in this order.
    internal::PipelineSource source(const std::string &name,
                                    const std::vector<Argument> &args) const;
    const internal::IntrusivePtr<PipelineContents> &contents() const {
        return contents_;
    }

    /// @name Compiling and running. Defined in driver/.
    /// @{
    Realization realize(std::vector<int32_t> sizes = {}, const Target &target = Target());
    Realization realize(JITUserContext *context, std::vector<int32_t> sizes = {},
                        const Target &target = Target());
    void realize(RealizationArg output, const Target &target = Target());
    void realize(JITUserContext *context, RealizationArg output, const Target &target = Target());
    void infer_input_bounds(const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(RealizationArg output,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, RealizationArg output,
                            const Target &target = get_jit_target_from_environment());
    void compile_to(const std::map<OutputFileType, std::string> &output_files,
                    const std::vector<Argument> &args, const std::string &fn_name,
                    const Target &target);
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &fn_name,
                            const Target &target = get_target_from_environment());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &fn_name,
                                  const Target &target = get_target_from_environment());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &fn_name,
                           const Target &target = get_target_from_environment());
    void compile_to_header(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &fn_name,
                           const Target &target = get_target_from_environment());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &fn_name,
                             const Target &target = get_target_from_environment());
    void compile_to_c(const std::string &filename, const std::vector<Argument> &args,
                      const std::string &fn_name,
                      const Target &target = get_target_from_environment());
    void compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                 StmtOutputFormat format = Text,
                                 const Target &target = get_target_from_environment());
    void compile_to_conceptual_stmt(const std::string &filename, const std::vector<Argument> &args,
                                    StmtOutputFormat format = Text,
                                    const Target &target = get_target_from_environment());
    void print_loop_nest();
    void compile_to_file(const std::string &filename_prefix, const std::vector<Argument> &args,
                         const std::string &fn_name = "",
                         const Target &target = get_target_from_environment());
    void compile_to_static_library(const std::string &filename_prefix,
                                   const std::vector<Argument> &args,
                                   const std::string &fn_name = "",
                                   const Target &target = get_target_from_environment());
    void compile_to_multitarget_static_library(const std::string &filename_prefix,
                                               const std::vector<Argument> &args,
                                               const std::vector<Target> &targets);
    void compile_to_multitarget_object_files(const std::string &filename_prefix,
                                             const std::vector<Argument> &args,
                                             const std::vector<Target> &targets,
                                             const std::vector<std::string> &suffixes);
    Module compile_to_module(const std::vector<Argument> &args, const std::string &fn_name,
                             const Target &target = get_target_from_environment(),
                             LinkageType linkage = LinkageType::ExternalPlusMetadata);
    void compile_jit(const Target &target = get_jit_target_from_environment());
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = get_jit_target_from_environment());
    void set_jit_externs(const std::map<std::string, JITExtern> &externs);
    const std::map<std::string, JITExtern> &get_jit_externs();
    JITHandlers &jit_handlers();
    /// @}

private:
    PipelineContents &checked() const;
    internal::IntrusivePtr<PipelineContents> contents_;
};

}  // namespace calotype
