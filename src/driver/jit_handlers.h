// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that pipelines of this process call: the hooks of the runtime, and extern functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/type_of.h"
#include "lang/pipeline.h"
#include "runtime/abi/tracing.h"

namespace calotype {

struct JITUserContext;

/// Hooks of a pipeline or of one run; null: the runtime's own. They get the context of the run.
struct JITHandlers {
    void (*custom_print)(JITUserContext *, const char *) = nullptr;
    void *(*custom_malloc)(JITUserContext *, size_t) = nullptr;
    void (*custom_free)(JITUserContext *, void *) = nullptr;
    int (*custom_do_task)(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int,
                          uint8_t *) = nullptr;
    int (*custom_do_par_for)(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int, int,
                             uint8_t *) = nullptr;
    /// With a handler of errors, realize() does not throw.
    void (*custom_error)(JITUserContext *, const char *) = nullptr;
    int32_t (*custom_trace)(JITUserContext *, const calotype_trace_event_t *) = nullptr;
    void *(*custom_get_symbol)(const char *name) = nullptr;
    void *(*custom_load_library)(const char *name) = nullptr;
    void *(*custom_get_library_symbol)(void *lib, const char *name) = nullptr;
    int32_t (*custom_cuda_acquire_context)(JITUserContext *, void **cuda_context,
                                           bool create) = nullptr;
    int32_t (*custom_cuda_release_context)(JITUserContext *) = nullptr;
    int32_t (*custom_cuda_get_stream)(JITUserContext *, void *cuda_context,
                                      void **stream) = nullptr;
};

namespace internal {
/// Collects the messages of one run, from all of its threads.
class JitErrorBuffer;
}  // namespace internal

/// Passed to a run and to all handlers that it calls; may be derived from to hold more.
struct JITUserContext {
    internal::JitErrorBuffer *error_buffer = nullptr;  ///< set during the run
    JITHandlers handlers;
};

/// Return and argument types of a C function.
class ExternSignature {
public:
    ExternSignature() = default;
    ExternSignature(const Type &ret_type, bool is_void_return, const std::vector<Type> &arg_types)
        : ret_type_(ret_type), is_void_return_(is_void_return), arg_types_(arg_types) {
    }
    template<typename R, typename... Args>
    explicit ExternSignature(R (*)(Args...))
        : is_void_return_(std::is_void<R>::value), arg_types_{type_of<Args>()...} {
        if constexpr (!std::is_void<R>::value) {
            ret_type_ = type_of<R>();
        }
    }
    const Type &ret_type() const {
        return ret_type_;
    }
    bool is_void_return() const {
        return is_void_return_;
    }
    const std::vector<Type> &arg_types() const {
        return arg_types_;
    }

private:
    Type ret_type_;
    bool is_void_return_ = false;
    std::vector<Type> arg_types_;
};

/// A C function by address. What it needs to stay there may be given with it: code that calls the
/// function keeps that.
class ExternCFunction {
public:
    ExternCFunction() = default;
    ExternCFunction(void *address, const ExternSignature &signature,
                    std::shared_ptr<const void> kept = nullptr)
        : address_(address), signature_(signature), kept_(std::move(kept)) {
    }
    template<typename R, typename... Args>
    ExternCFunction(R (*f)(Args...))
        : ExternCFunction(reinterpret_cast<void *>(f), ExternSignature(f)) {
    }
    void *address() const {
        return address_;
    }
    const ExternSignature &signature() const {
        return signature_;
    }
    const std::shared_ptr<const void> &kept() const {
        return kept_;
    }

private:
    void *address_ = nullptr;
    ExternSignature signature_;
    std::shared_ptr<const void> kept_;
};

/// What a name that pipelines call stands for: a C function or a pipeline, which is called as an
/// extern stage.
struct JITExtern {
    JITExtern(const Pipeline &pipeline) : pipeline_(pipeline) {
    }
    JITExtern(const Func &func) : pipeline_(func) {
    }
    JITExtern(const ExternCFunction &function) : function_(function) {
    }
    template<typename R, typename... Args>
    JITExtern(R (*f)(Args...)) : function_(f) {
    }
    const Pipeline &pipeline() const {
        return pipeline_;
    }
    const ExternCFunction &extern_c_function() const {
        return function_;
    }

private:
    Pipeline pipeline_;
    ExternCFunction function_;
};

}  // namespace calotype
