// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <calotype/buffer.h>: calotype::Runtime::Buffer, the array class that applications hand to
// pipelines.
#pragma once

#include "cpp/buffer.h"
#include "runtime.h"
