// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA contexts and streams of this application, made with the driver's own functions.
#pragma once

#include <string>

/// A context with one stream for each worker, as an application that shares a GPU between tenants
/// has them.
class CudaContext {
public:
    /// Empty if there is no driver or no device; why() tells.
    CudaContext();
    ~CudaContext();
    CudaContext(const CudaContext &) = delete;
    CudaContext &operator=(const CudaContext &) = delete;

    /// CUcontext, or null.
    void *get() const {
        return context_;
    }
    /// A new CUstream; ends with the context.
    void *make_stream() const;
    const std::string &why() const {
        return why_;
    }

private:
    void *context_ = nullptr;
    std::string why_;
};
