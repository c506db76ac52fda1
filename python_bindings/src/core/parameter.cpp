// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameter: what a Param or ImageParam stands for, as data of a pipeline.
#include "bindings.h"
#include "scalar.h"

namespace calotype::python {

using namespace internal;

namespace {

using ParameterClass = PythonClass<Parameter>;

std::string describe_parameter(const Parameter &p) {
    return p.defined() ? "<calotype.Parameter '" + p.name() + "' type " + to_string(p.type()) + ">"
                       : "<calotype.Parameter (undefined)>";
}

Parameter &checked(Parameter &p) {
    user_assert(p.defined()) << "an undefined Parameter is used";
    return p;
}

void check_dimension(Parameter &p, int d) {
    checked(p);
    user_assert(d >= 0 && d < p.dimensions())
        << p.name() << " has " << p.dimensions() << " dimensions, there is no " << d;
}

void bind_constraints(ParameterClass &c) {
    struct Row {
        const char *get_name, *set_name;
        Expr (Parameter::*get)(int) const;
        void (Parameter::*set)(int, const Expr &);
    };
    using P = Parameter;
    const Row rows[] = {
        {"min_constraint", "set_min_constraint", &P::min_constraint, &P::set_min_constraint},
        {"extent_constraint", "set_extent_constraint", &P::extent_constraint,
         &P::set_extent_constraint},
        {"stride_constraint", "set_stride_constraint", &P::stride_constraint,
         &P::set_stride_constraint},
        {"min_constraint_estimate", "set_min_constraint_estimate", &P::min_constraint_estimate,
         &P::set_min_constraint_estimate},
        {"extent_constraint_estimate", "set_extent_constraint_estimate",
         &P::extent_constraint_estimate, &P::set_extent_constraint_estimate}};
    for (const Row &row : rows) {
        c.def(
            row.get_name,
            [row](Parameter &p, int d) {
                check_dimension(p, d);
                return (p.*row.get)(d);
            },
            "dim"_a);
        c.def(
            row.set_name,
            [row](Parameter &p, int d, ExprArg e) {
                check_dimension(p, d);
                (p.*row.set)(d, e.get());
            },
            "dim"_a, "expr"_a);
    }
}

void bind_limits(ParameterClass &c) {
    struct Row {
        const char *get_name, *set_name;
        Expr (Parameter::*get)() const;
        void (*set)(Parameter &, const Expr &);
    };
    const Row rows[] = {{"min_value", "set_min_value", &Parameter::min_value,
                         [](Parameter &p, const Expr &e) {
                             p.set_min_value(e);
                         }},
                        {"max_value", "set_max_value", &Parameter::max_value,
                         [](Parameter &p, const Expr &e) {
                             p.set_max_value(e);
                         }},
                        {"estimate", "set_estimate", &Parameter::estimate,
                         [](Parameter &p, const Expr &e) {
                             p.set_estimate(e);
                         }},
                        {"default_value", "set_default_value", &Parameter::default_value,
                         [](Parameter &p, const Expr &e) {
                             p.set_default_value(e);
                         }}};
    for (const Row &row : rows) {
        c.def(row.get_name, [row](Parameter &p) { return (checked(p).*row.get)(); });
        c.def(
            row.set_name,
            [row](Parameter &p, nb::object value) {
                const Type type = checked(p).type();
                row.set(p, scalar_expr(value, type));
            },
            "expr"_a);
    }
}

Buffer<> buffer_of(Parameter &p) {
    const BufferStoragePtr buffer = checked(p).buffer();
    return buffer.defined() ? Buffer<>(Image(new ImageContents(p.name(), buffer))) : Buffer<>();
}

void set_buffer(Parameter &p, BufferArg given) {
    const Buffer<> b = given.get();
    user_assert(checked(p).is_buffer() &&
                (!b.defined() || (b.type() == p.type() && b.dimensions() == p.dimensions())))
        << "parameter " << p.name() << " cannot stand for this buffer";
    p.set_buffer(b.defined() ? b.image()->buffer : BufferStoragePtr());
}

void bind_values(ParameterClass &c) {
    c.def("buffer", &buffer_of, "That of runs in this process.")
        .def("set_buffer", &set_buffer, "buffer"_a)
        .def("scalar_expr", [](Parameter &p) { return checked(p).scalar_expr(); })
        .def("scalar",
             [](Parameter &p) {
                 const uint64_t bits = calotype::internal::get_scalar_bits(checked(p));
                 return scalar_object(bits, p.type());
             })
        .def(
            "set_scalar",
            [](Parameter &p, nb::object value) {
                const Type type = checked(p).type();
                p.set_value_bits(scalar_bits(value, type, p.name()));
            },
            "value"_a)
        .def(
            "set_scalar",
            [](Parameter &p, TypeArg type, nb::object value) {
                user_assert(type.get() == checked(p).type())
                    << "parameter " << p.name() << " has type " << p.type() << ", not "
                    << type.get();
                p.set_value_bits(scalar_bits(value, p.type(), p.name()));
            },
            "value_type"_a, "value"_a);
}

}  // namespace

bool is_parameter_like(nb::handle h) {
    return nb::isinstance<Parameter>(h) || nb::isinstance<OutputImageParam>(h) ||
           nb::isinstance<Param<>>(h);
}

Parameter to_parameter(nb::handle h) {
    return nb::isinstance<Param<>>(h)            ? nb::cast<const Param<> &>(h).parameter()
           : nb::isinstance<OutputImageParam>(h) ? nb::cast<const OutputImageParam &>(h).parameter()
                                                 : nb::cast<Parameter>(h);
}

void bind_parameter(PythonModule &m) {
    ParameterClass c(m, "Parameter", "What a Param or ImageParam stands for in a pipeline.");
    c.def(nb::init<>())
        .def(
            "__init__", [](Parameter *p, ParameterArg other) { new (p) Parameter(other.get()); },
            "p"_a)
        .def(
            "__init__",
            [](Parameter *p, TypeArg type, bool is_buffer, int dimensions) {
                new (p) Parameter(type.get(), is_buffer, dimensions);
            },
            "type"_a, "is_buffer"_a, "dimensions"_a)
        .def(
            "__init__",
            [](Parameter *p, TypeArg type, bool is_buffer, int dimensions,
               const std::string &name) {
                new (p) Parameter(type.get(), is_buffer, dimensions, name);
            },
            "type"_a, "is_buffer"_a, "dimensions"_a, "name"_a)
        .def("defined", &Parameter::defined)
        .def("same_as", &Parameter::same_as, "other"_a)
        .def("name", [](Parameter &p) { return checked(p).name(); })
        .def("type", [](Parameter &p) { return checked(p).type(); })
        .def("dimensions", [](Parameter &p) { return checked(p).dimensions(); })
        .def("is_buffer", [](Parameter &p) { return checked(p).is_buffer(); })
        .def("host_alignment", [](Parameter &p) { return checked(p).host_alignment(); })
        .def(
            "set_host_alignment", [](Parameter &p, int n) { checked(p).set_host_alignment(n); },
            "bytes"_a)
        .def("memory_type", [](Parameter &p) { return checked(p).memory_type(); })
        .def(
            "store_in", [](Parameter &p, MemoryType t) { checked(p).store_in(t); }, "memory_type"_a)
        .def("get_argument_estimates",
             [](Parameter &p) { return checked(p).get_argument_estimates(); })
        .def("_to_argument",
             [](Parameter &p) {
                 return Argument(checked(p).name(),
                                 p.is_buffer() ? Argument::InputBuffer : Argument::InputScalar,
                                 p.type(), p.dimensions(), p.get_argument_estimates());
             })
        .def("__repr__", &describe_parameter);
    bind_constraints(c);
    bind_limits(c);
    bind_values(c);
}

}  // namespace calotype::python
