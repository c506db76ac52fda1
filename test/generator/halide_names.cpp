// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ordinary names, which the compiler has too: programs that use all of Halide may give them to what
// is theirs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "Halide.h"

using namespace Halide;

// Classes.
#define CLASS(name)                                                                                \
    struct name {                                                                                  \
        const char *what = #name;                                                                  \
    };
#define CLASSES(X)                                                                                 \
    X(Alignment)                                                                                   \
    X(Bound)                                                                                       \
    X(CustomPass)                                                                                  \
    X(Definition)                                                                                  \
    X(DeviceKernel)                                                                                \
    X(DeviceModule)                                                                                \
    X(Dim)                                                                                         \
    X(DimType)                                                                                     \
    X(Environment)                                                                                 \
    X(ForType)                                                                                     \
    X(Function)                                                                                    \
    X(GraphVisitor)                                                                                \
    X(HandleType)                                                                                  \
    X(Image)                                                                                       \
    X(Intrinsic)                                                                                   \
    X(KernelArgument)                                                                              \
    X(LoweredModule)                                                                               \
    X(Mutator)                                                                                     \
    X(RefCounted)                                                                                  \
    X(ReductionDomain)                                                                             \
    X(Requirement)                                                                                 \
    X(ScalarValue)                                                                                 \
    X(SimplifyContext)                                                                             \
    X(Specialization)                                                                              \
    X(Split)                                                                                       \
    X(Stmt)                                                                                        \
    X(StorageDim)                                                                                  \
    X(Symbol)                                                                                      \
    X(SymbolKind)                                                                                  \
    X(Visitor)
CLASSES(CLASS)

// Functions: of the same arguments, or of others.
bool is_simple(const Expr &e) {
    return e.type().bits() == 8;
}
bool has_effects(const Expr &e) {
    return !is_simple(e);
}
std::vector<std::string> names_used(const Expr &) {
    return {"a", "b"};
}
bool contains_likely(const Expr &) {
    return true;
}
int compare(const Expr &a, const Expr &b) {
    return a.type().bits() - b.type().bits();
}
size_t hash(const Expr &e) {
    return size_t(e.type().bits());
}
bool equal(const Image &a, const Image &b) {
    return a.what == b.what;
}
int simplify(int numerator, int denominator) {
    return numerator / denominator;
}

// Variables, a template and a namespace.
std::vector<std::string> names = {"one", "two"};
int handles = 2;
constexpr bool const_true = true;
template<typename T>
T make_one() {
    return T(1);
}
namespace parse_type {
constexpr int answer = 42;
}

namespace {

TEST(HalideNames, Classes) {
    std::string all;
#define USE(name) all += (name().what == std::string(#name) ? 'y' : 'n');
    CLASSES(USE)
    EXPECT_EQ(all.find('n'), std::string::npos) << all;
}

TEST(HalideNames, Functions) {
    const Expr byte = cast<uint8_t>(1), word = cast<int32_t>(1);
    EXPECT_TRUE(is_simple(byte));
    EXPECT_TRUE(has_effects(word));
    EXPECT_EQ(names_used(byte).size(), 2u);
    EXPECT_TRUE(contains_likely(byte));
    EXPECT_LT(compare(byte, word), 0);
    EXPECT_EQ(hash(word), 32u);
    EXPECT_TRUE(equal(Image(), Image()));
    EXPECT_EQ(simplify(6, 3), 2);
}

TEST(HalideNames, Others) {
    EXPECT_EQ(int(names.size()), handles);
    EXPECT_TRUE(const_true);
    EXPECT_EQ(make_one<int>(), 1);
    EXPECT_EQ(parse_type::answer, 42);
}

// Functions of Halide::Internal are found by the class of their argument.
TEST(HalideNames, FunctionsOfInternal) {
    Var x("x");
    const Expr e = simplify(x + 1 - x);
    EXPECT_TRUE(is_const_one(e));
    EXPECT_EQ(*as_const_int(e), 1);
    EXPECT_TRUE(can_prove(x + 1 > x));
    EXPECT_TRUE(equal(substitute("x", x + 1, x * 2), (x + 1) * 2));
}

}  // namespace
