// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/verifier.h"

#include "harness/expect_error.h"
#include "ir/operators.h"
#include "ir/parser.h"

namespace calotype {

using namespace internal;
namespace {

/// What the verifier says, without the place in the source.
std::string verdict(const std::string &text, const VerifyOptions &options = {}) {
    const std::string error =
        test::error_of<InternalError>([&] { verify(parse_stmt(text), options, "a-pass"); });
    const size_t at = error.find("after a-pass, ");
    return at == std::string::npos ? error : error.substr(at);
}

TEST(Verifier, AcceptsWhatIsWellFormed) {
    VerifyOptions options;
    options.closed = true;
    options.free_names = {"n"};
    EXPECT_EQ(verdict("let a = n\nallocate f[uint8, 10]\nfor (x, 0, a) { f[x] = uint8(x) }\nfree f",
                      options),
              "[no error]");
    EXPECT_EQ(verdict("evaluate bitwise_and(a, shift_left(a, b:uint32))"), "[no error]");
    EXPECT_EQ(verdict("evaluate widening_mul(a:uint8, b:int8):int16"), "[no error]");
    EXPECT_EQ(verdict("evaluate if_then_else(a:bool, 1.0f, 2.0f):float32"), "[no error]");
}

TEST(Verifier, NamesHaveOneType) {
    EXPECT_EQ(verdict("let a = 1\nf[a:int64] = 1"),
              "after a-pass, a variable is used as int64 but bound as int32: a:int64");
    EXPECT_EQ(verdict("for (x, 0, 2) { evaluate x:uint8 }"),
              "after a-pass, a variable is used as uint8 but bound as int32: x:uint8");
}

TEST(Verifier, SharedNodesAreSeenInEachScope) {
    const Expr x = Variable::make(Int(32), "x"), shared = x + 1;
    const Expr e = shared + Let::make("x", Expr(uint8_t(1)), shared);
    EXPECT_INTERNAL_ERROR_CONTAINING(verify(e, {}, "a-pass"),
                                     "a variable is used as int32 but bound as uint8: x");
}

TEST(Verifier, ClosedPrograms) {
    VerifyOptions options;
    options.closed = true;
    EXPECT_EQ(verdict("f[0] = n", options), "after a-pass, a variable is not bound: n");
    EXPECT_EQ(verdict("{ let n = 1\n f[0] = n }\n f[1] = n", options),
              "after a-pass, a variable is not bound: n");
    EXPECT_EQ(verdict("free f", options),
              "after a-pass, what is freed is not allocated here: free f\n");
}

TEST(Verifier, StagesOfLowering) {
    VerifyOptions options;
    options.flat_storage = options.vector_loops_gone = options.unrolled_loops_gone = true;
    EXPECT_EQ(verdict("f(0) = 1", options), "after a-pass, a provide is left: f(0) = 1\n");
    EXPECT_EQ(verdict("realize f() { }", options),
              "after a-pass, a realization is left: realize f() {\n}\n");
    EXPECT_EQ(verdict("f[0] = image g(1)", options),
              "after a-pass, a call at coordinates is left: image g(1)");
    EXPECT_EQ(verdict("vectorized (x, 0, 4) { }", options),
              "after a-pass, a vectorized loop is left: vectorized (x, 0, 4) {\n}\n");
    EXPECT_EQ(verdict("unrolled (x, 0, 4) { }", options),
              "after a-pass, an unrolled loop is left: unrolled (x, 0, 4) {\n}\n");
}

TEST(Verifier, TypesOfIntrinsics) {
    for (const char *call :
         {"bitwise_and(a, b:uint32)", "abs(a)", "sqrt(a)", "shift_left(a, b:uint8)",
          "likely(a):uint8", "widening_add(a, b)", "widen_right_add(a, b)", "is_nan(a:float32)",
          "if_then_else(a, b, c)", "return_second(a, b:uint8)", "strict_lt(a, b):bool"}) {
        EXPECT_EQ(verdict(std::string("evaluate ") + call),
                  std::string("after a-pass, the types of an intrinsic's operands do not fit: ") +
                      call);
    }
    EXPECT_EQ(verdict("f[x:float32] = 1"),
              "after a-pass, an index is not an integer: f[x:float32] = 1\n");
}

TEST(Verifier, ArgumentsOfTheRuntime) {
    const std::string taken =
                          "evaluate extern calotype_malloc(__user_context:handle, n:uint64):handle",
                      refused = "extern calotype_malloc(__user_context:handle, n)";
    EXPECT_EQ(verdict(taken), "[no error]");
    EXPECT_EQ(verdict("evaluate " + refused),
              "after a-pass, the arguments of a function of the runtime do not fit: " + refused);
}

}  // namespace
}  // namespace calotype
