// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callable: a compiled pipeline as a C++ function object.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "driver/jit_handlers.h"
#include "ir/argument.h"
#include "lang/buffer.h"

struct calotype_module_desc;

namespace calotype {

namespace internal {
struct JitCode;
}

/// Takes the arguments that it was compiled with, then the output buffers. Copies share the code.
/// May be called on any number of threads at once.
///
///     Callable blur = f.compile_to_callable({input, radius});
///     blur(in, 3, out);                       // 0; errors are thrown as RuntimeErrors
class Callable {
public:
    /// What the caller passes in one place.
    struct FullCallCheckInfo {
        Type type;
        int dims = -1;  ///< of a buffer; -1: known when it runs
        bool is_buffer = false;
        bool operator==(const FullCallCheckInfo &o) const {
            return type == o.type && dims == o.dims && is_buffer == o.is_buffer;
        }
        bool operator!=(const FullCallCheckInfo &o) const {
            return !(*this == o);
        }
    };

    Callable() = default;
    Callable(std::shared_ptr<const internal::JitCode> code, const JITHandlers &handlers);

    bool defined() const {
        return contents_ != nullptr;
    }
    /// The inputs in order, then the outputs.
    const std::vector<Argument> &arguments() const;

    /// A CompileError if number, kinds or types differ from the arguments. If the JITUserContext or
    /// the handlers of the pipeline handle errors, these get the text of this error, too, and the
    /// code of an error is returned; otherwise it is thrown.
    template<typename... Args>
    int operator()(JITUserContext *context, Args &&...args) const {
        const Passed passed[] = {Passed(), pass(args)...};
        const void *argv[1 + sizeof...(Args)];
        return call(context, passed + 1, argv, sizeof...(Args));
    }
    template<typename First, typename... Args,
             typename = std::enable_if_t<!std::is_convertible<First, JITUserContext *>::value>>
    int operator()(First &&first, Args &&...args) const {
        return (*this)(static_cast<JITUserContext *>(nullptr), std::forward<First>(first),
                       std::forward<Args>(args)...);
    }
    int operator()() const {
        return (*this)(static_cast<JITUserContext *>(nullptr));
    }

    /// A function of fixed types, which are checked here, so that mistakes show early.
    template<typename First, typename... Rest>
    std::function<int(First, Rest...)> make_std_function() const {
        if constexpr (std::is_same<First, JITUserContext *>::value) {
            const FullCallCheckInfo infos[] = {FullCallCheckInfo(),
                                               info_of<std::decay_t<Rest>>()...};
            check(infos + 1, sizeof...(Rest));
        } else {
            const FullCallCheckInfo infos[] = {info_of<std::decay_t<First>>(),
                                               info_of<std::decay_t<Rest>>()...};
            check(infos, 1 + sizeof...(Rest));
        }
        Callable self = *this;
        return [self](First first, Rest... rest) {
            return self(std::forward<First>(first), std::forward<Rest>(rest)...);
        };
    }

    /// The device code that it launches, a list that ends with null, or null: for
    /// calotype_prefetch() and the like. It lives as long as a copy of this Callable.
    const calotype_module_desc *const *device_modules() const;

    /// Without any check: argv[0] points to the JITUserContext *, the others to each scalar's value
    /// and to each calotype_buffer_t.
    int call_argv_fast(size_t argc, const void *const *argv) const;

private:
    struct Contents;
    // One argument of a call: its value or buffer, and what it is.
    struct Passed {
        union {
            uint64_t bits;
            unsigned char bytes[8];
        };
        calotype_buffer_t *buffer = nullptr;
        FullCallCheckInfo info;
        Passed() : bits(0) {
        }
    };

    template<typename T>
    static constexpr bool is_raw_buffer = std::is_same<T, calotype_buffer_t *>::value ||
                                          std::is_same<T, const calotype_buffer_t *>::value;

    template<typename T>
    static FullCallCheckInfo info_of() {
        FullCallCheckInfo info;
        if constexpr (is_raw_buffer<T>) {
            info.is_buffer = true;
        } else if constexpr (IsBuffer<T>::value) {
            info.is_buffer = true;
            if constexpr (!std::is_void<typename IsBuffer<T>::Element>::value) {
                info.type = type_of<std::remove_const_t<typename IsBuffer<T>::Element>>();
            }
            info.dims = IsBuffer<T>::dimensions;
        } else {
            info.type = type_of<T>();
        }
        return info;
    }
    template<typename T>
    struct IsBuffer : std::false_type {};
    template<typename T, int D>
    struct IsBuffer<Buffer<T, D>> : std::true_type {
        using Element = T;
        static constexpr int dimensions = D;
    };
    template<typename T, int D, int S>
    struct IsBuffer<Runtime::Buffer<T, D, S>> : std::true_type {
        using Element = T;
        static constexpr int dimensions = D;
    };

    template<typename T>
    static Passed pass(T &value) {
        using Plain = std::decay_t<T>;
        Passed passed;
        passed.info = info_of<Plain>();
        if constexpr (is_raw_buffer<Plain>) {
            passed.buffer = const_cast<calotype_buffer_t *>(value);
        } else if constexpr (std::is_base_of<internal::BufferBase, Plain>::value) {
            passed.buffer = value.defined() ? value.raw_buffer() : nullptr;
        } else if constexpr (IsBuffer<Plain>::value) {
            passed.buffer = const_cast<Plain &>(value).raw_buffer();
        } else {
            static_assert(sizeof(Plain) <= 8, "scalars have at most 64 bits");
            std::memcpy(passed.bytes, &value, sizeof(Plain));
        }
        return passed;
    }

    const JITHandlers &handlers() const;
    void check(const FullCallCheckInfo *infos, size_t count) const;
    void check_number(size_t count) const;
    bool is_right_call(JITUserContext *context, const Passed *passed, size_t count) const;
    /// With room for 1 + count pointers.
    int call(JITUserContext *context, const Passed *passed, const void **argv, size_t count) const;
    int call_checked(JITUserContext *context, const void **argv) const;

    std::shared_ptr<const Contents> contents_;
};

}  // namespace calotype
