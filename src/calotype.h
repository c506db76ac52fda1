// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <calotype/calotype.h>: the language, generators and compiling in process: all that programs that define pipelines
// need. Programs that only call generated code include <calotype/buffer.h> or <calotype/runtime.h>.
#pragma once

#include "generator/generator.h"
#include "ir/operators.h"
#include "lang/buffer.h"
#include "lang/func.h"
#include "lang/image_param.h"
#include "lang/param.h"
#include "lang/pipeline.h"
#include "lang/rdom.h"
#include "lang/tuple.h"
#include "lang/var.h"
