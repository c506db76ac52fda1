// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs take from Halide::Internal.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "Halide.h"

using namespace Halide;
using namespace Halide::Internal;

namespace {

Expr var(const char *name) {
    return Variable::make(Int(32), name);
}

TEST(HalideInternal, LambdasThatVisitAndMutate) {
    const Expr x = var("x"), y = var("y");
    const Expr e = max(x + y, x * 3);
    std::vector<std::string> seen;
    visit_with(
        e, [&](auto *self, const Variable *op) { seen.push_back(op->name); },
        [&](auto *self, const Mul *op) { self->visit_base(op); });
    EXPECT_EQ(seen, (std::vector<std::string>{"x", "y", "x"}));

    const Expr doubled = mutate_with(e, [](auto *self, const Variable *op) -> Expr {
        return op->name == "x" ? Expr(op) * 2 : Expr(op);
    });
    EXPECT_TRUE(equal(doubled, max(x * 2 + y, x * 2 * 3)));

    int expressions = 0;
    mutate_with(e, [&](auto *self, const Expr &inner) {
        expressions++;
        return self->mutate_base(inner);
    });
    EXPECT_EQ(expressions, 7);
}

/// Calls of a function of that name, and of intrinsic `prefetch`.
class FindCalls : public IRVisitor {
public:
    explicit FindCalls(std::string name) : name_(std::move(name)) {
    }
    std::vector<const Call *> named, prefetches;

protected:
    using IRVisitor::visit;
    void visit(const Call *op) override {
        if (op->name == name_ && op->call_type == Call::Extern) {
            named.push_back(op);
        }
        if (op->is_intrinsic(Call::prefetch)) {
            prefetches.push_back(op);
        }
        IRVisitor::visit(op);
    }

private:
    std::string name_;
};

TEST(HalideInternal, LoweredCallsHaveTheFormOfHalide) {
    Func f("aligned"), g("fetched");
    Var x("x");
    g(x) = x;
    f(x) = g(x);
    g.compute_root();
    f.prefetch(g, x, x, 8);
    f.output_buffer().set_host_alignment(64);
    const Stmt s = lower_main_stmt({f.function()}, f.name(), get_jit_target_from_environment());
    FindCalls found("halide_error_unaligned_host_ptr");
    s.accept(&found);
    EXPECT_EQ(found.named.size(), 1u);
    ASSERT_FALSE(found.prefetches.empty());
    for (const Call *prefetch : found.prefetches) {
        ASSERT_EQ(prefetch->args.size(), 4u);  // where, index, how many, and how far apart
        EXPECT_TRUE(is_const(prefetch->args[2], 1));
        EXPECT_TRUE(is_const(prefetch->args[3], 16));
    }

    // A node is the same each time it is seen.
    FindCalls again("halide_error_unaligned_host_ptr");
    s.accept(&again);
    s.accept(&again);
    ASSERT_EQ(again.named.size(), 2u);
    EXPECT_EQ(again.named[0], again.named[1]);
}

TEST(HalideInternal, ConstantIntervals) {
    ConstantInterval open;
    EXPECT_TRUE(open.is_everything());
    open.min_defined = true;
    open.min = -3;
    EXPECT_TRUE(open.contains(5));
    EXPECT_FALSE(open.contains(int64_t(-4)));
    EXPECT_TRUE(ConstantInterval::bounded_below(7).contains(uint64_t(-1)));
    const ConstantInterval digits(0, 9);
    EXPECT_EQ(digits * -2 + 1, ConstantInterval(-17, 1));
    EXPECT_EQ(max(open, 2), ConstantInterval::bounded_below(2));
    EXPECT_EQ(-digits, ConstantInterval(-9, 0));
    EXPECT_EQ(abs(ConstantInterval(-4, 3)), ConstantInterval(0, 4));
    EXPECT_EQ(cast(UInt(8), ConstantInterval(-1, 3)), ConstantInterval(0, 255));
    EXPECT_TRUE(digits < 10);
    EXPECT_FALSE(digits < digits);
    EXPECT_TRUE(-1 < digits);
    ConstantInterval grown = digits;
    grown.include(20);
    grown -= 1;
    std::ostringstream text;
    text << grown << open;
    EXPECT_EQ(text.str(), "[-1, 19][-3, inf]");
    EXPECT_EQ(ConstantInterval::make_intersection(open, digits), digits);
    EXPECT_THROW(ConstantInterval::make_intersection(digits, {10, 11}), InternalError);

    Scope<ConstantInterval> variables;
    variables.push("x", digits);
    EXPECT_EQ(constant_integer_bounds(var("x") * 2, variables), ConstantInterval(0, 18));
    EXPECT_TRUE(derivative_bounds(var("x") * 2, "x").is_single_point(2));
    EXPECT_EQ(is_monotonic(var("y") - var("x"), "x"), Monotonic::Decreasing);
}

// Passes of programs ask calls for their kind and loops for their last iteration, and make accesses
// of parameters.
TEST(HalideInternal, NodesAsPassesReadAndMakeThem) {
    const Expr x = var("x");
    Func f("f"), g("g");
    Var v("v");
    f(v) = v;
    g(v) = f(v) + cast<int>(abs(v));
    f.compute_root();
    std::vector<std::string> called;
    visit_with(g.function().definition().values()[0], [&](auto *self, const Call *op) {
        if (op->call_type == Call::Halide) {
            called.push_back(op->name);
        }
        self->visit_base(op);
    });
    EXPECT_EQ(called, std::vector<std::string>{f.name()});

    const auto loop = [](const Expr &min, const Expr &extent) {
        return For::make("i", min, extent, ForType::Serial, Partition::Auto, DeviceAPI::Host,
                         Evaluate::make(0));
    };
    EXPECT_TRUE(is_const(loop(3, 10).as<For>()->max, 12));
    EXPECT_TRUE(can_prove(loop(x, 10).as<For>()->max == x + 9));
    EXPECT_TRUE(can_prove(loop(0, x).as<For>()->max == x - 1));

    const Parameter parameter(Int(32), true, 1, "p");
    const Expr load = Load::make(Int(32), "p", x, Buffer<>(), parameter, const_true(),
                                 ModulusRemainder(4, 1), false);
    EXPECT_EQ(load.as<Load>()->symbol.get(), parameter.contents().get());
    EXPECT_EQ(load.as<Load>()->alignment.modulus, 4);
    const Stmt store =
        Store::make("p", load, x, Parameter(), const_true(), ModulusRemainder(), false);
    EXPECT_FALSE(store.as<Store>()->symbol.defined());

    const Expr size =
        Call::make(Int(32), Call::size_of_halide_buffer_t, {}, Call::CallType::Intrinsic);
    EXPECT_EQ(evaluate<int>(size), int(sizeof(halide_buffer_t)));
}

TEST(HalideInternal, SimplifyAndProve) {
    const Expr x = var("x");
    EXPECT_TRUE(equal(simplify(x + x - x), x));
    EXPECT_TRUE(can_prove(x + 1 > x));
    EXPECT_FALSE(can_prove(x > 3));

    Scope<Interval> bounds;
    bounds.push("x", Interval(4, 7));
    EXPECT_TRUE(can_prove(x > 3, bounds));
    EXPECT_TRUE(equal(simplify(min(x, 9), bounds), x));
    bounds.push("x", Interval(var("a"), var("b")));
    EXPECT_TRUE(can_prove(x >= var("a"), bounds));
    bounds.pop("x");

    const Interval squares = bounds_of_expr_in_scope(x * x, bounds);
    EXPECT_TRUE(can_prove(squares.max == 49));
    EXPECT_TRUE(equal(simplify(x == 5, bounds, Scope<ModulusRemainder>(), {x == 5}), const_true()));
}

TEST(HalideInternal, Alignment) {
    const Expr x = var("x");
    EXPECT_THROW(modulus_remainder(x > 2), InternalError);
    const ModulusRemainder m = modulus_remainder(x * 6 + 2);
    EXPECT_EQ(m.modulus, 6);
    EXPECT_EQ(m.remainder, 2);
    EXPECT_EQ(m + ModulusRemainder(4, 1), ModulusRemainder(2, 1));
    EXPECT_EQ(ModulusRemainder::unify({4, 1}, {6, 1}), ModulusRemainder(2, 1));
    Scope<ModulusRemainder> scope;
    scope.push("x", {8, 3});
    EXPECT_EQ(modulus_remainder(x * 2, scope), ModulusRemainder(16, 6));
}

TEST(HalideInternal, SolveMonotonicCommonSubexpressions) {
    const Expr x = var("x"), y = var("y");
    const SolverResult solved = solve_expression(x + y < 10, "x");
    EXPECT_TRUE(solved.fully_solved);
    EXPECT_TRUE(equal(simplify(solved.result), simplify(x < 10 - y)));
    EXPECT_EQ(is_monotonic(x * 2 + y, "x"), Monotonic::Increasing);
    EXPECT_EQ(is_monotonic(y - x, "x"), Monotonic::Decreasing);
    const Expr product = x * y;
    EXPECT_TRUE(common_subexpression_elimination(product + product * product).as<Let>() != nullptr);
}

TEST(HalideInternal, MatchPatterns) {
    const Expr x = var("x"), y = var("y"), any = var("*");
    std::vector<Expr> parts;
    ASSERT_TRUE(expr_match(any * 3 + any, (x + 1) * 3 + y, parts));
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_TRUE(equal(parts[0], x + 1));
    EXPECT_TRUE(equal(parts[1], y));
    EXPECT_FALSE(expr_match(any * 3 + any, x * 4 + y, parts));
    EXPECT_TRUE(parts.empty());

    std::map<std::string, Expr> named;
    ASSERT_TRUE(expr_match(var("a") + var("a"), (x * y) + (x * y), named));
    EXPECT_TRUE(equal(named["a"], x * y));
    named.clear();
    EXPECT_FALSE(expr_match(var("a") + var("a"), x + y, named));
}

TEST(HalideInternal, FilesAndProcesses) {
    std::string path;
    {
        TemporaryFile file("surface", ".txt");
        path = file.pathname();
        assert_file_exists(path);
        write_entire_file(path, std::vector<char>{'a', '\0', 'b'});
        EXPECT_EQ(read_entire_file(path).size(), 3u);
        EXPECT_EQ(file_stat(path).file_size, 3u);
        EXPECT_EQ(run_process({"cmp", path, path}), 0);
    }
    EXPECT_FALSE(file_exists(path));
    EXPECT_THROW(assert_file_exists(path), InternalError);
    EXPECT_THROW(read_entire_file(path), InternalError);
    ensure_no_file_exists(path);
    EXPECT_NE(run_process({"false"}), 0);
    EXPECT_EQ(run_process({"no_program_of_this_name"}), -1);
}

TEST(HalideInternal, TextAndNumbers) {
    EXPECT_EQ(replace_all("a-b-c", "-", "+"), "a+b+c");
    EXPECT_EQ(split_string("a::b", "::"), (std::vector<std::string>{"a", "b"}));
    std::vector<std::string> spaces;
    EXPECT_EQ(extract_namespaces("a::b::f", spaces), "f");
    EXPECT_EQ(spaces.size(), 2u);
    EXPECT_TRUE(add_would_overflow(8, 100, 28));
    EXPECT_FALSE(add_would_overflow(8, 100, 27));
    EXPECT_TRUE(mul_would_overflow(64, INT64_MAX, 2));
    for (int a : {-7, -1, 0, 5, INT32_MIN}) {
        for (int b : {-3, -1, 2, 4}) {
            EXPECT_EQ(uint32_t(div_imp(a, b)) * uint32_t(b) + uint32_t(mod_imp(a, b)), uint32_t(a));
            EXPECT_GE(mod_imp(a, b), 0) << a << " % " << b;
        }
        EXPECT_EQ(div_imp(a, 0), 0);
        EXPECT_EQ(mod_imp(a, 0), 0);
    }
    EXPECT_EQ(safe_numeric_cast<int8_t>(1000.0f), 127);
    EXPECT_EQ(reinterpret_bits<uint32_t>(1.0f), 0x3f800000u);
    int level = 1;
    {
        ScopedValue<int> deeper(level, 2);
        EXPECT_EQ(level, 2);
    }
    EXPECT_EQ(level, 1);
    std::vector<int> list = {1, 2, 3}, back;
    for (int i : reverse_view(list)) {
        back.push_back(i);
    }
    EXPECT_EQ(back, (std::vector<int>{3, 2, 1}));
    EXPECT_GE(get_llvm_version(), 140);
}

TEST(HalideInternal, ErrorsAndMessages) {
    EXPECT_THROW(_halide_user_assert(1 + 1 == 3) << "sum is " << 2, CompileError);
    EXPECT_THROW(_halide_internal_error << "lost", InternalError);
    _halide_user_assert(true) << "not evaluated";
    debug(1000) << "not printed\n";
    EXPECT_TRUE(debug_spec_accepts("1;3,file.cpp:10-20@f", 1, "any.cpp", "g", 1));
    EXPECT_TRUE(debug_spec_accepts("1;3,file.cpp:10-20@f", 3, "src/file.cpp", "f", 12));
    EXPECT_FALSE(debug_spec_accepts("1;3,file.cpp:10-20@f", 3, "src/file.cpp", "f", 21));
    EXPECT_FALSE(debug_spec_accepts("1;3,file.cpp:10-20@f", 3, "src/file.cpp", "g", 12));
    EXPECT_TRUE(debug_spec_accepts("2@visit", 2, "any.cpp", "Printer::visit", 1));
    EXPECT_FALSE(debug_spec_accepts("no number", 0, "any.cpp", "f", 1));
    std::ostringstream out;
    out << PrintSpan(std::vector<int>{1, 2});
    EXPECT_EQ(out.str(), "{ 1, 2 }");
}

int prints = 0;
void count_prints(JITUserContext *, const char *) {
    prints++;
}

TEST(HalideInternal, SharedRuntime) {
    JITHandlers handlers;
    handlers.custom_print = count_prints;
    const JITHandlers before = JITSharedRuntime::set_default_handlers(handlers);
    EXPECT_EQ(before.custom_print, nullptr);
    Func f;
    Var x;
    f(x) = print(x);
    f.realize({3});
    EXPECT_EQ(prints, 3);
    // What the run itself says comes first.
    JITUserContext context;
    context.handlers.custom_print = [](JITUserContext *, const char *) {
    };
    f.realize(&context, {3});
    EXPECT_EQ(prints, 3);
    JITSharedRuntime::set_default_handlers(before);

    const int threads = JITSharedRuntime::get_num_threads();
    EXPECT_EQ(JITSharedRuntime::set_num_threads(2), threads);
    EXPECT_EQ(JITSharedRuntime::get_num_threads(), 2);
    JITSharedRuntime::set_num_threads(threads);
    const Target host = get_host_target();
    EXPECT_EQ(JITSharedRuntime::find_symbol(host, "halide_malloc"),
              JITSharedRuntime::find_symbol(host, "calotype_malloc"));
    EXPECT_NE(JITSharedRuntime::find_symbol(host, "halide_malloc"), nullptr);
    EXPECT_EQ(JITSharedRuntime::find_symbol(host, "no_such_symbol"), nullptr);
    JITSharedRuntime::release_all();
    EXPECT_EQ(Buffer<int>(lambda(x, x + 1).realize({2}))(1), 2);
}

TEST(HalideInternal, OrderOfFuncs) {
    Var x("x");
    Func a("a"), b("b"), c("c"), d("d");
    a(x) = x;
    b(x) = a(x) + 1;
    c(x) = a(x) * 2;
    d(x) = b(x) + c(x);
    a.compute_root();
    b.compute_root();
    c.compute_root().compute_with(b, x);
    std::map<std::string, Function> env = find_transitive_calls(d.function());
    const auto order = realization_order({d.function()}, env);
    const std::vector<std::string> expected = {a.name(), b.name(), c.name(), d.name()};
    EXPECT_EQ(order.first, expected);
    ASSERT_EQ(order.second.size(), 3u);
    EXPECT_EQ(order.second[1].size(), 2u);
}

TEST(HalideInternal, ListsOfSchedulesAndNames) {
    Var x("x"), y("y"), xi("xi");
    Func f("f");
    f(x, y) = x + y;
    f.split(x, x, xi, 4);
    const auto &dims = Stage(f).get_schedule().dims();
    ASSERT_EQ(dims.size(), 4u);
    EXPECT_EQ(dims[0].var, "xi");
    EXPECT_TRUE(dims[0].is_pure());
    EXPECT_EQ(Stage(f).get_schedule().splits().size(), 1u);

    const Interval both = Interval::make_union(Interval(0, 3), Interval(2, 9));
    EXPECT_TRUE(is_const(both.max, 9));
    EXPECT_TRUE(is_const(Interval::make_intersection(Interval(0, 3), Interval(2, 9)).min, 2));

    const Expr v = Variable::make(Int(32, 6), "v");
    EXPECT_TRUE(Shuffle::make({v}, {0, 3, 1, 4, 2, 5}).as<Shuffle>()->is_transpose());
    EXPECT_TRUE(Shuffle::make({v}, {0, 2, 4, 1, 3, 5}).as<Shuffle>()->is_transpose());
    EXPECT_FALSE(Shuffle::make({v}, {0, 1, 2, 3, 4, 5}).as<Shuffle>()->is_transpose());
    EXPECT_FALSE(Shuffle::make({v}, {0, 3, 1, 4, 5, 2}).as<Shuffle>()->is_transpose());
}

// Schedules that an autoscheduler has printed find Funcs by their place and loops by theirs.
TEST(HalideInternal, FuncsByNumber) {
    const auto number = [](const Func &f) {
        return std::stoi(f.name().substr(1));
    };
    Func before;
    ImageParam in(UInt(8), 2);
    Func after;
    EXPECT_EQ(number(after), number(before) + 2);  // an ImageParam has a Func of its own

    Var x("x"), y("y"), z("z"), xi("xi");
    Func f("numbered_f"), g("numbered_g");
    f(x, y, z) = in(x, y) + z;
    g(x, y, z) = f(x, y, z) + f.in(g)(y, x, z);
    f.compute_root();
    EXPECT_EQ(f.in(g).name(), f.name() + "_in_" + g.name());
    Pipeline p(g);
    EXPECT_EQ(p.get_func(3).name(), g.name());
    Func second = p.get_func(1);
    EXPECT_EQ(second.name(), f.name());
    EXPECT_EQ(second.get_schedule().dims()[2].var, "z");
    Var last(second.get_schedule().dims()[2].var), first(second.get_schedule().dims()[0].var);
    second.split(first, first, xi, 4).parallel(last);
    EXPECT_EQ(second.get_schedule().dims()[1].var, "x");
    EXPECT_EQ(lambda(x, x).name().substr(0, 7), "lambda_");
}

TEST(HalideInternal, FillFromASource) {
    Buffer<int> b(3, 2);
    int next = 0;
    b.fill([&] { return next++; });
    EXPECT_EQ(next, 6);
    EXPECT_EQ(b(0, 0), 0);
    EXPECT_EQ(b(2, 1), 5);
}

TEST(HalideInternal, Rewrites) {
    const Expr x = var("x");
    EXPECT_TRUE(equal(lossless_negate(Cast::make(Int(16), make_const(Int(8), -5))),
                      make_const(Int(16), 5)));
    EXPECT_FALSE(lossless_negate(make_const(Int(8), -128)).defined());
    EXPECT_FALSE(lossless_negate(x).defined());

    const Expr ramp = Ramp::make(x, 3, 4);
    EXPECT_TRUE(equal(extract_even_lanes(ramp), Ramp::make(x, 6, 2)));
    EXPECT_TRUE(equal(extract_odd_lanes(ramp), Ramp::make(x + 3, 6, 2)));

    Param<int> p("p");
    ImageParam im(UInt(8), 1, "im");
    p.set_estimate(7);
    im.dim(0).set_estimate(2, 30);
    EXPECT_TRUE(is_const(simplify(substitute_var_estimates(p + im.dim(0).extent())), 37));
    EXPECT_TRUE(equal(substitute_var_estimates(im.dim(0).stride()), im.dim(0).stride()));

    const auto let = [](const char *name, const Expr &value, const Stmt &body) {
        return LetStmt::make(name, value, body);
    };
    const Stmt end = Evaluate::make(var("free"));
    EXPECT_TRUE(equal(uniquify_variable_names(let("a", 1, let("a", var("a") + 1, end))),
                      let("a", 1, let("a_1", var("a") + 1, end))));
    EXPECT_TRUE(equal(uniquify_variable_names(let("free", 1, end)),
                      let("free", 1, Evaluate::make(var("free")))));
}

TEST(HalideInternal, GeneratorsFromPrograms) {
    const std::string folder = dir_make_temp();
    ExecuteGeneratorArgs args;
    args.output_dir = folder;
    args.output_types = {OutputFileType::stmt};
    args.targets = {Target("host")};
    args.generator_name = "no_such_generator";
    EXPECT_THROW(execute_generator(args), CompileError);
    dir_rmdir(folder);

    const auto info = get_output_info(get_host_target());
    EXPECT_EQ(info.at(OutputFileType::object).extension, ".o");
    EXPECT_TRUE(info.at(OutputFileType::object).is_multi);
    EXPECT_EQ(info.at(OutputFileType::static_library).name, "static_library");
}

TEST(HalideInternal, TypesAsInC) {
    const std::vector<std::pair<Type, std::string>> expected = {{UInt(8), "uint8_t "},
                                                                {Int(64, 4), "int64x4_t "},
                                                                {Bool(), "bool "},
                                                                {Float(32), "float "},
                                                                {Float(64, 2), "double2 "},
                                                                {Float(16), "float16_t "},
                                                                {BFloat(16, 8), "bfloat16x8_t "},
                                                                {Handle(), "void *"}};
    for (const auto &[type, name] : expected) {
        EXPECT_EQ(type_to_c_type(type, true), name);
    }
    EXPECT_EQ(type_to_c_type(Int(32), false), "int32_t");
    const halide_type_t abi = UInt(16);
    EXPECT_TRUE(abi == UInt(16) && UInt(16) == abi && abi != Int(16) && Int(16) != abi);
    EXPECT_EQ(std::vector<halide_type_t>({Float(32)}).at(0).bits, 32);
}

TEST(HalideInternal, BothStreamsOfAProcessInOneFile) {
    TemporaryFile out("streams", ".txt");
    EXPECT_EQ(
        run_process({"sh", "-c", "echo one; echo two >&2; exit 3"}, out.pathname(), out.pathname()),
        3);
    const std::vector<char> text = read_entire_file(out.pathname());
    EXPECT_EQ(std::string(text.begin(), text.end()), "one\ntwo\n");
}

TEST(HalideInternal, AssociativeOperators) {
    const Expr at = var("at"), step = var("step");
    const auto old = [&](Type t, int i) {
        return Call::make(t, "sums", {at}, Call::CallType::Halide, FunctionPtr(), i);
    };
    const auto x = [](const AssociativeOp &op, size_t i) {
        return Variable::make(op.xs[i].expr.type(), op.xs[i].var);
    };
    const auto y = [](const AssociativeOp &op, size_t i) {
        return Variable::make(op.ys[i].expr.type(), op.ys[i].var);
    };
    const AssociativeOp two =
        prove_associativity("sums", {at}, {step + old(Int(32), 0) - 3, max(step, old(Int(32), 1))});
    ASSERT_TRUE(two.associative() && two.commutative());
    ASSERT_EQ(two.size(), 2u);
    EXPECT_TRUE(equal(two.pattern.ops[0], x(two, 0) + y(two, 0)));
    EXPECT_TRUE(equal(two.ys[0].expr, step + -3));
    EXPECT_TRUE(equal(two.xs[1].expr, old(Int(32), 1)));
    EXPECT_TRUE(equal(two.pattern.ops[1], max(x(two, 1), y(two, 1))));
    EXPECT_TRUE(equal(two.pattern.identities[1], Int(32).min()));

    // What stays as it is takes nothing in; a saturating sum is told in its own form.
    const Expr byte = Variable::make(UInt(8), "byte");
    const AssociativeOp other =
        prove_associativity("sums", {at}, {old(Int(32), 0), saturating_add(byte, old(UInt(8), 1))});
    ASSERT_TRUE(other.associative());
    EXPECT_TRUE(other.ys[0].var.empty() && !other.ys[0].expr.defined());
    EXPECT_TRUE(equal(other.pattern.ops[1], saturating_add(y(other, 1), x(other, 1))));

    EXPECT_FALSE(prove_associativity("sums", {at}, {step - old(Int(32), 0)}).associative());
}

TEST(HalideInternal, PrintedDomains) {
    std::ostringstream out;
    const RDom r(0, 4, 2, 5, "printed_domain");
    out << RDom() << " " << r;
    EXPECT_EQ(out.str(), "RDom() RDom(printed_domain$x in [0, 4), printed_domain$y in [2, 7))");
}

TEST(HalideInternal, ExternDefinitions) {
    Func source("source"), stage("stage");
    Var x("x");
    source(x) = x;
    Function plain = source.function();
    EXPECT_TRUE(plain.extern_function_name().empty() && plain.extern_arguments().empty());
    EXPECT_FALSE(plain.extern_definition_proxy_expr().defined());
    stage.define_extern("process_rows", {source, 7}, Int(32), {x});
    stage.function().extern_definition_proxy_expr() = source(0) + source(6);
    EXPECT_EQ(stage.function().extern_function_name(), "process_rows");
    EXPECT_EQ(stage.function().extern_arguments().size(), 2u);
    EXPECT_TRUE(stage.function().extern_definition_proxy_expr().defined());
}

TEST(HalideInternal, CastsThatLoseNothing) {
    const Expr byte = Variable::make(UInt(8), "byte");
    EXPECT_TRUE(
        equal(lossless_cast(UInt(16), cast<uint32_t>(byte) + 16), cast<uint16_t>(byte) + 16));
    EXPECT_FALSE(lossless_cast(UInt(16), cast<uint32_t>(byte) - 16).defined());
    const Expr lanes = Ramp::make(var("x"), 1, 4) > 4;
    const auto least = [](const Expr &e) {
        return VectorReduce::make(VectorReduce::Min, e, 2);
    };
    EXPECT_TRUE(equal(lossless_cast(Bool(), least(cast(UInt(8, 4), lanes))),
                      VectorReduce::make(VectorReduce::And, lanes, 2)));
}

TEST(HalideInternal, SetsOfExpressions) {
    const Expr x = var("x"), y = var("y");
    std::set<Expr, IRDeepCompare> left = {x + y, x * 2, x + y, y};
    EXPECT_EQ(left.size(), 3u);
    EXPECT_EQ(left.count(var("x") + var("y")), 1u);
    EXPECT_EQ(left.erase(var("x") * 2), 1u);
    EXPECT_EQ(left.count(y + x), 0u);

    std::map<Stmt, int, IRGraphDeepCompare> counts;
    counts[Evaluate::make(x)]++;
    counts[Evaluate::make(var("x"))]++;
    counts[Evaluate::make(y)]++;
    EXPECT_EQ(counts.size(), 2u);
    EXPECT_EQ(counts[Evaluate::make(x)], 2);
}

}  // namespace
