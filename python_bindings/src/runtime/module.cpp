// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension module calotype.runtime._runtime: calls of pipelines that were compiled ahead of
// time. It has no compiler in it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "instance.h"
#include "kernel.h"
#include "prefetch_python.h"
#include "text.h"

namespace calotype::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

// Owned by calotype._errors, which is never unloaded.
PyObject *argument_error_class = nullptr;
PyObject *runtime_error_class = nullptr;

void translate(const std::exception_ptr &p, void *) {
    if (!p) {
        sleep_to_the_end();  // see caught(), of a handler of nanobind
    }
    try {
        std::rethrow_exception(p);
    } catch (const ArrayError &e) {
        set_error(argument_error_class, e.what());
    } catch (const KernelError &e) {
        set_error(runtime_error_class, e.what());
    }
}

PyObject *call(PyObject *self, PyObject *args, PyObject *keywords) {
    try {
        instance<Kernel>(self).call(args, keywords);
        Py_RETURN_NONE;
    } catch (const ArrayError &e) {
        set_error(argument_error_class, e.what());
    } catch (nb::python_error &e) {
        e.restore();
    } catch (const std::exception &e) {
        set_error(runtime_error_class, e.what());
    }
    return nullptr;
}

PyType_Slot *kernel_slots() {
    static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(call)}, {0, nullptr}};
    return slots;
}

nb::list arguments_of(const Kernel &k) {
    nb::list result;
    for (const ParameterInfo &p : k.signature().parameters()) {
        const char *kind = p.is_output ? "output" : p.is_buffer ? "input" : "scalar";
        result.append(nb::make_tuple(p.name, kind, type_text(p.type), p.dimensions, p.has_default));
    }
    return result;
}

nb::dict stats_of(const Kernel &k) {
    using GetStats = calotype_status (*)(uint64_t, calotype_stats *);
    calotype_stats s = {};
    s.size = sizeof(s);
    auto get = reinterpret_cast<GetStats>(k.library().find("calotype_get_stats"));
    if (!get || get(0, &s) != CALOTYPE_OK) {
        throw ArrayError(k.library().path() + " keeps no statistics of kernels");
    }
    nb::dict d;
    const std::pair<const char *, uint64_t> numbers[] = {
        {"misses", s.misses},         {"hits", s.hits},
        {"waits", s.waits},           {"compiles", s.compiles},
        {"links", s.links},           {"loads", s.loads},
        {"unloads", s.unloads},       {"evictions", s.evictions},
        {"disk_hits", s.disk_hits},   {"disk_misses", s.disk_misses},
        {"failures", s.failures},     {"live_modules", s.live_modules},
        {"live_bytes", s.live_bytes}, {"compile_ns", s.compile_ns},
        {"load_ns", s.load_ns}};
    for (const auto &[name, value] : numbers) {
        d[name] = value;
    }
    return d;
}

// What each library's runtime asks of the system as it is loaded, asked before: in a process with
// the threads of a driver it takes up to 20 ms, once, which no first call should.
void register_for_barriers() {
#if defined(__linux__)
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0u, 0);
#endif
}

}  // namespace
}  // namespace calotype::python

NB_MODULE(_runtime_of_main, m) {
    using namespace calotype::python;
    register_for_barriers();
    nb::set_leak_warnings(false);
    nb::module_ errors = nb::module_::import_("calotype._errors");
    argument_error_class = nb::object(errors.attr("ArgumentError")).ptr();
    runtime_error_class = nb::object(errors.attr("RuntimeError")).ptr();
    // Its class is made once in a process, as those of _core.
    static PyObject *first = nullptr;
    if (first) {
        nb::cast<nb::dict>(m.attr("__dict__")).update(nb::cast<nb::dict>(nb::handle(first)));
        return;
    }
    nb::register_exception_translator(translate);
    bind_prefetch(m);
    nb::class_<Kernel>(m, "Kernel", nb::type_slots(kernel_slots()), nb::is_weak_referenceable())
        .def(nb::init<const std::string &, const std::string &>(), "path"_a, "name"_a = "")
        .def_prop_ro("_name", &Kernel::name)
        .def_prop_ro("target", &Kernel::target, "What it was compiled for.")
        .def_prop_ro("path", [](const Kernel &k) { return k.library().path(); })
        .def("_arguments", &arguments_of)
        .def("_bounds",
             [](const Kernel &k, nb::tuple outputs, nb::tuple scalars) {
                 return nb::steal(to_python(k.bounds(outputs.ptr(), scalars.ptr())));
             })
        .def(
            "prefetch",
            [](nb::handle self, std::optional<int> device) {
                std::unique_ptr<Prefetch> p = instance<Kernel>(self.ptr()).prefetch(device);
                return to_python(
                    std::move(p),
                    nb::module_::import_("calotype.runtime._runtime").attr("_await_prefetch"));
            },
            "device"_a = nb::none(),
            "Begins to load its device code, for a CUDA device or where the runtime does it by "
            "itself, while other work goes on: the first call need not.",
            nb::sig("def prefetch(self, device: int | None = None) -> calotype._prefetch.Prefetch"))
        .def("_text", [](const Kernel &k) { return k.signature().text(); })
        .def("cache_stats", &stats_of,
             "Counts of the cache of device code of the library's runtime.");
    m.attr("__version__") = CALOTYPE_PACKAGE_VERSION;
    first = PyDict_Copy(nb::object(m.attr("__dict__")).ptr());
}

extern "C" NB_EXPORT PyObject *PyInit__runtime() {
    return calotype::python::is_main_interpreter() ? PyInit__runtime_of_main() : nullptr;
}
