// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/assemble.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <vector>

#include "codegen/nvptx/nvjitlink.h"
#include "support/file.h"

extern char **environ;

namespace calotype::internal {

namespace {

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

Assembly assemble(const std::string &ptx, Capability capability, const CudaToolkit &toolkit) {
    if (can_link(toolkit)) {
        LinkResult linked = link_in_process({{CALOTYPE_PTX, &ptx, "kernels"}}, capability, toolkit);
        return {linked.ok, std::move(linked.cubin), std::move(linked.log)};
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
