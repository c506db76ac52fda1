// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Output files, given to the tools that they are for: the system's C and C++ compilers and linker.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/emit.h"
#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "support/error.h"
#include "support/file.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

/// out[0] = a * 2 + b, over the host pointer of a buffer.
LoweredModule module_with(const std::string &name, NameMangling mangling) {
    Expr host =
        Call::make(Handle(), Intrinsic::buffer_get_host, {Variable::make(Handle(), "out.buffer")});
    Expr value = Variable::make(Int(32), "a") * 2 + cast<int>(Variable::make(UInt(8), "b"));
    Stmt body = LetStmt::make("out", host, Store::make("out", value, 0, const_true(), Alignment()));
    LoweredArgument out(Argument("out", Argument::OutputBuffer, Int(32), 1, {}));
    LoweredModule module;
    module.name = "twice";
    module.target = "x86-64-linux";
    module.functions.push_back({name,
                                {scalar_argument("a", Int(32)), scalar_argument("b", UInt(8)), out},
                                body,
                                LinkageType::ExternalPlusMetadata,
                                mangling});
    return module;
}

class Output : public testing::Test {
protected:
    std::string path(const std::string &name) const {
        return folder_.path() + "/" + name;
    }
    /// Runs a command in the folder; its exit status, what it says on failure in the log.
    int run(const std::string &command) const {
        int status =
            std::system(("cd " + folder_.path() + " && " + command + " > log 2>&1").c_str());
        if (status != 0) {
            ADD_FAILURE() << command << "\n" << read_file(path("log"));
        }
        return status;
    }
    void write(const LoweredModule &module,
               const std::map<OutputFileType, std::string> &names) const {
        std::set<OutputFileType> types;
        for (const auto &[type, name] : names) {
            types.insert(type);
        }
        for (const auto &[type, text] : emit_outputs(module, Target("x86-64-linux"), types)) {
            write_file_atomically(path(names.at(type)), text);
        }
    }
    TemporaryDirectory folder_;
};

const char *const main_text = R"(
#include "twice.h"
#include "runtime/abi/buffer.h"
#include "runtime/abi/metadata.h"
#include <string.h>
int main(void) {
    int32_t result = 0;
    struct calotype_buffer_t out;
    memset(&out, 0, sizeof out);
    out.host = (uint8_t *)&result;
    if (twice(20, 2, &out) != 0 || result != 42) return 1;
    int32_t a = 1; uint8_t b = 200; void *args[] = {&a, &b, &out};
    if (twice_argv(args) != 0 || result != 202) return 2;
    return strcmp(twice_metadata()->arguments[2].name, "out") != 0;
}
)";

TEST_F(Output, HeaderAndObjectLinkIntoACProgram) {
    write(module_with("twice", NameMangling::C), {{OutputFileType::c_header, "twice.h"},
                                                  {OutputFileType::object, "twice.o"},
                                                  {OutputFileType::static_library, "twice.a"}});
    write_file_atomically(path("main.c"), main_text);
    std::string compile = "cc -std=c99 -Wall -Werror -I" CALOTYPE_SOURCE_DIR " main.c ";
    EXPECT_EQ(run(compile + "twice.o -o a && ./a"), 0);
    EXPECT_EQ(run(compile + "twice.a -o b && ./b"), 0);
    EXPECT_EQ(run("cp main.c main.cpp && c++ -std=c++17 -Wall -Werror -Wno-class-memaccess "
                  "-I" CALOTYPE_SOURCE_DIR " main.cpp twice.a -o c && ./c"),
              0);
}

TEST_F(Output, AssemblyAndBitcodeAreReadByTheirTools) {
    write(module_with("twice", NameMangling::C),
          {{OutputFileType::c_header, "twice.h"}, {OutputFileType::assembly, "twice.s"}});
    write_file_atomically(path("main.c"), main_text);
    EXPECT_EQ(run("cc -std=c99 -I" CALOTYPE_SOURCE_DIR " main.c twice.s -o a && ./a"), 0);
}

TEST_F(Output, CppSourceStandsForTheObject) {
    write(module_with("twice", NameMangling::C),
          {{OutputFileType::c_header, "twice.h"}, {OutputFileType::c_source, "twice.cpp"}});
    write_file_atomically(path("main.c"), main_text);
    EXPECT_EQ(run("c++ -std=c++17 -Wall -Wno-unused -Werror -c twice.cpp -o twice.o && cc -std=c99 "
                  "-I" CALOTYPE_SOURCE_DIR " main.c twice.o -lm -o a && ./a"),
              0);
}

TEST_F(Output, CppNamesAreThoseOfTheCompiler) {
    write(module_with("one::two::twice", NameMangling::CPlusPlus),
          {{OutputFileType::c_header, "twice.h"}, {OutputFileType::object, "twice.o"}});
    write_file_atomically(path("main.cpp"), R"(
#include "twice.h"
#include "runtime/abi/buffer.h"
int main() {
    int32_t result = 0;
    calotype_buffer_t out = {};
    out.host = reinterpret_cast<uint8_t *>(&result);
    (void)one::two::twice_metadata();
    int32_t a = 1; uint8_t b = 2; void *args[] = {&a, &b, &out};
    return one::two::twice(20, 2, &out) != 0 || result != 42 || one::two::twice_argv(args) != 0 || result != 4;
}
)");
    EXPECT_EQ(
        run("c++ -std=c++17 -Wall -Werror -I" CALOTYPE_SOURCE_DIR " main.cpp twice.o -o a && ./a"),
        0);
}

// A program passes its context as void const *, other pipelines pass theirs as void *.
TEST_F(Output, CppFunctionsAreCalledWithEitherContext) {
    static const HandleType context{"void const *"};
    LoweredModule module = module_with("one::twice", NameMangling::CPlusPlus);
    std::vector<LoweredArgument> &args = module.functions[0].args;
    args.insert(args.begin(), pointer_argument("__user_context"));
    args[0].type = Handle(1, &context);
    write(module, {{OutputFileType::c_header, "twice.h"}, {OutputFileType::object, "twice.o"}});
    write_file_atomically(path("main.cpp"), R"(
#include "twice.h"
#include "runtime/abi/buffer.h"
namespace one { int twice(void *, int32_t, uint8_t, calotype_buffer_t *); }
int main() {
    int32_t result = 0;
    calotype_buffer_t out = {};
    out.host = reinterpret_cast<uint8_t *>(&result);
    const void *const_context = nullptr;
    void *context = nullptr;
    return one::twice(const_context, 20, 2, &out) != 0 || one::twice(context, 20, 2, &out) != 0;
}
)");
    EXPECT_EQ(
        run("c++ -std=c++17 -Wall -Werror -I" CALOTYPE_SOURCE_DIR " main.cpp twice.o -o a && ./a"),
        0);
}

TEST(SymbolNames, OfPointersNameWhatTheyPointTo) {
    static const HandleType types[] = {
        {"struct g const *"},      {"struct g *"},      {"struct g volatile *"},
        {"class a::b::s const *"}, {"class a::b::t *"}, {"int32_t const *"},
        {"void const *"},          {"int32_t *"},       {"class a::b::t const *"},
        {"class a::b::s *"},       {"uint8_t const *"}};
    const auto name = [](const char *function, std::vector<int> parameters) {
        std::vector<Type> all;
        for (int i : parameters) {
            all.push_back(i < 0 ? type_of<calotype_buffer_t *>() : Handle(1, &types[i]));
        }
        return cpp_symbol_name(function, all);
    };
    EXPECT_EQ(name("h", {0, 1, 2}), "_Z1hPK1gPS_PVS_");
    EXPECT_EQ(name("a::b::f", {-1, 3, 4, 5, 6, 3, 6, 7, 8}),
              "_ZN1a1b1fEP17calotype_buffer_tPKNS0_1sEPNS0_1tEPKiPKvS5_SB_PiPKS6_");
    EXPECT_EQ(name("n::k", {0, 9, 10}), "_ZN1n1kEPK1gPN1a1b1sEPKh");
}

// As c++ names them; std has an abbreviation of its own.
TEST(SymbolNames, InStd) {
    static const HandleType types[] = {{"struct std::s *"},         {"struct std::s const *"},
                                       {"class std::a::t *"},       {"class std::u *"},
                                       {"class std::a::t const *"}, {"class std::a::b::v *"}};
    const auto name = [](const char *function, std::vector<int> parameters) {
        std::vector<Type> all;
        for (int i : parameters) {
            all.push_back(Handle(1, &types[i]));
        }
        return cpp_symbol_name(function, all);
    };
    EXPECT_EQ(name("std::f", {0, 1, 2, 3, 4}), "_ZSt1fPSt1sPKS_PNSt1a1tEPSt1uPKS4_");
    EXPECT_EQ(name("std::a::g", {2, 0, 4}), "_ZNSt1a1gEPNS_1tEPSt1sPKS0_");
    EXPECT_EQ(name("std::a::b::h", {5, 2, 0}), "_ZNSt1a1b1hEPNS0_1vEPNS_1tEPSt1s");
    EXPECT_EQ(name("n::k", {0, 2, 0}), "_ZN1n1kEPSt1sPNSt1a1tES1_");
    EXPECT_EQ(name("std", {}), "_Z3stdv");
}

TEST(SymbolNames, ItaniumMangling) {
    LoweredModule module = module_with("a::b::f", NameMangling::CPlusPlus);
    LoweredFunction f = module.functions[0];
    f.args = {buffer_argument("x", UInt(8), 2), scalar_argument("s", Float(32)),
              buffer_argument("y", UInt(8), 2), pointer_argument("p"), pointer_argument("q")};
    Target target("x86-64-linux");
    EXPECT_EQ(symbol_name(f, target), "_ZN1a1b1fEP17calotype_buffer_tfS2_PvS3_");
    EXPECT_EQ(argv_symbol_name(f, target), "_ZN1a1b6f_argvEPPv");
    EXPECT_EQ(metadata_symbol_name(f, target), "_ZN1a1b10f_metadataEv");
    EXPECT_EQ(cpp_symbol_name("n::g", {type_of<calotype_buffer_t *>(), Int(32), Bool()}),
              "_ZN1n1gEP17calotype_buffer_tib");
    f.name_mangling = NameMangling::C;
    EXPECT_EQ(symbol_name(f, target), "f");
    f.name_mangling = NameMangling::Default;
    EXPECT_EQ(symbol_name(f, Target("x86-64-linux-c_plus_plus_name_mangling")),
              "_ZN1a1b1fEP17calotype_buffer_tfS2_PvS3_");
}

TEST_F(Output, RegistrationTellsTheProgram) {
    write(module_with("twice", NameMangling::C),
          {{OutputFileType::registration, "twice.registration.cpp"},
           {OutputFileType::object, "twice.o"}});
    write_file_atomically(path("main.cpp"), R"(
#include "runtime/abi/metadata.h"
#include <string>
static std::string *seen;
extern "C" void calotype_register_argv_and_metadata(int (*call)(void **), const calotype_filter_metadata_t *m, const char *const *extra) {
    seen = new std::string(m->name);
    for (; extra && *extra; extra++) {
        *seen += std::string(" ") + *extra;
    }
}
extern "C" const char *const *pairs() {
    static const char *const all[] = {"key", "value", nullptr};
    return all;
}
int main(int, char **args) { return !seen || *seen != args[1]; }
)");
    const std::string sources = " main.cpp twice.registration.cpp twice.o -o a && ./a ";
    const std::string compile = "c++ -std=c++17 -I" CALOTYPE_SOURCE_DIR " ";
    EXPECT_EQ(run(compile + sources + "twice"), 0);
    for (const char *prefix : {"CALOTYPE", "HALIDE"}) {
        EXPECT_EQ(run(compile + "-D" + prefix + "_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC=pairs" +
                      sources + "'twice key value'"),
                  0);
    }
}

TEST_F(Output, HeadersTakeAttributesOfThePrograms) {
    write(module_with("twice", NameMangling::C), {{OutputFileType::c_header, "twice.h"}});
    write_file_atomically(path("main.cpp"), R"(
#include "twice.h"
int main() { return 0; }
)");
    for (const char *prefix : {"CALOTYPE", "HALIDE"}) {
        EXPECT_EQ(run(std::string("c++ -E -D") + prefix +
                      "_FUNCTION_ATTRS=of_the_program main.cpp | grep of_the_program"),
                  0);
    }
}

TEST(OutputTypes, NamesAndAliases) {
    EXPECT_EQ(output_type_from_name("static_library"), OutputFileType::static_library);
    EXPECT_EQ(output_type_from_name("h"), OutputFileType::c_header);
    EXPECT_EQ(output_type_from_name("nonsense"), std::nullopt);
    EXPECT_STREQ(output_type_info(OutputFileType::c_source).extension, ".calotype_generated.cpp");
}

TEST(Targets, SanitizersInstrumentAccesses) {
    LoweredModule module = module_with("twice", NameMangling::C);
    auto text = [&](const char *target) {
        return CompiledModule(module, Target(target)).llvm_assembly();
    };
    EXPECT_NE(text("x86-64-linux-asan").find("__asan_report_store4"), std::string::npos);
    EXPECT_NE(text("x86-64-linux-tsan").find("__tsan_write4"), std::string::npos);
    EXPECT_EQ(text("x86-64-linux").find("san_"), std::string::npos);
}

TEST(Targets, ModesOfCompilingShowInTheCode) {
    LoweredModule module = module_with("twice", NameMangling::C);
    auto text = [&](const char *target) {
        return CompiledModule(module, Target(target)).llvm_assembly();
    };
    auto object = [&](const char *target) {
        return CompiledModule(module, Target(target)).object();
    };
    auto has = [](const std::string &where, const char *what) {
        return where.find(what) != std::string::npos;
    };
    const char *plain = "x86-64-linux";
    EXPECT_TRUE(has(text("x86-64-linux-sanitizer_coverage"), "__sanitizer_cov_8bit_counters_init"));
    EXPECT_FALSE(has(text(plain), "__sanitizer_cov"));
    EXPECT_TRUE(has(text("x86-64-linux-enable_backtraces"), "\"frame-pointer\"=\"all\""));
    EXPECT_FALSE(has(text(plain), "frame-pointer"));
    EXPECT_TRUE(has(object("x86-64-linux-embed_bitcode"), ".llvmbc"));
    EXPECT_FALSE(has(object(plain), ".llvmbc"));
    EXPECT_TRUE(has(text("x86-64-linux-x86apx"), "+egpr"));
    EXPECT_TRUE(has(text("x86-64-linux-avx10_1"), "+avx10.1-512"));
}

const char *const one_of_two_text = R"(
#include <string.h>
inline int &count() { static int n = 0; return ++n; }    // in both objects, to be one
static const char *own = "one";                          // in both, and each its own
extern int other();
extern const char *name_of_other();
__attribute__((weak)) int chosen() { return 1; }
__attribute__((visibility("hidden"))) int hidden = 7;
static thread_local int per_thread = 20;
static int at_start = count();
int one() {
    if (strcmp(own, "one") || strcmp(name_of_other(), "two")) return 1;
    if (chosen() != 2 || other() != 8 || per_thread != 20) return 2;
    return at_start + count() == 4 || at_start + count() == 6 ? 0 : 3;
}
)";
const char *const other_of_two_text = R"(
inline int &count() { static int n = 0; return ++n; }
static const char *own = "two";
const char *name_of_other() { return own; }
int chosen() { return 2; }
extern int hidden;
static int at_start = count();
int other() { return hidden + 1 + at_start - at_start; }
)";

TEST_F(Output, SeveralObjectsAsOne) {
    write_file_atomically(path("one.cpp"), one_of_two_text);
    write_file_atomically(path("two.cpp"), other_of_two_text);
    write_file_atomically(path("main.cpp"), "int one(); int main() { return one(); }");
    for (const char *flags : {"-O0", "-O2 -fPIC -g -ffunction-sections -fdata-sections"}) {
        ASSERT_EQ(run(std::string("c++ ") + flags + " -c one.cpp two.cpp main.cpp"), 0);
        std::vector<std::pair<std::string, std::string>> objects;
        for (const char *name : {"one.o", "two.o"}) {
            objects.emplace_back(name, read_file(path(name)));
        }
        const std::string merged = merge_objects(objects);
        EXPECT_EQ(merged, merge_objects(objects));
        write_file_atomically(path("merged.o"), merged);
        write_file_atomically(path("again.o"), merge_objects({{"merged.o", merged}}));
        for (const char *link :
             {"main.o merged.o", "main.o again.o", "-Wl,--gc-sections merged.o main.o"}) {
            ASSERT_EQ(run(std::string("c++ ") + link + " -o program"), 0);
            EXPECT_EQ(run("./program"), 0) << flags << ": " << link;
        }
    }
}

TEST(Targets, WhatCannotBeCompiledForIsSaid) {
    const LoweredModule module = module_with("twice", NameMangling::C);
    const std::pair<const char *, const char *> unknown[] = {
        {"arm-32-linux", "the architecture must be x86-64 or arm-64 or riscv-64"},
        {"arm-64-osx", "the system must be linux, android or noos"},
        {"x86-64-windows", "the system must be linux, android or noos"},
        {"x86-64-osx", "the system must be linux, android or noos"},
    };
    for (const auto &[target, reason] : unknown) {
        try {
            CompiledModule(module, Target(target));
            FAIL() << "no error for " << target;
        } catch (const CompileError &e) {
            EXPECT_EQ(std::string(e.what()),
                      std::string("no code can be generated for target ") + target + ": " + reason);
        }
    }
}

}  // namespace
}  // namespace calotype::internal
