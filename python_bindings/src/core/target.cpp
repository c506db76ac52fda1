// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target.
#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "pickled.h"

namespace calotype::python {

namespace {

using Features = std::vector<Target::Feature>;

void bind_queries(PythonClass<Target> &c) {
    c.def("has_unknowns", &Target::has_unknowns)
        .def(
            "has_feature", [](const Target &t, Target::Feature f) { return t.has_feature(f); },
            "feature"_a)
        .def("features_any_of", &Target::features_any_of, "features"_a)
        .def("features_all_of", &Target::features_all_of, "features"_a)
        .def("has_gpu_feature", &Target::has_gpu_feature)
        .def("supports_device_api", &Target::supports_device_api, "device"_a)
        .def("get_required_device_api", &Target::get_required_device_api)
        .def(
            "supports_type", [](const Target &t, TypeArg type) { return t.supports_type(type); },
            "type"_a)
        .def(
            "supports_type",
            [](const Target &t, TypeArg type, DeviceAPI d) { return t.supports_type(type, d); },
            "type"_a, "device"_a)
        .def(
            "natural_vector_size",
            [](const Target &t, TypeArg type) { return t.natural_vector_size(type.get()); },
            "type"_a)
        .def("has_large_buffers", &Target::has_large_buffers)
        .def("maximum_buffer_size", &Target::maximum_buffer_size)
        .def("get_cuda_capability_lower_bound", &Target::get_cuda_capability_lower_bound)
        .def("supported", &Target::supported)
        .def(
            "natural_lanes",
            [](const Target &t, int bits, bool is_float) {
                return t.natural_lanes(bits, is_float);
            },
            "bits"_a, "is_float"_a = false)
        .def(
            "get_runtime_compatible_target",
            [](const Target &t, const Target &other) -> std::optional<Target> {
                Target result;
                return t.get_runtime_compatible_target(other, result) ? std::optional(result)
                                                                      : std::nullopt;
            },
            "other"_a, "A target whose runtime serves both; None if there is none.");
}

void bind_changes(PythonClass<Target> &c) {
    c.def("set_feature", &Target::set_feature, "f"_a, "value"_a = true)
        .def("set_features", &Target::set_features, "features"_a, "value"_a = true)
        .def("with_feature", &Target::with_feature, "feature"_a)
        .def("without_feature", &Target::without_feature, "feature"_a)
        .def("set_implied_features", &Target::set_implied_features)
        .def("unset_implied_features", &Target::unset_implied_features)
        .def("with_implied_features", &Target::with_implied_features)
        .def("without_implied_features", &Target::without_implied_features);
}

}  // namespace

Target to_target(const std::string &text) {
    return text.empty() ? get_host_target() : Target(text);
}

// Lists of features are looked at here and not before, so that an error says which of them is none.
using FeatureList = nb::typed<nb::sequence, Target::Feature>;

Features to_features(const FeatureList &list) {
    if (PyUnicode_Check(list.ptr()) || PyBytes_Check(list.ptr())) {
        throw nb::type_error("incompatible constructor arguments: the features of a target are one "
                             "text, must be a list of TargetFeature");
    }
    Features features;
    for (nb::handle item : nb::iter(list)) {
        Target::Feature feature{};
        if (!nb::try_cast(item, feature, false)) {
            const std::string text = "incompatible constructor arguments: feature " +
                                     std::to_string(features.size()) + " of a target is " +
                                     describe(nb::borrow(item)) + ", must be a TargetFeature";
            throw nb::type_error(text.c_str());
        }
        features.push_back(feature);
    }
    return features;
}

void bind_target(PythonModule &m) {
    PythonClass<Target> c(m, "Target", "The machine and the conditions that code is compiled for.");
    c.def(nb::init<>())
        .def(
            "__init__", [](Target *t, const std::string &text) { new (t) Target(to_target(text)); },
            "target"_a)
        .def(nb::init<Target::OS, Target::Arch, int>(), "os"_a, "arch"_a, "bits"_a)
        .def(
            "__init__",
            [](Target *t, Target::OS os, Target::Arch arch, int bits, const FeatureList &features) {
                new (t) Target(os, arch, bits, to_features(features));
            },
            "os"_a, "arch"_a, "bits"_a, "features"_a)
        .def(
            "__init__",
            [](Target *t, Target::OS os, Target::Arch arch, int bits, Target::Processor processor,
               const FeatureList &features, int vector_bits) {
                new (t) Target(os, arch, bits, processor, to_features(features), vector_bits);
            },
            "os"_a, "arch"_a, "bits"_a, "processor"_a, "features"_a = nb::tuple(),
            "vector_bits"_a = 0)
        .def_rw("os", &Target::os)
        .def_rw("arch", &Target::arch)
        .def_rw("bits", &Target::bits)
        .def_rw("vector_bits", &Target::vector_bits)
        .def_rw("processor_tune", &Target::processor_tune)
        .def_static("feature_to_name", &Target::feature_to_name, "feature"_a)
        .def_static("feature_from_name", &Target::feature_from_name, "name"_a)
        .def_static("validate_target_string", &Target::validate_target_string, "name"_a)
        .def("to_string", &Target::to_string)
        .def(
            "__eq__", [](const Target &a, const Target &b) { return a == b; }, nb::is_operator())
        .def(
            "__ne__", [](const Target &a, const Target &b) { return a != b; }, nb::is_operator())
        .def("__hash__", [](const Target &t) { return std::hash<std::string>()(t.to_string()); })
        .def("__str__", &Target::to_string)
        .def("__repr__", [](const Target &t) { return "<calotype.Target " + t.to_string() + ">"; });
    make_picklable(c, &Target::to_string,
                   [](Target *t, const std::string &text) { new (t) Target(text); });
    bind_queries(c);
    bind_changes(c);
    m.def("get_host_target", &get_host_target);
    m.def("get_target_from_environment", &get_target_from_environment);
    m.def("get_jit_target_from_environment", &get_jit_target_from_environment);
    m.def("target_feature_for_device_api", &target_feature_for_device_api, "api"_a);
    m.def("host_supports_target_device", &host_supports_target_device, "target"_a);
}

}  // namespace calotype::python
