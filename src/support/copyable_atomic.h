// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CopyableAtomic: a value that several threads may set and read, in an object that is copied.
#pragma once

#include <atomic>

namespace calotype::internal {

/// Copying reads one value and writes it elsewhere; it does not order anything else.
template<typename T>
class CopyableAtomic {
public:
    explicit CopyableAtomic(T value) : value_(value) {
    }
    CopyableAtomic(const CopyableAtomic &other) : value_(T(other)) {
    }
    CopyableAtomic &operator=(const CopyableAtomic &other) {
        return *this = T(other);
    }
    CopyableAtomic &operator=(T value) {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }
    operator T() const {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<T> value_;
};

}  // namespace calotype::internal
