// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One C function serves all callbacks: the linkable's `user` says which functions of Python it is to
// call. These are kept for ever, as modules that hold the linkable may be.
#include "callbacks.h"

#include <calotype/driver/jit_shared_runtime.h>
#include <calotype/runtime/abi/linkables.h>

#include "at_exit.h"
#include "bindings.h"
#include "run.h"

namespace calotype::python {

namespace {

using calotype::internal::JITSharedRuntime;

struct Functions {
    nb::object setup, teardown;
};

struct LinkableEvent {
    const calotype_callback_args *args;
    const calotype_callback_args &get() const {
        user_assert(args) << "a LinkableEvent is used after the callback that it was for";
        return *args;
    }
};

const char *const reasons[] = {"load", "evict",        "context_release", "shutdown",
                               "exit", "setup_failed", "context_lost"};

// Raises what the function raises.
int call(const calotype_callback_args *args) {
    const auto &functions = *static_cast<const Functions *>(args->user);
    const nb::object &function =
        args->event == CALOTYPE_EV_SETUP ? functions.setup : functions.teardown;
    nb::object event = nb::cast(LinkableEvent{args});
    struct End {
        nb::handle event;
        ~End() {
            nb::inst_ptr<LinkableEvent>(event)->args = nullptr;
        }
    } const end{event};
    const nb::object result = run_python([&] { return function(event); });
    int status = 0;
    user_assert(result.is_none() || nb::try_cast(result, status))
        << "a callback of a linkable gives " << describe(result) << ", must give None or an int";
    return status;
}

// An exception of a setup is raised again by the run that it is a part of. Teardowns are parts of
// whatever unloads the module.
extern "C" int run_callback(const calotype_callback_args *args) {
    if (!Py_IsInitialized()) {
        return 0;
    }
    const HeldGil gil;
    try {
        return call(args);
    } catch (nb::python_error &e) {
        args->svc->set_error(args, e.what());
        if (args->event == CALOTYPE_EV_SETUP) {
            PythonContext::keep_raised(e);
        } else {
            e.discard_as_unraisable("teardown of a linkable");
        }
    } catch (const std::exception &e) {
        args->svc->set_error(args, e.what());
    }
    return -1;
}

// While there is still an interpreter to run teardowns in.
void release_at_exit() {
    call_at_exit([] { JITSharedRuntime::release_all(); });
}

uint64_t address(const void *p) {
    return reinterpret_cast<uint64_t>(p);
}

}  // namespace

Linkable with_callbacks(const Linkable &linkable, nb::object setup, nb::object teardown) {
    static int count = 0;
    for (const nb::object &f : {setup, teardown}) {
        user_assert(f.is_none() || PyCallable_Check(f.ptr()))
            << describe(f) << " is no callback of a linkable, must be a function or None";
    }
    const std::string function = "calotype_python_callback";
    const std::string user = function + "_" + std::to_string(count++);
    JITSharedRuntime::define_symbol(function, reinterpret_cast<const void *>(&run_callback));
    JITSharedRuntime::define_symbol(user, new Functions{setup, teardown});
    release_at_exit();
    Linkable result = linkable.user(user);
    result = setup.is_none() ? result : result.setup(function);
    return teardown.is_none() ? result : result.teardown(function);
}

void bind_callbacks(PythonModule &m) {
    PythonClass<LinkableEvent>(m, "LinkableEvent", "What a callback of a linkable is called with.")
        .def_prop_ro("is_setup",
                     [](const LinkableEvent &e) { return e.get().event == CALOTYPE_EV_SETUP; })
        .def_prop_ro(
            "reason", [](const LinkableEvent &e) { return reasons[e.get().reason]; },
            "load, evict, context_release, shutdown, exit, setup_failed or context_lost")
        .def_prop_ro("linkable",
                     [](const LinkableEvent &e) { return std::string(e.get().self->name); })
        .def_prop_ro("device", [](const LinkableEvent &e) { return e.get().device; })
        .def_prop_ro(
            "context", [](const LinkableEvent &e) { return address(e.get().ctx); },
            "The CUcontext or cl_context, as a number.")
        .def_prop_ro(
            "module", [](const LinkableEvent &e) { return address(e.get().module); },
            "The CUmodule or cl_program; 0 after the loss of the context.")
        .def_prop_ro(
            "stream", [](const LinkableEvent &e) { return address(e.get().stream); },
            "What is queued there by a setup is done before any launch.")
        .def(
            "get_global",
            [](const LinkableEvent &e, const std::string &name) {
                uint64_t where = 0;
                size_t bytes = 0;
                const auto status = e.get().svc->get_global(e.args, name.c_str(), &where, &bytes);
                runtime_error_if(status != CALOTYPE_OK)
                    << "the module has no variable " << name << ", status " << int(status);
                return nb::make_tuple(where, bytes);
            },
            "name"_a, "Address and size of a variable of the module.")
        .def(
            "copy_to_global",
            [](const LinkableEvent &e, const std::string &name, nb::bytes data, size_t offset) {
                const auto status = e.get().svc->copy_to_global(e.args, name.c_str(), offset,
                                                                data.c_str(), data.size());
                runtime_error_if(status != CALOTYPE_OK)
                    << data.size() << " bytes could not be copied to variable " << name
                    << " of the module, status " << int(status);
            },
            "name"_a, "data"_a, "offset"_a = 0);
}

}  // namespace calotype::python
