// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <calotype/calotype.h>: the language, generators and compiling in process: all that programs that
// define pipelines need. Programs that only call generated code include <calotype/buffer.h> or
// <calotype/runtime.h>.
#pragma once

#include "driver/callable.h"
#include "driver/compiler_stack.h"
#include "driver/jit_handlers.h"
#include "driver/module.h"
#include "driver/plugin.h"
#include "driver/progress.h"
#include "generator/create_callable.h"
#include "generator/generator.h"
#include "lang/language.h"
