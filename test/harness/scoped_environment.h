// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace calotype::test {

/// Sets an environment variable for the length of a test.
class ScopedEnvironment {
public:
    ScopedEnvironment(const char *name, const char *value) : name_(name) {
        setenv(name, value, 1);
    }
    ~ScopedEnvironment() {
        unsetenv(name_);
    }

private:
    const char *name_;
};

}  // namespace calotype::test
