// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// node_assert(condition) << "...": an InternalError whose text is fit to be shown for IR text that
// was parsed, without the condition's source.
#pragma once

#include "support/error.h"

#define node_assert(condition) (condition) ? (void)0 : internal_error
