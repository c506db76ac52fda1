// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of all node kinds and types: compiled code against the interpreter.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>

#include "codegen/emit.h"
#include "harness/random_exprs.h"
#include "ir/constants.h"
#include "ir/printer.h"
#include "support/file.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

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
        test::write_value(value, memory.back().data());
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
        test::Value expected;
        if (!test::defined_value(exprs[i], values, &expected)) {
            continue;
        }
        compared++;
        test::Value got = test::read_value(exprs[i].type(), memory[first_output + i].data());
        EXPECT_TRUE(got == expected) << exprs[i] << "\ngives " << test::to_string(got) << ", not "
                                     << test::to_string(expected) << " on " << target.to_string();
    }
}

/// Batches of random expressions, one a seed; returns how many were compared.
int check_random(uint32_t first_seed, uint32_t last_seed, bool through_cpp) {
    int compared = 0;
    for (uint32_t seed = first_seed; seed <= last_seed; seed++) {
        test::RandomExprs batch = test::random_exprs(seed, 40);
        check_batch(runnable_targets()[seed % runnable_targets().size()], batch.exprs, batch.values,
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
