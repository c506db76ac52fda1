// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling and running: what Func and Pipeline have in common. A Func stands for the pipeline of
// this one output.
#pragma once

#include <optional>

#include "bindings.h"
#include "interruptible.h"
#include "paths.h"
#include "run.h"

namespace calotype::python {

inline Pipeline pipeline_of(Func &f) {
    return f.pipeline();
}
inline Pipeline pipeline_of(Pipeline &p) {
    return p;
}
inline Target aot_target(const Target &t) {
    return t == Target() ? get_target_from_environment() : t;
}
inline Target jit_target(const Target &t) {
    return t == Target() ? get_jit_target_from_environment() : t;
}
inline std::vector<Argument> arguments_of(const std::vector<ArgumentArg> &list) {
    std::vector<Argument> arguments = convert_all<Argument>(list);
    for (size_t i = 0; i < arguments.size(); i++) {
        for (size_t j = 0; j < i; j++) {
            user_assert(arguments[i].name != arguments[j].name)
                << "argument " << arguments[i].name << " is given twice, in places " << j << " and "
                << i;
        }
    }
    return arguments;
}

using Arguments = std::vector<ArgumentArg>;
using WriteFile = void (Pipeline::*)(const std::string &, const std::vector<Argument> &,
                                     const std::string &, const Target &);

/// A member that writes a file; the name of the function may be left out.
template<typename T>
void bind_write(PythonClass<T> &c, const char *name, WriteFile write, const char *file) {
    const auto call = [write](T &t, const Path &path, const Arguments &args, const std::string &fn,
                              const Target &target) {
        Pipeline p = pipeline_of(t);
        const std::vector<Argument> arguments = arguments_of(args);
        compile_files([&] { (p.*write)(path, arguments, fn, aot_target(target)); });
    };
    c.def(
        name,
        [call](T &t, const Path &path, const Arguments &args, const Target &target) {
            call(t, path, args, "", target);
        },
        nb::arg(file), "arguments"_a, "target"_a);
    c.def(name, call, nb::arg(file), "arguments"_a, "fn_name"_a = "", "target"_a = Target());
}

template<typename T>
void bind_writes(PythonClass<T> &c) {
    bind_write(c, "compile_to_bitcode", &Pipeline::compile_to_bitcode, "filename");
    bind_write(c, "compile_to_llvm_assembly", &Pipeline::compile_to_llvm_assembly, "filename");
    bind_write(c, "compile_to_object", &Pipeline::compile_to_object, "filename");
    bind_write(c, "compile_to_header", &Pipeline::compile_to_header, "filename");
    bind_write(c, "compile_to_assembly", &Pipeline::compile_to_assembly, "filename");
    bind_write(c, "compile_to_c", &Pipeline::compile_to_c, "filename");
    bind_write(c, "compile_to_file", &Pipeline::compile_to_file, "filename_prefix");
    bind_write(c, "compile_to_static_library", &Pipeline::compile_to_static_library,
               "filename_prefix");
}

template<typename T>
void bind_statements(PythonClass<T> &c) {
    c.def(
         "compile_to_lowered_stmt",
         [](T &t, const Path &file, const Arguments &args, StmtOutputFormat format,
            const Target &target) {
             Pipeline p = pipeline_of(t);
             const std::vector<Argument> arguments = arguments_of(args);
             compile_files(
                 [&] { p.compile_to_lowered_stmt(file, arguments, format, aot_target(target)); });
         },
         "filename"_a, "arguments"_a, "fmt"_a = Text, "target"_a = Target())
        .def(
            "compile_to_conceptual_stmt",
            [](T &t, const Path &file, const Arguments &args, StmtOutputFormat format,
               const Target &target) {
                Pipeline p = pipeline_of(t);
                const std::vector<Argument> arguments = arguments_of(args);
                compile_files([&] {
                    p.compile_to_conceptual_stmt(file, arguments, format, aot_target(target));
                });
            },
            "filename"_a, "arguments"_a, "fmt"_a = Text, "target"_a = Target())
        .def("print_loop_nest", [](T &t) {
            Pipeline p = pipeline_of(t);
            compile_files([&] { p.print_loop_nest(); });
        });
}

template<typename T>
void bind_multitarget(PythonClass<T> &c) {
    c.def(
         "compile_to",
         [](T &t, const OutputPaths &outputs, const Arguments &args, const std::string &fn,
            const Target &target) {
             Pipeline p = pipeline_of(t);
             const std::vector<Argument> arguments = arguments_of(args);
             compile_files(
                 [&] { p.compile_to(names_of(outputs), arguments, fn, aot_target(target)); });
         },
         "outputs"_a, "arguments"_a, "fn_name"_a, "target"_a = Target())
        .def(
            "compile_to_multitarget_static_library",
            [](T &t, const Path &prefix, const Arguments &args,
               const std::vector<Target> &targets) {
                Pipeline p = pipeline_of(t);
                const std::vector<Argument> arguments = arguments_of(args);
                compile_files(
                    [&] { p.compile_to_multitarget_static_library(prefix, arguments, targets); });
            },
            "filename_prefix"_a, "arguments"_a, "targets"_a)
        .def(
            "compile_to_multitarget_object_files",
            [](T &t, const Path &prefix, const Arguments &args, const std::vector<Target> &targets,
               const std::vector<std::string> &suffixes) {
                Pipeline p = pipeline_of(t);
                const std::vector<Argument> arguments = arguments_of(args);
                compile_files([&] {
                    p.compile_to_multitarget_object_files(prefix, arguments, targets, suffixes);
                });
            },
            "filename_prefix"_a, "arguments"_a, "targets"_a, "suffixes"_a)
        .def(
            "compile_to_module",
            [](T &t, const Arguments &args, const std::string &fn, const Target &target,
               LinkageType linkage) {
                Pipeline p = pipeline_of(t);
                const std::vector<Argument> arguments = arguments_of(args);
                std::optional<Module> module;
                compile_files([&] {
                    module = p.compile_to_module(arguments, fn, aot_target(target), linkage);
                });
                return *module;
            },
            "arguments"_a, "fn_name"_a = "", "target"_a = Target(),
            "linkage"_a = LinkageType::ExternalPlusMetadata);
}

template<typename T>
void bind_running(PythonClass<T> &c) {
    c.def(
         "realize",
         [](T &t, nb::object sizes, const Target &target) {
             return realize(pipeline_of(t), sizes, target);
         },
         "sizes"_a = nb::none(), "target"_a = Target(),
         nb::sig("def realize(self, sizes: calotype._types.SizesOrBuffers = None, target: Target = "
                 "...) -> typing.Any"))
        .def(
            "realize",
            [](T &t, nb::object dst, const Target &target) {
                return realize(pipeline_of(t), dst, target);
            },
            nb::kw_only(), "dst"_a, "target"_a = Target(),
            nb::sig("def realize(self, *, dst: calotype._types.SizesOrBuffers, target: Target = "
                    "...) -> typing.Any"))
        .def(
            "infer_input_bounds",
            [](T &t, nb::object sizes, const Target &target) {
                infer_input_bounds(pipeline_of(t), sizes, target);
            },
            "dst"_a, "target"_a = Target())
        .def(
            "compile_jit",
            [](T &t, const Target &target) {
                Pipeline p = pipeline_of(t);
                compile_files([&] { p.compile_jit(jit_target(target)); });
            },
            "target"_a = Target())
        .def(
            "compile_to_callable",
            [](T &t, const Arguments &args, const Target &target) {
                Pipeline p = pipeline_of(t);
                const std::vector<Argument> arguments = arguments_of(args);
                const Target for_jit = jit_target(target);
                const Callable result =
                    compile([&] { return p.compile_to_callable(arguments, for_jit); });
                return to_python_callable(result, for_jit);
            },
            "arguments"_a, "target"_a = Target(),
            nb::sig("def compile_to_callable(self, arguments: "
                    "collections.abc.Sequence[calotype._types.ArgumentLike], target: Target = ...) "
                    "-> Callable"))
        .def("infer_arguments", [](T &t) { return pipeline_of(t).infer_arguments(); });
}

}  // namespace calotype::python
