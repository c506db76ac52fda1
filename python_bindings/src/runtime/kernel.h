// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel: a pipeline that was compiled ahead of time, in a shared library.
#pragma once

#include <calotype/runtime/abi/kernel_cache.h>
#include <calotype/runtime/abi/metadata.h>

#include <memory>
#include <string>

#include "bounds_query.h"
#include "prefetch.h"

namespace calotype::python {

/// A pipeline that failed as it ran: becomes a RuntimeError.
class KernelError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A shared library that stays loaded. Its runtime reports errors and prints to us.
class Library {
public:
    explicit Library(const std::string &path);
    /// Null if there is none.
    void *find(const std::string &symbol) const;
    /// What belongs to a function: FUNCTION_SUFFIX by a name of C, or by one of C++ with those
    /// parameters, as the Itanium ABI writes them.
    void *find_companion(const std::string &function, const std::string &suffix,
                         const std::string &parameters) const;
    const std::string &path() const {
        return path_;
    }

private:
    void *handle_;
    std::string path_;
};

class Kernel {
public:
    /// `name` empty: that of the file. An ArrayError if the library has no such pipeline.
    Kernel(const std::string &path, const std::string &name);

    /// Arguments by place or by name, perhaps after a context of the user's.
    void call(PyObject *args, PyObject *keywords) const;
    /// As query_bounds().
    BufferRanges bounds(PyObject *outputs, PyObject *scalars) const;
    /// Begins to load its device code.
    std::unique_ptr<Prefetch> prefetch(std::optional<int> device) const;
    const Signature &signature() const {
        return *signature_;
    }
    const std::string &name() const {
        return name_;
    }
    std::string target() const {
        return metadata_->target;
    }
    const Library &library() const {
        return *library_;
    }

private:
    bool has_user_context(PyObject *args) const;
    void call(void *user_context, PyObject *args, PyObject *keywords) const;
    void find_cuda();
    [[noreturn]] void fail(int status, const std::string &text) const;
    std::shared_ptr<Library> library_;
    std::string name_;
    Callee callee_;
    const calotype_filter_metadata_t *metadata_ = nullptr;
    int (*argv_)(const void **) = nullptr;
    std::unique_ptr<Signature> signature_;
    bool takes_user_context_ = false;
};

}  // namespace calotype::python
