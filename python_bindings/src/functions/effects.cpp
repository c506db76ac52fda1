// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select, mux, and expressions that do more than compute: printing, checks, hints, random numbers.
#include "bindings.h"

namespace calotype::python {

namespace {

bool is_plain_tuple(nb::handle h) {
    return PyTuple_Check(h.ptr()) || PyList_Check(h.ptr());
}

// One of these, or a Func of several values at coordinates.
bool is_several(nb::handle h) {
    return is_plain_tuple(h) ||
           (nb::isinstance<FuncRef>(h) && nb::cast<const FuncRef &>(h).size() > 1);
}

nb::object to_python(const Tuple &t) {
    return nb::tuple(nb::cast(t.as_vector()));
}

// The value of two branches: numbers of Python take the type of the other branch.
Expr select_two(nb::handle condition, nb::handle a, nb::handle b) {
    const auto [x, y] = operands(a, b);
    return select(to_expr(condition), x, y);
}

nb::object select_tuples(nb::handle condition, nb::handle a, nb::handle b) {
    return is_several(condition) ? to_python(select(to_tuple(condition), to_tuple(a), to_tuple(b)))
                                 : to_python(select(to_expr(condition), to_tuple(a), to_tuple(b)));
}

// select(c0, v0, c1, v1, ..., otherwise)
nb::object select_chain(nb::args args) {
    call_assert(args.size() >= 3 && args.size() % 2 == 1)
        << "select has " << args.size()
        << " arguments, must have pairs of a condition and a value, and a value at the end";
    nb::object result = args[args.size() - 1];
    const bool tuples = is_several(result);
    const bool tuple_conditions = is_several(args[0]);
    for (size_t i = args.size() - 1; i >= 2; i -= 2) {
        const nb::object condition = args[i - 2], value = args[i - 1];
        user_assert(is_several(value) == tuples)
            << "select: " << describe(value) << " stands beside "
            << (tuples ? "Tuples" : "values that are no Tuples");
        user_assert(is_several(condition) == tuple_conditions)
            << "select: condition " << describe(condition) << " stands beside "
            << (tuple_conditions ? "Tuples" : "conditions that are no Tuples");
        result = tuples ? select_tuples(condition, value, result)
                        : nb::cast(select_two(condition, value, result));
    }
    return tuples ? result : nb::cast(to_expr(result));
}

nb::object mux_of(ExprArg id, nb::sequence values) {
    bool any_tuple = false;
    for (nb::handle h : nb::iter(values)) {
        any_tuple = any_tuple || is_several(h);
    }
    if (!any_tuple) {
        return nb::cast(mux(id, to_exprs(values)));
    }
    std::vector<Tuple> tuples;
    for (nb::handle h : nb::iter(values)) {
        tuples.push_back(to_tuple(h));
    }
    return to_python(mux(id.get(), tuples));
}

std::vector<Expr> exprs_of(const ExprArg &first, const nb::args &more) {
    std::vector<Expr> values = to_message(more);
    values.insert(values.begin(), first);
    return values;
}

/// A function of a condition and values, of which it gives the first.
template<typename Function>
void bind_conditional(PythonModule &m, const char *name, Function function) {
    m.def(
        name,
        [function](ExprArg condition, ExprArg value, nb::args more) {
            return function(condition, exprs_of(value, more));
        },
        "condition"_a, "value"_a, "args"_a);
}

void bind_printing(PythonModule &m) {
    m.def("print", [](ExprArg value, nb::args more) { return print(exprs_of(value, more)); });
    bind_conditional(m, "print_when", [](const Expr &condition, const std::vector<Expr> &values) {
        return print_when(condition, values);
    });
    bind_conditional(m, "require", [](const Expr &condition, const std::vector<Expr> &values) {
        return require(condition, values);
    });
    m.def(
        "memoize_tag",
        [](ExprArg result, nb::args keys) {
            return calotype::internal::memoize_tag_of(result, to_message(keys));
        },
        "result"_a, "args"_a);
}

void bind_hints(PythonModule &m) {
    m.def(
        "likely", [](ExprArg e) { return likely(e); }, "expr"_a);
    m.def(
        "likely_if_innermost", [](ExprArg e) { return likely_if_innermost(e); }, "expr"_a);
    m.def(
        "strict_float", [](ExprArg e) { return strict_float(e); }, "expr"_a);
    m.def(
        "undef", [](TypeArg t) { return undef(t.get()); }, "type"_a);
    m.def(
        "unsafe_promise_clamped",
        [](ExprArg v, ExprArg min, ExprArg max) { return unsafe_promise_clamped(v, min, max); },
        "value"_a, "min"_a, "max"_a);
    m.def("scatter", [](nb::args e) { return scatter(to_exprs(e)); });
    m.def("gather", [](nb::args e) { return gather(to_exprs(e)); });
    m.def("random_float", []() { return random_float(); });
    m.def(
        "random_float", [](ExprArg seed) { return random_float(seed); }, "seed"_a);
    m.def("random_uint", []() { return random_uint(); });
    m.def(
        "random_uint", [](ExprArg seed) { return random_uint(seed); }, "seed"_a);
    m.def("random_int", []() { return random_int(); });
    m.def(
        "random_int", [](ExprArg seed) { return random_int(seed); }, "seed"_a);
}

void bind_target_queries(PythonModule &m) {
    m.def("target_arch_is", &target_arch_is, "arch"_a);
    m.def("target_os_is", &target_os_is, "os"_a);
    m.def("target_has_feature", &target_has_feature, "feature"_a);
    m.def("target_bits", &target_bits);
    m.def(
        "target_natural_vector_size", [](TypeArg t) { return target_natural_vector_size(t.get()); },
        "type"_a);
}

}  // namespace

void bind_effects(PythonModule &m) {
    m.def("select", &select_chain,
          nb::sig("def select(*args: calotype._types.ValueLike) -> typing.Any"));
    m.def("mux", &mux_of, "id"_a, "values"_a,
          nb::sig("def mux(id: calotype._types.ExprLike, values: "
                  "collections.abc.Sequence[calotype._types.ValueLike]) -> typing.Any"));
    bind_printing(m);
    bind_hints(m);
    bind_target_queries(m);
}

}  // namespace calotype::python
