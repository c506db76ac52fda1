// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function of a kernel: its parameters, shared memory, and what is said of its blocks.
#include <numeric>

#include "codegen/opencl/device_writer.h"
#include "ir/visitor.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// All allocations in shared memory.
class SharedAllocations : public Visitor {
public:
    std::vector<const Allocate *> found;

protected:
    using Visitor::visit;
    void visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::GPUShared ||
            op->memory_type == MemoryType::GPUSharedAsync) {
            found.push_back(op);
        }
        Visitor::visit(op);
    }
};

/// The largest power of two that divides all x == remainder (mod modulus), at most 128.
int64_t known_alignment(const Alignment &a) {
    int64_t divisor = std::gcd(a.modulus, a.remainder);
    return divisor == 0 ? 128 : std::gcd(divisor, int64_t(128));
}

}  // namespace

// A name of the parameter made from `name`, kept for bind_parameters().
std::string DeviceWriter::parameter(const std::string &name) {
    parameters_.push_back(fresh(name));
    return parameters_.back();
}

std::string DeviceWriter::image_parameter(const KernelArgument &a) {
    user_assert(file_.dialect == Dialect::OpenCL)
        << where() << " reads or writes " << a.name << " as an image, which "
        << word(Word::language) << " code cannot do";
    if (a.written && a.dimensions == 3) {
        file_.extensions.insert("cl_khr_3d_image_writes");
    }
    return (a.written ? "__write_only image" : "__read_only image") + std::to_string(a.dimensions) +
           "d_t " + parameter(a.name);
}

std::string DeviceWriter::parameters() {
    Texts list;
    for (const KernelArgument &a : kernel_.args) {
        Type memory = a.type.is_bool() ? UInt(8) : a.type;
        if (!a.is_buffer) {
            list.push_back(type_name(memory) + " " + parameter(a.name + "_arg"));
        } else if (a.memory == MemoryType::GPUTexture) {
            list.push_back(image_parameter(a));
        } else if (file_.dialect == Dialect::OpenCL) {
            list.push_back("__global uchar *" + parameter(a.name + "_base"));
            list.push_back("ulong " + parameter(a.name + "_offset"));
        } else {
            list.push_back((a.written ? "" : "const ") + type_name(memory) + " *" +
                           word(Word::no_alias) + parameter(a.name));
        }
    }
    if (kernel_.dynamic_shared && file_.dialect == Dialect::OpenCL) {
        // A driver aligns the memory as the type asks for: this is the widest.
        list.push_back("__local ulong16 *" + parameter("shared_bytes"));
    }
    return join(list, ", ");
}

// In the order of parameters().
void DeviceWriter::bind_parameters() {
    size_t next = 0;
    for (const KernelArgument &a : kernel_.args) {
        std::string name = parameters_[next++];
        if (!a.is_buffer) {
            std::string value = a.type.is_bool() ? name + " != 0" : name;
            symbols_.push(a.name, define(a.type, {value}, a.name));
            continue;
        }
        Buffer b{name, a.type, Word::global, known_alignment(a.alignment), nullptr};
        if (a.memory == MemoryType::GPUTexture) {
            b.image = &a;
        } else if (file_.dialect == Dialect::OpenCL) {
            std::string type = std::string("__global ") + (a.written ? "" : "const ") +
                               type_name(a.type.is_bool() ? UInt(8) : a.type) + " *";
            b.text = fresh(a.name);
            line(type + word(Word::no_alias) + b.text + " = (" + type + ")(" + name + " + " +
                 parameters_[next++] + ");");
        }
        buffers_.push(a.name, b);
    }
}

// Shared arrays stand at the begin of the function.
void DeviceWriter::declare_shared(const Stmt &s) {
    SharedAllocations shared;
    shared(s);
    for (const Allocate *op : shared.found) {
        Type t = op->type.is_bool() ? UInt(8) : op->type;
        int32_t size = op->extents.empty() ? 1 : op->constant_size();
        std::string name = fresh(op->name);
        shared_[op->name] = name;
        if (size > 0) {
            line(std::string(word(Word::shared_array)) + type_name(t.element_of()) + " " + name +
                 "[" + std::to_string(int64_t(size) * t.lanes() + op->padding) + "] " +
                 word(Word::aligned, "128") + ";");
            continue;
        }
        user_assert(kernel_.dynamic_shared)
            << where() << " has shared memory of a size that is not a constant: " << op->name;
        std::string pointer = word(Word::shared) + type_name(t.element_of()) + " *";
        std::string bytes =
            file_.dialect == Dialect::OpenCL ? parameters_.back() : "ct_shared_bytes";
        line(pointer + "const " + name + " = (" + pointer + ")" + bytes + ";");
    }
}

std::string DeviceWriter::attributes() const {
    const int64_t *n = kernel_.block_size;
    bool known = n[0] > 0 && n[1] > 0 && n[2] > 0;
    if (!known) {
        return "void";
    }
    if (file_.dialect == Dialect::CUDA) {
        return "void __launch_bounds__(" + std::to_string(n[0] * n[1] * n[2]) + ")";
    }
    return "__attribute__((reqd_work_group_size(" + std::to_string(n[0]) + ", " +
           std::to_string(n[1]) + ", " + std::to_string(n[2]) + "))) void";
}

std::string DeviceWriter::write(const std::string &symbol) {
    std::string list = parameters();
    bind_parameters();
    if (kernel_.dynamic_shared && file_.dialect == Dialect::CUDA) {
        line("extern __shared__ __align__(128) unsigned char ct_shared_bytes[];");
    }
    declare_shared(kernel_.body);
    file_.strict = file_.strict || contains_strict_float(kernel_.body);
    emit(legalize(kernel_.body, capabilities()));
    return std::string(word(Word::kernel)) + " " + attributes() + " " + symbol + "(" + list +
           ") {\n" + out_.str() + "}\n";
}

}  // namespace calotype::internal
