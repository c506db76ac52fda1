// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets an app's generator, written for Calotype, be compiled with Halide: the same algorithm and
// schedule on both sides.
#pragma once

#include <Halide.h>

namespace calotype = Halide;

#define CALOTYPE_REGISTER_GENERATOR HALIDE_REGISTER_GENERATOR
