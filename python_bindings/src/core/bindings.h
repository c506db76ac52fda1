// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the module. Each source defines one, in the order in which they need each other.
#pragma once

#include "args.h"

namespace calotype::python {

void bind_errors(nb::module_ &m);
void bind_enums(nb::module_ &m);
void bind_type(nb::module_ &m);
void bind_target(nb::module_ &m);
void bind_expr(nb::module_ &m);
void bind_var(nb::module_ &m);
void bind_buffer(nb::module_ &m);
void bind_buffer_device(nb::module_ &m);
void bind_parameter(nb::module_ &m);
void bind_param(nb::module_ &m);
void bind_image_param(nb::module_ &m);
void bind_rdom(nb::module_ &m);
void bind_argument(nb::module_ &m);
void bind_func_ref(nb::module_ &m);
void bind_loop_level(nb::module_ &m);
void bind_stage(nb::module_ &m);
void bind_func(nb::module_ &m);
void bind_pipeline(nb::module_ &m);
void bind_serialize(nb::module_ &m);
void bind_callable(nb::module_ &m);
void bind_module(nb::module_ &m);
void bind_operators(nb::module_ &m);
void bind_functions(nb::module_ &m);
void bind_effects(nb::module_ &m);
void bind_inline_reductions(nb::module_ &m);
void bind_image(nb::module_ &m);
void bind_evaluate(nb::module_ &m);
void bind_extern(nb::module_ &m);
void bind_linkable(nb::module_ &m);
void bind_generator(nb::module_ &m);
void bind_registered_generator(nb::module_ &m);
void bind_derivative(nb::module_ &m);
void bind_autoschedulers(nb::module_ &m);
void bind_cache(nb::module_ &m);
void bind_boundary_conditions(nb::module_ &m);

/// Makes an exception of C++ the one that is set in Python, for functions that Python calls
/// directly.
void set_error(const std::exception_ptr &p);

/// Gives a class the arithmetic, comparisons and logic of Expr.
void add_operators(nb::handle cls);

}  // namespace calotype::python
