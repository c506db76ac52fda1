// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/text/serialize.h"

#include <iterator>

#include "lang/buffer.h"
#include "lang/func.h"
#include "pipeline/parameters_used.h"
#include "pipeline/text/pipeline_text.h"
#include "support/error.h"
#include "support/file.h"
#include "support/hex.h"

namespace calotype {

using namespace internal;

namespace {

using internal::ConstantImageText;

const std::string first_line = "// A pipeline of Calotype, version 1\n";

using Params = std::map<std::string, Parameter>;

const Runtime::Buffer<> &buffer_of(const Image &image) {
    return static_cast<internal::RuntimeBufferStorage *>(image->buffer.get())->buffer;
}

ConstantImageText text_of(const Image &image) {
    Runtime::Buffer<> original = buffer_of(image);
    user_assert(original.data() || original.number_of_elements() == 0)
        << "image " << image->name << " has no memory on the host, and cannot be serialized";
    original.copy_to_host();
    const Runtime::Buffer<> dense = original.copy();
    ConstantImageText text;
    text.name = image->name;
    text.type = Type(dense.type());
    for (int d = 0; d < dense.dimensions(); d++) {
        text.dims.push_back({dense.dim(d).min(), dense.dim(d).extent(), dense.dim(d).stride()});
    }
    text.bytes = internal::hex_digits(dense.raw_buffer()->host,
                                      dense.number_of_elements() * size_t(dense.type().bytes()));
    return text;
}

/// How many bytes the elements take; a CompileError if that is no number.
size_t bytes_of(const ConstantImageText &text) {
    size_t size = size_t(Type(text.type.to_abi()).bytes());
    for (const ConstantImageText::Dimension &d : text.dims) {
        user_assert(d.extent >= 0 && !__builtin_mul_overflow(size, size_t(d.extent), &size))
            << "image " << text.name << " of a serialized pipeline has no possible size";
    }
    return size;
}

Image image_of(const ConstantImageText &text) {
    const size_t size = bytes_of(text);
    user_assert(text.bytes.size() == 2 * size)
        << "image " << text.name << " of a serialized pipeline has " << text.bytes.size()
        << " hexadecimal digits, must have " << 2 * size;
    std::vector<calotype_dimension_t> dims;
    for (const ConstantImageText::Dimension &d : text.dims) {
        dims.push_back({d.min, d.extent, d.stride, 0});
    }
    calotype_buffer_t shape{};
    shape.type = text.type.to_abi();
    shape.dimensions = int(dims.size());
    shape.dim = dims.data();
    Runtime::Buffer<> made = internal::new_buffer_shaped_like(shape, shape.type);
    uint8_t *to = made.raw_buffer()->host;
    for (size_t i = 0; i < size; i++) {
        const int high = internal::hex_value(text.bytes[2 * i]);
        const int low = internal::hex_value(text.bytes[2 * i + 1]);
        user_assert(high >= 0 && low >= 0)
            << "image " << text.name << " of a serialized pipeline holds what is no digit";
        to[i] = uint8_t(high << 4 | low);
    }
    return Buffer<>(made, text.name).image();
}

PipelineSource source_of(const Pipeline &pipeline) {
    user_assert(pipeline.defined()) << "an undefined pipeline is serialized";
    return pipeline.source("pipeline", {});
}

std::string to_bytes(const PipelineSource &source) {
    return first_line + to_whole_text(source, text_of);
}

PipelineSource read(const std::string &bytes, const Params &params) {
    user_assert(bytes.compare(0, first_line.size(), first_line) == 0)
        << "these bytes are no serialized pipeline: they do not begin with '"
        << first_line.substr(0, first_line.size() - 1) << "'";
    for (const auto &[name, p] : params) {
        user_assert(p.defined()) << "parameter " << name << " is undefined";
    }
    return parse_pipeline(bytes, {params, image_of});
}

Pipeline to_pipeline(const std::string &bytes, const Params &params) {
    const PipelineSource source = read(bytes, params);
    std::vector<Func> outputs;
    for (const Function &f : source.outputs) {
        outputs.emplace_back(f);
    }
    Pipeline result(outputs);
    for (const Requirement &r : source.requirements) {
        result.add_requirement(r.condition, r.message_parts);
    }
    if (source.trace_pipeline) {
        result.trace_pipeline();
    }
    return result;
}

Params inputs_of(const PipelineSource &source) {
    return parameters_used(build_environment(source.outputs), source.requirements).parameters;
}

std::vector<uint8_t> to_data(const PipelineSource &source) {
    const std::string bytes = to_bytes(source);
    return {bytes.begin(), bytes.end()};
}

std::string to_text(const std::vector<uint8_t> &data) {
    return {data.begin(), data.end()};
}
std::string to_text(std::istream &in) {
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data) {
    data = to_data(source_of(pipeline));
}

void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data, Params &params) {
    const PipelineSource source = source_of(pipeline);
    data = to_data(source);
    params = inputs_of(source);
}

void serialize_pipeline(const Pipeline &pipeline, const std::string &filename) {
    internal::write_file_atomically(filename, to_bytes(source_of(pipeline)));
}

void serialize_pipeline(const Pipeline &pipeline, const std::string &filename, Params &params) {
    const PipelineSource source = source_of(pipeline);
    internal::write_file_atomically(filename, to_bytes(source));
    params = inputs_of(source);
}

Pipeline deserialize_pipeline(const std::vector<uint8_t> &data, const Params &user_params) {
    return to_pipeline(to_text(data), user_params);
}
Pipeline deserialize_pipeline(const std::string &filename, const Params &user_params) {
    return to_pipeline(internal::read_file(filename), user_params);
}
Pipeline deserialize_pipeline(std::istream &in, const Params &user_params) {
    return to_pipeline(to_text(in), user_params);
}

Params deserialize_parameters(const std::vector<uint8_t> &data) {
    return inputs_of(read(to_text(data), {}));
}
Params deserialize_parameters(const std::string &filename) {
    return inputs_of(read(internal::read_file(filename), {}));
}
Params deserialize_parameters(std::istream &in) {
    return inputs_of(read(to_text(in), {}));
}

}  // namespace calotype
