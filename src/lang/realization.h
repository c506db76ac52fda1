// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Realization: the buffers that running a pipeline filled, one a value of each output.
#pragma once

#include <initializer_list>
#include <vector>

#include "lang/buffer.h"
#include "support/error.h"

namespace calotype {

class Realization {
public:
    explicit Realization(const Buffer<void> &b) : buffers_{b} {
    }
    explicit Realization(Buffer<void> &&b) : buffers_{std::move(b)} {
    }
    template<typename T, int Dims, typename... Args,
             typename = std::enable_if_t<(std::is_convertible<Args, Buffer<void>>::value && ...)>>
    Realization(Buffer<T, Dims> &a, Args &&...rest)
        : buffers_{Buffer<void>(a), Buffer<void>(std::forward<Args>(rest))...} {
    }
    /// A CompileError if there are none.
    explicit Realization(const std::vector<Buffer<void>> &buffers);
    explicit Realization(std::vector<Buffer<void>> &&buffers);
    explicit Realization(std::initializer_list<Buffer<void>> buffers)
        : Realization(std::vector<Buffer<void>>(buffers)) {
    }

    size_t size() const {
        return buffers_.size();
    }
    /// A CompileError if there is no buffer i.
    const Buffer<void> &operator[](size_t i) const;
    Buffer<void> &operator[](size_t i);

    /// The only buffer. A CompileError if there are several.
    template<typename T, int Dims>
    operator Buffer<T, Dims>() const {
        check_single();
        return buffers_[0];
    }

    /// Wait for the devices that hold the buffers. Gives 0 or an error code.
    int device_sync(void *user_context = nullptr);

private:
    void check_single() const;
    std::vector<Buffer<void>> buffers_;
};

}  // namespace calotype
