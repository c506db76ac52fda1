// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FuncRef: a Func at coordinates.
#include "func_ref.h"

#include "bindings.h"

namespace calotype::python {

namespace {

const char *symbol_of(UpdateOp op) {
    const char *symbols[] = {"+=", "-=", "*=", "/="};
    return symbols[int(op)];
}

bool is_defined(const FuncRef &ref) {
    return ref.function().has_pure_definition() || ref.function().has_extern_definition();
}

std::string text_of(const FuncRef &ref) {
    return is_defined(ref) && ref.size() == 1 ? internal::to_string(Expr(ref))
                                              : ref.function().name() + "[...]";
}

// Values for a Func: beside its own ones, numbers of Python take their types.
std::vector<Expr> values_for(const FuncRef &ref, nb::handle value) {
    if (!is_defined(ref) || nb::isinstance<FuncRef>(value)) {
        return to_values(value);
    }
    if (is_expr_like(value) && ref.size() == 1) {
        return {operands(nb::cast(Expr(ref)), value).second};
    }
    const bool is_list = PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
    if (!is_list || nb::len(value) != ref.size()) {
        return to_values(value);
    }
    std::vector<Expr> values;
    for (size_t i = 0; i < ref.size(); i++) {
        const Expr own = ref[int(i)];
        values.push_back(operands(nb::cast(own), value[i]).second);
    }
    return values;
}

PendingUpdate begin_update(const FuncRef &ref, UpdateOp op, nb::handle value) {
    return {ref, op, values_for(ref, value), !is_defined(ref)};
}

// f[x] + 1: of an undefined Func it can only be meant as the update that f[x] = f[x] + 1 makes.
nb::object add_to(nb::handle self, UpdateOp op, nb::handle value, const char *operation) {
    const FuncRef &ref = nb::cast<const FuncRef &>(self);
    if (!is_expr_like(value)) {
        return nb::borrow(Py_NotImplemented);
    }
    if (!is_defined(ref)) {
        return nb::cast(begin_update(ref, op, value));
    }
    return nb::cast(Expr(ref)).attr(operation)(value);
}

template<UpdateOp op>
void bind_update(PythonClass<FuncRef> &c, const char *in_place, const char *operation) {
    c.def(
        in_place, [](const FuncRef &ref, nb::object value) { return begin_update(ref, op, value); },
        "value"_a,
        nb::sig((std::string("def ") + in_place +
                 "(self, value: calotype._types.ValueLike) -> typing.Any")
                    .c_str()));
    nb::object f = nb::cpp_function(
        [operation](nb::handle self, nb::object value) {
            return add_to(self, op, value, operation);
        },
        nb::is_method(), nb::name(operation), nb::scope(c),
        nb::sig(
            (std::string("def ") + operation + "(self, value: calotype._types.ExprLike) -> Expr")
                .c_str()));
    c.attr(operation) = f;
}

int checked_index(const FuncRef &ref, int i) {
    const int size = int(ref.size());
    const int index = i < 0 ? i + size : i;
    if (index < 0 || index >= size) {
        const std::string text = "func " + ref.function().name() + " has " + std::to_string(size) +
                                 " values, there is no " + std::to_string(i);
        throw nb::index_error(text.c_str());
    }
    return index;
}

nb::object elements_of(const FuncRef &ref) {
    nb::list elements;
    for (int i = 0; i < int(ref.size()); i++) {
        elements.append(nb::cast(ref[checked_index(ref, i)]));
    }
    return nb::iter(elements);
}

std::string has_no_value(const FuncRef &ref) {
    return "the update that defines func " + ref.function().name() +
           " has no value until it is assigned";
}

// (f[x] += 1) += 1: of what is an Expr by now.
void bind_second_update(PythonClass<PendingUpdate> &c, UpdateOp op, const char *in_place,
                        const char *operation) {
    c.def(
        in_place,
        [op, operation](const PendingUpdate &update, nb::object value) {
            if (!is_defined(update.ref)) {
                throw ArrayError(std::string("unsupported operand type(s) for ") + symbol_of(op) +
                                 ": 'PendingUpdate' and '" + nb::type_name(value.type()).c_str() +
                                 "': " + has_no_value(update.ref));
            }
            return nb::object(nb::cast(update.as_expr()).attr(operation)(value));
        },
        "value"_a, nb::is_operator());
}

void bind_pending_update(PythonModule &m) {
    PythonClass<PendingUpdate> c(m, "PendingUpdate",
                                 "What f[x] += e yields before it is assigned.");
    add_operators(c);
    bind_second_update(c, UpdateOp::Add, "__iadd__", "__add__");
    bind_second_update(c, UpdateOp::Sub, "__isub__", "__sub__");
    bind_second_update(c, UpdateOp::Mul, "__imul__", "__mul__");
    bind_second_update(c, UpdateOp::Div, "__itruediv__", "__truediv__");
}

void bind_element(PythonModule &m) {
    PythonClass<FuncTupleElementRef> c(m, "FuncTupleElementRef",
                                       "One value of a Func of several: f[x, y][1].");
    c.def("index", &FuncTupleElementRef::index).def("__repr__", [](const FuncTupleElementRef &r) {
        return "<calotype.FuncTupleElementRef " + internal::to_string(Expr(r)) + ">";
    });
    add_operators(c);
}

}  // namespace

Expr PendingUpdate::as_expr() const {
    if (!is_defined(ref)) {
        throw ArrayError("unsupported operand: " + has_no_value(ref));
    }
    user_assert(values.size() == 1)
        << "an update of func " << ref.function().name() << " is used as an expression";
    const Expr old = ref;
    switch (op) {
    case UpdateOp::Add:
        return old + values[0];
    case UpdateOp::Sub:
        return old - values[0];
    case UpdateOp::Mul:
        return old * values[0];
    default:
        return old / values[0];
    }
}

Stage PendingUpdate::apply(FuncRef target) const {
    const std::string &assigned = target.function().name();
    user_assert(!defines || assigned == ref.function().name())
        << "func " << ref.function().name()
        << " is called before it is defined, for a value of func " << assigned;
    user_assert(target.equivalent_to(ref))
        << "the result of " << ref.function().name() << "[...] " << symbol_of(op)
        << " is assigned to another place than it was read at";
    user_assert(!defines || !is_defined(ref))
        << "the update that defines func " << ref.function().name() << " is assigned twice";
    const Tuple t(values);
    switch (op) {
    case UpdateOp::Add:
        return target += t;
    case UpdateOp::Sub:
        return target -= t;
    case UpdateOp::Mul:
        return target *= t;
    default:
        return target /= t;
    }
}

void check_coordinates(const Func &f, const std::vector<Expr> &coordinates) {
    with_call_errors([&] { return internal::as_coordinates("func " + f.name(), coordinates); });
}

void assign(const Func &f, nb::handle coordinates, nb::handle value) {
    const std::vector<Expr> at = to_coordinates(coordinates);
    if (f.defined()) {
        check_coordinates(f, at);
    }
    FuncRef ref = f(at);
    if (nb::isinstance<PendingUpdate>(value)) {
        nb::cast<const PendingUpdate &>(value).apply(ref);
    } else if (nb::isinstance<FuncRef>(value)) {
        ref = nb::cast<const FuncRef &>(value);
    } else {
        ref = Tuple(values_for(ref, value));
    }
}

void bind_func_ref(PythonModule &m) {
    bind_pending_update(m);
    bind_element(m);
    PythonClass<FuncRef> c(m, "FuncRef", "A Func at coordinates: f[x, y].");
    add_operators(c);
    bind_update<UpdateOp::Add>(c, "__iadd__", "__add__");
    bind_update<UpdateOp::Sub>(c, "__isub__", "__sub__");
    bind_update<UpdateOp::Mul>(c, "__imul__", "__mul__");
    bind_update<UpdateOp::Div>(c, "__itruediv__", "__truediv__");
    c.def("type", [](const FuncRef &r) { return r.type(); })
        .def("types", [](const FuncRef &r) { return r.types(); })
        .def("size", &FuncRef::size)
        .def("__len__", &FuncRef::size)
        // Python would do without; type checkers ask for it.
        .def("__iter__", &elements_of,
             nb::sig("def __iter__(self) -> collections.abc.Iterator[typing.Any]"))
        // numpy would take it for a sequence.
        .def(
            "__array__",
            [](nb::handle self, nb::handle dtype, nb::handle) {
                return nb::module_::import_("calotype._ufuncs").attr("of_values")(self, dtype);
            },
            "dtype"_a = nb::none(), "copy"_a = nb::none(),
            "For numpy: an array of this value, or of these, as expressions.",
            nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) "
                    "-> typing.Any"))
        .def("equivalent_to", &FuncRef::equivalent_to, "other"_a)
        .def("__repr__", [](const FuncRef &r) { return "<calotype.FuncRef " + text_of(r) + ">"; })
        .def(
            "__getitem__", [](const FuncRef &r, int i) { return r[checked_index(r, i)]; },
            "index"_a)
        .def(
            "__setitem__",
            [](const FuncRef &r, int i, ExprArg value) {
                FuncTupleElementRef element = r[checked_index(r, i)];
                element = value.get();
            },
            "index"_a, "value"_a);
}

}  // namespace calotype::python
