// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipeline's members that write files.
#include <iostream>

#include "codegen/symbol_name.h"
#include "driver/compiler.h"
#include "driver/module.h"
#include "driver/output_plan.h"
#include "lang/func.h"
#include "lang/pipeline.h"
#include "lang/text/serialize.h"
#include "lower/lower.h"
#include "support/edit_lock.h"
#include "support/error.h"
#include "support/file.h"

namespace calotype {

using namespace internal;

namespace {

/// What the compiled function is called where no name is given.
std::string name_of_output(const Pipeline &pipeline) {
    return c_identifier(pipeline.contents()->outputs[0].name());
}

CompileJob make_job(const Pipeline &pipeline, const std::vector<Argument> &args,
                    const std::string &fn_name, const Target &target, LinkageType linkage) {
    user_assert(pipeline.defined()) << "an undefined pipeline is compiled";
    CompileJob job;
    const std::string name = fn_name.empty() ? name_of_output(pipeline) : fn_name;
    {
        const ReadingScope reading;
        job.source = deep_copy(pipeline.source(name, args));
    }
    job.source.linkage = linkage;
    job.target = target;
    job.options = CompileOptions::from_environment(job.source.name);
    return job;
}

}  // namespace

Module Pipeline::compile_to_module(const std::vector<Argument> &args, const std::string &fn_name,
                                   const Target &target, LinkageType linkage) {
    return Module(
        internal::Compiler::of_process().lower(make_job(*this, args, fn_name, target, linkage)),
        target);
}

void Pipeline::compile_to(const std::map<OutputFileType, std::string> &output_files,
                          const std::vector<Argument> &args, const std::string &fn_name,
                          const Target &target) {
    std::map<OutputFileType, std::string> files = output_files;
    const auto whole = files.extract(OutputFileType::ctpipe);
    std::vector<uint8_t> bytes;
    if (!whole.empty()) {
        const ReadingScope reading;
        serialize_pipeline(*this, bytes);
    }
    if (!files.empty() || whole.empty()) {
        compile_to_module(args, fn_name, target).compile(files);
    }
    if (!whole.empty()) {
        internal::write_file_atomically(
            whole.mapped(), {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    }
}

void Pipeline::compile_to_bitcode(const std::string &filename, const std::vector<Argument> &args,
                                  const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::bitcode, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_llvm_assembly(const std::string &filename,
                                        const std::vector<Argument> &args,
                                        const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::llvm_assembly, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_object(const std::string &filename, const std::vector<Argument> &args,
                                 const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::object, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_header(const std::string &filename, const std::vector<Argument> &args,
                                 const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::c_header, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_assembly(const std::string &filename, const std::vector<Argument> &args,
                                   const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::assembly, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_c(const std::string &filename, const std::vector<Argument> &args,
                            const std::string &fn_name, const Target &target) {
    compile_to({{OutputFileType::c_source, filename}}, args, fn_name, target);
}

void Pipeline::compile_to_lowered_stmt(const std::string &filename,
                                       const std::vector<Argument> &args, StmtOutputFormat format,
                                       const Target &target) {
    compile_to({{format == HTML ? OutputFileType::stmt_html : OutputFileType::stmt, filename}},
               args, "", target);
}

void Pipeline::compile_to_conceptual_stmt(const std::string &filename,
                                          const std::vector<Argument> &args,
                                          StmtOutputFormat format, const Target &target) {
    compile_to(
        {{format == HTML ? OutputFileType::conceptual_stmt_html : OutputFileType::conceptual_stmt,
          filename}},
        args, "", target);
}

void Pipeline::print_loop_nest() {
    PipelineSource copy;
    {
        const ReadingScope reading;
        copy = deep_copy(source(contents()->outputs[0].name(), infer_arguments()));
    }
    std::cerr << calotype::print_loop_nest(copy, get_target_from_environment());
}

void Pipeline::compile_to_file(const std::string &filename_prefix,
                               const std::vector<Argument> &args, const std::string &fn_name,
                               const Target &target) {
    compile_to(
        internal::output_paths(filename_prefix, {OutputFileType::c_header, OutputFileType::object}),
        args, fn_name, target);
}

void Pipeline::compile_to_static_library(const std::string &filename_prefix,
                                         const std::vector<Argument> &args,
                                         const std::string &fn_name, const Target &target) {
    compile_to(internal::output_paths(filename_prefix,
                                      {OutputFileType::c_header, OutputFileType::static_library}),
               args, fn_name, target);
}

void Pipeline::compile_to_multitarget_static_library(const std::string &filename_prefix,
                                                     const std::vector<Argument> &args,
                                                     const std::vector<Target> &targets) {
    compile_multitarget(name_of_output(*this),
                        internal::output_paths(filename_prefix, {OutputFileType::c_header,
                                                                 OutputFileType::static_library}),
                        targets, {}, [&](const std::string &name, const Target &target) {
                            return compile_to_module(args, name, target);
                        });
}

void Pipeline::compile_to_multitarget_object_files(const std::string &filename_prefix,
                                                   const std::vector<Argument> &args,
                                                   const std::vector<Target> &targets,
                                                   const std::vector<std::string> &suffixes) {
    compile_multitarget(
        name_of_output(*this),
        internal::output_paths(filename_prefix, {OutputFileType::c_header, OutputFileType::object}),
        targets, suffixes, [&](const std::string &name, const Target &target) {
            return compile_to_module(args, name, target);
        });
}

}  // namespace calotype
