// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_calls.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace calotype::test {

namespace {

std::vector<VarOrRVar> loops_of(const Stage &stage) {
    std::vector<VarOrRVar> loops;
    for (const internal::Dim &d : stage.get_schedule().dims) {
        if (d.var != internal::outermost_name) {
            loops.push_back(d.is_rvar() ? VarOrRVar(RVar(d.var)) : VarOrRVar(Var(d.var)));
        }
    }
    return loops;
}

}  // namespace

RandomCalls::RandomCalls(uint64_t seed) : dice_(seed) {
    declare();
    const int funcs = 2 + dice_(4);
    for (int i = 0; i < funcs; i++) {
        call("define", [&] { define(); });
        while (dice_.chance(40)) {
            call("update", [&] { update(); });
        }
    }
    for (int i = dice_(14); i > 0; i--) {
        call("schedule", [&] { schedule(); });
    }
}

Func RandomCalls::output() const {
    const auto last =
        std::find_if(funcs_.rbegin(), funcs_.rend(), [](const Func &f) { return f.defined(); });
    return last == funcs_.rend() ? Func() : *last;
}

void RandomCalls::call(const std::string &what, const std::function<void()> &f) {
    text_ += what;
    try {
        f();
    } catch (const CompileError &e) {
        text_ += std::string("  refused: ") + e.what();
    }
    text_ += "\n";
}

int RandomCalls::number() {
    const std::vector<int> usual = {1, 2, 3, 4, 5, 7, 8, 16, 32},
                           rare = {0, -1, -4, 100, INT32_MAX, INT32_MIN};
    const int n = dice_.pick(dice_.chance(85) ? usual : rare);
    return said(n, std::to_string(n));
}

Type RandomCalls::type() {
    const std::vector<Type> usual = {Int(8),  UInt(8),  Int(16),   UInt(16),  Int(32), UInt(32),
                                     Int(64), UInt(64), Float(32), Float(64), Bool()},
                            rare = {Float(16), BFloat(16), Int(32, 4), Handle(), UInt(3)};
    return dice_.pick(dice_.chance(90) ? usual : rare);
}

Var RandomCalls::new_var() {
    if (dice_.chance(80)) {
        vars_.emplace_back("n" + std::to_string(names_++));
        return said(vars_.back(), vars_.back().name());
    }
    const Var v = dice_.pick(vars_);
    return said(v, v.name());
}

Func RandomCalls::func() {
    const Func f = dice_.pick(funcs_);
    return said(f, f.name());
}

VarOrRVar RandomCalls::loop() {
    const bool is_own = !own_loops_.empty() && dice_.chance(88);
    const VarOrRVar v = is_own             ? dice_.pick(own_loops_)
                        : dice_.chance(50) ? VarOrRVar(dice_.pick(vars_))
                                           : VarOrRVar(dice_.pick(rvars_));
    return said(v, v.name());
}

LoopLevel RandomCalls::level() {
    switch (dice_(12)) {
    case 0:
        return said(LoopLevel::root(), "root");
    case 1:
        return said(LoopLevel::inlined(), "inlined");
    case 2:
        return said(LoopLevel(), "unset");
    default:
        break;
    }
    const Func f = func();
    if (f.defined() && !f.is_extern()) {
        own_loops_ = loops_of(f);
    }
    return LoopLevel(f, loop());
}

TailStrategy RandomCalls::tail() {
    return TailStrategy(dice_(8));
}

std::vector<Expr> RandomCalls::coordinates(int dimensions, int depth) {
    if (dice_.chance(4)) {
        dimensions = dice_(4);
    }
    std::vector<Expr> result;
    for (int i = 0; i < dimensions; i++) {
        result.push_back(dice_.chance(70) ? vars_[size_t(i)] + dice_(3) : expr(depth - 1));
    }
    return result;
}

Expr RandomCalls::leaf() {
    switch (dice_(8)) {
    case 0:
        return dice_.pick(rvars_);
    case 1:
        return number();
    case 2:
        return cast(type(), number());
    case 3:
        return dice_.pick(params_);
    case 4:
        return dice_.chance(5) ? Expr() : Expr(3.5f);
    case 5:
        return dice_.chance(5) ? undef(type()) : Expr(2);
    default:
        return dice_.pick(vars_);
    }
}

Expr RandomCalls::read(int depth) {
    if (funcs_.empty() || dice_.chance(30)) {
        const ImageParam image = dice_.pick(images_);
        return image(coordinates(image.dimensions(), depth));
    }
    const Func f = dice_.pick(funcs_);
    const FuncRef ref = f(coordinates(f.defined() ? f.dimensions() : 1, depth));
    return f.defined() && f.outputs() > 1 ? Expr(ref[dice_(3)]) : Expr(ref);
}

Expr RandomCalls::expr(int depth) {
    if (depth <= 0 || dice_.chance(20)) {
        return leaf();
    }
    if (dice_.chance(25)) {
        return read(depth);
    }
    const Expr a = expr(depth - 1), b = expr(depth - 1);
    const std::vector<std::function<Expr()>> forms = {
        [&] { return a + b; },
        [&] { return a - b; },
        [&] { return a * b; },
        [&] { return a / b; },
        [&] { return a % b; },
        [&] { return min(a, b); },
        [&] { return max(a, b); },
        [&] { return clamp(a, b, number()); },
        [&] { return select(a < b, a, b); },
        [&] { return select(a == b && a > 0, b, a); },
        [&] { return cast(type(), a); },
        [&] { return saturating_cast(type(), a); },
        [&] { return reinterpret(type(), a); },
        [&] { return a >> b; },
        [&] { return a << b; },
        [&] { return !a; },
        [&] { return abs(a); },
        [&] { return absd(a, b); },
        [&] { return sqrt(a) + pow(a, b); },
        [&] { return lerp(a, b, 0.5f); },
        [&] { return sum(a) + maximum(b); },
        [&] { return Expr(argmin(a)[dice_(2)]); },
        [&] { return likely(a); },
        [&] { return popcount(a) + count_leading_zeros(a); },
        [&] { return random_int(); },
        [&] {
            return mux(a, {a, b});
        },
        [&] { return require(a > b, a, "of no use"); },
        [&] { return select(target_has_feature(Target::AVX2), a, b); },
    };
    return dice_.pick(forms)();
}

void RandomCalls::declare() {
    vars_ = {Var("x"), Var("y"), Var("z"), Var("c")};
    params_.emplace_back("p");
    for (int i = 0; i < 2; i++) {
        images_.emplace_back(dice_.pick(std::vector<Type>{UInt(8), Int(32), Float(32)}), dice_(4),
                             "image" + std::to_string(i));
        rvars_.push_back(RDom(0, 4 + i).x);
        call("domain", [&] {
            RDom r(number(), number(), number(), 5);
            rvars_.insert(rvars_.end(), {r.x, r.y});
            if (dice_.chance(30)) {
                r.where(expr(1) > expr(1));
            }
        });
    }
    call("constraint", [&] {
        auto d = images_[0].dim(dice_(3));
        dice_.chance(50) ? d.set_stride(expr(1)) : d.set_bounds(expr(1), number());
    });
}

void RandomCalls::define() {
    Func f("f" + std::to_string(funcs_.size()));
    const std::vector<Var> args(vars_.begin(), vars_.begin() + dice_(4));
    funcs_.push_back(f);
    said(f, f.name());
    const int kind = dice_(20);
    if (kind == 0) {
        f.define_extern("calotype_test_none", {funcs_[0]}, type(), int(args.size()));
    } else if (kind < 3) {
        f(args) = Tuple(expr(2), expr(2));
    } else {
        f(args) = expr(3);
    }
}

void RandomCalls::update() {
    const Func f = func();
    FuncRef place = f(coordinates(f.defined() ? f.dimensions() : 1, 1));
    if (f.defined() && f.outputs() > 1) {
        place = Tuple(expr(2), expr(1));
        return;
    }
    switch (dice_(4)) {
    case 0:
        place = expr(2);
        return;
    case 1:
        place += expr(2);
        return;
    case 2:
        place *= expr(1);
        return;
    default:
        place = max(Expr(place), expr(1));
    }
}

void RandomCalls::schedule() {
    const Func f = func();
    const bool is_plain = f.defined() && !f.is_extern();
    if (is_plain && dice_.chance(60)) {
        const int updates = f.num_update_definitions();
        const int which = dice_(updates + 1);
        Stage s = which == 0 ? Stage(f) : Func(f).update(which - 1);
        own_loops_ = loops_of(s);
        dice_.chance(60) ? schedule_order(s) : schedule_kinds(s);
        return;
    }
    switch (dice_(3)) {
    case 0:
        return schedule_func(f);
    case 1:
        return schedule_storage(f);
    default:
        return schedule_bounds(f);
    }
}

void RandomCalls::schedule_func(Func f) {
    const std::vector<std::function<void()>> directives = {
        [&] { f.compute_root(); },
        [&] { f.compute_at(level()); },
        [&] { f.compute_at(level()); },
        [&] { f.store_at(level()); },
        [&] { f.hoist_storage(level()); },
        [&] { f.async(); },
        [&] { f.memoize(EvictionKey(expr(1))); },
        [&] { funcs_.push_back(f.in(func())); },
        [&] { funcs_.push_back(f.in()); },
        [&] { funcs_.push_back(f.clone_in(func())); },
        [&] { funcs_.push_back(f.update(0).rfactor(dice_.pick(rvars_), new_var())); },
        [&] { f.compute_with(level()); },
    };
    dice_.pick(directives)();
}

void RandomCalls::schedule_storage(Func f) {
    const Var v = dice_.pick(vars_);
    const std::vector<std::function<void()>> directives = {
        [&] { f.fold_storage(v, expr(1), dice_.chance(50)); },
        [&] { f.ring_buffer(expr(0)); },
        [&] { f.align_storage(v, expr(0)); },
        [&] { f.bound_storage(v, expr(0)); },
        [&] { f.reorder_storage(v, dice_.pick(vars_)); },
        [&] { f.store_in(MemoryType(dice_(9))); },
        [&] { f.trace_stores(); },
    };
    said(0, v.name());
    dice_.pick(directives)();
}

void RandomCalls::schedule_bounds(Func f) {
    const Var v = dice_.pick(vars_);
    const std::vector<std::function<void()>> directives = {
        [&] { f.bound(v, expr(0), expr(1)); },         [&] { f.bound_extent(v, number()); },
        [&] { f.align_bounds(v, expr(0), number()); }, [&] { f.align_extent(v, number()); },
        [&] { f.set_estimate(v, expr(0), number()); },
    };
    said(0, v.name());
    dice_.pick(directives)();
}

void RandomCalls::schedule_order(Stage s) {
    const std::vector<std::function<void()>> directives = {
        [&] { s.split(loop(), new_var(), new_var(), expr(0), tail()); },
        [&] { s.split(loop(), new_var(), new_var(), number(), tail()); },
        [&] { s.reorder(loop(), loop()); },
        [&] { s.fuse(loop(), loop(), new_var()); },
        [&] { s.tile(loop(), loop(), new_var(), new_var(), new_var(), new_var(), 4, 3, tail()); },
        [&] { s.rename(loop(), new_var()); },
        [&] { s.specialize(expr(1) > expr(1)); },
        [&] { s.prefetch(func(), loop(), loop(), expr(0)); },
        [&] { s.partition(loop(), Partition(dice_(3))); },
    };
    dice_.pick(directives)();
}

void RandomCalls::schedule_kinds(Stage s) {
    const std::vector<std::function<void()>> directives = {
        [&] { s.vectorize(loop(), 1 << dice_(5), tail()); },
        [&] { s.vectorize(loop()); },
        [&] { s.unroll(loop(), 1 + dice_(5), tail()); },
        [&] { s.unroll(loop()); },
        [&] { s.parallel(loop()); },
        [&] { s.atomic(dice_.chance(50)); },
        [&] { s.allow_race_conditions(); },
        [&] { s.gpu_blocks(loop()); },
        [&] { s.gpu_threads(loop()); },
    };
    dice_.pick(directives)();
}

}  // namespace calotype::test
