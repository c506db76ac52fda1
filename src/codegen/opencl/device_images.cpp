// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/opencl/device_images.h"

#include "ir/constants.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// "read_image" or "write_image" with the letters of the type that their elements have.
std::string function_name(const char *access, Type t) {
    internal_assert(t.bits() == 32 && !t.is_handle()) << "an image has no elements of " << t;
    return std::string(access) + "_image" + (t.is_float() ? "f" : t.is_int() ? "i" : "ui");
}

/// Coordinates count elements, from 0; beyond the border there is the border.
std::string sampler(DeviceWriter &w) {
    const char *const name = "ct_sampler";
    w.file().helpers[name] = "__constant sampler_t ct_sampler =\n    CLK_NORMALIZED_COORDS_FALSE | "
                             "CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n";
    return name;
}

/// Of each lane: "x", "(int2)(x, y)" or "(int4)(x, y, z, 0)".
DeviceWriter::Texts coordinates(DeviceWriter &w, const Call *op, size_t dimensions, int lanes) {
    std::vector<DeviceWriter::Texts> values;
    for (size_t d = 0; d < dimensions; d++) {
        const Expr &e = op->args[1 + d];
        const Broadcast *same = e.as<Broadcast>();
        const bool is_scalar = e.type().is_scalar() || (same && same->value.type().is_scalar());
        values.push_back(is_scalar
                             ? DeviceWriter::Texts(size_t(lanes), w.scalar(same ? same->value : e))
                             : w.index_lanes(e));
    }
    DeviceWriter::Texts texts;
    for (size_t i = 0; i < size_t(lanes); i++) {
        DeviceWriter::Texts parts;
        for (const DeviceWriter::Texts &of_lanes : values) {
            parts.push_back(bare(of_lanes[i]));
        }
        const std::string list = join(parts, ", ");
        texts.push_back(dimensions == 1   ? list
                        : dimensions == 2 ? "(int2)(" + list + ")"
                                          : "(int4)(" + list + ", 0)");
    }
    return texts;
}

}  // namespace

DeviceValue emit_image_load(DeviceWriter &w, const Call *op) {
    const Type t = op->type;
    const std::string head =
        function_name("read", t) + "(" + w.image(op->args[0]) + ", " + sampler(w) + ", ";
    DeviceWriter::Texts lanes;
    for (const std::string &at : coordinates(w, op, op->args.size() - 1, t.lanes())) {
        lanes.push_back("(" + head + at + ").x)");
    }
    return w.atom(w.from_lanes(t, lanes));
}

DeviceValue emit_image_store(DeviceWriter &w, const Call *op) {
    const size_t dimensions = op->args.size() - 3;
    const Expr &condition = op->args.back();
    const bool always = is_trivially_true(condition);
    const DeviceValue predicate = always ? DeviceValue() : w.atom(w.emit(condition));
    const DeviceValue value = w.atom(w.emit(op->args[1 + dimensions]));
    const Type t = value.type;
    const DeviceWriter::Texts places = coordinates(w, op, dimensions, t.lanes());
    const std::string head = function_name("write", t) + "(" + w.image(op->args[0]) + ", ";
    const std::string pixel = "(" + w.type_name(t.element_of()) + "4)(";
    for (int i = 0; i < t.lanes(); i++) {
        const std::string store =
            head + places[size_t(i)] + ", " + pixel + w.lane(value, i) + ", 0, 0, 0));";
        const int at = predicate.type.is_vector() ? i : 0;
        w.line(always ? store : "if (" + w.lane(predicate, at) + ") { " + store + " }");
    }
    return {op->type, {"0"}};
}

}  // namespace calotype::internal
