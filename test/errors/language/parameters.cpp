// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has to be known before the loops of a pipeline: sizes and limits that are given as expressions.
#include <ostream>
#include <string>

#include "harness/expect_error.h"
#include "lang/language.h"

namespace calotype {
namespace {

/// h is computed for f, which reads it.
struct Program {
    Var x{"x"};
    ImageParam in{Int(32), 1, "in"};
    Param<int> p{"p"};
    Func h{"h"}, f{"f"};
    Program() {
        h(x) = in(x);
        f(x) = h(x) + p;
    }
};

struct Place {
    const char *name;
    void (*give)(Program &, const Expr &);
    const char *what;  ///< how an error names it
};

void PrintTo(const Place &place, std::ostream *out) {
    *out << place.name;
}

constexpr Place places[] = {
    {"bound_min", [](Program &a, const Expr &e) { a.f.bound(a.x, e, 16); }, "a bound of x"},
    {"bound_extent", [](Program &a, const Expr &e) { a.f.bound_extent(a.x, e); }, "a bound of x"},
    {"align_bounds", [](Program &a, const Expr &e) { a.f.align_bounds(a.x, 4, e); },
     "a bound of x"},
    {"align_extent", [](Program &a, const Expr &e) { a.f.align_extent(a.x, e); }, "a bound of x"},
    {"estimate", [](Program &a, const Expr &e) { a.f.set_estimate(a.x, 0, e); }, "a bound of x"},
    {"split", [](Program &a, const Expr &e) { a.f.split(a.x, Var(), Var(), e); },
     "the factor of x"},
    {"fold", [](Program &a, const Expr &e) { a.h.fold_storage(a.x, e); }, "the extent of x"},
    {"align", [](Program &a, const Expr &e) { a.h.align_storage(a.x, e); }, "the alignment of x"},
    {"bound_storage", [](Program &a, const Expr &e) { a.h.bound_storage(a.x, e); },
     "the bound of x"},
    {"ring_buffer", [](Program &a, const Expr &e) { a.h.ring_buffer(e); }, "the extent"},
    {"specialize", [](Program &a, const Expr &e) { a.f.specialize(e > 3); }, "the condition"},
    {"prefetch", [](Program &a, const Expr &e) { a.f.prefetch(a.in, a.x, a.x, e); },
     "the distance of in along x"},
    {"memoize", [](Program &a, const Expr &e) { a.h.memoize(EvictionKey(e)); }, "the eviction key"},
    {"set_min", [](Program &a, const Expr &e) { a.in.dim(0).set_min(e); }, "min of dimension 0"},
    {"set_stride", [](Program &a, const Expr &e) { a.f.output_buffer().dim(0).set_stride(e); },
     "stride of dimension 0"},
    {"set_range", [](Program &a, const Expr &e) { a.p.set_range(0, e); },
     "maximum value of parameter p"},
    {"RDom", [](Program &, const Expr &e) { RDom(0, e); }, "a bound of reduction domain"},
    {"add_requirement", [](Program &a, const Expr &e) { Pipeline(a.f).add_requirement(e > 0); },
     "requirement"},
};

class KnownBefore : public testing::TestWithParam<Place> {
protected:
    static void expect_refused(const Expr &e, const std::string &found) {
        Program a;
        const std::string text = test::error_of<CompileError>([&] { GetParam().give(a, e); });
        EXPECT_PRED_FORMAT2(testing::IsSubstring, GetParam().what, text);
        EXPECT_PRED_FORMAT2(testing::IsSubstring,
                            " depends on " + found + ", only parameters are allowed", text);
    }
    /// It may be of no use there, as a ring buffer is that no loop is around.
    static void expect_no_internal_error(const Expr &e, Program a) {
        try {
            GetParam().give(a, e);
            a.f.compile_jit();
        } catch (const CompileError &) {
        } catch (const std::exception &error) {
            ADD_FAILURE() << error.what();
        }
    }
};

TEST_P(KnownBefore, IsOfParametersAlone) {
    const RDom r(0, 4, "r");
    expect_refused(Var("x") + 1, "variable x");
    expect_refused(Var("elsewhere") + 1, "variable elsewhere");
    expect_refused(r + 1, "variable r$x");
    expect_refused(random_int() % 7, "a random number");
    expect_refused(undef<int>() + 1, "an undefined value");
}

TEST_P(KnownBefore, MayAskTheTargetAndRequire) {
    Program a;
    a.h.compute_root();
    expect_no_internal_error(select(target_has_feature(Target::AVX2), 8, 4), a);
    Program b;
    b.h.compute_root();
    expect_no_internal_error(require(b.p > 0, max(b.p, 2), "of no use"), b);
}

INSTANTIATE_TEST_SUITE_P(Places, KnownBefore, testing::ValuesIn(places),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace calotype
