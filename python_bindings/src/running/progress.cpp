// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of compiling, told to a function of Python.
#include <optional>
#include <thread>

#include <calotype/driver/progress.h>

#include "progress.h"

namespace calotype::python {

namespace {

// Shared with compilations, which know nothing of Python.
struct Told {
    nb::object function;
    nb::object raised;  ///< by the function; that ends the compilation

    void step(const CompileStep &s) {
        HeldGil gil;
        try {
            run_python([&] { function(s.pipeline, s.stage, s.detail, s.number, s.count); });
        } catch (nb::python_error &e) {
            raised = nb::borrow(e.value());
        }
        user_assert(!raised) << "compiling " << s.pipeline
                             << " is ended by the function that is told of its progress";
    }
    static void end(Told *self) {
        if (Py_IsInitialized()) {
            HeldGil gil;
            delete self;
        }
    }
};

class Progress {
public:
    explicit Progress(nb::object function) : told_(new Told{std::move(function), {}}, &Told::end) {
    }
    void enter() {
        user_assert(!scope_) << "this progress is being told already";
        thread_ = std::this_thread::get_id();
        scope_.emplace([told = told_](const CompileStep &s) { told->step(s); });
    }
    /// Gives what the function has raised, or None.
    nb::object exit() {
        user_assert(std::this_thread::get_id() == thread_)
            << "a progress ends on another thread than it began on";
        scope_.reset();
        nb::object raised = std::exchange(told_->raised, nb::object());
        return raised ? raised : nb::none();
    }

private:
    std::shared_ptr<Told> told_;
    std::optional<ProgressScope> scope_;
    std::thread::id thread_;
};

}  // namespace

void bind_progress(PythonModule &m) {
    PythonClass<Progress>(m, "_Progress")
        .def(nb::init<nb::object>(), "function"_a)
        .def("enter", &Progress::enter)
        .def("exit", &Progress::exit);
}

}  // namespace calotype::python
