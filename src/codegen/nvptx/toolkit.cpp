// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/toolkit.h"

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <sstream>

#include "support/file.h"

namespace calotype::internal {

namespace {

/// The first of the names below the folder that exists, or "".
std::string first_of(const std::string &root, std::initializer_list<const char *> names) {
    for (const char *name : names) {
        std::string path = root + "/" + name;
        if (file_exists(path)) {
            return path;
        }
    }
    return "";
}

CudaToolkit toolkit_in(const std::string &root) {
    CudaToolkit found;
    found.root = root;
    found.ptxas = first_of(root, {"bin/ptxas"});
    found.nvjitlink =
        first_of(root, {"lib64/libnvJitLink.so.13", "lib64/libnvJitLink.so.12",
                        "lib64/libnvJitLink.so", "targets/x86_64-linux/lib/libnvJitLink.so"});
    found.libdevice = first_of(root, {"nvvm/libdevice/libdevice.10.bc"});
    found.nvrtc = first_of(root, {"lib64/libnvrtc.so.13", "lib64/libnvrtc.so.12",
                                  "lib64/libnvrtc.so", "targets/x86_64-linux/lib/libnvrtc.so"});
    found.nvcc = first_of(root, {"bin/nvcc"});
    found.include = first_of(root, {"include", "targets/x86_64-linux/include"});
    return found;
}

/// The folder above the one on $PATH that has ptxas, or "".
std::string root_on_path() {
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && file_exists(folder + "/ptxas")) {
            return folder + "/..";
        }
    }
    return "";
}

}  // namespace

CudaToolkit find_cuda_toolkit() {
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char *root = std::getenv(variable);
        if (root && *root) {
            return toolkit_in(root);
        }
    }
    CudaToolkit usual = toolkit_in("/usr/local/cuda");
    if (usual.can_assemble()) {
        return usual;
    }
    std::string root = root_on_path();
    return root.empty() ? CudaToolkit() : toolkit_in(root);
}

std::string identity(const CudaToolkit &toolkit) {
    std::ostringstream text;
    for (const std::string &path : {toolkit.ptxas, toolkit.nvjitlink, toolkit.libdevice,
                                    toolkit.nvrtc, toolkit.nvcc, toolkit.include}) {
        std::error_code error;
        const auto time = std::filesystem::last_write_time(path, error);
        text << path << '\n' << (error ? 0 : time.time_since_epoch().count()) << '\n';
    }
    return text.str();
}

}  // namespace calotype::internal
