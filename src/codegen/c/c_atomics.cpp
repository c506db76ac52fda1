// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates: each store that depends on what it replaces is repeated until nobody came
// between, lane by lane.
#include <utility>

#include "arith/atomic_update.h"
#include "codegen/c/c_writer.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

void CWriter::emit_node(const Atomic *op) {
    internal_assert(op->mutex_name.empty()) << "an atomic update with a mutex is not lowered";
    const std::string before = std::exchange(atomic_producer_, op->producer_name);
    emit(op->body);
    atomic_producer_ = before;
}

// False if the value does not depend on what is stored there: then a plain store will do.
bool CWriter::atomic_store(const Store *op) {
    const Expr replaced = replaced_value(op);
    if (!replaced.defined()) {
        return false;
    }
    Type t = op->value.type().element_of();
    int lanes = op->value.type().lanes();
    std::string type = type_name(t), index = emit(op->index), condition;
    if (!is_trivially_true(op->predicate)) {
        condition = emit(op->predicate);
    }
    auto lane_text = [](const std::string &text, Type of, int i) {
        return of.is_vector() ? text + "[" + std::to_string(i) + "]" : text;
    };
    for (int i = 0; i < lanes; i++) {
        open(condition.empty() ? "" : "if (" + lane_text(condition, op->predicate.type(), i) + ")");
        std::string p = fresh("p"), old = fresh("old"), next = fresh("next");
        line(type + " *const " + p + " = static_cast<" + type + " *>(" +
             symbols_.get(op->name).text + ") + " + lane_text(index, op->index.type(), i) + ";");
        line(type + " " + old + ", " + next + ";");
        line("__atomic_load(" + p + ", &" + old + ", __ATOMIC_RELAXED);");
        open("do");
        ScopedBinding<Name> binding(symbols_, old_value, Name{old, t});
        line(next + " = " + emit(updated_lane(op, replaced, i)) + ";");
        indent_--;
        line("} while (!__atomic_compare_exchange(" + p + ", &" + old + ", &" + next +
             ", false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));");
        close();
    }
    return true;
}

}  // namespace calotype::internal
