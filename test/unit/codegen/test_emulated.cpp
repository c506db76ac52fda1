// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for other machines gives what code for this one gives. It runs where there are their C compiler and an emulator,
// as from the packages gcc-aarch64-linux-gnu, gcc-riscv64-linux-gnu and qemu-user of Debian.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>

#include "codegen/module.h"
#include "ir/constants.h"
#include "ir/language/fixed_point.h"
#include "ir/language/math.h"
#include "support/file.h"
#include "support/text.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

struct Emulated {
    const char *target, *compiler, *emulator;

    friend void PrintTo(const Emulated &machine, std::ostream *out) {
        *out << machine.target;
    }
};

constexpr int lanes = 32, registers = 64;

bool runs(const std::string &command) {
    return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

/// All values of bytes, in an order that the step gives.
std::vector<uint8_t> input(int step) {
    std::vector<uint8_t> bytes;
    for (int i = 0; i < lanes * registers * 4; i++) {
        bytes.push_back(uint8_t(i * step + i / 251));
    }
    return bytes;
}

using Two = Expr (*)(Expr, Expr);

struct Case {
    const char *name;
    Type type;
    Two value;
};

Expr narrow(const Expr &e, const Type &t) {
    return cast(t.with_lanes(e.type().lanes()), e);
}

const Case cases[] = {
    {"quotients of bytes", UInt(8),
     [](Expr a, Expr b) {
         return a / 7 + b % 100;
     }},
    {"quotients of products", UInt(8),
     [](Expr a, Expr b) {
         return narrow((narrow(a, UInt(16)) * narrow(b, UInt(16)) + 127) / 255, UInt(8));
     }},
    {"quotients of words", UInt(16),
     [](Expr a, Expr b) {
         return a / 255 + b % 641;
     }},
    {"signed quotients", Int(16),
     [](Expr a, Expr b) {
         return a / 100 - b % 9;
     }},
    {"long quotients", UInt(32),
     [](Expr a, Expr b) {
         return a / 1000 + b % 77;
     }},
    {"saturated sums", UInt(8),
     [](Expr a, Expr b) {
         return saturating_add(a, b);
     }},
    {"saturated differences", Int(16),
     [](Expr a, Expr b) {
         return saturating_sub(a, b);
     }},
    {"means", UInt(8),
     [](Expr a, Expr b) {
         return rounding_halving_add(a, b);
     }},
    {"distances", Int(8),
     [](Expr a, Expr b) {
         return narrow(absd(a, b), Int(8));
     }},
    {"rounded products", Int(16),
     [](Expr a, Expr b) {
         return rounding_mul_shift_right(a, b, 15);
     }},
    {"narrowed", Int(16),
     [](Expr a, Expr b) {
         return narrow(saturating_cast(Int(8, a.type().lanes()), a + b), Int(16));
     }},
    {"choices", Int(32),
     [](Expr a, Expr b) {
         return select(a < b, a & b, a ^ b);
     }},
    {"shifts", Int(32),
     [](Expr a, Expr b) {
         return (a >> (b & 31)) + (b << (a & 7));
     }},
    // Floats do not become integers here, not even for a quotient by a variable: QEMU 7.2 stops at such instructions of
    // RISC-V for vectors.
    {"floats", Int(16),
     [](Expr a, Expr b) {
         return max(narrow(a, Float(32)) * 0.25f - narrow(b, Float(32)), 1.5f);
     }},
};

/// A function of one register of each of its operands, out[i] = value(a, b).
Stmt body_of(const Case &c) {
    const Expr i = Variable::make(Int(32), "i"), index = Ramp::make(i * lanes, 1, lanes);
    const auto operand = [&](const char *name) {
        return Load::make(c.type.with_lanes(lanes), name, index, const_true(lanes), Alignment());
    };
    const Expr value = c.value(operand("a"), operand("b"));
    return For::make("i", 0, registers, ForType::Serial, Partition::Auto, DeviceAPI::None,
                     Store::make("out", value, index, const_true(lanes), Alignment()));
}

LoweredModule module_of_cases() {
    LoweredModule module;
    module.name = "test";
    for (size_t i = 0; i < std::size(cases); i++) {
        module.functions.push_back(
            {"f" + std::to_string(i),
             {pointer_argument("out"), pointer_argument("a"), pointer_argument("b")},
             body_of(cases[i]),
             LinkageType::External,
             NameMangling::C});
    }
    return module;
}

std::string array_of(const std::string &name, const std::vector<uint8_t> &bytes) {
    std::string text = "static const unsigned char " + name + "[] __attribute__((aligned(64))) = {";
    for (const uint8_t byte : bytes) {
        text += std::to_string(byte) + ",";
    }
    return text + "};\n";
}

/// A program that calls each function, and whose exit status is the number of the first that gives something else.
std::string program_for(const std::vector<std::vector<uint8_t>> &expected) {
    std::string text = "#include <string.h>\nstatic unsigned char out[" +
                       std::to_string(lanes * registers * 8) + "] __attribute__((aligned(64)));\n";
    text += array_of("a", input(7)) + array_of("b", input(13));
    std::string calls;
    for (size_t i = 0; i < expected.size(); i++) {
        const std::string n = std::to_string(i);
        text += array_of("expected" + n, expected[i]) + "int f" + n + "();\n";
        calls += "memset(out, 0, sizeof out); if (f" + n + "(out, a, b) || memcmp(out, expected" +
                 n + ", sizeof expected" + n + ")) return " + std::to_string(i + 1) + ";\n";
    }
    return text + "int main() {\n" + calls + "return 0; }\n";
}

class EmulatedMachines : public testing::TestWithParam<Emulated> {};

TEST_P(EmulatedMachines, GiveTheValuesOfThisOne) {
    const Emulated &machine = GetParam();
    const std::string emulator = machine.emulator;
    for (const std::string &tool : {std::string(machine.compiler), split(emulator, " ").front()}) {
        if (!runs("command -v " + tool)) {
            GTEST_SKIP() << "there is no " << tool;
        }
    }
    const LoweredModule module = module_of_cases();
    const auto library = load_module(module, runnable_targets().front());
    const std::vector<uint8_t> a = input(7), b = input(13);
    std::vector<std::vector<uint8_t>> expected;
    for (size_t i = 0; i < std::size(cases); i++) {
        const int bytes = body_of(cases[i]).as<For>()->body.as<Store>()->value.type().bytes();
        std::vector<uint8_t> out(size_t(lanes * registers * bytes));
        auto *f =
            library->function<int(void *, const void *, const void *)>("f" + std::to_string(i));
        ASSERT_EQ(f(out.data(), a.data(), b.data()), 0);
        expected.push_back(out);
    }
    const TemporaryDirectory folder;
    const std::string in = folder.path() + "/";
    write_file_atomically(in + "f.o", CompiledModule(module, Target(machine.target)).object());
    write_file_atomically(in + "main.c", program_for(expected));
    ASSERT_EQ(std::system((std::string(machine.compiler) + " -static -w -o " + in + "program " +
                           in + "main.c " + in + "f.o -lm")
                              .c_str()),
              0);
    const int status = std::system((emulator + " " + in + "program").c_str());
    ASSERT_TRUE(WIFEXITED(status)) << status;
    const int first = WEXITSTATUS(status);
    EXPECT_EQ(first, 0) << (first && first <= int(std::size(cases)) ? cases[first - 1].name : "");
}

const Emulated machines[] = {
    {"arm-64-linux", "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu max"},
    {"arm-64-linux-armv84a-arm_dot_prod-arm_fp16", "aarch64-linux-gnu-gcc",
     "qemu-aarch64 -cpu max"},
    {"riscv-64-linux", "riscv64-linux-gnu-gcc", "qemu-riscv64"},
    {"riscv-64-linux-rvv-vector_bits_128", "riscv64-linux-gnu-gcc",
     "qemu-riscv64 -cpu rv64,v=true,vlen=128"},
    {"riscv-64-linux-rvv-vector_bits_256", "riscv64-linux-gnu-gcc",
     "qemu-riscv64 -cpu rv64,v=true,vlen=256"},
};

INSTANTIATE_TEST_SUITE_P(Each, EmulatedMachines, testing::ValuesIn(machines),
                         [](const auto &info) { return replace_all(info.param.target, "-", "_"); });

}  // namespace
}  // namespace calotype::internal
