// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Catches what the runtime reports or prints while the object lives.
#pragma once

#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace calotype_test {

/** The last message that went to the error handler, and how many did. */
class CaptureErrors {
    calotype_error_handler_t old;
    static inline std::vector<std::string> caught;

public:
    CaptureErrors() {
        caught.clear();
        old = calotype_set_error_handler([](void *, const char *m) { caught.push_back(m); });
    }
    ~CaptureErrors() {
        calotype_set_error_handler(old);
    }
    size_t count() const {
        return caught.size();
    }
    /** The only message since the last call; what is wrong if there is not exactly one. */
    std::string take() {
        std::string text =
            caught.size() == 1 ? caught[0] : std::to_string(caught.size()) + " messages";
        caught.clear();
        return text;
    }
};

/** Everything that was printed. */
class CapturePrint {
    calotype_print_t old;
    static inline std::string caught;

public:
    CapturePrint() {
        caught.clear();
        old = calotype_set_custom_print([](void *, const char *m) { caught += m; });
    }
    ~CapturePrint() {
        calotype_set_custom_print(old);
    }
    std::string take() {
        return std::move(caught);
    }
};

}  // namespace calotype_test
