// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/opencl/device_writer.h"
#include "ir/constants.h"
#include "ir/walk/field_walk.h"
#include "support/error.h"

namespace calotype::internal {

void DeviceWriter::emit(const Stmt &s) {
    if (s.defined()) {
        dispatch(s.get(), [this](const auto *op) { emit_node(op); });
    }
}

// A variable of the let's name, if it is not one already.
void DeviceWriter::emit_node(const LetStmt *op) {
    DeviceValue value = emit(op->value);
    if (op->value.type().is_scalar()) {
        value = define(value.type, value.parts, op->name);
    }
    note_data(op->name, op->value);
    ScopedBinding<DeviceValue> binding(symbols_, op->name, value);
    emit(op->body);
}

void DeviceWriter::emit_node(const ProducerConsumer *op) {
    emit(op->body);
}

void DeviceWriter::emit_node(const Block *op) {
    emit(op->first);
    emit(op->rest);
}

void DeviceWriter::emit_node(const For *op) {
    internal_assert(op->for_type == ForType::Serial)
        << "a " << to_string(op->for_type) << " loop in a kernel: " << op->name;
    std::string min = scalar(op->min), extent = scalar(op->extent), name = fresh(op->name);
    Type t = op->min.type();
    std::string end = define(t, {min + " + " + extent}).parts[0];
    open("for (" + type_name(t) + " " + name + " = " + min + "; " + name + " < " + end + "; " +
         name + "++)");
    {
        ScopedBinding<DeviceValue> binding(symbols_, op->name, DeviceValue{t, {name}});
        emit(op->body);
    }
    close();
}

void DeviceWriter::emit_node(const IfThenElse *op) {
    open("if (" + scalar(op->condition) + ")");
    emit(op->then_case);
    close();
    if (op->else_case.defined()) {
        open("else");
        emit(op->else_case);
        close();
    }
}

void DeviceWriter::emit_node(const Evaluate *op) {
    if (!is_const(op->value)) {
        emit(op->value);
    }
}

namespace {

[[noreturn]] void not_in_kernels(const std::string &where, const char *what) {
    internal_error << what << " in " << where;
}

}  // namespace

void DeviceWriter::emit_node(const AssertStmt *) {
    not_in_kernels(where(), "an assertion");
}
void DeviceWriter::emit_node(const Acquire *) {
    not_in_kernels(where(), "a semaphore");
}
void DeviceWriter::emit_node(const Fork *) {
    not_in_kernels(where(), "a fork");
}
void DeviceWriter::emit_node(const Provide *) {
    not_in_kernels(where(), "a provide");
}
void DeviceWriter::emit_node(const Realize *) {
    not_in_kernels(where(), "a realization");
}
void DeviceWriter::emit_node(const HoistedStorage *) {
    not_in_kernels(where(), "hoisted storage");
}
void DeviceWriter::emit_node(const Prefetch *op) {
    emit(op->body);
}

}  // namespace calotype::internal
