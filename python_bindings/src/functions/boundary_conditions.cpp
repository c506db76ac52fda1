// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BoundaryConditions, a class of functions.
#include "bindings.h"

namespace calotype::python {

namespace {

// The bounds given, or those of the buffer that is read.
Region bounds_of(nb::handle f, nb::handle bounds) {
    if (!bounds.is_none()) {
        return to_region(bounds);
    }
    if (nb::isinstance<ImageParam>(f)) {
        return BoundaryConditions::internal::shape_of(nb::cast<const ImageParam &>(f));
    }
    user_assert(is_buffer_like(f))
        << "a boundary condition on " << describe(f) << " needs bounds: it has none of its own";
    return BoundaryConditions::internal::shape_of(to_buffer(f));
}

struct Conditions {};

using Condition = Func (*)(const Func &, const Region &);

void bind_condition(PythonClass<Conditions> &c, const char *name, Condition condition,
                    const char *doc) {
    c.def_static(
        name,
        [condition](nb::object f, nb::object bounds) {
            return condition(to_func(f), bounds_of(f, bounds));
        },
        "f"_a, "bounds"_a = nb::none(), doc);
}

}  // namespace

void bind_boundary_conditions(PythonModule &m) {
    PythonClass<Conditions> b(
        m, "BoundaryConditions",
        "Funcs that equal another inside of a rectangle and are made up outside.");
    b.def_static(
        "constant_exterior",
        [](nb::object f, nb::object value, nb::object bounds) {
            const Region region = bounds_of(f, bounds);
            return is_tuple_like(value) && !nb::isinstance<FuncRef>(value)
                       ? BoundaryConditions::constant_exterior(to_func(f), to_tuple(value), region)
                       : BoundaryConditions::constant_exterior(to_func(f), to_expr(value), region);
        },
        "f"_a, "exterior"_a, "bounds"_a = nb::none(), "`exterior` outside.");
    bind_condition(b, "repeat_edge", BoundaryConditions::repeat_edge, "The nearest value inside.");
    bind_condition(b, "repeat_image", BoundaryConditions::repeat_image, "Copies side by side.");
    bind_condition(b, "mirror_image", BoundaryConditions::mirror_image,
                   "Copies, every other one mirrored.");
    bind_condition(b, "mirror_interior", BoundaryConditions::mirror_interior,
                   "Copies, every other one mirrored, that share the edges.");
}

}  // namespace calotype::python
