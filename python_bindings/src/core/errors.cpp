// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler throws, as exceptions of Python.
#include <memory>

#include "array.h"
#include "bindings.h"

namespace calotype::python {

namespace {

// Owned by calotype._errors, which is never unloaded.
PyObject *error_class = nullptr;
PyObject *compile_error_class = nullptr;
PyObject *call_error_class = nullptr;
PyObject *runtime_error_class = nullptr;
PyObject *internal_error_class = nullptr;
PyObject *argument_error_class = nullptr;
PyObject *warning_class = nullptr;

// A warning of which a filter has made an exception: ends what is compiled, and is raised by who
// asked for it.
class RaisedWarning : public CompileError {
public:
    explicit RaisedWarning(const char *message)
        : CompileError(message), raised_(new nb::object(take()), &end) {
    }
    void raise() const {
        PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(raised_->ptr())), raised_->ptr());
    }

private:
    static nb::object take() {
        const nb::python_error e;
        return nb::borrow(e.value());
    }
    static void end(nb::object *raised) {
        if (Py_IsInitialized()) {
            HeldGil gil;
            delete raised;
        }
    }
    std::shared_ptr<nb::object> raised_;  ///< threads that wait for one compilation share it
};

// Warnings of the compiler are those of Python: shown once a place, and to be filtered.
class WarnPython : public CompileTimeErrorReporter {
public:
    void warning(const char *message) override {
        if (!Py_IsInitialized()) {
            return;
        }
        HeldGil gil;
        if (run_python([&] { return PyErr_WarnEx(warning_class, message, 1); }) < 0) {
            throw RaisedWarning(message);
        }
    }
    void error(const char *) override {
    }
};

void translate(const std::exception_ptr &p, void *) {
    if (!p) {
        sleep_to_the_end();  // see caught(), of a handler of nanobind
    }
    try {
        std::rethrow_exception(p);
    } catch (const RaisedWarning &e) {
        e.raise();
    } catch (const CallError &e) {
        set_error(call_error_class, e.what());
    } catch (const CompileError &e) {
        set_error(compile_error_class, e.what());
    } catch (const RuntimeError &e) {
        set_error(runtime_error_class, e.what());
    } catch (const InternalError &e) {
        set_error(internal_error_class, e.what());
    } catch (const Error &e) {
        set_error(error_class, e.what());
    } catch (const ArrayError &e) {
        set_error(argument_error_class, e.what());
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
        set_error(PyExc_RuntimeError, e.what());
    }
}

void bind_errors(PythonModule &m) {
    nb::module_ errors = nb::module_::import_("calotype._errors");
    const std::pair<const char *, PyObject **> classes[] = {
        {"Error", &error_class},
        {"CompileError", &compile_error_class},
        {"CallError", &call_error_class},
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
