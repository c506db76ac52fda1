// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of all node kinds and types: compiled code against the interpreter.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "codegen/emit.h"
#include "harness/interpret.h"
#include "harness/random_ir.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "support/error.h"
#include "support/file.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
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

/// The bytes of a value in memory, and back.
void write_value(const test::Value &v, uint8_t *out) {
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

test::Value read_value(Type t, const uint8_t *in) {
    test::Value v{t, std::vector<test::Lane>(size_t(t.lanes()))};
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

test::Value random_value(test::RandomIr &random, Type t) {
    test::Value v{t, {}};
    while (int(v.lanes.size()) < t.lanes()) {
        test::Interpreter interpreter;
        test::Lane lane = interpreter.evaluate(random.constant(t.element_of())).lanes[0];
        if (std::isfinite(lane.f)) {
            v.lanes.push_back(lane);
        }
    }
    return v;
}

constexpr size_t slot = 4096;  // bytes for one value

using EntryPoint = int (*)(void **);

/// The same by way of C++ source and the system's compiler. The library stays loaded.
EntryPoint load_through_cpp(const LoweredModule &module, const Target &target) {
    TemporaryDirectory folder;
    write_file_atomically(folder.path() + "/f.cpp", c_source_text(module, target));
    std::string command =
        "cd " + folder.path() +
        " && c++ -std=c++17 -O0 -ffp-contract=off -fPIC -shared f.cpp -o f.so 2> log";
    if (std::system(command.c_str()) != 0) {
        ADD_FAILURE() << read_file(folder.path() + "/log").substr(0, 4000);
        return nullptr;
    }
    void *library = dlopen((folder.path() + "/f.so").c_str(), RTLD_NOW);
    if (!library) {
        ADD_FAILURE() << dlerror();
        return nullptr;
    }
    return reinterpret_cast<EntryPoint>(dlsym(library, "f_argv"));
}

/// Compiles a function that computes all expressions from named values, runs it, and compares.
/// Adds to `compared` those whose value is defined.
void check_batch(const Target &target, const std::vector<Expr> &exprs,
                 const std::map<std::string, test::Value> &values, bool through_cpp,
                 int &compared) {
    std::vector<LoweredArgument> args;
    std::vector<std::vector<uint8_t>> memory;
    Stmt body;
    for (size_t i = exprs.size(); i-- > 0;) {
        int lanes = exprs[i].type().lanes();
        Expr index = lanes == 1 ? Expr(0) : Ramp::make(0, 1, lanes);
        body = Block::make(
            Store::make("out" + std::to_string(i), exprs[i], index, const_true(lanes), Alignment()),
            body);
    }
    for (const auto &[name, value] : values) {
        int lanes = value.type.lanes();
        Expr index = lanes == 1 ? Expr(0) : Ramp::make(0, 1, lanes);
        args.push_back(pointer_argument("p_" + name));
        memory.emplace_back(slot);
        write_value(value, memory.back().data());
        body = LetStmt::make(
            name, Load::make(value.type, "p_" + name, index, const_true(lanes), Alignment()), body);
    }
    size_t first_output = args.size();
    for (size_t i = 0; i < exprs.size(); i++) {
        args.push_back(pointer_argument("out" + std::to_string(i)));
        memory.emplace_back(slot);
    }
    LoweredModule module = one_function(args, body, LinkageType::ExternalPlusArgv);
    module.any_strict_float = true;
    std::shared_ptr<JitLibrary> library;
    EntryPoint entry;
    if (through_cpp) {
        entry = load_through_cpp(module, target);
    } else {
        library = load_module(module, target);
        entry = library->function<int(void **)>("f_argv");
    }
    ASSERT_NE(entry, nullptr);
    std::vector<uint8_t *> pointers;
    std::vector<void *> argv;
    for (auto &m : memory) {
        pointers.push_back(m.data());
    }
    for (auto &p : pointers) {
        argv.push_back(&p);
    }
    ASSERT_EQ(entry(argv.data()), 0);
    for (size_t i = 0; i < exprs.size(); i++) {
        test::Interpreter interpreter;
        interpreter.variables = values;
        test::Value expected;
        try {
            expected = interpreter.evaluate(exprs[i]);
        } catch (const InternalError &) {
            continue;  // the interpreter does not know all that compiled code does
        }
        if (interpreter.undefined() || interpreter.met_nan()) {
            continue;
        }
        compared++;
        test::Value got = read_value(exprs[i].type(), memory[first_output + i].data());
        EXPECT_TRUE(got == expected) << exprs[i] << "\ngives " << test::to_string(got) << ", not "
                                     << test::to_string(expected) << " on " << target.to_string();
    }
}

/// Batches of random expressions, one a seed; returns how many were compared.
int check_random(uint32_t first_seed, uint32_t last_seed, bool through_cpp) {
    test::RandomIrOptions options;
    options.loads_and_calls = false;
    options.handles = false;
    int compared = 0;
    for (uint32_t seed = first_seed; seed <= last_seed; seed++) {
        test::RandomIr random(seed, options);
        NamesByType names;
        std::vector<Expr> exprs;
        while (exprs.size() < 40) {
            Type t = random.type();
            if (t.is_handle()) {
                continue;
            }
            names.saturates_floats = false;
            Expr e = names.mutate(random.expr(t, 4));
            if (!names.saturates_floats) {
                exprs.push_back(e);
            }
        }
        std::map<std::string, test::Value> values;
        for (const auto &[name, type] : names.variables) {
            values[name] = random_value(random, type);
        }
        check_batch(runnable_targets()[seed % runnable_targets().size()], exprs, values,
                    through_cpp, compared);
    }
    return compared;
}

TEST(RandomExpressions, CompiledEqualsInterpreted) {
    EXPECT_GT(check_random(1, 12, false), 250);
}

TEST(RandomExpressions, CppSourceEqualsInterpreted) {
    EXPECT_GT(check_random(101, 103, true), 60);
}

}  // namespace
}  // namespace calotype::internal
