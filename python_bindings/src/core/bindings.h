// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the module. Each source defines one, in the order in which they need each other.
#pragma once

#include "args.h"

namespace calotype::python {

void bind_errors(PythonModule &m);
void bind_enums(PythonModule &m);
void bind_type(PythonModule &m);
void bind_target(PythonModule &m);
void bind_expr(PythonModule &m);
void bind_var(PythonModule &m);
void bind_buffer(PythonModule &m);
void bind_buffer_device(PythonModule &m);
void bind_parameter(PythonModule &m);
void bind_param(PythonModule &m);
void bind_image_param(PythonModule &m);
void bind_rdom(PythonModule &m);
void bind_argument(PythonModule &m);
void bind_func_ref(PythonModule &m);
void bind_loop_level(PythonModule &m);
void bind_stage(PythonModule &m);
void bind_func(PythonModule &m);
void bind_pipeline(PythonModule &m);
void bind_serialize(PythonModule &m);
void bind_callable(PythonModule &m);
void bind_module(PythonModule &m);
void bind_operators(PythonModule &m);
void bind_functions(PythonModule &m);
void bind_effects(PythonModule &m);
void bind_inline_reductions(PythonModule &m);
void bind_image(PythonModule &m);
void bind_evaluate(PythonModule &m);
void bind_extern(PythonModule &m);
void bind_linkable(PythonModule &m);
void bind_generator(PythonModule &m);
void bind_registered_generator(PythonModule &m);
void bind_derivative(PythonModule &m);
void bind_autoschedulers(PythonModule &m);
void bind_cache(PythonModule &m);
void bind_boundary_conditions(PythonModule &m);

/// Makes an exception of C++ the one that is set in Python, for functions that Python calls
/// directly.
void set_error(const std::exception_ptr &p);

/// Gives a class the arithmetic, comparisons and logic of Expr.
void add_operators(nb::handle cls);

}  // namespace calotype::python
