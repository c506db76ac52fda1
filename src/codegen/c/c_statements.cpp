// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/c/c_writer.h"
#include "ir/constants.h"
#include "ir/conventions/stack_storage.h"
#include "ir/walk/field_walk.h"
#include "support/error.h"

namespace calotype::internal {

void CWriter::emit(const Stmt &s) {
    if (s.defined()) {
        dispatch(s.get(), [this](const auto *op) { emit_node(op); });
    }
}

void CWriter::body_with(const std::string &name, const std::string &text, Type type,
                        const Stmt &body) {
    ScopedBinding<Name> binding(symbols_, name, Name{text, type});
    emit(body);
}

void CWriter::emit_node(const LetStmt *op) {
    std::string value = emit(op->value);
    body_with(op->name, value, op->value.type(), op->body);
}

void CWriter::emit_node(const AssertStmt *op) {
    if (file_.target.has_feature(Target::NoAsserts)) {
        return;
    }
    open("if (!" + emit(op->condition) + ")");
    line("return " + emit(op->message) + ";");
    close();
}

void CWriter::emit_node(const ProducerConsumer *op) {
    emit(op->body);
}

void CWriter::emit_node(const Block *op) {
    open("");
    emit(op->first);
    close();
    emit(op->rest);
}

void CWriter::emit_node(const IfThenElse *op) {
    open("if (" + emit(op->condition) + ")");
    emit(op->then_case);
    close();
    if (op->else_case.defined()) {
        open("else");
        emit(op->else_case);
        close();
    }
}

void CWriter::emit_node(const Evaluate *op) {
    std::string value = emit(op->value);
    line("(void)" + value + ";");
}

void CWriter::emit_node(const For *op) {
    if (op->for_type == ForType::Parallel) {
        parallel_loop(op);
        return;
    }
    internal_assert(op->for_type == ForType::Serial)
        << "loop " << op->name << " is still " << to_string(op->for_type);
    std::string min = emit(op->min), extent = emit(op->extent), i = fresh("i");
    open("for (int32_t " + i + " = " + min + "; " + i + " < " + min + " + " + extent + "; " + i +
         "++)");
    body_with(op->name, i, Int(32), op->body);
    close();
}

void CWriter::emit_node(const Store *op) {
    Type t = op->value.type();
    std::string element = type_name(t.element_of());
    const Name *buffer = symbols_.find(op->name);
    internal_assert(buffer) << "buffer not in scope: " << op->name;
    if (!atomic_producer_.empty() && atomic_store(op)) {
        return;
    }
    std::string predicate = is_trivially_true(op->predicate) ? "" : emit(op->predicate);
    std::string value = emit(op->value);
    const Ramp *ramp = op->index.as<Ramp>();
    bool dense =
        ramp && ramp->base.type().is_scalar() && is_const_one(ramp->stride) && predicate.empty();
    if (dense && t.is_vector() && !t.is_handle()) {
        line("ct_store(" + buffer->text + ", " + emit(ramp->base) + ", " + value + ");");
        return;
    }
    std::string index = emit(op->index), lane = t.is_vector() ? "[i]" : "";
    std::string store = "static_cast<" + element + " *>(" + buffer->text + ")[" + index + lane +
                        "] = " + value + lane + ";";
    if (t.is_handle()) {
        store = "static_cast<void **>(" + buffer->text + ")[" + index + lane + "] = " + value +
                lane + ";";
    }
    if (!predicate.empty()) {
        std::string lane_predicate =
            op->predicate.type().is_vector() ? predicate + "[i]" : predicate;
        store = "if (" + lane_predicate + ") { " + store + " }";
    }
    line(t.is_vector()
             ? "for (int i = 0; i < " + std::to_string(t.lanes()) + "; i++) { " + store + " }"
             : store);
}

/// The name of the number of bytes. Too large is an error.
std::string CWriter::allocation_bytes(const Allocate *op) {
    const std::string bytes = fresh("bytes"),
                      limit = std::to_string(file_.target.maximum_buffer_size());
    line("uint64_t " + bytes + " = " + std::to_string(op->type.bytes() * op->type.lanes()) + ";");
    for (const Expr &e : op->extents) {
        std::string extent = emit(e);
        open("if (__builtin_mul_overflow(" + bytes + ", uint64_t(" + extent + " > 0 ? " + extent +
             " : 0), &" + bytes + ") || " + bytes + " > " + limit + "ull)");
        line("return calotype_error_buffer_allocation_too_large(" + user_context() + ", \"" +
             op->name + "\", " + bytes + ", " + limit + "ull);");
        close();
    }
    return bytes;
}

void CWriter::heap_allocation(const Allocate *op) {
    std::string name = fresh("f"), guard = fresh("guard");
    const bool has_size = !op->new_expr.defined() || !op->extents.empty();
    const std::string bytes = has_size ? allocation_bytes(op) : "";
    if (op->new_expr.defined()) {
        std::string free = op->free_function.empty() ? "" : op->free_function;
        line("void *const " + name + " = " + emit(op->new_expr) + ";");
        if (!free.empty()) {
            file_.externs.emplace(free, "void " + free + "(void *, void *);");
            line("ct_guard " + guard + " = {" + user_context() + ", " + name + ", " + free + "};");
        }
    } else {
        std::string wanted = is_trivially_true(op->condition) ? "true" : emit(op->condition);
        line("void *const " + name + " = " + wanted + " ? calotype_malloc(" + user_context() +
             ", " + bytes + " + " + std::to_string(op->padding * op->type.bytes()) +
             ") : nullptr;");
        open("if (" + wanted + " && !" + name + ")");
        line("return calotype_error_out_of_memory(" + user_context() + ");");
        close();
        line("ct_guard " + guard + " = {" + user_context() + ", " + name + ", calotype_free};");
    }
    ScopedBinding<std::string> guarded(guards_, op->name, guard);
    body_with(op->name, name, Handle(), op->body);
}

void CWriter::emit_node(const Allocate *op) {
    int64_t elements = op->extents.empty() ? 1 : op->constant_size();
    int64_t bytes = elements * op->type.bytes() * op->type.lanes();
    const bool stack = is_on_stack(op->memory_type, bytes);
    open("");
    if (elements > 0 && stack && !op->new_expr.defined()) {
        std::string storage = fresh("storage");
        line("alignas(64) uint8_t " + storage + "[" +
             std::to_string(bytes + op->padding * op->type.bytes()) + "];");
        line("void *const " + storage + "_p = " + storage + ";");
        ScopedBinding<std::string> guarded(guards_, op->name, "");
        body_with(op->name, storage + "_p", Handle(), op->body);
    } else {
        heap_allocation(op);
    }
    close();
}

void CWriter::emit_node(const Free *op) {
    const std::string &guard = guards_.get(op->name);
    if (!guard.empty()) {
        line(guard + ".release();");
    }
}

void CWriter::emit_node(const Provide *op) {
    internal_error << "provide of " << op->name << " in a lowered module";
}

void CWriter::emit_node(const Realize *op) {
    internal_error << "realize of " << op->name << " in a lowered module";
}

void CWriter::emit_node(const HoistedStorage *op) {
    internal_error << "hoisted storage of " << op->name << " in a lowered module";
}

void CWriter::emit_node(const Prefetch *op) {
    internal_error << "prefetch of " << op->name << " in a lowered module";
}

}  // namespace calotype::internal
