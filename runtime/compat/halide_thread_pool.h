// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Tools::ThreadPool is calotype::Tools::ThreadPool.
#pragma once

#include "../tools/thread_pool.h"
#include "halide_namespace.h"
