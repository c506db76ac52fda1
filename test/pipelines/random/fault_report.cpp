// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fault_report.h"

#include <unistd.h>

namespace calotype::test {

namespace {

std::string &running() {
    static std::string text;
    return text;
}

void report(int signal) {
    const bool written = write(STDERR_FILENO, running().data(), running().size()) > 0;
    raise(written ? signal : SIGABRT);
}

}  // namespace

FaultReport::FaultReport(std::string text) {
    running() = std::move(text);
    struct sigaction action = {};
    action.sa_handler = report;
    action.sa_flags = int(SA_RESETHAND);
    sigaction(SIGSEGV, &action, &before_segv_);
    sigaction(SIGFPE, &action, &before_fpe_);
}

FaultReport::~FaultReport() {
    sigaction(SIGSEGV, &before_segv_, nullptr);
    sigaction(SIGFPE, &before_fpe_, nullptr);
}

}  // namespace calotype::test
