// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language under the names that Halide gives it: programs and generators that were written
// against Halide's C++ interface compile unchanged. It may be mixed with <calotype/calotype.h>.
#pragma once

// Programs rely on what Halide.h brings of the standard library.
#include <array>
#include <atomic>
#include <bitset>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
// The C names as well, outside of std.
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calotype.h"

#include "HalideBuffer.h"
#include "HalideRuntime.h"

#include "halide_abstract_generator.h"
#include "halide_analysis.h"
#include "halide_associativity.h"
#include "halide_errors.h"
#include "halide_generator.h"
#include "halide_ir.h"
#include "halide_rewrites.h"
#include "halide_util.h"

// Errors are exceptions, always.
#ifndef HALIDE_WITH_EXCEPTIONS
#define HALIDE_WITH_EXCEPTIONS 1
#endif

#define HALIDE_REGISTER_GENERATOR CALOTYPE_REGISTER_GENERATOR
#define HALIDE_REGISTER_GENERATOR_ALIAS CALOTYPE_REGISTER_GENERATOR_ALIAS

#define HALIDE_DECLARE_EXTERN_SIMPLE_TYPE CALOTYPE_DECLARE_EXTERN_SIMPLE_TYPE
#define HALIDE_DECLARE_EXTERN_CLASS_TYPE CALOTYPE_DECLARE_EXTERN_CLASS_TYPE
#define HALIDE_DECLARE_EXTERN_STRUCT_TYPE CALOTYPE_DECLARE_EXTERN_STRUCT_TYPE
#define HALIDE_DECLARE_EXTERN_UNION_TYPE CALOTYPE_DECLARE_EXTERN_UNION_TYPE

#define HalideExtern_1 CalotypeExtern_1
#define HalideExtern_2 CalotypeExtern_2
#define HalideExtern_3 CalotypeExtern_3
#define HalideExtern_4 CalotypeExtern_4
#define HalideExtern_5 CalotypeExtern_5
#define HalidePureExtern_1 CalotypePureExtern_1
#define HalidePureExtern_2 CalotypePureExtern_2
#define HalidePureExtern_3 CalotypePureExtern_3
#define HalidePureExtern_4 CalotypePureExtern_4
#define HalidePureExtern_5 CalotypePureExtern_5

// Names that Halide.h keeps from programs unless they ask for them.
#ifndef HALIDE_KEEP_MACROS
#undef user_assert
#undef user_error
#undef user_warning
#undef internal_error
#undef internal_assert
#undef runtime_error_if
#undef debug
#endif
