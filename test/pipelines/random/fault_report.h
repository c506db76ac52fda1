// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was run when a process dies of a bad address.
#pragma once

#include <signal.h>

#include <string>

namespace calotype::test {

/// While it is alive, a read where nothing may be read says what was run.
class FaultReport {
public:
    explicit FaultReport(std::string text);
    ~FaultReport();
    FaultReport(const FaultReport &) = delete;
    FaultReport &operator=(const FaultReport &) = delete;

private:
    struct sigaction before_segv_ = {}, before_fpe_ = {};
};

}  // namespace calotype::test
