// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines as bytes or files, and back.
#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "paths.h"

namespace calotype::python {

namespace {

using Params = std::map<std::string, Parameter>;
using ParamArgs = std::map<std::string, ParameterArg>;

Params to_params(const ParamArgs &given) {
    Params params;
    for (const auto &[name, p] : given) {
        params[name] = p.get();
    }
    return params;
}

std::vector<uint8_t> to_vector(const nb::bytes &data) {
    const auto *bytes = static_cast<const uint8_t *>(data.data());
    return {bytes, bytes + data.size()};
}

nb::object to_file(const Pipeline &p, const Path &file, bool get_params) {
    Params params;
    serialize_pipeline(p, file.string(), params);
    return get_params ? nb::cast(params) : nb::none();
}

nb::object to_bytes(const Pipeline &p, bool get_params) {
    std::vector<uint8_t> data;
    Params params;
    serialize_pipeline(p, data, params);
    nb::object bytes = nb::bytes(data.data(), data.size());
    return get_params ? nb::make_tuple(bytes, params) : bytes;
}

}  // namespace

void bind_serialize(PythonModule &m) {
    m.def(
        "serialize_pipeline",
        [](const Pipeline &p, const Path &file, std::optional<bool> get_params) {
            return to_file(p, file, get_params.value_or(false));
        },
        "pipeline"_a, "filename"_a, nb::kw_only(), "get_params"_a = nb::none(),
        "Writes algorithm, schedule, constant images and values of Params to a file; gives the "
        "inputs by name, if they are asked for.",
        nb::sig("def serialize_pipeline(pipeline: Pipeline, filename: str | os.PathLike, *, "
                "get_params: bool | None = None) -> dict[str, Parameter] | None"));
    m.def(
        "serialize_pipeline",
        [](const Pipeline &p, std::optional<bool> get_params) {
            return to_bytes(p, get_params.value_or(false));
        },
        "pipeline"_a, nb::kw_only(), "get_params"_a = nb::none(),
        "The same as bytes, or bytes and inputs.",
        nb::sig("def serialize_pipeline(pipeline: Pipeline, *, get_params: bool | None = None) -> "
                "typing.Any"));
    m.def(
        "deserialize_pipeline",
        [](const nb::bytes &data, const ParamArgs &params) {
            return deserialize_pipeline(to_vector(data), to_params(params));
        },
        "data"_a, "user_params"_a = ParamArgs(),
        "The pipeline that was serialized; user_params take the place of inputs of their names.");
    m.def(
        "deserialize_pipeline",
        [](const Path &file, const ParamArgs &params) {
            return deserialize_pipeline(file.string(), to_params(params));
        },
        "filename"_a, "user_params"_a = ParamArgs());
    m.def(
        "deserialize_parameters",
        [](const nb::bytes &data) { return deserialize_parameters(to_vector(data)); }, "data"_a,
        "The inputs of a serialized pipeline, by name.");
    m.def(
        "deserialize_parameters",
        [](const Path &file) { return deserialize_parameters(file.string()); }, "filename"_a);
}

}  // namespace calotype::python
