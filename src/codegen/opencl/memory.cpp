// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and allocations.
#include "codegen/opencl/device_writer.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

Type in_memory(Type t) {
    return t.is_bool() ? UInt(8, t.lanes()) : t;
}

const Ramp *dense_ramp(const Expr &index) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && ramp->base.type().is_scalar() && is_const_one(ramp->stride) ? ramp : nullptr;
}

}  // namespace

const DeviceWriter::Buffer &DeviceWriter::buffer(const std::string &name) const {
    const Buffer *b = buffers_.find(name);
    internal_assert(b) << "buffer not in scope: " << name;
    return *b;
}

// The pointer, cast if the elements are accessed as of another type.
std::string DeviceWriter::pointer(const Buffer &b, Type element) const {
    Type mine = register_type(in_memory(b.type.element_of()));
    Type wanted = register_type(in_memory(element));
    if (mine == wanted) {
        return b.text;
    }
    return "((" + std::string(word(b.space)) + scalar_type_name(file_.dialect, wanted) + " *)" +
           b.text + ")";
}

std::string DeviceWriter::from_memory(Type t, const std::string &text) const {
    return t.is_bool() ? "(" + text + " != 0)" : text;
}

DeviceWriter::Texts DeviceWriter::index_lanes(const Expr &index) {
    Texts lanes;
    const Ramp *ramp = index.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar()) {
        std::string base = scalar(ramp->base), stride = scalar(ramp->stride);
        for (int i = 0; i < ramp->lanes; i++) {
            std::string step =
                is_const_one(ramp->stride) ? std::to_string(i) : stride + " * " + std::to_string(i);
            lanes.push_back(i == 0 ? base : base + " + " + step);
        }
        return lanes;
    }
    DeviceValue v = emit(index);
    v = v.type.is_scalar() ? v : atom(v);
    for (int i = 0; i < index.type().lanes(); i++) {
        lanes.push_back(lane(v, i));
    }
    return lanes;
}

// Whether the `width` elements from lane `lane` on lie at a multiple of their size.
bool DeviceWriter::is_aligned(const Buffer &b, Type t, const Alignment &a, int lane,
                              int width) const {
    bool index = a.modulus % width == 0 && (a.remainder + lane) % width == 0;
    return index && b.alignment % (int64_t(width) * t.bytes()) == 0;
}

DeviceValue DeviceWriter::emit_node(const Load *op) {
    const Buffer &b = buffer(op->name);
    Type t = op->type, element = t.element_of();
    bool always = is_trivially_true(op->predicate);
    const Ramp *dense = dense_ramp(op->index);
    if (dense && always) {
        return load_dense(op, b, scalar(dense->base));
    }
    DeviceValue predicate = always ? DeviceValue() : atom(emit(op->predicate));
    Texts indices = index_lanes(op->index), lanes;
    std::string zero = always ? "" : emit(make_zero(element)).parts[0];
    for (size_t i = 0; i < indices.size(); i++) {
        std::string value = from_memory(t, pointer(b, element) + "[" + bare(indices[i]) + "]");
        int at = predicate.type.is_vector() ? int(i) : 0;
        lanes.push_back(always ? value
                               : "(" + lane(predicate, at) + " ? " + value + " : " + zero + ")");
    }
    return define(t, from_lanes(t, lanes).parts);
}

DeviceValue DeviceWriter::load_dense(const Load *op, const Buffer &b, const std::string &index) {
    Type t = op->type, memory = in_memory(t);
    std::string p = pointer(b, t.element_of());
    if (file_.dialect == Dialect::CUDA) {
        return load_packs(op, b, index);
    }
    Texts parts;
    int first = 0;
    for (int width : part_widths(file_.dialect, t.lanes())) {
        Type part = memory.with_lanes(width);
        std::string at = p + " + " + index + (first > 0 ? " + " + std::to_string(first) : "");
        std::string pointer_type =
            std::string(word(b.space)) + "const " + type_name(register_type(part)) + " *";
        std::string text = width == 1 ? "*(" + at + ")"
                           : is_aligned(b, memory, op->alignment, first, width)
                               ? "*(" + pointer_type + ")(" + at + ")"
                               : "vload" + std::to_string(width) + "(0, " + at + ")";
        if (t.is_bool()) {
            text = width == 1 ? text + " != 0" : text + " != (" + type_name(part) + ")(0)";
        }
        parts.push_back(text);
        first += width;
    }
    return define(t, parts);
}

namespace {

/// The elements of one access: as many of those left as a device has an instruction for.
int pack_width(int left, int bytes) {
    int width = 16 / bytes;
    while (width > left) {
        width /= 2;
    }
    return width;
}

}  // namespace

// A struct of `width` elements, which is read and written at once.
std::string DeviceWriter::pack_type(Type t, int width) {
    std::string bytes = std::to_string(width * t.bytes());
    std::string name = "ct_pack_" + to_string(t.element_of()) + "x" + std::to_string(width);
    file_.helpers[name] = "struct " + word(Word::aligned, bytes) + " " + name + " {\n    " +
                          type_name(t.element_of()) + " s[" + std::to_string(width) + "];\n};\n";
    return name;
}

DeviceValue DeviceWriter::load_packs(const Load *op, const Buffer &b, const std::string &index) {
    Type t = op->type, memory = in_memory(t).element_of();
    std::string p = pointer(b, t.element_of());
    Texts lanes;
    for (int first = 0; first < t.lanes();) {
        int width = pack_width(t.lanes() - first, memory.bytes());
        while (width > 1 && !is_aligned(b, memory, op->alignment, first, width)) {
            width /= 2;
        }
        std::string at = index + " + " + std::to_string(first);
        if (width == 1) {
            lanes.push_back(from_memory(t, p + "[" + at + "]"));
        } else {
            std::string type = pack_type(memory, width), name = temporary();
            line("const " + type + " " + name + " = *(const " + type + " *)(" + p + " + " + at +
                 ");");
            for (int i = 0; i < width; i++) {
                lanes.push_back(from_memory(t, name + ".s[" + std::to_string(i) + "]"));
            }
        }
        first += width;
    }
    return define(t, lanes);
}

void DeviceWriter::emit_node(const Store *op) {
    if (!atomic_producer_.empty() && atomic_store(op)) {
        return;
    }
    const Buffer &b = buffer(op->name);
    Type element = op->value.type().element_of();
    bool always = is_trivially_true(op->predicate);
    DeviceValue predicate = always ? DeviceValue() : atom(emit(op->predicate));
    DeviceValue value = emit(op->value);
    value = value.type.is_scalar() ? value : atom(value);
    const Ramp *dense = dense_ramp(op->index);
    if (dense && always) {
        store_dense(op, b, scalar(dense->base), value);
        return;
    }
    Texts indices = index_lanes(op->index);
    for (size_t i = 0; i < indices.size(); i++) {
        std::string store =
            pointer(b, element) + "[" + bare(indices[i]) + "] = " + bare(lane(value, int(i))) + ";";
        int at = predicate.type.is_vector() ? int(i) : 0;
        line(always ? store : "if (" + lane(predicate, at) + ") { " + store + " }");
    }
}

void DeviceWriter::store_dense(const Store *op, const Buffer &b, const std::string &index,
                               const DeviceValue &value) {
    Type t = value.type, memory = in_memory(t);
    std::string p = pointer(b, t.element_of());
    bool packs = file_.dialect == Dialect::CUDA;
    std::vector<int> widths = part_widths(file_.dialect, t.lanes());
    for (int first = 0, i = 0; first < t.lanes(); i++) {
        int width = packs ? pack_width(t.lanes() - first, memory.bytes()) : widths[size_t(i)];
        bool aligned = is_aligned(b, memory, op->alignment, first, width);
        for (; packs && width > 1 && !aligned; width /= 2) {
            aligned = is_aligned(b, memory, op->alignment, first, width / 2);
        }
        std::string at = p + " + " + index + (first > 0 ? " + " + std::to_string(first) : "");
        if (width == 1) {
            line("*(" + at + ") = " + lane(value, first) + ";");
        } else if (packs) {
            std::string type = pack_type(memory, width), list;
            for (int k = 0; k < width; k++) {
                list += (k > 0 ? ", " : "") + lane(value, first + k);
            }
            line("*(" + type + " *)(" + at + ") = " + type + "{{" + list + "}};");
        } else {
            std::string type = type_name(register_type(memory.with_lanes(width)));
            std::string v = value.parts[size_t(i)];
            v = t.is_bool() ? "as_" + type + "(" + v + ") & (" + type + ")(1)" : v;
            line(aligned ? "*(" + std::string(word(b.space)) + type + " *)(" + at + ") = " + v + ";"
                         : "vstore" + std::to_string(width) + "(" + v + ", 0, " + at + ");");
        }
        first += width;
    }
}

// Registers and memory of the thread; shared memory is declared already.
void DeviceWriter::emit_node(const Allocate *op) {
    auto shared = shared_.find(op->name);
    Type t = op->type;
    if (shared != shared_.end()) {
        ScopedBinding<Buffer> binding(buffers_, op->name,
                                      Buffer{shared->second, t, Word::shared, 128, nullptr});
        emit(op->body);
        return;
    }
    if (op->new_expr.defined()) {
        std::string name = fresh(op->name), type = type_name(in_memory(t).element_of()) + " *";
        line(type + name + " = (" + type + ")" + emit(op->new_expr).parts[0] + ";");
        ScopedBinding<Buffer> binding(buffers_, op->name, Buffer{name, t, Word::own, 16, nullptr});
        emit(op->body);
        return;
    }
    int32_t size = op->extents.empty() ? 1 : op->constant_size();
    user_assert(size > 0) << where() << " allocates " << op->name
                          << " for each thread with a size that is not a constant";
    std::string name = fresh(op->name),
                count = std::to_string(int64_t(size) * t.lanes() + op->padding);
    int64_t bytes = int64_t(size) * t.lanes() * t.bytes();
    int64_t alignment = bytes >= 16 ? 16 : t.bytes();
    open("");
    line(type_name(in_memory(t).element_of()) + " " + name + "[" + count + "]" +
         (bytes >= 16 ? " " + word(Word::aligned, "16") : "") + ";");
    {
        ScopedBinding<Buffer> binding(buffers_, op->name,
                                      Buffer{name, t, Word::own, alignment, nullptr});
        emit(op->body);
    }
    close();
}

void DeviceWriter::emit_node(const Free *) {
}

std::string DeviceWriter::image(const Expr &handle) const {
    const Variable *name = handle.as<Variable>();
    internal_assert(name && buffer(name->name).image) << "the handle of an image is no such name";
    return buffer(name->name).text;
}

std::string DeviceWriter::address(const Expr &handle, Type element, const std::string &index) {
    const Variable *name = handle.as<Variable>();
    internal_assert(name) << "the handle of a buffer is not a name";
    return "(" + pointer(buffer(name->name), element) + " + " + index + ")";
}

}  // namespace calotype::internal
