// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callable: a compiled pipeline as a function.
#include <algorithm>

#include <calotype/driver/jit_shared_runtime.h>
#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "bounds_query.h"
#include "buffer.h"
#include "call.h"
#include "instance.h"
#include "prefetch_python.h"
#include "run.h"

namespace calotype::python {

namespace {

/// What is called: the code, and how its arguments are converted.
struct PythonCallable {
    Callable callable;
    std::shared_ptr<const Signature> signature;
    Callee callee;
};

ParameterInfo info_of(const Argument &a) {
    ParameterInfo p;
    p.name = a.name;
    p.is_buffer = a.is_buffer();
    p.is_output = a.is_output();
    p.type = a.type.to_abi();
    p.dimensions = a.dimensions;
    return p;
}

PythonCallable make(const Callable &c, const Target &target) {
    std::vector<ParameterInfo> infos;
    for (const Argument &a : c.arguments()) {
        infos.push_back(info_of(a));
    }
    make_keywords(infos);
    return {c, std::make_shared<Signature>(std::move(infos)), callee_of(target)};
}

RawBuffer find_buffer(const ParameterInfo &p, PyObject *object) {
    if (!is_buffer(object)) {
        return {};
    }
    const Buffer<> &b = instance<Buffer<>>(object);
    if (!b.defined()) {
        throw ArrayError(quoted(p) + " is an undefined Buffer");
    }
    if (p.is_output && is_read_only(b)) {
        throw ArrayError(quoted(p) + " is read-only, and written by the pipeline");
    }
    return {b.raw_buffer(), cuda_device_of_array(b)};
}

// Their memory stays for as long as this, also if another thread deallocates a Buffer.
using KeptMemory = std::vector<Runtime::Buffer<>>;

void keep_memory(PyObject *object, KeptMemory &kept) {
    if (is_buffer(object) && instance<Buffer<>>(object).defined()) {
        kept.push_back(instance<Buffer<>>(object).shared_storage());
    }
}

KeptMemory memory_of(PyObject *args, PyObject *keywords) {
    KeptMemory kept;
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
        keep_memory(PyTuple_GetItem(args, i), kept);
    }
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &key, &value);) {
        keep_memory(value, kept);
    }
    return kept;
}

PyObject *call(PyObject *self, PyObject *args, PyObject *keywords) {
    try {
        const PythonCallable &c = instance<PythonCallable>(self);
        PythonContext context;
        const void *argv[CallArguments::max_arguments + 1];
        CallArguments arguments(*c.signature, c.callee);
        const KeptMemory kept = memory_of(args, keywords);
        run_python([&] { arguments.convert(args, keywords, find_buffer, argv + 1); });
        context.run([&] {
            arguments.begin();
            void *address = context.on(arguments.device_context());
            argv[0] = &address;
            c.callable.call_argv_fast(c.signature->parameters().size() + 1, argv);
            const std::string problem = arguments.finish(address);
            runtime_error_if(!problem.empty()) << problem;
        });
        Py_RETURN_NONE;
    } catch (...) {
        set_error(caught());
        return nullptr;
    }
}

// As those of a runtime.Kernel.
nb::list arguments_of(const PythonCallable &c) {
    nb::list result;
    for (const ParameterInfo &p : c.signature->parameters()) {
        const char *kind = p.is_output ? "output" : p.is_buffer ? "input" : "scalar";
        result.append(nb::make_tuple(p.name, kind, type_text(p.type), p.dimensions, p.has_default));
    }
    return result;
}

nb::object bounds_of(const PythonCallable &c, nb::tuple outputs, nb::tuple scalars) {
    const Signature &signature = *c.signature;
    return nb::steal(to_python(
        query_bounds(signature, outputs.ptr(), scalars.ptr(), [&](const void **arguments) {
            PythonContext context;
            JITUserContext *address = &context;
            const void *argv[CallArguments::max_arguments + 1];
            argv[0] = &address;
            const size_t count = signature.parameters().size();
            std::copy(arguments, arguments + count, argv + 1);
            context.run([&] { c.callable.call_argv_fast(count + 1, argv); });
        })));
}

nb::object prefetch(const PythonCallable &c, std::optional<int> device) {
    using calotype::internal::JITSharedRuntime;
    const auto find = [](const char *name) {
        return JITSharedRuntime::find_symbol(Target(), name);
    };
    const PrefetchFunctions functions = {
        reinterpret_cast<decltype(&calotype_prefetch)>(find("calotype_prefetch")),
        reinterpret_cast<decltype(&calotype_prefetch_wait)>(find("calotype_prefetch_wait")),
        reinterpret_cast<decltype(&calotype_last_error)>(find("calotype_last_error")),
        reinterpret_cast<decltype(&calotype_status_text)>(find("calotype_status_text"))};
    auto p =
        std::make_unique<Prefetch>(functions, c.callable.device_modules(),
                                   std::make_shared<const Callable>(c.callable), c.callee, device);
    return to_python(std::move(p), nb::module_::import_("calotype._core").attr("_await_prefetch"));
}

PyType_Slot *callable_slots() {
    static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(call)}, {0, nullptr}};
    return slots;
}

}  // namespace

nb::object to_python_callable(const Callable &c, const Target &target) {
    return nb::cast(make(c, target));
}

void bind_callable(PythonModule &m) {
    bind_prefetch(m);
    PythonClass<PythonCallable>(m, "Callable", nb::type_slots(callable_slots()),
                                "A compiled pipeline as a function: of the arguments that it was "
                                "compiled with, then of the buffers that it fills.")
        .def("defined", [](const PythonCallable &c) { return c.callable.defined(); })
        .def("arguments", [](const PythonCallable &c) { return c.callable.arguments(); })
        .def("_arguments", &arguments_of)
        .def("_bounds", &bounds_of)
        .def_prop_ro(
            "__signature__",
            [](nb::handle self) {
                return nb::module_::import_("calotype.runtime")
                    .attr("_signature")(self.attr("_arguments")());
            },
            nb::sig("def __signature__(self) -> typing.Any"))
        .def("prefetch", &prefetch, "device"_a = nb::none(),
             "Begins to load its device code, for a CUDA device or where the runtime does it by "
             "itself, while other work goes on: the first call need not.",
             nb::sig("def prefetch(self, device: int | None = None) -> "
                     "calotype._prefetch.Prefetch"))
        .def_prop_ro("_target", [](const PythonCallable &c) { return c.callee.target; })
        // As of Python's functions: a copy would differ in nothing.
        .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
        .def(
            "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a)
        .def("__repr__", [](const PythonCallable &c) {
            return "<calotype.Callable " + c.signature->text() + ">";
        });
}

}  // namespace calotype::python
