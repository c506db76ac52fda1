// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/cuda_source.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "codegen/nvptx/assemble.h"
#include "support/file.h"

namespace calotype::internal {

namespace {

/// NVRTC's functions, as its header declares them: results are 0 if all went well.
struct Nvrtc {
    using Program = void *;
    using SizeOf = int (*)(Program, size_t *);
    using Get = int (*)(Program, char *);
    int (*create)(Program *, const char *source, const char *name, int headers, const char **,
                  const char **);
    int (*compile)(Program, int option_count, const char *const *options);
    int (*destroy)(Program *);
    SizeOf log_size, ptx_size, lto_ir_size;
    Get log, ptx, lto_ir;
    int (*count_architectures)(int *);
    int (*architectures)(int *);

    /// True if the library is there and has them all. It stays loaded.
    bool load(const std::string &path) {
        void *library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        return library && find(library, "nvrtcCreateProgram", create) &&
               find(library, "nvrtcCompileProgram", compile) &&
               find(library, "nvrtcDestroyProgram", destroy) &&
               find(library, "nvrtcGetProgramLogSize", log_size) &&
               find(library, "nvrtcGetProgramLog", log) &&
               find(library, "nvrtcGetPTXSize", ptx_size) && find(library, "nvrtcGetPTX", ptx) &&
               find(library, "nvrtcGetLTOIRSize", lto_ir_size) &&
               find(library, "nvrtcGetLTOIR", lto_ir) &&
               find(library, "nvrtcGetNumSupportedArchs", count_architectures) &&
               find(library, "nvrtcGetSupportedArchs", architectures);
    }

private:
    template<typename F>
    static bool find(void *library, const char *name, F &function) {
        function = reinterpret_cast<F>(dlsym(library, name));
        return function != nullptr;
    }
};

/// Text or bytes that the library has; empty if it has none.
std::string read(Nvrtc::Program program, Nvrtc::SizeOf size_of, Nvrtc::Get get) {
    size_t size = 0;
    std::string bytes;
    if (size_of(program, &size) == 0 && size > 0) {
        bytes.resize(size);
        bytes = get(program, bytes.data()) == 0 ? bytes : "";
    }
    return bytes;
}

std::string without_final_nul(std::string text) {
    text.erase(text.find_last_not_of('\0') + 1);
    return text;
}

std::string compute(Capability capability) {
    return "compute_" + to_string(capability).substr(3);
}

/// Where headers are.
std::vector<std::string> include_options(const std::string &path, const CudaToolkit &toolkit) {
    std::vector<std::string> options;
    if (!toolkit.include.empty()) {
        options = {"-I" + toolkit.include, "-I" + toolkit.include + "/cccl"};
    }
    const size_t slash = path.rfind('/');
    options.push_back("-I" + (slash == std::string::npos ? "." : path.substr(0, slash)));
    return options;
}

CudaCompilation compile_in_process(const Nvrtc &nvrtc, const std::string &source,
                                   const std::string &path, CudaForm form,
                                   const std::vector<std::string> &options) {
    CudaCompilation result;
    Nvrtc::Program program = nullptr;
    const std::string name(file_name_of(path));
    int code = nvrtc.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    if (code != 0) {
        result.log = "NVRTC fails with error " + std::to_string(code);
        return result;
    }
    std::vector<const char *> words;
    for (const std::string &option : options) {
        words.push_back(option.c_str());
    }
    code = nvrtc.compile(program, int(words.size()), words.data());
    result.log = without_final_nul(read(program, nvrtc.log_size, nvrtc.log));
    if (code == 0) {
        result.bytes = form == CudaForm::Ptx
                           ? without_final_nul(read(program, nvrtc.ptx_size, nvrtc.ptx))
                           : read(program, nvrtc.lto_ir_size, nvrtc.lto_ir);
    } else if (result.log.empty()) {
        result.log = "NVRTC fails with error " + std::to_string(code);
    }
    result.ok = !result.bytes.empty();
    nvrtc.destroy(&program);
    return result;
}

CudaCompilation compile_by_program(const std::string &source, CudaForm form, Capability capability,
                                   const std::vector<std::string> &includes,
                                   const std::string &nvcc) {
    TemporaryDirectory folder;
    const std::string input = folder.path() + "/source.cu", output = folder.path() + "/code";
    const std::string log = folder.path() + "/log";
    write_file_atomically(input, source);
    write_file_atomically(log, "");
    std::vector<std::string> words = {nvcc, "-std=c++17", "-rdc=true", input, "-o", output};
    if (form == CudaForm::Ptx) {
        words.insert(words.end(), {"-ptx", "-arch=" + compute(capability)});
    } else {
        words.insert(words.end(), {"-ltoir", "-gencode",
                                   "arch=" + compute(capability) + ",code=lto_" +
                                       to_string(capability).substr(3)});
    }
    words.insert(words.end(), includes.begin(), includes.end());
    CudaCompilation result;
    result.ok = run_program(words, log) == 0;
    result.log = read_file(log);
    if (result.ok) {
        result.bytes = read_file(output);
    } else if (result.log.empty()) {
        result.log = nvcc + " cannot be run";
    }
    return result;
}

}  // namespace

bool can_compile_cuda(const CudaToolkit &toolkit) {
    Nvrtc nvrtc;
    return nvrtc.load(toolkit.nvrtc) || !toolkit.nvcc.empty();
}

Capability compilable(Capability capability, const CudaToolkit &toolkit) {
    // What every nvcc in use knows.
    int oldest = 75;
    Nvrtc nvrtc;
    int count = 0;
    if (nvrtc.load(toolkit.nvrtc) && nvrtc.count_architectures(&count) == 0 && count > 0) {
        std::vector<int> list(size_t(count), 0);
        if (nvrtc.architectures(list.data()) == 0) {
            oldest = *std::min_element(list.begin(), list.end());
        }
    }
    return capability.sm < oldest ? Capability{oldest, 0} : capability;
}

CudaCompilation compile_cuda(const std::string &source, const std::string &path, CudaForm form,
                             Capability capability, const CudaToolkit &toolkit) {
    const std::vector<std::string> includes = include_options(path, toolkit);
    Nvrtc nvrtc;
    if (!nvrtc.load(toolkit.nvrtc)) {
        return compile_by_program(source, form, capability, includes, toolkit.nvcc);
    }
    std::vector<std::string> options = {"-arch=" + compute(capability), "-std=c++17", "-rdc=true"};
    if (form == CudaForm::LtoIr) {
        options.push_back("-dlto");
    }
    options.insert(options.end(), includes.begin(), includes.end());
    return compile_in_process(nvrtc, source, path, form, options);
}

}  // namespace calotype::internal
