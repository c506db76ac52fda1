// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_pipeline.h"

#include "random_externs.h"

#include <algorithm>

namespace calotype::test {

const Var x("x"), y("y");

Type work_type(const Type &t) {
    return t.is_bool() ? Int(32) : t;
}

int64_t wrap(const Type &t, int64_t v) {
    if (t.is_float() || t.bits() == 64) {
        return v;
    } else if (t.is_bool()) {
        return v != 0;
    }
    const int unused = 64 - t.bits();
    const uint64_t top = uint64_t(v) << unused;
    return t.is_uint() ? int64_t(top >> unused) : int64_t(top) >> unused;
}

namespace {

constexpr int scan_begin = 1, scan_length = 6, row = 3, gather_width = 9, long_window = 32,
              places = 7, entries = 12, float_limit = 1000, small_limit = 20, filling = 1;
/// The parameter is at most that; where a choice looks at coordinates, it is of a rectangle.
constexpr int largest_choice = 2, inside_right = 20, inside_bottom = 12;

bool is_small_float(const Type &t) {
    return t.is_float() && t.bits() == 16;
}

/// Sums of so small numbers are exact in all types.
int modulus(const Type &t) {
    if (is_small_float(t)) {
        return t.is_bfloat() ? 7 : 31;
    }
    return t == Int(8) ? 101 : 251;
}

/// What definitions, and updates, of a float give at most. Sums of floats of 32 bits are exact
/// anyway.
int definition_limit(const Type &t) {
    return is_small_float(t) ? (t.is_bfloat() ? 32 : 64) : float_limit;
}
int update_limit(const Type &t) {
    return t.is_bfloat() ? 64 : 512;
}

/// By how much low values are below those of other stages, so that all are below 0.
int lowered_by(const Type &t) {
    return (t.is_float() ? definition_limit(t) : modulus(t)) + 1;
}

Access random_access(Dice &dice, const RandomPipeline &p) {
    Access a;
    a.offset = dice(7) - 3;
    if (p.full && dice.chance(6)) {
        a.scale = -1;
        return a;
    }
    if (dice.chance(12)) {
        a.scale = 2;
    } else if (dice.chance(12)) {
        a.divide = 2 + dice(2);
    }
    return a;
}

Tap random_tap(Dice &dice, const RandomPipeline &p) {
    const int last = int(p.stages.size()) - 1;
    Tap t;
    t.source = dice.chance(60) ? last : dice(last + 1);
    t.source -= p.stages[size_t(t.source)].holes ? 1 : 0;
    t.value = p.stages[size_t(t.source)].tuple ? dice(2) : 0;
    t.transposed = dice.chance(8);
    t.x = random_access(dice, p);
    t.y = random_access(dice, p);
    t.weight = 1 + dice(3);
    if (p.wide && dice.chance(15)) {
        t.boundary = Boundary(1 + dice(4));
    }
    return t;
}

UpdateSpec random_update(Dice &dice, const RandomPipeline &p) {
    const int drawn = dice(p.full ? 34 : p.wide ? 14 : 6);
    const UpdateKind kind = drawn < 10    ? UpdateKind(drawn)
                            : drawn < 13  ? UpdateKind::LongWindow
                            : drawn == 13 ? UpdateKind::Histogram
                            : drawn < 19  ? UpdateKind::WhileSmall
                            : drawn < 22  ? UpdateKind::WhereEven
                            : drawn < 25  ? UpdateKind::ParamWindow
                            : drawn < 28  ? UpdateKind::MinWindow
                            : drawn < 31  ? UpdateKind::MaxWindow
                                          : UpdateKind::Keep;
    const Tap tap = random_tap(dice, p);
    const int width = 1 + dice(4);
    return {kind, tap, width, 1 + dice(3)};
}

/// Whether the definition says that the first value is in [0, modulus), and so it stays.
bool has_small_values(const StageSpec &s) {
    return s.type.is_int_or_uint() && s.type.bits() <= 32 && !s.input && !s.low &&
           s.updates.empty();
}

/// What the stage is of the stages before it.
void draw_taps(Dice &dice, const RandomPipeline &p, StageSpec &s) {
    s.combine = dice.pick<Combine>(
        {Combine::Sum, Combine::Sum, Combine::Max, Combine::Select, Combine::Gather});
    if (p.full && dice.chance(50)) {
        s.combine = dice.pick<Combine>({Combine::Lookup, Combine::Partial, Combine::Choice});
        s.threshold = dice(4) - 1;
        if (s.combine == Combine::Choice && s.threshold == largest_choice) {
            s.combine = Combine::Inside;
        }
    }
    const int taps = s.combine == Combine::Sum ? 1 + dice(3) : 2;
    for (int i = 0; i < taps; i++) {
        s.taps.push_back(random_tap(dice, p));
    }
    const Tap &first = s.taps[0];
    if (s.combine == Combine::Lookup && (!has_small_values(p.stages[size_t(first.source)]) ||
                                         first.value != 0 || first.boundary != Boundary::None)) {
        s.combine = Combine::Gather;
    }
}

StageSpec random_stage(Dice &dice, const RandomPipeline &p) {
    static const std::vector<Type> types = {Int(32), Int(32),  UInt(8),
                                            Int(16), UInt(16), Float(32)};
    StageSpec s;
    s.type = dice.pick(types);
    s.tuple = dice.chance(12);
    if (!p.stages.empty()) {
        draw_taps(dice, p, s);
        while (!s.tuple && s.updates.size() < 2 && dice.chance(25)) {
            s.updates.push_back(random_update(dice, p));
        }
    }
    return s;
}

/// Sums of narrow floats are limited from above alone.
bool may_be_low(const Type &t) {
    return t.is_int() || (t.is_float() && t.bits() >= 32);
}

/// Whether what is compared with low values is low, too.
bool is_lowered(const StageSpec &s, const UpdateSpec &u) {
    return s.low && (u.kind == UpdateKind::MaxWindow || u.kind == UpdateKind::MinWindow);
}

StageSpec wide_random_stage(Dice &dice, const RandomPipeline &p) {
    static const std::vector<Type> types = {Int(32),   Int(32),  Int(32),   UInt(8),   UInt(8),
                                            Int(16),   UInt(16), Float(32), Float(32), Int(8),
                                            UInt(32),  Int(64),  UInt(64),  Float(16), BFloat(16),
                                            Float(64), Bool()};
    StageSpec s;
    s.type = dice.pick(types);
    s.tuple = dice.chance(15);
    s.input = !s.tuple && dice.chance(p.stages.empty() ? 60 : 8);
    if (!p.stages.empty() && !s.input) {
        draw_taps(dice, p, s);
        s.low = p.full && may_be_low(s.type) && dice.chance(25);
        while (!s.type.is_bool() && s.updates.size() < 2 && dice.chance(35)) {
            s.updates.push_back(random_update(dice, p));
        }
    }
    return s;
}

/// A stage with holes, and one that looks up by its values.
void add_stages_with_holes(Dice &dice, RandomPipeline &p) {
    static const std::vector<Type> types = {Int(32), Int(32), UInt(8), Int(16), UInt(16)};
    StageSpec s;
    s.type = dice.pick(types);
    s.holes = true;
    s.taps = {random_tap(dice, p)};
    StageSpec reader;
    reader.type = dice.pick(types);
    reader.combine = Combine::Holes;
    Tap index, looked_up = random_tap(dice, p);
    index.source = int(p.stages.size());
    reader.taps = {index, looked_up};
    p.stages.push_back(s);
    p.stages.push_back(reader);
}

/// Division that rounds down.
int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

int64_t floor_mod(int64_t a, int64_t b) {
    return ((a % b) + b) % b;
}

int64_t floor_mod(const Type &t, int64_t a, int64_t b) {
    return t == UInt(64) ? int64_t(uint64_t(a) % uint64_t(b)) : floor_mod(a, b);
}

int64_t larger(const Type &t, int64_t a, int64_t b) {
    return t == UInt(64) ? int64_t(std::max(uint64_t(a), uint64_t(b))) : std::max(a, b);
}

int64_t smaller(const Type &t, int64_t a, int64_t b) {
    return larger(t, a, b) == a ? b : a;
}

bool is_hole(int x, int y) {
    return floor_mod(x + y, 3) == 0;
}

bool is_small(const Type &t, int64_t v) {
    return t == UInt(64) ? uint64_t(v) < uint64_t(small_limit) : v < small_limit;
}

Expr access(const Access &a, const Expr &v) {
    return a.divide > 1 ? v / a.divide + a.offset : v * a.scale + a.offset;
}

int access(const Access &a, int v) {
    return floor_div(v * a.scale, a.divide) + a.offset;
}

/// Where the boundary condition reads for v in [0, n). -1: nowhere.
int bounded(Boundary b, int v, int n) {
    switch (b) {
    case Boundary::None:
        return v;
    case Boundary::Edge:
        return std::clamp(v, 0, n - 1);
    case Boundary::Repeat:
        return int(floor_mod(v, n));
    case Boundary::Mirror: {
        const int m = int(floor_mod(v, 2 * n));
        return m < n ? m : 2 * n - 1 - m;
    }
    case Boundary::Constant:
        break;
    }
    return v >= 0 && v < n ? v : -1;
}

/// Builds the Funcs of one pipeline.
class Builder {
public:
    explicit Builder(const RandomPipeline &p) : p_(p) {
    }
    BuiltPipeline build() {
        for (size_t i = 0; i < p_.stages.size(); i++) {
            Func f("f" + std::to_string(i));
            const StageSpec &s = p_.stages[i];
            if (s.input) {
                built_.images.emplace_back(s.type, 2, "in" + std::to_string(i));
            }
            const Expr v = s.input      ? Expr(built_.images.back()(x, y))
                           : s.external ? Expr()
                                        : definition(s);
            if (s.external) {
                define_external(f, s,
                                {built_.funcs[size_t(s.taps[0].source)],
                                 built_.funcs[size_t(s.taps[1].source)]});
            } else if (s.tuple) {
                f(x, y) =
                    Tuple(as_type(s, v), as_type(s, v * cast(v.type(), 2) + cast(v.type(), 1)));
            } else {
                f(x, y) = as_type(s, v);
            }
            built_.funcs.push_back(f);
            built_.rvars.emplace_back();
            for (const UpdateSpec &u : s.updates) {
                built_.rvars.back().push_back(update(f, s, u));
            }
        }
        return built_;
    }

private:
    static Expr as_type(const StageSpec &s, const Expr &v) {
        return s.type.is_bool() && !v.type().is_bool() ? v % 2 != 0 : v;
    }

    static Expr hole() {
        return (x + y) % 3 == 0;
    }

    /// What the tap reads of.
    Func source(const Tap &t) const {
        const Func &f = built_.funcs[size_t(t.source)];
        const StageSpec &s = p_.stages[size_t(t.source)];
        const Region all = {{0, bounded_width}, {0, bounded_height}};
        switch (t.boundary) {
        case Boundary::None:
            break;
        case Boundary::Edge:
            return BoundaryConditions::repeat_edge(f, all);
        case Boundary::Repeat:
            return BoundaryConditions::repeat_image(f, all);
        case Boundary::Mirror:
            return BoundaryConditions::mirror_image(f, all);
        case Boundary::Constant: {
            const Expr value = s.type.is_bool() ? cast<bool>(1) : cast(s.type, beyond);
            return s.tuple ? BoundaryConditions::constant_exterior(f, Tuple(value, value), all)
                           : BoundaryConditions::constant_exterior(f, value, all);
        }
        }
        return f;
    }

    Expr unweighted(const Tap &t, const Expr &vx, const Expr &vy) const {
        const Func f = source(t);
        const Expr ax = access(t.x, t.transposed ? vy : vx),
                   ay = access(t.y, t.transposed ? vx : vy);
        return p_.stages[size_t(t.source)].tuple ? Expr(f(ax, ay)[t.value]) : Expr(f(ax, ay));
    }
    Expr tap(const Tap &t, const Type &as, const Expr &vx, const Expr &vy) const {
        Expr v = unweighted(t, vx, vy);
        // A float beyond the range of a narrow type may become anything; an int wraps.
        v = v.type().is_float() || as.is_float() ? cast<int>(v) : v;
        v = as.is_float() ? v % modulus(as) : v;
        return cast(as, v) * cast(as, t.weight);
    }
    Expr definition(const StageSpec &s) const {
        const Type t = work_type(s.type);
        if (s.taps.empty()) {
            return cast(t, (x * 7 + y * 13 + x * y) % modulus(t));
        }
        Expr v = tap(s.taps[0], t, x, y);
        switch (s.combine) {
        case Combine::Sum:
            for (size_t i = 1; i < s.taps.size(); i++) {
                v += tap(s.taps[i], t, x, y);
            }
            break;
        case Combine::Max:
            v = max(v, tap(s.taps[1], t, x, y));
            break;
        case Combine::Select:
            v = select((x + y) % 3 == 0, v, tap(s.taps[1], t, x, y));
            break;
        case Combine::Gather:
            v = tap(s.taps[1], t, clamp(cast<int>(v), 0, gather_width), y);
            break;
        case Combine::Lookup:
            v = tap(s.taps[1], t, cast<int>(unweighted(s.taps[0], x, y)), y);
            break;
        case Combine::Choice:
            v = select(built_.choice > s.threshold, v, tap(s.taps[1], t, x, y));
            break;
        case Combine::Inside: {
            const Expr &c = built_.choice;
            v = select(x >= c * 4 && x < inside_right && y > c && y <= inside_bottom - c, v,
                       tap(s.taps[1], t, x, y));
            break;
        }
        case Combine::Partial: {
            const Expr first = (x + y) % 3 == 0;
            v = select(first, v,
                       select(x % 2 == 0, select(!first, tap(s.taps[1], t, x, y), undef(t)),
                              select(first, undef(t), v)));
            break;
        }
        case Combine::Holes:
            v = select(hole(), cast(t, filling),
                       tap(s.taps[1], t, cast<int>(unweighted(s.taps[0], x, y)), y));
            break;
        }
        v = s.holes ? select(hole(), undef(t), v) : v;
        v = t.is_float() ? min(v, cast(t, definition_limit(t))) : v % cast(t, modulus(t));
        return s.low ? v - cast(t, lowered_by(t)) : v;
    }

    /// Kept small, that sums of sums do not overflow.
    Expr update_tap(const Tap &t, const Type &as, const Expr &vx, const Expr &vy) const {
        const Expr v = tap(t, as, vx, vy);
        return as.is_int_or_uint() && as.bits() >= 32 ? v % cast(as, modulus(as)) : v;
    }

    /// f(vx, vy) becomes combine(f(vx, vy), value), of tuples with the first's old value added.
    template<typename Combination>
    void assign(Func f, const StageSpec &s, const Expr &vx, const Expr &vy, const Expr &value,
                Combination combine) const {
        const auto limited = [&](const Expr &v) {
            return is_small_float(s.type) ? min(v, cast(s.type, update_limit(s.type))) : v;
        };
        if (s.tuple) {
            const Expr first = f(vx, vy)[0], second = f(vx, vy)[1];
            f(vx, vy) = Tuple(limited(combine(first, value, 0)),
                              limited(combine(second, value + first, 1)));
        } else {
            f(vx, vy) = limited(combine(f(vx, vy), value, 0));
        }
    }

    std::vector<RVar> update(Func &f, const StageSpec &s, const UpdateSpec &u) const {
        const Type t = s.type;
        const auto add = [](const Expr &a, const Expr &b, int) {
            return a + b;
        };
        const auto take = [](const Expr &, const Expr &b, int) {
            return b;
        };
        const auto add_before = [&](const Expr &bx, const Expr &by) {
            return [&f, &s, bx, by](const Expr &a, const Expr &b, int value) {
                return a + ((s.tuple ? Expr(f(bx, by)[value]) : Expr(f(bx, by))) + b);
            };
        };
        switch (u.kind) {
        case UpdateKind::Pure:
            assign(f, s, x, y, update_tap(u.tap, t, x, y), add);
            return {};
        case UpdateKind::Keep:
            assign(f, s, x, y, update_tap(u.tap, t, x, y), [](const Expr &a, const Expr &b, int) {
                return select(hole(), a + b, undef(a.type()));
            });
            return {};
        case UpdateKind::Row:
            assign(f, s, x, row, update_tap(u.tap, t, x, row), take);
            return {};
        case UpdateKind::ScanColumns: {
            RDom r(scan_begin, scan_length, "r");
            assign(f, s, x, r, update_tap(u.tap, t, x, r), add_before(x, r - 1));
            return {r.x};
        }
        case UpdateKind::ScanRows: {
            RDom r(scan_begin, scan_length, "r");
            assign(f, s, r, y, update_tap(u.tap, t, r, y), add_before(r - 1, y));
            return {r.x};
        }
        case UpdateKind::LongWindow: {
            RDom r(0, long_window, "r");
            assign(f, s, x, y, update_tap(u.tap, t, x + r, y), add);
            return {r.x};
        }
        case UpdateKind::ParamWindow: {
            RDom r(0, built_.choice + 2, "r");
            assign(f, s, x, y, update_tap(u.tap, t, x + r, y), add);
            return {r.x};
        }
        case UpdateKind::Histogram: {
            RDom r(0, entries, "r");
            assign(f, s, update_tap(u.tap, Int(32), r, y) % places, y, cast(t, u.tap.weight), add);
            return {r.x};
        }
        default:
            return window(f, s, u);
        }
    }

    std::vector<RVar> window(Func &f, const StageSpec &s, const UpdateSpec &u) const {
        RDom r(0, u.width, 0, u.height, "r");
        if (u.kind == UpdateKind::HalfWindow) {
            r.where(r.x <= r.y);
        } else if (u.kind == UpdateKind::OddWindow) {
            r.where((x + r.x) % 2 == 0);
        } else if (u.kind == UpdateKind::WhileSmall) {
            const Expr first = s.tuple ? Expr(f(x, y)[0]) : Expr(f(x, y));
            r.where(first < cast(s.type, small_limit));
        } else if (u.kind == UpdateKind::WhereEven) {
            r.where(tap(u.tap, Int(32), x + r.x, y) % 2 == 0);
        }
        Expr value = update_tap(u.tap, s.type, x + r.x, y + r.y);
        value = is_lowered(s, u) ? value - cast(s.type, lowered_by(s.type)) : value;
        assign(f, s, x, y, value, [&](const Expr &a, const Expr &b, int) {
            return u.kind == UpdateKind::MaxWindow   ? max(a, b)
                   : u.kind == UpdateKind::MinWindow ? min(a, b)
                                                     : a + b;
        });
        return {r.x, r.y};
    }

    const RandomPipeline &p_;
    BuiltPipeline built_;
};

}  // namespace

RandomPipeline random_pipeline(uint64_t seed) {
    Dice dice(seed);
    RandomPipeline p;
    const int stages = 2 + dice(4);
    for (int i = 0; i < stages; i++) {
        p.stages.push_back(random_stage(dice, p));
    }
    p.width = dice.chance(10) ? 1 + dice(4) : 5 + dice(40);
    p.height = dice.chance(10) ? 1 + dice(4) : 5 + dice(25);
    p.min_x = dice.chance(50) ? 0 : dice(41) - 20;
    p.min_y = dice.chance(50) ? 0 : dice(41) - 20;
    return p;
}

namespace {

RandomPipeline draw_wide(uint64_t seed, bool full) {
    Dice dice(seed);
    RandomPipeline p;
    p.wide = true;
    p.full = full;
    p.choice = full ? dice(largest_choice + 2) - 1 : 0;
    const int stages = 1 + dice(4);
    for (int i = 0; i < stages; i++) {
        if (full && i > 0 && dice.chance(20)) {
            add_stages_with_holes(dice, p);
        } else {
            p.stages.push_back(wide_random_stage(dice, p));
        }
    }
    p.outputs = dice.chance(15) ? 2 : 1;
    const StageSpec last = wide_random_stage(dice, p);
    if (p.outputs == 2) {
        p.stages.push_back(wide_random_stage(dice, p));
    }
    p.stages.push_back(last);
    p.width = dice.chance(10) ? 1 + dice(4) : 5 + dice(60);
    p.height = dice.chance(10) ? 1 + dice(4) : 5 + dice(25);
    if (dice.chance(3)) {
        (dice.chance(50) ? p.width : p.height) = 0;
    }
    p.min_x = dice.chance(50) ? 0 : dice(41) - 20;
    p.min_y = dice.chance(50) ? 0 : dice(41) - 20;
    return p;
}

}  // namespace

RandomPipeline wide_random_pipeline(uint64_t seed) {
    return draw_wide(seed, false);
}

RandomPipeline full_random_pipeline(uint64_t seed) {
    return draw_wide(seed, true);
}

RandomPipeline windows_random_pipeline(uint64_t seed) {
    RandomPipeline p = draw_wide(seed, true);
    p.windows = true;
    return p;
}

BuiltPipeline build(const RandomPipeline &p) {
    BuiltPipeline built = Builder(p).build();
    built.choice.set(p.choice);
    return built;
}

int64_t source_value(const Type &t, int x, int y) {
    const Type work = work_type(t);
    const int64_t v = wrap(work, floor_mod(x * 7 + y * 13 + x * y, modulus(work)));
    return t.is_bool() ? v % 2 : v;
}

int64_t weighted(const Type &as, int64_t v, int weight) {
    v = as.is_float() ? floor_mod(wrap(Int(32), v), modulus(as)) : v;
    return wrap(as, wrap(as, v) * weight);
}

namespace {

std::array<int64_t, 2> both_values(const Type &t, int64_t first) {
    const int64_t second = wrap(work_type(t), first * 2 + 1);
    const auto stored = [&](int64_t v) {
        return wrap(t, t.is_bool() ? floor_mod(v, 2) : v);
    };
    return {stored(first), stored(second)};
}

}  // namespace

std::array<int64_t, 2> stored_values(const StageSpec &s, int64_t v) {
    const Type t = work_type(s.type);
    v = t.is_float() ? std::min<int64_t>(v, definition_limit(t)) : floor_mod(t, v, modulus(t));
    return both_values(s.type, s.low ? v - lowered_by(t) : v);
}

std::vector<int> RandomPipeline::output_stages() const {
    std::vector<int> all;
    for (int i = 0; i < int(stages.size()); i++) {
        if (is_output(i)) {
            all.push_back(i);
        }
    }
    return all;
}

int64_t Evaluator::operator()(int stage, int value, int x, int y) {
    const StageSpec &s = p_.stages[size_t(stage)];
    return after(stage, int(s.updates.size()), x, y)[size_t(value)];
}

Evaluator::Values Evaluator::after(int stage, int updates, int x, int y) {
    const std::array<int, 4> key = {stage, updates, x, y};
    auto found = known_.find(key);
    if (found != known_.end()) {
        return found->second;
    }
    const StageSpec &s = p_.stages[size_t(stage)];
    Values v;
    if (updates > 0) {
        v = update(stage, updates - 1, x, y);
        for (int64_t &value : v) {
            value = wrap(s.type, value);
        }
    } else if (s.taps.empty()) {
        v = both_values(s.type, source_value(work_type(s.type), x, y));
    } else {
        v = stored_values(s, definition(s, x, y));
    }
    known_[key] = v;
    return v;
}

int64_t Evaluator::tap(const Tap &t, const Type &as, int x, int y) {
    if (t.transposed) {
        std::swap(x, y);
    }
    const int sx = bounded(t.boundary, access(t.x, x), bounded_width),
              sy = bounded(t.boundary, access(t.y, y), bounded_height);
    const Type &from = p_.stages[size_t(t.source)].type;
    int64_t v = t.boundary == Boundary::Constant && (sx < 0 || sy < 0)
                    ? (from.is_bool() ? 1 : beyond)
                    : (*this)(t.source, t.value, sx, sy);
    return weighted(as, v, t.weight);
}

int64_t Evaluator::unweighted(const Tap &t, int x, int y) {
    return t.transposed ? (*this)(t.source, t.value, access(t.x, y), access(t.y, x))
                        : (*this)(t.source, t.value, access(t.x, x), access(t.y, y));
}

int64_t Evaluator::definition(const StageSpec &s, int x, int y) {
    const Type t = work_type(s.type);
    int64_t v = tap(s.taps[0], t, x, y);
    switch (s.combine) {
    case Combine::Sum:
        for (size_t i = 1; i < s.taps.size(); i++) {
            v = wrap(t, v + tap(s.taps[i], t, x, y));
        }
        break;
    case Combine::Max:
        v = larger(t, v, tap(s.taps[1], t, x, y));
        break;
    case Combine::Select:
        v = floor_mod(x + y, 3) == 0 ? v : tap(s.taps[1], t, x, y);
        break;
    case Combine::Gather:
        v = tap(s.taps[1], t, int(std::clamp<int64_t>(wrap(Int(32), v), 0, gather_width)), y);
        break;
    case Combine::Lookup:
        v = tap(s.taps[1], t, int(unweighted(s.taps[0], x, y)), y);
        break;
    case Combine::Choice:
        v = p_.choice > s.threshold ? v : tap(s.taps[1], t, x, y);
        break;
    case Combine::Inside: {
        const int c = p_.choice;
        const bool is_inside = x >= c * 4 && x < inside_right && y > c && y <= inside_bottom - c;
        v = is_inside ? v : tap(s.taps[1], t, x, y);
        break;
    }
    case Combine::Partial:
        v = floor_mod(x + y, 3) == 0 || floor_mod(x, 2) != 0 ? v : tap(s.taps[1], t, x, y);
        break;
    case Combine::Holes:
        v = is_hole(x, y) ? filling : tap(s.taps[1], t, int(unweighted(s.taps[0], x, y)), y);
        break;
    }
    return v;
}

int64_t Evaluator::update_tap(const Tap &t, const Type &as, int x, int y) {
    const int64_t v = tap(t, as, x, y);
    return as.is_int_or_uint() && as.bits() >= 32 ? floor_mod(as, v, modulus(as)) : v;
}

Evaluator::Values Evaluator::update(int stage, int index, int x, int y) {
    const StageSpec &s = p_.stages[size_t(stage)];
    const UpdateSpec &u = s.updates[size_t(index)];
    Values now = after(stage, index, x, y);
    const auto combine = [&](int64_t value, bool adds, Values before) {
        const Values added = {value, wrap(s.type, value + now[0])};
        for (size_t i = 0; i < 2; i++) {
            const int64_t sum = before[i] + added[i];
            now[i] = adds                              ? wrap(s.type, now[i] + sum)
                     : u.kind == UpdateKind::MaxWindow ? larger(s.type, now[i], sum)
                     : u.kind == UpdateKind::MinWindow ? smaller(s.type, now[i], sum)
                                                       : wrap(s.type, sum);
            now[i] =
                is_small_float(s.type) ? std::min<int64_t>(now[i], update_limit(s.type)) : now[i];
        }
    };
    const bool columns = u.kind == UpdateKind::ScanColumns;
    switch (u.kind) {
    case UpdateKind::Pure:
        combine(update_tap(u.tap, s.type, x, y), true, {});
        return now;
    case UpdateKind::Keep:
        if (is_hole(x, y)) {
            combine(update_tap(u.tap, s.type, x, y), true, {});
        }
        return now;
    case UpdateKind::Row:
        if (y == row) {
            combine(update_tap(u.tap, s.type, x, y), false, {});
        }
        return now;
    case UpdateKind::ScanColumns:
    case UpdateKind::ScanRows: {
        const int along = columns ? y : x;
        if (along >= scan_begin && along < scan_begin + scan_length) {
            combine(update_tap(u.tap, s.type, x, y), true,
                    columns ? after(stage, index + 1, x, y - 1)
                            : after(stage, index + 1, x - 1, y));
        }
        return now;
    }
    case UpdateKind::Histogram:
        for (int r = 0; r < entries; r++) {
            if (floor_mod(update_tap(u.tap, Int(32), r, y), places) == x) {
                combine(wrap(s.type, u.tap.weight), true, {});
            }
        }
        return now;
    default:
        break;
    }
    const bool is_param = u.kind == UpdateKind::ParamWindow;
    const bool is_row = u.kind == UpdateKind::LongWindow || is_param;
    const int width = is_param ? p_.choice + 2 : is_row ? long_window : u.width;
    for (int ry = 0; ry < (is_row ? 1 : u.height); ry++) {
        for (int rx = 0; rx < width; rx++) {
            if ((u.kind != UpdateKind::HalfWindow || rx <= ry) &&
                (u.kind != UpdateKind::OddWindow || floor_mod(x + rx, 2) == 0) &&
                (u.kind != UpdateKind::WhileSmall || is_small(s.type, now[0])) &&
                (u.kind != UpdateKind::WhereEven ||
                 floor_mod(tap(u.tap, Int(32), x + rx, y), 2) == 0)) {
                int64_t value = update_tap(u.tap, s.type, x + rx, y + ry);
                value = is_lowered(s, u) ? wrap(s.type, value - lowered_by(s.type)) : value;
                combine(value, u.kind != UpdateKind::MaxWindow && u.kind != UpdateKind::MinWindow,
                        {});
            }
        }
    }
    return now;
}

}  // namespace calotype::test
