// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates: without a mutex each store that depends on what it replaces is repeated until
// nobody came between, lane by lane; with one the element's mutex is held meanwhile.
#include <utility>

#include "codegen/c/c_writer.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// The first store in a statement to a buffer of the producer.
class FirstStore : public Visitor {
public:
    explicit FirstStore(const std::string &producer) : producer_(producer) {
    }
    const Store *found = nullptr;

protected:
    using Visitor::visit;
    void visit(const Store *op) override {
        bool matches = op->name == producer_ ||
                       op->name.compare(0, producer_.size() + 1, producer_ + ".") == 0;
        found = !found && matches ? op : found;
    }

private:
    const std::string &producer_;
};

/// The load of what a store replaces.
class ReplacedValue : public Visitor {
public:
    explicit ReplacedValue(const Store *store) : store_(store) {
    }
    Expr load;

protected:
    using Visitor::visit;
    void visit(const Load *op) override {
        if (op->name == store_->name && equal(op->index, store_->index)) {
            load = op;
        }
        Visitor::visit(op);
    }

private:
    const Store *store_;
};

Expr lane_of(const Expr &e, int lane) {
    return e.type().is_scalar() ? e : Shuffle::make_extract_element(e, lane);
}

}  // namespace

void CWriter::emit_node(const Atomic *op) {
    if (op->mutex_name.empty()) {
        std::string before = std::exchange(atomic_producer_, op->producer_name);
        emit(op->body);
        atomic_producer_ = before;
        return;
    }
    FirstStore store(op->producer_name);
    store(op->body);
    internal_assert(store.found) << "an atomic statement that stores nothing to "
                                 << op->producer_name;
    const Name *mutexes = symbols_.find(op->mutex_name);
    internal_assert(mutexes) << "mutexes not in scope: " << op->mutex_name;
    std::string index = emit(lane_of(store.found->index, 0));
    for (const char *function : {"calotype_mutex_array_lock", "calotype_mutex_array_unlock"}) {
        file_.externs.emplace(function, std::string("int ") + function + "(void *, int);");
    }
    std::string arguments = "((void *)" + mutexes->text + ", int(" + index + "))";
    open("if (int code = calotype_mutex_array_lock" + arguments + ")");
    line("return code;");
    close();
    emit(op->body);
    open("if (int code = calotype_mutex_array_unlock" + arguments + ")");
    line("return code;");
    close();
}

// False if the value does not depend on what is stored there: then a plain store will do.
bool CWriter::atomic_store(const Store *op) {
    ReplacedValue replaced(op);
    replaced(op->value);
    if (!replaced.load.defined()) {
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
        ScopedBinding<Name> binding(symbols_, ".old", Name{old, t});
        Expr scalar = Variable::make(t, ".old");
        Expr known = lanes == 1 ? scalar : Broadcast::make(scalar, lanes);
        line(next + " = " + emit(lane_of(substitute(replaced.load, known, op->value), i)) + ";");
        indent_--;
        line("} while (!__atomic_compare_exchange(" + p + ", &" + old + ", &" + next +
             ", false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));");
        close();
    }
    return true;
}

}  // namespace calotype::internal
