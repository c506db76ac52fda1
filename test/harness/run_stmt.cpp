// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/run_stmt.h"

#include <sstream>

#include "ir/printer.h"
#include "support/error.h"

namespace calotype::test {

using namespace internal;

namespace {

Value initial(const std::string &name, Type t, int64_t at) {
    const int64_t made = (at * 7 + int64_t(name.size())) % 50;
    return t.is_float() ? Value::real(t, double(made)) : Value::integer(t, made);
}

}  // namespace

Machine::Machine() {
    interpreter_.load = [this](const Load &op, const Value &index) {
        return load(op, index);
    };
}

void Machine::run(const Stmt &s) {
    try {
        step(s);
    } catch (const Stop &) {
        assert_failed = true;
    }
}

bool Machine::holds(const Expr &condition) {
    return interpreter_.evaluate(condition).lanes[0].i != 0;
}

void Machine::step(const Stmt &s) {
    if (!s.defined()) {
        return;
    }
    if (const auto *op = s.as<Block>()) {
        step(op->first);
        step(op->rest);
    } else if (const auto *op = s.as<Store>()) {
        store(op);
    } else if (const auto *op = s.as<For>()) {
        loop(op);
    } else if (const auto *op = s.as<LetStmt>()) {
        bind(op->name, interpreter_.evaluate(op->value), op->body);
    } else if (const auto *op = s.as<IfThenElse>()) {
        step(holds(op->condition) ? op->then_case : op->else_case);
    } else if (const auto *op = s.as<AssertStmt>()) {
        if (!holds(op->condition)) {
            throw Stop();
        }
    } else if (const auto *op = s.as<Evaluate>()) {
        interpreter_.evaluate(op->value);
    } else if (const auto *op = s.as<ProducerConsumer>()) {
        step(op->body);
    } else if (const auto *op = s.as<Allocate>()) {
        step(op->body);
        memory.erase(op->name);
    } else {
        internal_assert(s.as<Free>()) << "the interpreter does not know " << s;
    }
}

void Machine::store(const Store *op) {
    const Value index = interpreter_.evaluate(op->index), value = interpreter_.evaluate(op->value);
    for (size_t i = 0; i < index.lanes.size(); i++) {
        if (!op->predicate.defined() || interpreter_.evaluate(op->predicate).lanes[i].i) {
            const int64_t at = int64_t(index.lanes[i].i);
            const Value first = initial(op->name, value.type.element_of(), at);
            if (first == Value{first.type, {value.lanes[i]}}) {
                memory[op->name].erase(at);
            } else {
                memory[op->name][at] = value.lanes[i];
            }
        }
    }
}

void Machine::loop(const For *op) {
    const Value min = interpreter_.evaluate(op->min), extent = interpreter_.evaluate(op->extent);
    for (int64_t i = 0; i < int64_t(extent.lanes[0].i); i++) {
        bind(op->name, Value::integer(min.type, int64_t(min.lanes[0].i) + i), op->body);
    }
}

void Machine::bind(const std::string &name, const Value &value, const Stmt &body) {
    auto &variables = interpreter_.variables;
    const auto old = variables.find(name);
    const bool shadows = old != variables.end();
    const Value hidden = shadows ? old->second : Value();
    variables[name] = value;
    step(body);
    if (shadows) {
        variables[name] = hidden;
    } else {
        variables.erase(name);
    }
}

Value Machine::load(const Load &op, const Value &index) {
    Value v{op.type, {}};
    for (const Lane &lane : index.lanes) {
        const auto &buffer = memory[op.name];
        const auto it = buffer.find(int64_t(lane.i));
        v.lanes.push_back(it != buffer.end()
                              ? it->second
                              : initial(op.name, op.type.element_of(), int64_t(lane.i)).lanes[0]);
    }
    return v;
}

std::string Machine::state() const {
    std::ostringstream out;
    for (const auto &[name, buffer] : memory) {
        for (const auto &[index, lane] : buffer) {
            out << name << "[" << index << "] = " << double(lane.i) + lane.f << ", ";
        }
    }
    out << (assert_failed ? "assert failed" : "done");
    return out.str();
}

}  // namespace calotype::test
