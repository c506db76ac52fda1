// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions that linkables supply. In CUDA C++ they are declared; in OpenCL C the source
// that defines them stands in front of the kernels.
#include <map>

#include "codegen/opencl/device_writer.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// "float4" of CUDA's headers.
std::string cuda_vector(Type t) {
    static const std::map<std::pair<int, int>, const char *> names = {
        {{Type::Int, 8}, "char"},      {{Type::UInt, 8}, "uchar"},
        {{Type::Int, 16}, "short"},    {{Type::UInt, 16}, "ushort"},
        {{Type::Int, 32}, "int"},      {{Type::UInt, 32}, "uint"},
        {{Type::Int, 64}, "longlong"}, {{Type::UInt, 64}, "ulonglong"},
        {{Type::Float, 32}, "float"},  {{Type::Float, 64}, "double"},
    };
    const auto name = names.find({t.code(), t.bits()});
    return name == names.end() || t.lanes() > 4 ? "" : name->second + std::to_string(t.lanes());
}

bool is_cuda_half(Dialect dialect, Type t) {
    return dialect == Dialect::CUDA && t.is_scalar() && t.is_float() && t.bits() == 16;
}

constexpr const char *half_struct = "ct_half_value";

}  // namespace

// How C passes it.
std::string DeviceWriter::linked_type(const std::string &function, Type t) {
    const bool is_cuda = file_.dialect == Dialect::CUDA;
    if (t.bits() == 0) {
        return "void";
    }
    if (t.is_handle()) {
        return is_cuda ? "void *" : "__global void *";
    }
    if (is_cuda_half(file_.dialect, t)) {
        // Sorts before the names of functions.
        file_.externs[""] = "struct ct_half_value { unsigned short bits; };";
        return half_struct;
    }
    const std::string name = t.is_scalar() ? type_name(t) : is_cuda ? cuda_vector(t) : type_name(t);
    const bool has_width = t.lanes() <= 4 || (!is_cuda && (t.lanes() == 8 || t.lanes() == 16));
    user_assert(!name.empty() && has_width && !is_bits(t) && !(t.is_bool() && t.is_vector()))
        << where() << " calls " << function << ", which takes or gives " << to_string(t) << ": "
        << word(Word::language) << " for this target has no such type";
    return name;
}

void DeviceWriter::declare_linked(const std::string &name, const LinkedFunction &signature) {
    Texts types;
    for (const Type &t : signature.parameters) {
        types.push_back(linked_type(name, t));
    }
    const std::string result = linked_type(name, signature.result);
    if (file_.dialect == Dialect::CUDA) {
        file_.externs[name] =
            word(Word::prototype) + result + " " + name + "(" + join(types, ", ") + ");";
    }
}

// The arguments of the call for one lane of the values.
DeviceWriter::Texts DeviceWriter::linked_arguments(const LinkedFunction &signature,
                                                   const std::vector<DeviceValue> &values,
                                                   int index) {
    Texts arguments;
    size_t next = 0;
    for (const Type &t : signature.parameters) {
        Texts parts;
        for (int i = 0; i < t.lanes(); i++) {
            const DeviceValue &v = values.at(next++);
            parts.push_back(v.type.is_scalar() ? v.parts[0] : lane(v, index));
        }
        const std::string list = join(parts, ", ");
        if (t.is_vector()) {
            arguments.push_back(file_.dialect == Dialect::CUDA
                                    ? "make_" + cuda_vector(t) + "(" + list + ")"
                                    : "((" + type_name(t) + ")(" + list + "))");
        } else if (t.is_handle()) {
            arguments.push_back("(" + linked_type("", t) + ")" + list);
        } else if (is_cuda_half(file_.dialect, t)) {
            arguments.push_back(std::string(half_struct) + "{" + list + "}");
        } else {
            arguments.push_back(list);
        }
    }
    return arguments;
}

DeviceValue DeviceWriter::linked_call(const Call *op, const LinkedFunction &signature) {
    declare_linked(op->name, signature);
    std::vector<DeviceValue> values;
    for (const Expr &a : op->args) {
        values.push_back(atom(emit(a)));
    }
    const Type result = signature.result;
    Texts lanes;
    for (int i = 0; i < op->type.lanes(); i++) {
        const std::string call =
            op->name + "(" + join(linked_arguments(signature, values, i), ", ") + ")";
        if (result.bits() == 0) {
            line(call + ";");
            lanes.push_back("0");
            continue;
        }
        const std::string name = temporary();
        line("const " + linked_type(op->name, result) + " " + name + " = " + call + ";");
        if (result.is_vector()) {
            const bool is_cuda = file_.dialect == Dialect::CUDA;
            const char digit = "0123456789abcdef"[op->value_index];
            lanes.push_back(name + (is_cuda ? std::string(".") + "xyzw"[op->value_index]
                                            : std::string(".s") + digit));
        } else if (result.is_handle()) {
            lanes.push_back("(" + type_name(result) + ")" + name);
        } else {
            lanes.push_back(is_cuda_half(file_.dialect, result) ? name + ".bits" : name);
        }
    }
    return atom(op->type.is_scalar() ? DeviceValue{op->type, lanes} : from_lanes(op->type, lanes));
}

}  // namespace calotype::internal
