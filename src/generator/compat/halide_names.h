// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: what of the compiler has the same name in Halide::Internal.
#pragma once

#include "arith/simplify.h"
#include "calotype.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/module.h"
#include "ir/queries.h"

namespace calotype {
namespace Internal {

using namespace calotype;
using internal::Bound;
using internal::Definition;
using internal::Dim;
using internal::DimType;
using internal::ForType;
using internal::FuncSchedule;
using internal::Function;
using internal::FunctionContents;
using internal::IntrusivePtr;
using internal::LoweredArgument;
using internal::ParameterContents;
using internal::PrefetchDirective;
using internal::ReductionDomain;
using internal::ReductionDomainContents;
using internal::ReductionVariable;
using internal::Specialization;
using internal::Split;
using internal::StageSchedule;
using internal::Stmt;
using internal::StorageDim;
using internal::StubInput;
using internal::SymbolPtr;

using internal::as_const_float;
using internal::as_const_int;
using internal::as_const_uint;
using internal::build_environment;
using internal::can_prove;
using internal::const_false;
using internal::const_true;
using internal::deep_copy;
using internal::equal;
using internal::find_direct_calls;
using internal::is_const;
using internal::is_const_one;
using internal::is_const_zero;
using internal::is_gpu;
using internal::is_negative_const;
using internal::is_parallel;
using internal::is_positive_const;
using internal::is_pure;
using internal::is_unordered_parallel;
using internal::make_bool;
using internal::make_const;
using internal::make_one;
using internal::make_zero;
using internal::modulus_remainder;
using internal::remove_likelies;
using internal::simplify;
using internal::substitute;
using internal::substitute_in_all_lets;

}  // namespace Internal

// Where functions are looked for by the base of Expr: programs call these as simplify(e).
namespace internal::handles {

using internal::as_const_float;
using internal::as_const_int;
using internal::as_const_uint;
using internal::can_prove;
using internal::equal;
using internal::is_const;
using internal::is_const_one;
using internal::is_const_zero;
using internal::is_negative_const;
using internal::is_positive_const;
using internal::is_pure;
using internal::modulus_remainder;
using internal::remove_likelies;
using internal::simplify;
using internal::substitute;
using internal::substitute_in_all_lets;

}  // namespace internal::handles
}  // namespace calotype
