// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of the language: what a file that defines and schedules pipelines includes.
#pragma once

#include "ir/concise_casts.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lang/boundary_conditions.h"
#include "lang/derivative/derivative.h"
#include "lang/evaluate.h"
#include "lang/extern.h"
#include "lang/extern_device.h"
#include "lang/func.h"
#include "lang/inline_reductions.h"
#include "lang/param.h"
#include "lang/pipeline.h"
#include "lang/text/serialize.h"
#include "pipeline/target_queries.h"
