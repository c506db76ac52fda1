// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkable: device code from elsewhere, and calls of its functions.
#include <cctype>

#include "bindings.h"
#include "callbacks.h"
#include "paths.h"

namespace calotype::python {

namespace {

std::string to_bytes(const nb::bytes &b) {
    return std::string(b.c_str(), b.size());
}

// The arguments of a call: numbers and Exprs, and tuples of them for vectors.
ExternDeviceArguments to_arguments(nb::handle list) {
    std::vector<ExternDeviceArgument> result;
    for (nb::handle h : nb::iter(list)) {
        if (PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) {
            result.emplace_back(to_tuple(h));
        } else {
            call_assert(is_expr_like(h)) << describe(h) << " is no argument of a device function";
            result.emplace_back(to_expr(h));
        }
    }
    return result;
}

using LinkableClass = PythonClass<Linkable>;

void bind_making(LinkableClass &c) {
    c.def(nb::init<>())
        .def_static(
            "from_path", [](const Path &path) { return Linkable::from_path(path); }, "path"_a)
        .def_static(
            "from_path",
            [](const Path &path, calotype_kind kind) { return Linkable::from_path(path, kind); },
            "path"_a, "kind"_a)
        .def_static(
            "from_bytes",
            [](calotype_kind kind, nb::bytes bytes, const std::string &name) {
                return Linkable::from_bytes(kind, to_bytes(bytes), name);
            },
            "kind"_a, "bytes"_a, "name"_a)
        .def_static("host_only", &Linkable::host_only, "name"_a)
        .def_static("from_text", &Linkable::from_text, "text"_a)
        .def_static("list_from_text", &Linkable::list_from_text, "text"_a)
        .def_static("list_to_text", &Linkable::list_to_text, "list"_a)
        .def(
            "add_path", [](const Linkable &l, const Path &p) { return l.add_path(p); }, "path"_a)
        .def(
            "add_image",
            [](const Linkable &l, calotype_kind kind, nb::bytes bytes) {
                return l.add_image(kind, to_bytes(bytes));
            },
            "kind"_a, "bytes"_a);
}

void bind_settings(LinkableClass &c) {
    c.def("setup", &Linkable::setup, "function"_a)
        .def("teardown", &Linkable::teardown, "function"_a)
        .def("callbacks", &with_callbacks, "setup"_a = nb::none(), "teardown"_a = nb::none(),
             "Functions of Python, for pipelines run in this process: called with a LinkableEvent "
             "when a module that holds the linkable has been loaded, and before it is unloaded.")
        .def("user", &Linkable::user, "symbol"_a)
        .def("nrt", &Linkable::nrt, "on"_a = true)
        .def("after", &Linkable::after, "name"_a)
        .def("optional", &Linkable::optional, "on"_a = true)
        .def("threadsafe", &Linkable::threadsafe, "on"_a = true)
        .def("session", &Linkable::session, "on"_a = true)
        .def("no_teardown_after_loss", &Linkable::no_teardown_after_loss, "on"_a = true)
        .def("pinned", &Linkable::pinned, "on"_a = true)
        .def("embed", &Linkable::embed, "on"_a)
        .def("lto", &Linkable::lto, "mode"_a)
        .def("parameter", &Linkable::parameter, "name"_a)
        .def(
            "with_name", [](const Linkable &l, const std::string &name) { return l.name(name); },
            "name"_a)
        .def(
            "sm",
            [](const Linkable &l, int number, const std::string &suffix) {
                return l.sm(number, suffix.empty() ? char(0) : suffix[0]);
            },
            "number"_a, "suffix"_a = "");
}

void bind_queries(LinkableClass &c) {
    c.def("defined", &Linkable::defined)
        .def("name",
             [](const Linkable &l) {
                 user_assert(l.defined()) << "an undefined Linkable is used";
                 return l.name();
             })
        .def("digests",
             [](const Linkable &l) {
                 user_assert(l.defined()) << "an undefined Linkable is used";
                 return l.digests();
             })
        .def("same_as", &Linkable::same_as, "other"_a)
        .def("description", &Linkable::description)
        .def("__repr__", [](const Linkable &l) {
            return "<calotype.Linkable " + (l.defined() ? l.description() : "undefined") + ">";
        });
}

void bind_calls(PythonModule &m) {
    m.def(
        "extern_device_call",
        [](const Linkable &l, const std::string &function, TypeArg result, nb::object args) {
            return extern_device_call(l, function, result, to_arguments(args));
        },
        "linkable"_a, "function"_a, "type"_a, "args"_a = nb::make_tuple(),
        "A call of a function of a linkable that may have effects.");
    m.def(
        "pure_extern_device_call",
        [](const Linkable &l, const std::string &function, TypeArg result, nb::object args) {
            return pure_extern_device_call(l, function, result, to_arguments(args));
        },
        "linkable"_a, "function"_a, "type"_a, "args"_a = nb::make_tuple(),
        "A call whose value depends on its arguments alone.");
    m.def(
        "pure_extern_device_call_vector",
        [](const Linkable &l, const std::string &function, TypeArg result, nb::object args) {
            const Tuple t = pure_extern_device_call_vector(l, function, result, to_arguments(args));
            return nb::tuple(nb::cast(t.as_vector()));
        },
        "linkable"_a, "function"_a, "type"_a, "args"_a = nb::make_tuple(),
        "The same of a function that yields a vector: a tuple of its components.");
    m.def("extern_device_symbol", &extern_device_symbol, "linkable"_a, "symbol"_a);
}

}  // namespace

void bind_linkable(PythonModule &m) {
    nb::enum_<calotype_kind> kind(m, "LinkableKind", "The form in which a Linkable has its code.");
    const std::pair<const char *, calotype_kind> kinds[] = {
#define CALOTYPE_IMAGE_KIND(kind, title, nvjitlink) {#kind, kind},
#include <calotype/runtime/abi/image_kinds.def>
    };
    for (const auto &[name, value] : kinds) {
        kind.value(name + sizeof("CALOTYPE_") - 1, value);
    }
    nb::enum_<LtoMode>(m, "LtoMode", header_comment("", "LtoMode"))
        .value("Allow", LtoMode::Allow)
        .value("Never", LtoMode::Never)
        .value("Require", LtoMode::Require);
    bind_callbacks(m);
    LinkableClass c(m, "Linkable",
                    "Device code from elsewhere. Members that set something give a changed copy.");
    bind_making(c);
    bind_settings(c);
    bind_queries(c);
    bind_calls(m);
    PythonClass<Pipeline>::in(m, "Pipeline")
        .def("add_linkable", &Pipeline::add_linkable, "linkable"_a);
}

}  // namespace calotype::python
