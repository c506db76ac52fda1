// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reduction_evaluator.h"

#include <algorithm>
#include <utility>

namespace calotype::test {

namespace {

using Kind = ReductionTerm::Kind;
using Point = std::vector<int>;

int64_t quotient(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

int64_t remainder(int64_t a, int64_t b) {
    return a - quotient(a, b) * b;
}

/// Of a definition, before it is merged.
int64_t cast_to(const Type &t, int64_t v) {
    return t.is_float() ? remainder(v, float_modulus) : wrapped(t, v);
}

}  // namespace

void for_each_point(const Point &min, const Point &max,
                    const std::function<void(const Point &)> &visit) {
    for (size_t d = 0; d < min.size(); d++) {
        if (min[d] > max[d]) {
            return;
        }
    }
    Point at = min;
    for (;;) {
        visit(at);
        size_t d = 0;
        while (d < at.size() && at[d] == max[d]) {
            at[d] = min[d];
            d++;
        }
        if (d == at.size()) {
            return;
        }
        at[d]++;
    }
}

bool ReductionEvaluator::Grid::holds(const Point &at) const {
    for (size_t d = 0; d < at.size(); d++) {
        if (at[d] < min[d] || at[d] > max[d]) {
            return false;
        }
    }
    return true;
}

size_t ReductionEvaluator::Grid::index(const Point &at) const {
    size_t i = 0;
    for (size_t d = at.size(); d-- > 0;) {
        i = i * size_t(max[d] - min[d] + 1) + size_t(at[d] - min[d]);
    }
    return i;
}

void ReductionEvaluator::Grid::include(const Point &at, int margin) {
    if (min.empty()) {
        min = max = at;
    }
    for (size_t d = 0; d < at.size(); d++) {
        min[d] = at[d] < min[d] ? at[d] - margin : min[d];
        max[d] = at[d] > max[d] ? at[d] + margin : max[d];
    }
}

ReductionEvaluator::ReductionEvaluator(const ReductionProgram &p,
                                       const ReductionProgram::Inputs &inputs, int64_t most_steps)
    : p_(p), inputs_(inputs), steps_left_(most_steps) {
}

int64_t ReductionEvaluator::operator()(int stage, int value, const Point &at) {
    const ReductionStage &s = p_.stages[size_t(stage)];
    if (!s.updates.empty()) {
        Grid &grid = grids_[stage];
        if (grid.values.empty() || !grid.holds(at)) {
            grid.include(at, s.dimensions > 3 ? 1 : 6);
            compute(stage);
        }
        return grids_[stage].values[size_t(value)][grids_[stage].index(at)];
    }
    std::vector<int64_t> &known = pure_[{stage, at}];
    if (known.empty()) {
        std::vector<int64_t> values;
        for (size_t i = 0; i < s.types.size(); i++) {
            if (s.is_bounded) {
                bool is_outside = false;
                const Point from = inside(s, at, is_outside);
                ReductionTerm source = s.source;
                source.value = int(i);
                values.push_back(is_outside ? outside_value : read(source, from));
            } else {
                values.push_back(cast_to(s.types[i], term(s.definition[i], {&at, nullptr, stage})));
            }
        }
        pure_[{stage, at}] = values;
        return values[size_t(value)];
    }
    return known[size_t(value)];
}

Point ReductionEvaluator::inside(const ReductionStage &s, const Point &at, bool &is_outside) {
    Point from;
    for (size_t d = 0; d < at.size(); d++) {
        const int min = int(term(s.mins[d], {})), n = int(term(s.extents[d], {}));
        const int x = at[d] - min;
        is_outside = is_outside || (s.outside == ReductionOutside::Constant && (x < 0 || x >= n));
        int to = x;
        switch (s.outside) {
        case ReductionOutside::Constant:
            break;
        case ReductionOutside::Edge:
            to = std::clamp(x, 0, n - 1);
            break;
        case ReductionOutside::Repeat:
            to = int(remainder(x, n));
            break;
        case ReductionOutside::MirrorImage:
            to = int(remainder(x, 2 * n));
            to = std::min(to, 2 * n - 1 - to);
            break;
        case ReductionOutside::MirrorInterior:
            to = int(remainder(x, 2 * (n - 1)));
            to = std::min(to, 2 * (n - 1) - to);
            break;
        }
        from.push_back(to + min);
    }
    return from;
}

/// In a larger box where updates read outside of it.
void ReductionEvaluator::compute(int stage) {
    for (;;) {
        Grid grid = grids_[stage];
        define(stage, grid);
        escaped_.clear();
        for (const ReductionUpdate &u : p_.stages[size_t(stage)].updates) {
            update(stage, u, grid);
        }
        if (escaped_.empty()) {
            grids_[stage] = grid;
            return;
        }
        for (const Point &at : escaped_) {
            grid.include(at, 0);
        }
        grid.values.clear();
        grids_[stage] = grid;
    }
}

void ReductionEvaluator::define(int stage, Grid &grid) {
    const ReductionStage &s = p_.stages[size_t(stage)];
    grid.values.assign(s.types.size(), {});
    const auto define_at = [&](const Point &at) {
        for (size_t i = 0; i < s.types.size(); i++) {
            grid.values[i].push_back(
                cast_to(s.types[i], term(s.definition[i], {&at, nullptr, stage})));
        }
    };
    for_each_point(grid.min, grid.max, define_at);
}

void ReductionEvaluator::update(int stage, const ReductionUpdate &u, Grid &grid) {
    const Point mins = points(u.mins, {}), extents = points(u.extents, {});
    Point maxs;
    for (size_t d = 0; d < mins.size(); d++) {
        maxs.push_back(mins[d] + extents[d] - 1);
    }
    Point first = grid.min, last = grid.max;
    for (size_t d = 0; d < first.size(); d++) {
        if (!u.is_pure(int(d))) {
            first[d] = last[d] = 0;  // there is one iteration
        }
    }
    for_each_point(mins, maxs, [&](const Point &loops) {
        for_each_point(first, last, [&](const Point &vars) {
            Grid *const outer = std::exchange(updated_, &grid);
            iterate(u, {&vars, &loops, stage}, grid);
            updated_ = outer;
        });
    });
}

void ReductionEvaluator::iterate(const ReductionUpdate &u, const Place &place, Grid &grid) {
    for (const ReductionCondition &c : u.conditions) {
        if (!holds(c, place)) {
            return;
        }
    }
    const Point at = points(u.place, place);
    if (!grid.holds(at)) {
        return;  // nothing reads it
    }
    const ReductionStage &s = p_.stages[size_t(place.stage)];
    const size_t index = grid.index(at);
    std::vector<int64_t> after;
    for (size_t i = 0; i < s.types.size(); i++) {
        after.push_back(cast_to(s.types[i], term(u.values[i], place)));
    }
    const int64_t first = grid.values[0][index];
    for (size_t i = 0; i < s.types.size(); i++) {
        int64_t &v = grid.values[i][index];
        v = merged(s, u, i, v, after, first);
    }
}

int64_t ReductionEvaluator::merged(const ReductionStage &s, const ReductionUpdate &u, size_t value,
                                   int64_t before, const std::vector<int64_t> &after,
                                   int64_t first) const {
    const Type &t = s.types[value];
    const int64_t v = after[value];
    switch (u.merge) {
    case ReductionMerge::Add:
        return wrapped(t, before + v);
    case ReductionMerge::Subtract:
        return wrapped(t, before - v);
    case ReductionMerge::Multiply:
        return wrapped(t, before * v);
    case ReductionMerge::Larger:
        return std::max(before, v);
    case ReductionMerge::Smaller:
        return std::min(before, v);
    case ReductionMerge::Replace:
        return v;
    case ReductionMerge::ReplaceIfLarger:
        return after[0] > first ? v : before;
    }
    return v;
}

bool ReductionEvaluator::holds(const ReductionCondition &c, const Place &place) {
    const int64_t a = term(c.a, place), b = term(c.b, place);
    switch (c.op) {
    case ReductionCondition::Operator::Less:
        return a < b;
    case ReductionCondition::Operator::LessOrEqual:
        return a <= b;
    case ReductionCondition::Operator::Equal:
        return a == b;
    case ReductionCondition::Operator::NotEqual:
        return a != b;
    }
    return false;
}

Point ReductionEvaluator::points(const std::vector<ReductionTerm> &terms, const Place &place) {
    Point at;
    for (const ReductionTerm &t : terms) {
        at.push_back(int(term(t, place)));
    }
    return at;
}

int64_t ReductionEvaluator::read(const ReductionTerm &t, const Point &at) {
    if (t.kind == Kind::Pixel) {
        return pixel_value(p_.images[size_t(t.number)].type, at);
    }
    Grid *const outer = std::exchange(updated_, nullptr);
    const std::vector<Point> escaped = std::exchange(escaped_, {});
    const int64_t v = (*this)(t.number, t.value, at);
    updated_ = outer;
    escaped_ = escaped;
    return v;
}

int64_t ReductionEvaluator::term(const ReductionTerm &t, const Place &place) {
    if (--steps_left_ < 0) {
        throw TooManySteps();
    }
    const auto at = [&](size_t i) {
        return term(t.terms[i], place);
    };
    const auto reduced = [](const Type &type, int64_t v) {
        return is_reduced(type) ? remainder(wrapped(Int(32), v), modulus) : v;
    };
    switch (t.kind) {
    case Kind::Constant:
        return t.number;
    case Kind::Var:
        return (*place.vars)[size_t(t.number)];
    case Kind::Loop:
        return (*place.loops)[size_t(t.number)];
    case Kind::Param:
        return inputs_.params[size_t(t.number)];
    case Kind::Extent:
        return inputs_.size;
    case Kind::Pixel:
        return read(t, points(t.terms, place));
    case Kind::Read:
        return reduced(p_.stages[size_t(t.number)].types[size_t(t.value)],
                       read(t, points(t.terms, place)));
    case Kind::Self: {
        const Point p = points(t.terms, place);
        if (!updated_->holds(p)) {
            escaped_.push_back(p);
            return 0;
        }
        return reduced(p_.stages[size_t(place.stage)].types[size_t(t.value)],
                       updated_->values[size_t(t.value)][updated_->index(p)]);
    }
    case Kind::Sum:
        return at(0) + at(1);
    case Kind::Difference:
        return at(0) - at(1);
    case Kind::Product:
        return remainder(remainder(at(0), modulus) * remainder(at(1), modulus), modulus);
    case Kind::Scaled:
        return at(0) * t.number;
    case Kind::Quotient:
        return quotient(at(0), t.number);
    case Kind::Remainder:
        return remainder(at(0), t.number);
    case Kind::Clamped:
        return std::clamp<int64_t>(at(0), t.number, t.value);
    case Kind::Smaller:
        return std::min(at(0), at(1));
    case Kind::Larger:
        return std::max(at(0), at(1));
    case Kind::Choice:
        return at(0) < at(1) ? at(2) : at(3);
    }
    return 0;
}

}  // namespace calotype::test
