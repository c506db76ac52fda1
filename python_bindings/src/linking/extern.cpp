// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C functions that pipelines call: in expressions and as extern stages.
#include <memory>
#include <mutex>
#include <vector>

#include <calotype/support/user_text.h>

#include "bindings.h"
#include "run.h"

namespace calotype::python {

namespace {

ExternFuncArgument to_extern_argument(nb::handle h) {
    if (nb::isinstance<ExternFuncArgument>(h)) {
        return nb::cast<ExternFuncArgument>(h);
    }
    if (nb::isinstance<Func>(h)) {
        return nb::cast<const Func &>(h);
    }
    if (nb::isinstance<OutputImageParam>(h)) {
        return nb::cast<const OutputImageParam &>(h);
    }
    if (is_expr_like(h)) {
        return to_expr(h);
    }
    call_assert(is_buffer_like(h))
        << describe(h) << " cannot be passed to an extern stage: a Func, buffer or number can";
    return to_buffer(h);
}

std::vector<Type> to_types(nb::handle h) {
    if (is_type_like(h)) {
        return {to_type(h)};
    }
    call_assert(is_iterable(h)) << describe(h) << " is no type and no list of types";
    std::vector<Type> types;
    for (nb::handle t : nb::iter(h)) {
        types.push_back(to_type(t));
    }
    return types;
}

void define_extern(Func &f, const std::string &function, nb::sequence params, nb::object types,
                   nb::object arguments, NameMangling mangling, DeviceAPI api) {
    std::vector<ExternFuncArgument> list;
    for (nb::handle h : nb::iter(params)) {
        list.push_back(to_extern_argument(h));
    }
    if (PyLong_Check(arguments.ptr())) {
        f.define_extern(function, list, to_types(types), nb::cast<int>(arguments), mangling, api);
    } else {
        f.define_extern(function, list, to_types(types), nb::cast<std::vector<Var>>(arguments),
                        mangling, api);
    }
}

Expr extern_call(const std::string &function, TypeArg result, const std::vector<ExprArg> &args,
                 bool pure) {
    using internal::Call;
    user_assert(!function.empty()) << "the name of an extern function is empty";
    internal::check_characters("extern function", function);
    return Call::make(result, function, convert_all<Expr>(args),
                      pure ? Call::PureExtern : Call::Extern);
}

// The address of an int, or of what ctypes has of a function, by itself or in an ExternFunction.
void *address_of(const std::string &name, nb::handle h) {
    const nb::module_ ctypes = nb::module_::import_("ctypes");
    const nb::object pointers = nb::make_tuple(ctypes.attr("_CFuncPtr"), ctypes.attr("c_void_p"));
    nb::object function = has(h, "_as_parameter_") ? h.attr("_as_parameter_") : nb::borrow(h);
    if (PyObject_IsInstance(function.ptr(), pointers.ptr()) == 1) {
        function = ctypes.attr("cast")(function, ctypes.attr("c_void_p")).attr("value");
    }
    void *address = PyLong_Check(function.ptr()) ? PyLong_AsVoidPtr(function.ptr()) : nullptr;
    PyErr_Clear();
    constexpr uintptr_t first_page = 4096;  // where no function is
    call_assert(uintptr_t(address) >= first_page)
        << "extern function " << name << " is " << describe(h)
        << ", must be an ExternFunction, a function of ctypes, an address, a Func or a Pipeline";
    return address;
}

// What an ExternFunction says of its types; of other functions nothing is known.
ExternSignature signature_of(nb::handle h) {
    if (!has(h, "_signature")) {
        return ExternSignature();
    }
    const auto [result, arguments] =
        nb::cast<std::pair<Type, std::vector<Type>>>(h.attr("_signature"));
    return ExternSignature(result, false, arguments);
}

// Objects that no code calls any more. Code ends on any thread, under locks of the compiler, where
// nothing of Python may run.
struct Uncalled {
    std::mutex mutex;
    std::vector<PyObject *> objects;
};

Uncalled &uncalled() {
    static auto *only = new Uncalled;
    return *only;
}

void free_uncalled() {
    std::vector<PyObject *> objects;
    {
        const std::lock_guard<std::mutex> lock(uncalled().mutex);
        objects.swap(uncalled().objects);
    }
    for (PyObject *object : objects) {
        Py_DECREF(object);
    }
}

std::shared_ptr<const void> kept_for_code(nb::handle h) {
    h.inc_ref();
    return {h.ptr(), [](const void *object) {
                const std::lock_guard<std::mutex> lock(uncalled().mutex);
                uncalled().objects.push_back(static_cast<PyObject *>(const_cast<void *>(object)));
            }};
}

// What is called must stay: the pipeline and the code that calls them keep the functions.
void set_externs(Pipeline &pipeline, nb::dict externs) {
    free_uncalled();
    std::map<std::string, JITExtern> map;
    for (auto [name, value] : externs) {
        call_assert(PyUnicode_Check(name.ptr()))
            << describe(name) << " is no name of an extern function, must be a str";
        const std::string key = nb::cast<std::string>(name);
        if (nb::isinstance<Func>(value)) {
            map.emplace(key, JITExtern(nb::cast<const Func &>(value)));
        } else if (nb::isinstance<Pipeline>(value)) {
            map.emplace(key, JITExtern(nb::cast<const Pipeline &>(value)));
        } else {
            map.emplace(key, JITExtern(ExternCFunction(address_of(key, value), signature_of(value),
                                                       kept_for_code(value))));
        }
    }
    pipeline.set_jit_externs(map);
    wait_for_runs_at_exit();
}

}  // namespace

void bind_extern(PythonModule &m) {
    PythonClass<ExternFuncArgument>(m, "ExternFuncArgument", "What an extern stage is passed.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](ExternFuncArgument *a, nb::object value) {
                new (a) ExternFuncArgument(to_extern_argument(value));
            },
            "value"_a)
        .def("is_func", &ExternFuncArgument::is_func)
        .def("is_expr", &ExternFuncArgument::is_expr)
        .def("is_buffer", &ExternFuncArgument::is_buffer)
        .def("is_image_param", &ExternFuncArgument::is_image_param)
        .def("defined", &ExternFuncArgument::defined);
    auto func = PythonClass<Func>::in(m, "Func");
    for (const char *types : {"types", "type"}) {
        for (const char *dimensions : {"arguments", "dimensionality"}) {
            func.def("define_extern", &define_extern, "function_name"_a, "params"_a, nb::arg(types),
                     nb::arg(dimensions), "mangling"_a = NameMangling::Default,
                     "device_api"_a = DeviceAPI::Host);
        }
    }
    auto pipeline = PythonClass<Pipeline>::in(m, "Pipeline");
    pipeline.def(
        "set_jit_externs", &set_externs, "externs"_a,
        "What names of extern functions stand for in this process: ExternFunctions, functions "
        "of ctypes, addresses, or Funcs.");
    m.def(
        "_keep_raised",
        [](nb::handle exception) {
            PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())),
                            exception.ptr());
            PythonContext::keep_raised(nb::python_error());
        },
        "exception"_a);
    m.def("extern_call", &extern_call, "function"_a, "type"_a, "args"_a, "pure"_a = false,
          "A call of a C function. One that is pure depends on its arguments alone.");
}

}  // namespace calotype::python
