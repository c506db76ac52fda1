// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Tools::benchmark is calotype::Tools::benchmark.
#pragma once

#include "../tools/benchmark.h"
#include "halide_namespace.h"
