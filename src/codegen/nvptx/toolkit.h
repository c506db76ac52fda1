// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The location of the CUDA toolkit on this machine. Nothing of it is needed to make PTX.
#pragma once

#include <string>

namespace calotype::internal {

/// Paths of what was found; empty: not there.
struct CudaToolkit {
    std::string root;       ///< the folder that was looked in
    std::string ptxas;      ///< the program
    std::string nvjitlink;  ///< the library
    std::string libdevice;  ///< libdevice.10.bc
    std::string nvrtc;      ///< the library
    std::string nvcc;       ///< the program
    std::string include;    ///< the folder of its headers

    bool can_assemble() const {
        return !ptxas.empty() || !nvjitlink.empty();
    }
};

/// Looks in $CUDA_HOME or, where that is not set, $CUDA_PATH. Where neither is set, in
/// /usr/local/cuda and then beside the ptxas on $PATH. A variable that names a folder without a
/// toolkit means: none.
CudaToolkit find_cuda_toolkit();

/// Paths and times of its parts: another text for another toolkit.
std::string identity(const CudaToolkit &toolkit);

}  // namespace calotype::internal
