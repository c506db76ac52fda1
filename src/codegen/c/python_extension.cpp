// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources that bring compiled functions to Python and to torch.
#include <sstream>

#include "codegen/emit.h"
#include "codegen/symbol_name.h"
#include "ir/conventions/names.h"
#include "ir/type.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// Those that say what they take.
std::vector<const LoweredFunction *> described_functions(const LoweredModule &module,
                                                         const char *output) {
    std::vector<const LoweredFunction *> result;
    for (const LoweredFunction &f : module.functions) {
        if (f.linkage == LinkageType::ExternalPlusMetadata) {
            result.push_back(&f);
        }
    }
    user_assert(!result.empty()) << output << ": module " << module.name
                                 << " has no function with metadata";
    return result;
}

/// How a program calls it: by its name of C++ with namespaces, or by that of C.
std::string callers_name(const LoweredFunction &f, const Target &target) {
    return has_cpp_linkage(f, target) ? join(name_parts(f.name), "::") : simple_name(f.name);
}

/// What calotype.runtime asks a library for by name, beside the functions.
std::vector<std::string> runtime_functions(const Target &target) {
    std::vector<std::string> names = {"calotype_set_error_handler", "calotype_set_custom_print",
                                      "calotype_get_stats"};
    if (target.has_feature(Target::CUDA)) {
        names.insert(names.end(),
                     {"calotype_cuda_device_interface", "calotype_cuda_acquire_context",
                      "calotype_cuda_release_context"});
    }
    return names;
}

const char *const python_init = R"(
static int add_functions(PyObject *module) {
    Dl_info library;
    PyObject *runtime = PyImport_ImportModule("calotype.runtime");
    if (!runtime || !dladdr(reinterpret_cast<const void *>(&needed), &library)) {
        Py_XDECREF(runtime);
        return -1;
    }
    int status = 0;
    for (const auto &known : names) {
        PyObject *function =
            PyObject_CallMethod(runtime, "load", "ss", library.dli_fname, known.function);
        if (!function || PyModule_AddObject(module, known.name, function) != 0) {
            Py_XDECREF(function);
            status = -1;
            break;
        }
    }
    Py_DECREF(runtime);
    return status;
}
)";

}  // namespace

std::string python_extension_text(const LoweredModule &module, const Target &target) {
    const auto functions = described_functions(module, "python_extension");
    const std::string name = c_identifier(module.name);
    std::ostringstream out;
    out << "// Made by Calotype for " << module.target << ". Do not edit.\n"
        << "//\n"
        << "// The Python module " << name << ": with the headers of Python 3.10 or later compiled "
        << "as C++17 into " << name << ".so and\n"
        << "// linked with the library of the functions. It needs the package calotype-runtime or "
           "calotype to run.\n"
        << "#include <pyconfig.h>\n"
        << "// A Python without its lock has no limited API.\n"
        << "#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)\n"
        << "#define Py_LIMITED_API 0x030a0000\n#endif\n"
        << "#include <Python.h>\n#include <dlfcn.h>\n\n"
        << "extern \"C\" {\n";
    std::vector<std::string> needed = runtime_functions(target);
    for (const LoweredFunction *f : functions) {
        needed.push_back(argv_symbol_name(*f, target));
        needed.push_back(metadata_symbol_name(*f, target));
    }
    for (const std::string &symbol : needed) {
        out << "void " << symbol << "();\n";
    }
    out << "}\n\n"
        << "// Nothing here calls them: they are asked for by name.\n"
        << "__attribute__((used)) static void (*const needed[])() = {";
    for (size_t i = 0; i < needed.size(); i++) {
        out << (i > 0 ? ",\n    " : "\n    ") << needed[i];
    }
    out << "};\n\nstatic const struct {\n    const char *name, *function;\n} names[] = {";
    for (size_t i = 0; i < functions.size(); i++) {
        out << (i > 0 ? ", {" : "{") << '"' << simple_name(functions[i]->name) << "\", \""
            << callers_name(*functions[i], target) << "\"}";
    }
    out << "};\n"
        << python_init << "\nPyMODINIT_FUNC PyInit_" << name << "() {\n"
        << "    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, \"" << name
        << "\", \"Compiled pipelines.\", -1,\n"
        << "                                     nullptr, nullptr, nullptr, nullptr, nullptr};\n"
        << "    PyObject *module = PyModule_Create(&definition);\n"
        << "    if (module && add_functions(module) != 0) {\n"
        << "        Py_DECREF(module);\n"
        << "        return nullptr;\n"
        << "    }\n"
        << "#ifdef Py_GIL_DISABLED\n"
        << "    if (module) {\n"
        << "        PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);\n"
        << "    }\n"
        << "#endif\n"
        << "    return module;\n"
        << "}\n";
    return out.str();
}

namespace {

bool is_user_context(const LoweredArgument &a) {
    return a.name == names::user_context;
}

std::string shown_name(const LoweredModule &module, const LoweredArgument &a) {
    const auto shown = module.metadata_names.find(a.name);
    return c_identifier(shown == module.metadata_names.end() ? a.name : shown->second);
}

const char *type_code(const Type &t) {
    return t.is_bfloat() ? "bfloat" : t.is_float() ? "float" : t.is_int() ? "int" : "uint";
}

void write_torch_function(std::ostream &out, const LoweredModule &module, const LoweredFunction &f,
                          const Target &target) {
    const bool on_cuda = target.has_feature(Target::CUDA);
    std::string parameters, arguments, tensors, results;
    for (const LoweredArgument &a : f.args) {
        arguments += arguments.empty() ? "" : ", ";
        if (is_user_context(a)) {
            arguments += "call.user_context()";
            continue;
        }
        const std::string name = shown_name(module, a);
        parameters += parameters.empty() ? "" : ", ";
        if (!a.is_buffer()) {
            parameters += c_type_name(a.type) + " " + name;
            arguments += name;
            continue;
        }
        parameters += (a.is_output() ? "at::Tensor &" : "const at::Tensor &") + name;
        arguments += name + "_buffer";
        tensors += "    calotype::pytorch::Argument " + name + "_buffer(call, " + name + ", \"" +
                   name + "\", {calotype_type_" + type_code(a.type) + ", " +
                   std::to_string(a.type.bits()) + "}, " + std::to_string(int(a.dimensions)) +
                   ");\n";
        results += a.is_output() ? "    " + name + "_buffer.finish(call);\n" : "";
    }
    const std::string name = simple_name(f.name);
    out << "\n/// " << name
        << "() on tensors, whose dimensions are in the opposite order; on torch's"
        << " current stream. Throws c10::Error.\n"
        << "inline void " << name << "_th_(" << parameters << ") {\n"
        << "    calotype::pytorch::Call call(\"" << name << "\", "
        << (on_cuda ? "calotype_cuda_device_interface()" : "nullptr") << ");\n"
        << tensors << "    call.check(::" << callers_name(f, target) << "(" << arguments << "));\n"
        << results << "}\n";
}

}  // namespace

std::string pytorch_wrapper_text(const LoweredModule &module, const Target &target) {
    const auto functions = described_functions(module, "pytorch_wrapper");
    const bool on_cuda = target.has_feature(Target::CUDA);
    user_assert(!on_cuda || target.has_feature(Target::UserContext))
        << "pytorch_wrapper: target " << target.to_string()
        << " lacks the feature user_context, by which kernels for CUDA get torch's stream";
    std::ostringstream out;
    out << "// Made by Calotype for " << module.target << ". Do not edit.\n"
        << "//\n"
        << "// For extensions of torch in C++, which compile this as C++17 and link the library of "
           "the functions.\n"
        << "#pragma once\n\n"
        << (on_cuda ? "#define CALOTYPE_PYTORCH_CUDA\n" : "")
        << "#include <calotype/tools/pytorch.h>\n";
    if (on_cuda) {
        out << "#include <calotype/runtime/abi/runtime_cuda.h>\n";
    }
    out << "\n#include \"" << c_identifier(module.name) << ".h\"\n";
    for (const LoweredFunction *f : functions) {
        write_torch_function(out, module, *f, target);
    }
    return out.str();
}

}  // namespace calotype::internal
