// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machine's CUDA driver with calls that fail or take long as planned.
#pragma once

#include "harness/fake_calls.h"

namespace calotype_test {

/// What is planned; of the driver's functions for cuModuleLoadDataEx and cuLinkComplete.
FakeCalls &driver_faults();

/// From now on the runtime calls the driver by way of these. Returns 0, or the runtime's error code
/// if there is no driver.
int put_faults_before_driver();

}  // namespace calotype_test
