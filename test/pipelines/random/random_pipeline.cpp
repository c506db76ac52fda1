// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_pipeline.h"

#include <algorithm>

namespace calotype::test {

const Var x("x"), y("y");

namespace {

constexpr int scan_begin = 1, scan_length = 6, row = 3, modulus = 251, gather_width = 9,
              float_limit = 1000;

Access random_access(Dice &dice) {
    Access a;
    a.offset = dice(7) - 3;
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
    t.value = p.stages[size_t(t.source)].tuple ? dice(2) : 0;
    t.transposed = dice.chance(8);
    t.x = random_access(dice);
    t.y = random_access(dice);
    t.weight = 1 + dice(3);
    return t;
}

StageSpec random_stage(Dice &dice, const RandomPipeline &p) {
    static const std::vector<Type> types = {Int(32), Int(32),  UInt(8),
                                            Int(16), UInt(16), Float(32)};
    StageSpec s;
    s.type = dice.pick(types);
    s.tuple = dice.chance(12);
    if (!p.stages.empty()) {
        s.combine = dice.pick<Combine>(
            {Combine::Sum, Combine::Sum, Combine::Max, Combine::Select, Combine::Gather});
        const int taps = s.combine == Combine::Sum ? 1 + dice(3) : 2;
        for (int i = 0; i < taps; i++) {
            s.taps.push_back(random_tap(dice, p));
        }
        while (!s.tuple && s.updates.size() < 2 && dice.chance(25)) {
            s.updates.push_back(
                {UpdateKind(dice(6)), random_tap(dice, p), 1 + dice(4), 1 + dice(3)});
        }
    }
    return s;
}

/// Division that rounds down.
int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

int64_t floor_mod(int64_t a, int64_t b) {
    return ((a % b) + b) % b;
}

/// The value as the type holds it.
int64_t wrap(const Type &t, int64_t v) {
    if (t == UInt(8)) {
        return uint8_t(v);
    } else if (t == UInt(16)) {
        return uint16_t(v);
    } else if (t == Int(16)) {
        return int16_t(v);
    }
    return v;
}

Expr access(const Access &a, const Expr &v) {
    return a.divide > 1 ? v / a.divide + a.offset : v * a.scale + a.offset;
}

int access(const Access &a, int v) {
    return floor_div(v * a.scale, a.divide) + a.offset;
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
            const Expr v = definition(s);
            if (s.tuple) {
                f(x, y) = Tuple(v, v * cast(s.type, 2) + cast(s.type, 1));
            } else {
                f(x, y) = v;
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
    Expr tap(const Tap &t, const Type &as, const Expr &vx, const Expr &vy) const {
        const Func &f = built_.funcs[size_t(t.source)];
        const Expr ax = access(t.x, t.transposed ? vy : vx),
                   ay = access(t.y, t.transposed ? vx : vy);
        Expr v = p_.stages[size_t(t.source)].tuple ? Expr(f(ax, ay)[t.value]) : Expr(f(ax, ay));
        // A float beyond the range of a narrow type may become anything; an int wraps.
        v = v.type().is_float() ? cast<int>(v) : v;
        return cast(as, v) * cast(as, t.weight);
    }
    Expr definition(const StageSpec &s) const {
        if (s.taps.empty()) {
            return cast(s.type, (x * 7 + y * 13 + x * y) % modulus);
        }
        Expr v = tap(s.taps[0], s.type, x, y);
        switch (s.combine) {
        case Combine::Sum:
            for (size_t i = 1; i < s.taps.size(); i++) {
                v += tap(s.taps[i], s.type, x, y);
            }
            break;
        case Combine::Max:
            v = max(v, tap(s.taps[1], s.type, x, y));
            break;
        case Combine::Select:
            v = select((x + y) % 3 == 0, v, tap(s.taps[1], s.type, x, y));
            break;
        case Combine::Gather:
            v = tap(s.taps[1], s.type, clamp(cast<int>(v), 0, gather_width), y);
            break;
        }
        return s.type.is_float() ? min(v, float(float_limit)) : v % cast(s.type, modulus);
    }
    std::vector<RVar> update(Func &f, const StageSpec &s, const UpdateSpec &u) const {
        const Type t = s.type;
        if (u.kind == UpdateKind::Pure) {
            f(x, y) += tap(u.tap, t, x, y);
        } else if (u.kind == UpdateKind::Row) {
            f(x, row) = tap(u.tap, t, x, row);
        } else if (u.kind == UpdateKind::ScanColumns) {
            RDom r(scan_begin, scan_length, "r");
            f(x, r) += f(x, r - 1) + tap(u.tap, t, x, r);
            return {r.x};
        } else if (u.kind == UpdateKind::ScanRows) {
            RDom r(scan_begin, scan_length, "r");
            f(r, y) += f(r - 1, y) + tap(u.tap, t, r, y);
            return {r.x};
        } else {
            RDom r(0, u.width, 0, u.height, "r");
            if (u.kind == UpdateKind::HalfWindow) {
                r.where(r.x <= r.y);
            }
            f(x, y) += tap(u.tap, t, x + r.x, y + r.y);
            return {r.x, r.y};
        }
        return {};
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

BuiltPipeline build(const RandomPipeline &p) {
    return Builder(p).build();
}

int64_t Evaluator::operator()(int stage, int value, int x, int y) {
    const StageSpec &s = p_.stages[size_t(stage)];
    const int64_t v = after(stage, int(s.updates.size()), x, y);
    return value == 0 ? v : wrap(s.type, v * 2 + 1);
}

int64_t Evaluator::after(int stage, int updates, int x, int y) {
    const std::array<int, 4> key = {stage, updates, x, y};
    auto found = known_.find(key);
    if (found != known_.end()) {
        return found->second;
    }
    const StageSpec &s = p_.stages[size_t(stage)];
    const int64_t v =
        wrap(s.type, updates == 0 ? definition(s, x, y) : update(stage, updates - 1, x, y));
    known_[key] = v;
    return v;
}

int64_t Evaluator::tap(const Tap &t, const Type &as, int x, int y) {
    if (t.transposed) {
        std::swap(x, y);
    }
    const int64_t v = (*this)(t.source, t.value, access(t.x, x), access(t.y, y));
    return wrap(as, wrap(as, v) * t.weight);
}

int64_t Evaluator::definition(const StageSpec &s, int x, int y) {
    if (s.taps.empty()) {
        return floor_mod(x * 7 + y * 13 + x * y, modulus);
    }
    int64_t v = tap(s.taps[0], s.type, x, y);
    switch (s.combine) {
    case Combine::Sum:
        for (size_t i = 1; i < s.taps.size(); i++) {
            v = wrap(s.type, v + tap(s.taps[i], s.type, x, y));
        }
        break;
    case Combine::Max:
        v = std::max(v, tap(s.taps[1], s.type, x, y));
        break;
    case Combine::Select:
        v = floor_mod(x + y, 3) == 0 ? v : tap(s.taps[1], s.type, x, y);
        break;
    case Combine::Gather:
        v = tap(s.taps[1], s.type, int(std::clamp<int64_t>(v, 0, gather_width)), y);
        break;
    }
    return s.type.is_float() ? std::min<int64_t>(v, float_limit) : floor_mod(v, modulus);
}

int64_t Evaluator::update(int stage, int index, int x, int y) {
    const StageSpec &s = p_.stages[size_t(stage)];
    const UpdateSpec &u = s.updates[size_t(index)];
    const int64_t old = after(stage, index, x, y);
    const bool columns = u.kind == UpdateKind::ScanColumns;
    switch (u.kind) {
    case UpdateKind::Pure:
        return old + tap(u.tap, s.type, x, y);
    case UpdateKind::Row:
        return y == row ? tap(u.tap, s.type, x, y) : old;
    case UpdateKind::ScanColumns:
    case UpdateKind::ScanRows: {
        const int along = columns ? y : x;
        if (along < scan_begin || along >= scan_begin + scan_length) {
            return old;
        }
        const int64_t before =
            columns ? after(stage, index + 1, x, y - 1) : after(stage, index + 1, x - 1, y);
        return old + before + tap(u.tap, s.type, x, y);
    }
    case UpdateKind::Window:
    case UpdateKind::HalfWindow:
        break;
    }
    int64_t sum = old;
    for (int ry = 0; ry < u.height; ry++) {
        for (int rx = 0; rx < u.width; rx++) {
            if (u.kind == UpdateKind::Window || rx <= ry) {
                sum = wrap(s.type, sum + tap(u.tap, s.type, x + rx, y + ry));
            }
        }
    }
    return sum;
}

int64_t element(const Buffer<void> &b, int x, int y) {
    const Type t = b.type();
    if (t == Int(32)) {
        return b.as<int32_t>()(x, y);
    } else if (t == UInt(8)) {
        return b.as<uint8_t>()(x, y);
    } else if (t == UInt(16)) {
        return b.as<uint16_t>()(x, y);
    } else if (t == Int(16)) {
        return b.as<int16_t>()(x, y);
    }
    return int64_t(b.as<float>()(x, y));
}

}  // namespace calotype::test
