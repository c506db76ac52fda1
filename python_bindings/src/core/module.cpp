// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension module calotype._core: the compiler.
#include "bindings.h"
#include "instance.h"
#include "progress.h"

NB_MODULE(_core_of_main, made) {
    using namespace calotype::python;
    PythonModule m(made);
    // Its classes are made once in a process; who imports it anew, after it was taken out of
    // sys.modules, gets them again, with the exceptions of now.
    static PyObject *first = nullptr;
    if (first) {
        nb::cast<nb::dict>(m.attr("__dict__")).update(nb::cast<nb::dict>(nb::handle(first)));
        bind_errors(m);
        return;
    }
    m.doc() = "The language and the compiler; calotype has all that is meant for users.";
    // What is alive when the interpreter ends is not searched for.
    nb::set_leak_warnings(false);
    bind_errors(m);
    bind_enums(m);
    bind_type(m);
    bind_target(m);
    bind_expr(m);
    bind_var(m);
    bind_buffer(m);
    bind_buffer_device(m);
    bind_parameter(m);
    bind_param(m);
    bind_image_param(m);
    bind_rdom(m);
    bind_argument(m);
    bind_func_ref(m);
    bind_loop_level(m);
    bind_stage(m);
    bind_func(m);
    bind_callable(m);
    bind_module(m);
    bind_pipeline(m);
    bind_serialize(m);
    bind_operators(m);
    bind_functions(m);
    bind_effects(m);
    bind_inline_reductions(m);
    bind_boundary_conditions(m);
    bind_evaluate(m);
    bind_image(m);
    bind_extern(m);
    bind_linkable(m);
    bind_registered_generator(m);
    bind_generator(m);
    bind_cache(m);
    bind_progress(m);
    bind_derivative(m);
    bind_autoschedulers(m);
    first = PyDict_Copy(nb::object(m.attr("__dict__")).ptr());
}

extern "C" NB_EXPORT PyObject *PyInit__core() {
    return calotype::python::is_main_interpreter() ? PyInit__core_of_main() : nullptr;
}
