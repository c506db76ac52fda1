// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Func's members that compile and run: those of the pipeline of this one output.
#include "driver/callable.h"
#include "driver/module.h"
#include "lang/func.h"

namespace calotype {

Realization Func::realize(std::vector<int32_t> sizes, const Target &target) {
    return pipeline().realize(std::move(sizes), target);
}

Realization Func::realize(JITUserContext *context, std::vector<int32_t> sizes,
                          const Target &target) {
    return pipeline().realize(context, std::move(sizes), target);
}

void Func::realize(Pipeline::RealizationArg outputs, const Target &target) {
    pipeline().realize(std::move(outputs), target);
}

void Func::realize(JITUserContext *context, Pipeline::RealizationArg outputs,
                   const Target &target) {
    pipeline().realize(context, std::move(outputs), target);
}

void Func::infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target) {
    pipeline().infer_input_bounds(sizes, target);
}

void Func::infer_input_bounds(Pipeline::RealizationArg outputs, const Target &target) {
    pipeline().infer_input_bounds(std::move(outputs), target);
}

void Func::infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                              const Target &target) {
    pipeline().infer_input_bounds(context, sizes, target);
}

void Func::infer_input_bounds(JITUserContext *context, Pipeline::RealizationArg outputs,
                              const Target &target) {
    pipeline().infer_input_bounds(context, std::move(outputs), target);
}

void Func::compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                              const std::string &fn_name, const Target &target) {
    pipeline().compile_to_bitcode(filename, args, fn_name, target);
}

void Func::compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                              const Target &target) {
    pipeline().compile_to_bitcode(filename, args, "", target);
}

void Func::compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                    const std::string &fn_name, const Target &target) {
    pipeline().compile_to_llvm_assembly(filename, args, fn_name, target);
}

void Func::compile_to_llvm_assembly(const std::string &filename, const std::vector<Argument> &args,
                                    const Target &target) {
    pipeline().compile_to_llvm_assembly(filename, args, "", target);
}

void Func::compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &fn_name, const Target &target) {
    pipeline().compile_to_object(filename, args, fn_name, target);
}

void Func::compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                             const Target &target) {
    pipeline().compile_to_object(filename, args, "", target);
}

void Func::compile_to_header(const std::string &filename, const std::vector<Argument> &args,
                             const std::string &fn_name, const Target &target) {
    pipeline().compile_to_header(filename, args, fn_name, target);
}

void Func::compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                               const std::string &fn_name, const Target &target) {
    pipeline().compile_to_assembly(filename, args, fn_name, target);
}

void Func::compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                               const Target &target) {
    pipeline().compile_to_assembly(filename, args, "", target);
}

void Func::compile_to_c(const std::string &filename, const std::vector<Argument> &args,
                        const std::string &fn_name, const Target &target) {
    pipeline().compile_to_c(filename, args, fn_name, target);
}

void Func::compile_to_lowered_stmt(const std::string &filename, const std::vector<Argument> &args,
                                   StmtOutputFormat format, const Target &target) {
    pipeline().compile_to_lowered_stmt(filename, args, format, target);
}

void Func::compile_to_conceptual_stmt(const std::string &filename,
                                      const std::vector<Argument> &args, StmtOutputFormat format,
                                      const Target &target) {
    pipeline().compile_to_conceptual_stmt(filename, args, format, target);
}

void Func::print_loop_nest() {
    pipeline().print_loop_nest();
}

void Func::compile_to_file(const std::string &filename_prefix, const std::vector<Argument> &args,
                           const std::string &fn_name, const Target &target) {
    pipeline().compile_to_file(filename_prefix, args, fn_name, target);
}

void Func::compile_to_static_library(const std::string &filename_prefix,
                                     const std::vector<Argument> &args, const std::string &fn_name,
                                     const Target &target) {
    pipeline().compile_to_static_library(filename_prefix, args, fn_name, target);
}

void Func::compile_to_multitarget_static_library(const std::string &filename_prefix,
                                                 const std::vector<Argument> &args,
                                                 const std::vector<Target> &targets) {
    pipeline().compile_to_multitarget_static_library(filename_prefix, args, targets);
}

void Func::compile_to_multitarget_object_files(const std::string &filename_prefix,
                                               const std::vector<Argument> &args,
                                               const std::vector<Target> &targets,
                                               const std::vector<std::string> &suffixes) {
    pipeline().compile_to_multitarget_object_files(filename_prefix, args, targets, suffixes);
}

Module Func::compile_to_module(const std::vector<Argument> &args, const std::string &fn_name,
                               const Target &target) {
    return pipeline().compile_to_module(args, fn_name, target);
}

void Func::compile_to(const std::map<OutputFileType, std::string> &output_files,
                      const std::vector<Argument> &args, const std::string &fn_name,
                      const Target &target) {
    pipeline().compile_to(output_files, args, fn_name, target);
}

void Func::compile_jit(const Target &target) {
    pipeline().compile_jit(target);
}

Callable Func::compile_to_callable(const std::vector<Argument> &args, const Target &target) {
    return pipeline().compile_to_callable(args, target);
}

JITHandlers &Func::jit_handlers() {
    return pipeline().jit_handlers();
}

}  // namespace calotype
