// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide as a namespace: programs declare its classes before they include anything, open it again,
// specialise what stands in it, and have classes of their own that are called as nodes of the IR
// are.

// Before Halide.h: the target defines what these mean.
namespace Halide {
class Func;
namespace Runtime {
template<typename T, int Dims, int InClassDimStorage>
class Buffer;
}
}  // namespace Halide
int dimensions_of(const Halide::Func &f);

#include <gtest/gtest.h>

#include <unordered_map>

#include "Halide.h"

enum class Mode { Fast, Exact };

namespace Halide {

/// Added to the namespace: found by argument-dependent lookup, as it takes an Expr.
inline Expr thrice(const Expr &e) {
    return e * 3;
}

namespace Tools {
inline int answer() {
    return 42;
}
}  // namespace Tools

namespace Internal {
class CountAdds : public IRVisitor {
public:
    int count = 0;

protected:
    using IRVisitor::visit;
    void visit(const Add *op) override {
        count++;
        op->a.accept(this);
        op->b.accept(this);
    }
};
}  // namespace Internal

}  // namespace Halide

template<>
struct std::hash<Halide::Var> {
    size_t operator()(const Halide::Var &v) const {
        return std::hash<std::string>()(v.name());
    }
};

using namespace Halide;

int dimensions_of(const Func &f) {
    return f.dimensions();
}

// Names that nodes of the IR have. These are nearer.
struct Load {
    int bytes = 0;
};
struct Store : Load {};
struct Node {
    Node *next = nullptr;
};
class Add : public Generator<Add> {
public:
    GeneratorParam<Mode> mode{"mode", Mode::Fast, {{"fast", Mode::Fast}, {"exact", Mode::Exact}}};
    Input<Func> a{"a", Int(32), 1}, b{"b", Int(32), 1};
    Output<Func> sum{"sum", Int(32), 1};
    void generate() {
        Var x("x");
        sum(x) = a(x) + b(x) + (mode == Mode::Exact ? 1 : 0);
    }
};

TEST(HalideNamespace, DeclaredAheadIsTheSame) {
    Func f;
    Var x, y;
    f(x, y) = x;
    EXPECT_EQ(dimensions_of(f), 2);
}

TEST(HalideNamespace, Reopened) {
    Func f;
    Var x("x");
    f(x) = thrice(x + 1);
    EXPECT_EQ(Buffer<int>(f.realize({4}))(3), 12);
    EXPECT_EQ(Halide::Tools::answer(), 42);
}

TEST(HalideNamespace, SpecialisedInStd) {
    struct SameName {
        bool operator()(const Var &a, const Var &b) const {
            return a.same_as(b);
        }
    };
    std::unordered_map<Var, int, std::hash<Var>, SameName> places;
    places[Var("x")] = 1;
    places[Var("y")] = 2;
    EXPECT_EQ(places.at(Var("x")), 1);
    EXPECT_EQ(places.at(Var("y")), 2);
}

TEST(HalideNamespace, OwnClassesOfNodesNames) {
    Store s;
    s.bytes = 4;
    Node n;
    EXPECT_EQ(s.bytes, 4);
    EXPECT_EQ(n.next, nullptr);

    Func f, g;
    Var x;
    f(x) = x;
    g(x) = x * x;
    auto add = Add::create(GeneratorContext(get_jit_target_from_environment()));
    add->set_param("mode", "exact");
    add->apply(f, g);
    EXPECT_EQ(Buffer<int>(Func(add->sum).realize({5}))(4), 21);
}

TEST(HalideNamespace, VisitorsInInternal) {
    Halide::Internal::CountAdds adds;
    Var x("x"), y("y");
    Expr e = (x + 1) * (y + 2) + 3;
    e.accept(&adds);
    EXPECT_EQ(adds.count, 3);
}
