// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text that explains a failure: sentences of ours, logs of compilers and linkers, of any
// length.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace calotype {
namespace runtime {

/** Grows on the heap; what finds no memory is dropped. */
class ErrorLog {
public:
    ErrorLog() = default;
    ~ErrorLog() {
        if (text) {
            free(text);
        }
    }
    ErrorLog(const ErrorLog &) = delete;
    ErrorLog &operator=(const ErrorLog &) = delete;

    ErrorLog &append(const char *text, size_t size);
    ErrorLog &operator<<(const char *text);
    ErrorLog &operator<<(char c);
    ErrorLog &operator<<(int64_t value);
    ErrorLog &operator<<(uint64_t value);
    ErrorLog &operator<<(int32_t value) {
        return *this << int64_t(value);
    }
    ErrorLog &operator<<(uint32_t value) {
        return *this << uint64_t(value);
    }
    void clear();

    /** Never null. */
    const char *c_str() const {
        return text ? text : "";
    }
    size_t size() const {
        return length;
    }
    bool empty() const {
        return length == 0;
    }

    /** What the driver's call answered, for calotype_error_info::driver_result. */
    int32_t driver_result = 0;

private:
    char *text = nullptr;
    size_t length = 0, capacity = 0;
};

}  // namespace runtime
}  // namespace calotype
