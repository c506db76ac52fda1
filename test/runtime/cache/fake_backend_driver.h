// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

std::unique_ptr<ScenarioDriver> make_fake_backend_driver();

}  // namespace calotype_test
