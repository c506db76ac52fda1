// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/random_exprs.h"

#include <cmath>
#include <cstring>

#include "harness/random_ir.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype::test {

using namespace internal;

namespace {

/// Gives variables of one name and several types a name a type, and lists them.
class NamesByType : public Mutator {
public:
    std::map<std::string, Type> variables;
    bool saturates_floats = false;  ///< not a thing that the interpreter knows

protected:
    using Mutator::visit;
    Expr visit(const Variable *op) override {
        std::string name = op->name + "_" + to_string(op->type);
        if (bound_.count(op->name)) {
            return Variable::make(op->type, op->name);
        }
        variables[name] = op->type;
        return Variable::make(op->type, name);
    }
    // What becomes of NaN and of the sign of zero in a minimum is left open.
    Expr visit(const FloatImm *op) override {
        bool ordinary = std::isfinite(op->value) && !std::signbit(op->value);
        return ordinary ? Expr(op) : FloatImm::make(op->type, 1.5);
    }
    // The interpreter does these two in more digits.
    Expr visit(const Mod *op) override {
        return op->type.is_float() ? mutate(Sub::make(op->a, op->b)) : Mutator::visit(op);
    }
    Expr visit(const Ramp *op) override {
        return op->type.is_float() ? mutate(Broadcast::make(op->base, op->lanes))
                                   : Mutator::visit(op);
    }
    Expr visit(const VectorReduce *op) override {
        saturates_floats |= op->op == VectorReduce::SaturatingAdd && op->type.is_float();
        return Mutator::visit(op);
    }
    Expr visit(const Let *op) override {
        Expr value = mutate(op->value);
        // Lets get names of their own, so that they hide nothing.
        std::string name = "let" + std::to_string(lets_++);
        Expr body = substitute_type(op, name);
        return Let::make(name, value, mutate(body));
    }

private:
    Expr substitute_type(const Let *op, const std::string &name);
    std::map<std::string, int> bound_;
    int lets_ = 0;
};

/// In the body of a let, its variable by its new name, marked by a leading quote against renaming.
class RenameLet : public Mutator {
public:
    RenameLet(const Let *let, std::string name) : let_(let), name_(std::move(name)) {
    }

protected:
    using Mutator::visit;
    Expr visit(const Variable *op) override {
        bool same = op->name == let_->name && op->type == let_->value.type();
        return same ? Variable::make(op->type, name_) : Expr(op);
    }

private:
    const Let *let_;
    std::string name_;
};

Expr NamesByType::substitute_type(const Let *op, const std::string &name) {
    bound_[name] = 1;
    return RenameLet(op, name).mutate(op->body);
}

Value random_value(RandomIr &random, Type t) {
    Value v{t, {}};
    while (int(v.lanes.size()) < t.lanes()) {
        Interpreter interpreter;
        Lane lane = interpreter.evaluate(random.constant(t.element_of())).lanes[0];
        if (std::isfinite(lane.f)) {
            v.lanes.push_back(lane);
        }
    }
    return v;
}

}  // namespace

void write_value(const Value &v, uint8_t *out) {
    int bytes = v.type.bytes();
    for (size_t i = 0; i < v.lanes.size(); i++) {
        uint64_t bits = uint64_t(v.lanes[i].i);
        if (v.type.is_float()) {
            double x = v.lanes[i].f;
            float y = float(x);
            uint32_t bits32;
            std::memcpy(&bits32, &y, 4);
            bits = bits32;
            if (v.type.bits() == 64) {
                std::memcpy(&bits, &x, 8);
            } else if (v.type.bits() == 16) {
                bits = v.type.is_bfloat() ? bfloat16_t(x).to_bits() : float16_t(x).to_bits();
            }
        }
        std::memcpy(out + i * size_t(bytes), &bits, size_t(bytes));
    }
}

Value read_value(Type t, const uint8_t *in) {
    Value v{t, std::vector<Lane>(size_t(t.lanes()))};
    for (size_t i = 0; i < v.lanes.size(); i++) {
        uint64_t bits = 0;
        std::memcpy(&bits, in + i * size_t(t.bytes()), size_t(t.bytes()));
        if (t.is_float()) {
            float y;
            uint32_t bits32 = uint32_t(bits);
            std::memcpy(&y, &bits32, 4);
            v.lanes[i].f = y;
            if (t.bits() == 64) {
                std::memcpy(&v.lanes[i].f, &bits, 8);
            } else if (t.bits() == 16) {
                v.lanes[i].f = t.is_bfloat() ? double(bfloat16_t::make_from_bits(uint16_t(bits)))
                                             : double(float16_t::make_from_bits(uint16_t(bits)));
            }
        } else if (t.is_int()) {
            int shift = 64 - t.bits();
            v.lanes[i].i = int64_t(bits << shift) >> shift;
        } else {
            v.lanes[i].i = t.is_bool() ? (bits & 1) : bits;
        }
    }
    return v;
}

RandomExprs random_exprs(uint32_t seed, int count, int depth) {
    RandomIrOptions options;
    options.loads_and_calls = false;
    options.handles = false;
    options.intrinsics = true;
    RandomIr random(seed, options);
    NamesByType names;
    RandomExprs result;
    while (int(result.exprs.size()) < count) {
        Type t = random.type();
        if (t.is_handle()) {
            continue;
        }
        names.saturates_floats = false;
        Expr e = names.mutate(random.expr(t, depth));
        if (!names.saturates_floats) {
            result.exprs.push_back(e);
        }
    }
    for (const auto &[name, type] : names.variables) {
        result.values[name] = random_value(random, type);
    }
    return result;
}

bool defined_value(const Expr &e, const std::map<std::string, Value> &values, Value *result) {
    Interpreter interpreter;
    interpreter.variables = values;
    try {
        *result = interpreter.evaluate(e);
    } catch (const InternalError &) {
        return false;  // the interpreter does not know all that compiled code does
    }
    return !interpreter.undefined() && !interpreter.met_nan();
}

Stmt store_all(const RandomExprs &batch) {
    const auto slot = [](Type t, size_t number) {
        const Expr first = make_const(Int(32), int64_t(number) * slot_bytes / t.bytes());
        return t.is_scalar() ? first : Ramp::make(first, make_one(Int(32)), t.lanes());
    };
    Stmt body;
    for (size_t i = batch.exprs.size(); i-- > 0;) {
        const Type t = batch.exprs[i].type();
        body = Block::make(
            Store::make("out", batch.exprs[i], slot(t, i), const_true(t.lanes()), Alignment()),
            body);
    }
    size_t n = 0;
    for (const auto &[name, value] : batch.values) {
        const Type t = value.type;
        body = LetStmt::make(
            name, Load::make(t, "values", slot(t, n++), const_true(t.lanes()), Alignment()), body);
    }
    return body;
}

}  // namespace calotype::test
