/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * <calotype/runtime.h>: the whole C interface of the runtime, for C99 and C++17. Headers of
 * generated pipelines include it.
 */
#pragma once

#include "abi/attributes.h"
#include "abi/buffer.h"
#include "abi/debug.h"
#include "abi/device_context.h"
#include "abi/device_interface.h"
#include "abi/device_memory.h"
#include "abi/errors.h"
#include "abi/hooks.h"
#include "abi/kernel_cache.h"
#include "abi/kernels.h"
#include "abi/linkables.h"
#include "abi/matrix_tiles.h"
#include "abi/memoization.h"
#include "abi/memory.h"
#include "abi/metadata.h"
#include "abi/nrt.h"
#include "abi/profiler.h"
#include "abi/recording.h"
#include "abi/symbols.h"
#include "abi/target_features.h"
#include "abi/threads.h"
#include "abi/tracing.h"
#include "abi/type.h"
#include "abi/type_of.h"
