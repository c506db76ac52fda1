// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Tools::load_image and its companions are those of calotype::Tools.
#pragma once

#if defined(HALIDE_NO_PNG) && !defined(CALOTYPE_NO_PNG)
#define CALOTYPE_NO_PNG
#endif
#if defined(HALIDE_NO_JPEG) && !defined(CALOTYPE_NO_JPEG)
#define CALOTYPE_NO_JPEG
#endif

#include "../tools/image_io.h"
#include "HalideBuffer.h"
