// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contexts that are current on a thread of a fake driver, innermost last.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace calotype_test {

/// Needs no destructor: programs call the driver when they exit.
template<typename Context>
class ContextStack {
    static constexpr size_t most = 64;
    Context *contexts[most];
    size_t depth;

public:
    bool empty() const {
        return depth == 0;
    }
    size_t size() const {
        return depth;
    }
    Context *back() const {
        return contexts[depth - 1];
    }
    void push_back(Context *context) {
        if (depth == most) {
            abort();
        }
        contexts[depth++] = context;
    }
    void pop_back() {
        depth--;
    }
    void clear() {
        depth = 0;
    }
};

}  // namespace calotype_test
