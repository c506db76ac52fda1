// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/assemble.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <vector>

#include "support/file.h"

extern char **environ;

namespace calotype::internal {

namespace {

/// The library's functions, as its headers declare them: results are 0 if all went well.
struct NvJitLink {
    using Handle = void *;
    int (*create)(Handle *, uint32_t option_count, const char **options);
    int (*destroy)(Handle *);
    int (*add_data)(Handle, int kind, const void *data, size_t size, const char *name);
    int (*complete)(Handle);
    int (*cubin_size)(Handle, size_t *);
    int (*cubin)(Handle, void *);
    int (*error_log_size)(Handle, size_t *);
    int (*error_log)(Handle, char *);
    int (*info_log_size)(Handle, size_t *);
    int (*info_log)(Handle, char *);

    static constexpr int ptx = 2;  ///< kind of input

    /// True if the library is there and has them all. It stays loaded.
    bool load(const std::string &path) {
        void *library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        return library && find(library, "nvJitLinkCreate", create) &&
               find(library, "nvJitLinkDestroy", destroy) &&
               find(library, "nvJitLinkAddData", add_data) &&
               find(library, "nvJitLinkComplete", complete) &&
               find(library, "nvJitLinkGetLinkedCubinSize", cubin_size) &&
               find(library, "nvJitLinkGetLinkedCubin", cubin) &&
               find(library, "nvJitLinkGetErrorLogSize", error_log_size) &&
               find(library, "nvJitLinkGetErrorLog", error_log) &&
               find(library, "nvJitLinkGetInfoLogSize", info_log_size) &&
               find(library, "nvJitLinkGetInfoLog", info_log);
    }

private:
    template<typename F>
    static bool find(void *library, const char *name, F &function) {
        function = reinterpret_cast<F>(dlsym(library, name));
        return function != nullptr;
    }
};

using SizeOf = int (*)(NvJitLink::Handle, size_t *);

/// A log of the library, without the zeros at its end.
std::string read_log(NvJitLink::Handle handle, SizeOf size_of,
                     int (*get)(NvJitLink::Handle, char *)) {
    size_t size = 0;
    if (size_of(handle, &size) != 0 || size == 0) {
        return "";
    }
    std::vector<char> text(size + 1, 0);
    return get(handle, text.data()) == 0 ? std::string(text.data()) : "";
}

Assembly assemble_in_process(const NvJitLink &link, const std::string &ptx, Capability capability) {
    Assembly result;
    std::string arch = "-arch=" + to_string(capability);
    const char *options[] = {arch.c_str(), "-verbose"};
    NvJitLink::Handle handle = nullptr;
    int code = link.create(&handle, 2, options);
    if (code != 0) {
        result.log = "nvJitLink refuses " + arch + " with error " + std::to_string(code);
        return result;
    }
    size_t size = 0;
    code = link.add_data(handle, NvJitLink::ptx, ptx.c_str(), ptx.size() + 1, "kernels");
    if (code == 0) {
        code = link.complete(handle);
    }
    if (code == 0 && link.cubin_size(handle, &size) == 0 && size > 0) {
        result.cubin.resize(size);
        result.ok = link.cubin(handle, result.cubin.data()) == 0;
    }
    result.log = read_log(handle, link.error_log_size, link.error_log) +
                 read_log(handle, link.info_log_size, link.info_log);
    if (!result.ok && result.log.empty()) {
        result.log = "nvJitLink fails with error " + std::to_string(code);
    }
    link.destroy(&handle);
    return result;
}

/// Runs a program, what it says going to a file. Its exit code, or -1 if it cannot be run.
int run_program(const std::vector<std::string> &words, const std::string &log_path) {
    std::vector<char *> argv;
    for (const std::string &word : words) {
        argv.push_back(const_cast<char *>(word.c_str()));
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log_path.c_str(), O_WRONLY | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = 0;
    int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

Assembly assemble_by_program(const std::string &ptxas, const std::string &ptx,
                             Capability capability) {
    TemporaryDirectory folder;
    std::string source = folder.path() + "/kernels.ptx", cubin = folder.path() + "/kernels.cubin";
    std::string log = folder.path() + "/log";
    write_file_atomically(source, ptx);
    write_file_atomically(log, "");
    int code =
        run_program({ptxas, "-v", "-arch=" + to_string(capability), source, "-o", cubin}, log);
    Assembly result;
    result.log = read_file(log);
    result.ok = code == 0;
    if (result.ok) {
        result.cubin = read_file(cubin);
    } else if (result.log.empty()) {
        result.log = ptxas + " cannot be run";
    }
    return result;
}

}  // namespace

Assembly assemble(const std::string &ptx, Capability capability, const CudaToolkit &toolkit) {
    NvJitLink link;
    if (link.load(toolkit.nvjitlink)) {
        return assemble_in_process(link, ptx, capability);
    }
    if (!toolkit.ptxas.empty()) {
        return assemble_by_program(toolkit.ptxas, ptx, capability);
    }
    Assembly none;
    none.log = "neither nvJitLink nor ptxas is there";
    return none;
}

bool can_assemble_for(Capability capability, const CudaToolkit &toolkit) {
    const std::string nothing =
        ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    return assemble(nothing, capability, toolkit).ok;
}

}  // namespace calotype::internal
