// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that includes LLVM's headers and works on the module of a pipeline.
#include <gtest/gtest.h>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "calotype.h"
#include "harness/expect_error.h"
#include "support/file.h"

namespace calotype {

namespace {

using internal::read_file;
using internal::TemporaryDirectory;

class LlvmModules : public ::testing::Test {
protected:
    LlvmModules() : f("doubled") {
        Var x("x");
        f(x) = 2 * x;
        module = compile_module_to_llvm_module(
            f.compile_to_module({}, "doubled", get_host_target().with_feature(Target::NoRuntime)),
            context);
    }
    std::string write(void (*output)(llvm::Module &, internal::LLVMOStream &)) {
        const std::string file = folder.path() + "/out";
        output(*module, *make_raw_fd_ostream(file));
        return read_file(file);
    }

    Func f;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    const TemporaryDirectory folder;
};

TEST_F(LlvmModules, HoldTheFunction) {
    const llvm::Function *function = module->getFunction("doubled");
    ASSERT_TRUE(function);
    EXPECT_FALSE(function->isDeclaration());
    EXPECT_EQ(&module->getContext(), &context);
}

TEST_F(LlvmModules, AreWrittenAsCodeAndAsLlvm) {
    module->getFunction("doubled")->setName("renamed");
    EXPECT_EQ(write(compile_llvm_module_to_object).substr(1, 3), "ELF");
    EXPECT_NE(write(compile_llvm_module_to_object).find("renamed"), std::string::npos);
    EXPECT_NE(write(compile_llvm_module_to_assembly).find("renamed:"), std::string::npos);
    EXPECT_NE(write(compile_llvm_module_to_llvm_assembly).find("@renamed("), std::string::npos);
    EXPECT_EQ(write(compile_llvm_module_to_llvm_bitcode).substr(0, 2), "BC");
}

TEST_F(LlvmModules, ObjectsGoIntoAStaticLibrary) {
    const std::string object = folder.path() + "/doubled.o", library = folder.path() + "/two.a";
    compile_llvm_module_to_object(*module, *make_raw_fd_ostream(object));
    create_static_library({object}, get_host_target(), library);
    const std::string bytes = read_file(library);
    EXPECT_EQ(bytes.substr(0, 7), "!<arch>");
    EXPECT_NE(bytes.find("doubled.o"), std::string::npos);
    create_static_library({object}, get_host_target(), library, false);
    EXPECT_EQ(read_file(library), bytes);
}

TEST_F(LlvmModules, OfOthersHaveNoTarget) {
    llvm::Module other("other", context);
    const std::string file = folder.path() + "/other";
    EXPECT_COMPILE_ERROR(compile_llvm_module_to_object(other, *make_raw_fd_ostream(file)),
                         "LLVM module other was not made by compile_module_to_llvm_module: it does "
                         "not say its target");
    EXPECT_COMPILE_ERROR(make_raw_fd_ostream(folder.path() + "/no/such"),
                         "cannot write " + folder.path() + "/no/such: No such file or directory");
}

}  // namespace

}  // namespace calotype
