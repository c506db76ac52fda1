// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Func: a function over an integer grid, the unit that is defined and scheduled.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/func_ref.h"
#include "lang/image_param.h"
#include "lang/schedule/func_directives.h"
#include "lang/schedule/loop_directives.h"
#include "lang/stage.h"

namespace calotype {

/// A handle: copies are the same Func.
///
///     Func blur("blur");
///     Var x("x"), y("y");
///     blur(x, y) = (in(x - 1, y) + in(x, y) + in(x + 1, y)) / 3;
///     blur.vectorize(x, 8).parallel(y);
///     Buffer<float> result = blur.realize({640, 480});
class Func : public internal::FuncDirectives, public internal::LoopDirectives<Func> {
public:
    /// A Func of that name (made unique if it is taken), with nothing defined.
    explicit Func(const std::string &name);
    explicit Func(const char *name) : Func(std::string(name)) {
    }
    /// A Func with a name of its own making.
    Func();
    /// With the type (or types) and number of dimensions that its definition must have; AnyDims
    /// leaves the latter open.
    explicit Func(const Type &required_type, int required_dims, const std::string &name);
    explicit Func(const std::vector<Type> &required_types, int required_dims,
                  const std::string &name);
    /// A Func of all free implicit variables of the expression: Func(e)(x) where e uses _0.
    explicit Func(const Expr &e);
    explicit Func(internal::Function f);
    /// All elements of a buffer.
    template<typename T, int Dims>
    explicit Func(Buffer<T, Dims> &image) : Func() {
        (*this)(_) = image(_);
    }

    const std::string &name() const {
        return func_.name();
    }
    /// The pure Vars.
    std::vector<Var> args() const;
    /// Right-hand side of the pure definition. A CompileError if there is none, or several values.
    Expr value() const;
    Tuple values() const;
    bool defined() const;
    /// Left- and right-hand side of update definition `idx`.
    const std::vector<Expr> &update_args(int idx = 0) const;
    Expr update_value(int idx = 0) const;
    Tuple update_values(int idx = 0) const;
    /// The RVars of update definition `idx`.
    std::vector<RVar> rvars(int idx = 0) const;
    bool has_update_definition() const {
        return func_.has_update_definition();
    }
    int num_update_definitions() const {
        return func_.stages() - 1;
    }
    bool is_extern() const {
        return func_.has_extern_definition();
    }
    const std::string &extern_function_name() const {
        return func_->extern_name;
    }
    /// Type of the only value; types of all.
    const Type &type() const;
    const std::vector<Type> &types() const;
    /// Number of values.
    int outputs() const;
    int dimensions() const;

    /// Define by calling a C function, which gets the arguments, then a calotype_buffer_t * a value
    /// to be filled. Asked with bounds queries, it says what it needs of its inputs.
    void define_extern(const std::string &function_name,
                       const std::vector<ExternFuncArgument> &params, Type t, int dimensionality,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device_api = DeviceAPI::Host);
    void define_extern(const std::string &function_name,
                       const std::vector<ExternFuncArgument> &params,
                       const std::vector<Type> &types, int dimensionality,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device_api = DeviceAPI::Host);
    void define_extern(const std::string &function_name,
                       const std::vector<ExternFuncArgument> &params, Type t,
                       const std::vector<Var> &arguments,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device_api = DeviceAPI::Host);
    void define_extern(const std::string &function_name,
                       const std::vector<ExternFuncArgument> &params,
                       const std::vector<Type> &types, const std::vector<Var> &arguments,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device_api = DeviceAPI::Host);

    /// Apply to coordinates: Vars, RVars, ints, int32 expressions, and `_` for those left out.
    FuncRef operator()(std::vector<Var> args) const;
    FuncRef operator()(std::vector<Expr> args) const;
    template<typename... Args>
    std::enable_if_t<(std::is_convertible<Args, Expr>::value && ...), FuncRef>
    operator()(Args &&...args) const {
        return (*this)(std::vector<Expr>{Expr(std::forward<Args>(args))...});
    }

    /// Update definition `idx`, to be scheduled.
    Stage update(int idx = 0);
    /// The pure definition, to be scheduled.
    operator Stage() const;
    /// Of the pure definition, as Stage's.
    const internal::StageSchedule &get_schedule() const {
        return Stage(*this).get_schedule();
    }
    internal::Function function() const {
        return func_;
    }
    operator ExternFuncArgument() const;

    /// Constraints on the buffers that this Func writes to as an output of a pipeline.
    OutputImageParam output_buffer() const;
    std::vector<OutputImageParam> output_buffers() const;

    /// @name Compiling and running: those of Pipeline, for a pipeline of this one output. Defined
    /// in driver/.
    /// @{
    std::vector<Argument> infer_arguments() const;
    Realization realize(std::vector<int32_t> sizes = {}, const Target &target = Target());
    Realization realize(JITUserContext *context, std::vector<int32_t> sizes = {},
                        const Target &target = Target());
    void realize(Pipeline::RealizationArg outputs, const Target &target = Target());
    void realize(JITUserContext *context, Pipeline::RealizationArg outputs,
                 const Target &target = Target());
    void infer_input_bounds(const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(Pipeline::RealizationArg outputs,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                            const Target &target = get_jit_target_from_environment());
    void infer_input_bounds(JITUserContext *context, Pipeline::RealizationArg outputs,
                            const Target &target = get_jit_target_from_environment());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &fn_name,
                            const Target &target = get_target_from_environment());
    void compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                            const Target &target = get_target_from_environment());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &fn_name,
                                  const Target &target = get_target_from_environment());
    void compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                  const Target &target = get_target_from_environment());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &fn_name,
                           const Target &target = get_target_from_environment());
    void compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                           const Target &target = get_target_from_environment());
    void compile_to_header(const std::string &filename, const std::vector<Argument> &args,
                           const std::string &fn_name = "",
                           const Target &target = get_target_from_environment());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &fn_name,
                             const Target &target = get_target_from_environment());
    void compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                             const Target &target = get_target_from_environment());
    void compile_to_c(const std::string &filename, const std::vector<Argument> &args,
                      const std::string &fn_name = "",
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
    Module compile_to_module(const std::vector<Argument> &args, const std::string &fn_name = "",
                             const Target &target = get_target_from_environment());
    void compile_to(const std::map<OutputFileType, std::string> &output_files,
                    const std::vector<Argument> &args, const std::string &fn_name,
                    const Target &target = get_target_from_environment());
    void compile_jit(const Target &target = get_jit_target_from_environment());
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = get_jit_target_from_environment());
    JITHandlers &jit_handlers();
    /// @}

    template<typename Pass>
    void add_custom_lowering_pass(Pass *pass) {
        pipeline().add_custom_lowering_pass(pass);
    }
    void add_custom_lowering_pass(internal::Mutator *pass, std::function<void()> deleter);
    void clear_custom_lowering_passes();
    const std::vector<CustomLoweringPass> &custom_lowering_passes();
    /// The pipeline whose only output this is.
    Pipeline pipeline();

    // Both bases have these: one for loops, one for the Func.
    using internal::LoopDirectives<Func>::stream_stores;
    Func &stream_loads();
    template<typename T, std::enable_if_t<std::is_convertible<const T &, Func>::value, bool> = true>
    Func &stream_loads(const T &f) {
        return stream_loads(std::vector<Func>(1, f));
    }
    Func &stream_loads(const std::vector<Func> &fs);

private:
    friend class internal::LoopDirectives<Func>;
    friend class internal::GpuDirectives<Func>;
    friend class internal::FuncDirectives;
    Stage stage_to_schedule() const;
    void check_defined(const char *query) const;
};

template<typename T, std::enable_if_t<std::is_convertible<const T &, Func>::value, bool>>
Stage &Stage::stream_loads(const T &f) {
    return stream_loads(std::vector<Func>(1, f));
}

/// An anonymous Func of these Vars: lambda(x, y, x + y).
Func lambda(const Expr &e);
Func lambda(const Var &x, const Expr &e);
Func lambda(const Var &x, const Var &y, const Expr &e);
Func lambda(const Var &x, const Var &y, const Var &z, const Expr &e);
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &e);
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v, const Expr &e);

}  // namespace calotype
