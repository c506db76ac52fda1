// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler throws, as exceptions of Python.
#include "array.h"
#include "bindings.h"

namespace calotype::python {

namespace {

// Owned by calotype._errors, which is never unloaded.
PyObject *error_class = nullptr;
PyObject *compile_error_class = nullptr;
PyObject *runtime_error_class = nullptr;
PyObject *internal_error_class = nullptr;
PyObject *argument_error_class = nullptr;
PyObject *warning_class = nullptr;

// Warnings of the compiler are those of Python: shown once a place, and to be filtered.
class WarnPython : public CompileTimeErrorReporter {
public:
    void warning(const char *message) override {
        if (!Py_IsInitialized()) {
            return;
        }
        HeldGil gil;
        // An exception that a filter makes of it cannot pass through the compiler.
        if (PyErr_WarnEx(warning_class, message, 1) < 0) {
            PyErr_WriteUnraisable(nullptr);
        }
    }
    void error(const char *) override {
    }
};

void translate(const std::exception_ptr &p, void *) {
    try {
        std::rethrow_exception(p);
    } catch (const CompileError &e) {
        PyErr_SetString(compile_error_class, e.what());
    } catch (const RuntimeError &e) {
        PyErr_SetString(runtime_error_class, e.what());
    } catch (const InternalError &e) {
        PyErr_SetString(internal_error_class, e.what());
    } catch (const Error &e) {
        PyErr_SetString(error_class, e.what());
    } catch (const ArrayError &e) {
        PyErr_SetString(argument_error_class, e.what());
    } catch (const std::bad_cast &) {
        PyErr_SetString(PyExc_TypeError, "an object is not of the class that is needed here");
    }
}

}  // namespace

void set_error(const std::exception_ptr &p) {
    try {
        translate(p, nullptr);
    } catch (const nb::python_error &e) {
        const_cast<nb::python_error &>(e).restore();
    } catch (const std::exception &e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
}

void bind_errors(nb::module_ &m) {
    nb::module_ errors = nb::module_::import_("calotype._errors");
    const std::pair<const char *, PyObject **> classes[] = {
        {"Error", &error_class},
        {"CompileError", &compile_error_class},
        {"RuntimeError", &runtime_error_class},
        {"InternalError", &internal_error_class},
        {"ArgumentError", &argument_error_class},
        {"CompileWarning", &warning_class}};
    for (const auto &[name, place] : classes) {
        nb::object cls = errors.attr(name);
        *place = cls.ptr();
        m.attr(name) = cls;
    }
    static WarnPython reporter;
    static const bool is_registered = [] {
        nb::register_exception_translator(translate);
        set_custom_compile_time_error_reporter(&reporter);
        return true;
    }();
    static_cast<void>(is_registered);
}

}  // namespace calotype::python
