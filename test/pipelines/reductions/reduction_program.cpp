// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reduction_program.h"

#include <algorithm>
#include <functional>

#include "reduction_evaluator.h"

namespace calotype::test {

namespace {

using Kind = ReductionTerm::Kind;

ReductionTerm constant(int n) {
    return {Kind::Constant, n, 0, {}};
}

ReductionTerm sum(const ReductionTerm &a, const ReductionTerm &b) {
    return {Kind::Sum, 0, 0, {a, b}};
}

bool uses(const ReductionTerm &t, Kind kind) {
    return t.kind == kind || std::any_of(t.terms.begin(), t.terms.end(),
                                         [&](const ReductionTerm &u) { return uses(u, kind); });
}

Type draw_type(Dice &dice) {
    return dice.pick<Type>(
        {Int(8), UInt(8), Int(16), UInt(16), Int(32), Int(32), UInt(32), Float(32)});
}

/// What a definition of a stage may see.
class Definition {
public:
    Definition(Dice &dice, const ReductionProgram &p, const ReductionStage &stage)
        : dice_(dice), p_(p), stage_(stage) {
        for (int d = 0; d < stage.dimensions; d++) {
            vars_.push_back({Kind::Var, d, 0, {}});
        }
    }

    /// An update, whose place is drawn first.
    ReductionUpdate update() {
        ReductionUpdate u;
        is_update_ = true;
        const int loops = dice_.chance(10) ? 0 : 1 + dice_(3);
        int largest = 150;
        for (int d = 0; d < loops; d++) {
            u.mins.push_back(min());
            u.extents.push_back(extent(d, largest));
        }
        for (int d = 0; d < loops; d++) {
            vars_.push_back({Kind::Loop, d, 0, {}});
        }
        place(u, loops);
        for (int i = loops > 0 && dice_.chance(50) ? dice_(3) : 0; i > 0; i--) {
            u.conditions.push_back(condition(loops));
        }
        u.merge = dice_.pick<ReductionMerge>(
            {ReductionMerge::Add, ReductionMerge::Add, ReductionMerge::Add,
             ReductionMerge::Subtract, ReductionMerge::Multiply, ReductionMerge::Larger,
             ReductionMerge::Smaller, ReductionMerge::Replace, ReductionMerge::Replace,
             ReductionMerge::ReplaceIfLarger});
        for (const Type &t : stage_.types) {
            const bool grows = u.merge == ReductionMerge::Multiply && is_reduced(t);
            u.merge = grows ? ReductionMerge::Add : u.merge;
        }
        for (size_t i = 0; i < stage_.types.size(); i++) {
            u.values.push_back(value(2));
        }
        use_a_loop(u, loops);
        return u;
    }

    /// Of the pure Vars, and in an update of RVars.
    ReductionTerm value(int depth) {
        switch (dice_(depth > 0 ? 14 : 5)) {
        case 0:
            return constant(dice_(9) - 3);
        case 1:
            return var();
        case 2:
        case 3:
            return read();
        case 4:
            return is_update_ && dice_.chance(60) ? self() : read();
        case 5:
            return {Kind::Scaled, dice_(5) - 1, 0, {value(depth - 1)}};
        case 6:
        case 7:
            return sum(value(depth - 1), value(depth - 1));
        case 8:
            return {Kind::Difference, 0, 0, {value(depth - 1), value(depth - 1)}};
        case 9:
            return {Kind::Product, 0, 0, {value(depth - 1), value(depth - 1)}};
        case 10:
            return {dice_.chance(50) ? Kind::Smaller : Kind::Larger,
                    0,
                    0,
                    {value(depth - 1), value(depth - 1)}};
        case 11:
            return {Kind::Choice, 0, 0, {value(0), value(0), value(depth - 1), value(depth - 1)}};
        case 12:
            return dice_.chance(50)
                       ? ReductionTerm{Kind::Quotient, 2 + dice_(3), 0, {value(depth - 1)}}
                       : ReductionTerm{Kind::Remainder, 2 + dice_(6), 0, {value(depth - 1)}};
        default:
            return {Kind::Param, dice_(params), 0, {}};
        }
    }

private:
    ReductionTerm min() {
        return dice_.chance(20) ? sum({Kind::Param, dice_(params), 0, {}}, constant(-3))
                                : constant(dice_(7) - 3);
    }

    /// At most `largest` points in all dimensions.
    ReductionTerm extent(int d, int &largest) {
        const int kind = dice_(10);
        for (size_t i = 0; kind == 0 && i < p_.images.size(); i++) {
            if (p_.images[i].is_sized) {
                largest /= 8;
                return {Kind::Extent, int(i), 0, {}};
            }
        }
        if (kind <= 2 && largest >= 8) {
            largest /= 8;
            const ReductionTerm t = {Kind::Param, dice_(params), 0, {}};
            return dice_.chance(50) ? t : sum(t, constant(dice_(3)));
        }
        const int n = dice_.chance(5) ? 0 : 1 + dice_(std::min(largest, d == 0 ? 13 : 6));
        largest /= std::max(n, 1);
        return constant(n);
    }

    void place(ReductionUpdate &u, int loops) {
        is_place_ = true;
        for (int d = 0; d < stage_.dimensions; d++) {
            const bool is_pure = dice_.chance(loops == 0 ? 70 : stage_.dimensions == 1 ? 30 : 50);
            u.place.push_back(is_pure ? ReductionTerm{Kind::Var, d, 0, {}} : constant(0));
        }
        // Only a Var that is a place of its own may be used.
        for (int d = 0; d < stage_.dimensions; d++) {
            if (!u.is_pure(d)) {
                vars_.erase(std::find_if(vars_.begin(), vars_.end(), [&](const ReductionTerm &t) {
                    return t.kind == Kind::Var && t.number == d;
                }));
            }
        }
        for (int d = 0; d < stage_.dimensions; d++) {
            if (!u.is_pure(d)) {
                u.place[size_t(d)] = scatter(loops);
            }
        }
        place_ = u.place;
        is_place_ = false;
    }

    /// A place on the left side, along one dimension.
    ReductionTerm scatter(int loops) {
        if (loops == 0) {
            return dice_.chance(50) ? constant(dice_(5) - 1)
                                    : sum({Kind::Param, dice_(params), 0, {}}, constant(-2));
        }
        const ReductionTerm loop = {Kind::Loop, dice_(loops), 0, {}};
        switch (dice_(10)) {
        case 0:
        case 1:
        case 2:
            return loop;
        case 3:
        case 4:
        case 5:
        case 6:
            return affine(loop);
        case 7:
        case 8:
            return bounded(value(1));
        default:
            return sum(loop, var());
        }
    }

    ReductionTerm affine(const ReductionTerm &v) {
        switch (dice_(8)) {
        case 0:
        case 1:
            return v;
        case 2:
        case 3:
            return sum(v, constant(dice_(7) - 3));
        case 4:
            return {Kind::Difference, 0, 0, {constant(dice_(9)), v}};
        case 5:
            return sum({Kind::Scaled, dice_.pick<int>({2, 2, 3, -2}), 0, {v}},
                       constant(dice_(5) - 2));
        case 6:
            return sum({Kind::Quotient, 2 + dice_(2), 0, {v}}, constant(dice_(5) - 2));
        default:
            return sum(v, {Kind::Param, dice_(params), 0, {}});
        }
    }

    ReductionTerm bounded(const ReductionTerm &t) {
        const int lo = dice_(6) - 3, n = 1 + dice_(9);
        return dice_.chance(60) ? ReductionTerm{Kind::Clamped, lo, lo + n - 1, {t}}
                                : sum({Kind::Remainder, n + 1, 0, {t}}, constant(lo));
    }

    ReductionTerm var() {
        return vars_.empty() ? constant(1) : dice_.pick(vars_);
    }

    /// Along one dimension of what is read.
    ReductionTerm index() {
        switch (dice_(10)) {
        case 0:
            return bounded(value(0));
        case 1:
        case 2:
            return sum(affine(var()), var());
        default:
            return affine(var());
        }
    }

    ReductionTerm read() {
        if (reads_ == 0) {
            return constant(2);
        }
        reads_--;
        const int stages = int(p_.stages.size()), images = int(p_.images.size());
        const int source = stages > 0 && dice_.chance(70) ? dice_(stages) : stages + dice_(images);
        if (source < stages) {
            const ReductionStage &s = p_.stages[size_t(source)];
            return {Kind::Read, source, dice_(int(s.types.size())), indices(s.dimensions)};
        }
        const ReductionImage &image = p_.images[size_t(source - stages)];
        return image.is_sized
                   ? value(0)
                   : ReductionTerm{Kind::Pixel, source - stages, 0, indices(image.dimensions)};
    }

    std::vector<ReductionTerm> indices(int dimensions) {
        std::vector<ReductionTerm> terms;
        for (int d = 0; d < dimensions; d++) {
            terms.push_back(index());
        }
        return terms;
    }

    /// The same, an earlier or another place; the same in pure dimensions.
    ReductionTerm self() {
        if (is_place_) {
            return var();
        }
        std::vector<ReductionTerm> at = place_;
        for (int d = 0; d < stage_.dimensions; d++) {
            ReductionTerm &t = at[size_t(d)];
            if (t.kind == Kind::Var && t.number == d) {
                continue;
            }
            switch (dice_(5)) {
            case 0:
            case 1:
                break;
            case 2:
            case 3:
                t = sum(t, constant(dice_(5) - 2));
                break;
            default:
                t = affine(var());
            }
        }
        return {Kind::Self, 0, dice_(int(stage_.types.size())), at};
    }

    ReductionCondition condition(int loops) {
        const auto op = ReductionCondition::Operator(dice_(4));
        const ReductionTerm loop =
            loops > 0 ? ReductionTerm{Kind::Loop, dice_(loops), 0, {}} : var();
        const auto order = dice_.chance(50) ? ReductionCondition::Operator::Less
                                            : ReductionCondition::Operator::LessOrEqual;
        switch (dice_(6)) {
        case 0:
            return {order, loop, affine(var())};
        case 1:
            return {order, affine(var()), loop};
        case 2:
            return {order, sum(loop, var()), constant(dice_(10))};
        case 3:
            return {order, value(0), value(0)};
        case 4:
            return {op, {Kind::Remainder, 2 + dice_(2), 0, {sum(loop, var())}}, constant(dice_(2))};
        default:
            return {op, value(1), value(0)};
        }
    }

    /// Else there is no domain.
    void use_a_loop(ReductionUpdate &u, int loops) {
        const auto has_loop = [](const ReductionTerm &t) {
            return uses(t, Kind::Loop);
        };
        for (int d = 0; d < loops; d++) {
            if (std::none_of(u.place.begin(), u.place.end(), has_loop) &&
                std::none_of(u.values.begin(), u.values.end(), has_loop)) {
                u.values[0] = sum(u.values[0], {Kind::Loop, d, 0, {}});
            }
        }
    }

    Dice &dice_;
    const ReductionProgram &p_;
    const ReductionStage &stage_;
    std::vector<ReductionTerm> vars_, place_;
    bool is_update_ = false, is_place_ = false;
    int reads_ = 4;
};

/// Of a stage or an image, with what is outside of some of it.
ReductionStage bounded_stage(Dice &dice, const ReductionProgram &p) {
    ReductionStage s;
    s.is_bounded = true;
    s.outside = ReductionOutside(dice(5));
    const int stages = int(p.stages.size());
    const int drawn = stages > 0 && dice.chance(60) ? dice(stages) : -1;
    if (drawn >= 0 && p.stages[size_t(drawn)].dimensions > 0) {
        const ReductionStage &from = p.stages[size_t(drawn)];
        s.source = {Kind::Read, int(&from - &p.stages[0]), 0, {}};
        s.dimensions = from.dimensions;
        s.types = from.types;
    } else {
        const int image = dice(2);  // those after them are sized
        s.source = {Kind::Pixel, image, 0, {}};
        s.dimensions = p.images[size_t(image)].dimensions;
        s.types = {p.images[size_t(image)].type};
    }
    const int least = s.outside == ReductionOutside::MirrorInterior ? 2
                      : s.outside == ReductionOutside::Constant     ? 0
                                                                    : 1;
    for (int d = 0; d < s.dimensions; d++) {
        s.source.terms.push_back({Kind::Var, d, 0, {}});
        const ReductionTerm param = {Kind::Param, dice(params), 0, {}};
        s.mins.push_back(dice.chance(30) ? sum(param, constant(-2)) : constant(dice(5) - 3));
        s.extents.push_back(dice.chance(50) ? sum(param, constant(least))
                                            : constant(least + dice(9)));
    }
    return s;
}

ReductionStage draw_stage(Dice &dice, Dice &apart, const ReductionProgram &p, bool is_reduction) {
    ReductionStage s;
    s.dimensions = dice.pick<int>({1, 1, 2, 2, 2, 3});
    if (apart.chance(8)) {
        s.dimensions = apart.pick<int>({0, 0, 4, 5, 6});
    }
    s.types = {draw_type(dice)};
    if (dice.chance(25)) {
        s.types.push_back(dice.chance(50) ? s.types[0] : draw_type(dice));
    }
    Definition definition(dice, p, s);
    for (size_t i = 0; i < s.types.size(); i++) {
        s.definition.push_back(is_reduction && dice.chance(40) ? constant(dice(5) - 1)
                                                               : definition.value(2));
    }
    for (int i = is_reduction ? 1 + dice(3) : 0; i > 0; i--) {
        s.updates.push_back(Definition(dice, p, s).update());
    }
    return s;
}

ReductionProgram::Inputs draw_inputs(Dice &dice, int dimensions) {
    ReductionProgram::Inputs in;
    for (int d = 0; d < dimensions; d++) {
        in.mins.push_back(dice.chance(40) ? 0 : dice(13) - 7);
        in.extents.push_back(dice.chance(4) ? 0
                                            : 1 + dice(d == 0   ? 21
                                                       : d == 1 ? 9
                                                       : d == 2 ? 4
                                                                : 2));
    }
    for (int i = 0; i < params; i++) {
        in.params.push_back(dice(8));
    }
    in.size = dice(9);
    return in;
}

}  // namespace

bool uses(const ReductionStage &s, size_t stage, ReductionTerm::Kind kind, int number) {
    const std::function<bool(const ReductionTerm &)> is_used = [&](const ReductionTerm &t) {
        return (t.kind == kind && t.number == number) ||
               std::any_of(t.terms.begin(), t.terms.end(), is_used);
    };
    const auto any = [&](const std::vector<ReductionTerm> &terms) {
        return std::any_of(terms.begin(), terms.end(), is_used);
    };
    if (stage == 0) {
        return s.is_bounded ? is_used(s.source) : any(s.definition);
    }
    const ReductionUpdate &u = s.updates[stage - 1];
    return any(u.place) || any(u.values) ||
           std::any_of(u.conditions.begin(), u.conditions.end(),
                       [&](const ReductionCondition &c) { return is_used(c.a) || is_used(c.b); });
}

ReductionProgram::ReductionProgram(uint64_t seed) {
    constexpr uint64_t between_attempts = uint64_t(1) << 40;
    do {
        draw(seed);
        seed += between_attempts;
    } while (!is_quick());
}

bool ReductionProgram::is_quick() const {
    constexpr int64_t most_steps = 3'000'000;
    const int last = int(stages.size()) - 1;
    try {
        for (const Inputs &inputs : runs) {
            ReductionEvaluator evaluate(*this, inputs, most_steps);
            std::vector<int> ends;
            for (size_t d = 0; d < inputs.mins.size(); d++) {
                ends.push_back(inputs.mins[d] + inputs.extents[d] - 1);
            }
            for_each_point(inputs.mins, ends,
                           [&](const std::vector<int> &at) { evaluate(last, 0, at); });
        }
    } catch (const ReductionEvaluator::TooManySteps &) {
        return false;
    }
    return true;
}

void ReductionProgram::draw(uint64_t seed) {
    images.clear();
    stages.clear();
    runs.clear();
    Dice dice(seed), apart(~seed);
    for (int i = 0; i < 3; i++) {
        const bool is_sized = i == 2;
        const Type t = dice.pick<Type>({UInt(8), Int(8), UInt(16), Int(16), Int(32), Float(32)});
        images.push_back({t, is_sized ? 1 : 1 + dice(2), is_sized});
    }
    const int reductions = 1 + dice(2);
    for (int i = 0; i < reductions; i++) {
        while (dice.chance(30)) {
            stages.push_back(dice.chance(50) ? bounded_stage(dice, *this)
                                             : draw_stage(dice, apart, *this, false));
        }
        stages.push_back(draw_stage(dice, apart, *this, true));
    }
    if (dice.chance(50)) {
        stages.push_back(draw_stage(dice, apart, *this, false));
    }
    for (int i = 0; i < 2; i++) {
        runs.push_back(draw_inputs(dice, stages.back().dimensions));
    }
}

int64_t pixel_value(const Type &t, const std::vector<int> &at) {
    int64_t v = 3;
    for (size_t d = 0; d < at.size(); d++) {
        v = v * 5 + int64_t(at[d]) * (d == 0 ? 7 : 13);
    }
    v = ((v % 53) + 53) % 53;
    return t.is_uint() ? v : v - 20;
}

int64_t wrapped(const Type &t, int64_t v) {
    if (t.is_float() || t.bits() == 64) {
        return v;
    }
    const int64_t mask = (int64_t(1) << t.bits()) - 1, low = v & mask;
    return t.is_int() && (low >> (t.bits() - 1)) != 0 ? low - mask - 1 : low;
}

}  // namespace calotype::test
