// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_externs.h"

#include <algorithm>
#include <array>

namespace calotype::test {

std::atomic<int> external_misses{0};

namespace {

/// What an external stage reads of an input: weight * in(x + offset, y * scale + row).
struct ExternalTap {
    calotype_buffer_t *in;
    int offset, scale, row, weight;
};

bool is_query(const calotype_buffer_t *b) {
    return b->host == nullptr && b->device == 0;
}

int last(const calotype_dimension_t &d) {
    return d.min + d.extent - 1;
}

void ask(const ExternalTap &t, const calotype_buffer_t *out) {
    const calotype_dimension_t &x = out->dim[0], &y = out->dim[1];
    t.in->dim[0].min = x.min + t.offset;
    t.in->dim[0].extent = x.extent;
    t.in->dim[1].min = t.row + (t.scale > 0 ? y.min : -last(y));
    t.in->dim[1].extent = y.extent;
}

int64_t read(const ExternalTap &t, const Type &as, int x, int y) {
    const Buffer<void> in(*t.in);
    const int at_x = x + t.offset, at_y = y * t.scale + t.row;
    const auto holds = [&](int d, int at) {
        return at >= in.dim(d).min() && at <= in.dim(d).max();
    };
    if (!holds(0, at_x) || !holds(1, at_y)) {
        external_misses++;
        return 0;
    }
    return weighted(as, element(in, at_x, at_y), t.weight);
}

int external(const std::array<ExternalTap, 2> &taps, int low, int rows,
             const std::vector<calotype_buffer_t *> &outs) {
    for (calotype_buffer_t *out : outs) {
        if (is_query(out)) {
            calotype_dimension_t &y = out->dim[1];
            const int extra = ((y.min % rows) + rows) % rows;
            y.min -= extra;
            y.extent = (y.extent + extra + rows - 1) / rows * rows;
        }
    }
    bool computes = !is_query(outs[0]);
    for (const ExternalTap &t : taps) {
        if (is_query(t.in)) {
            ask(t, outs[0]);
            computes = false;
        }
    }
    if (!computes) {
        return 0;
    }
    StageSpec s;
    const Buffer<void> first(*outs[0]);
    s.type = first.type();
    s.low = low != 0;
    const Type as = work_type(s.type);
    for (int y = first.dim(1).min(); y <= first.dim(1).max(); y++) {
        for (int x = first.dim(0).min(); x <= first.dim(0).max(); x++) {
            const auto values =
                stored_values(s, wrap(as, read(taps[0], as, x, y) + read(taps[1], as, x, y)));
            for (size_t i = 0; i < outs.size(); i++) {
                set_element(Buffer<void>(*outs[i]), x, y, values[i]);
            }
        }
    }
    return 0;
}

int one_value(calotype_buffer_t *a, int ax, int as, int ay, int aw, calotype_buffer_t *b, int bx,
              int bs, int by, int bw, int low, int rows, calotype_buffer_t *out) {
    return external({{{a, ax, as, ay, aw}, {b, bx, bs, by, bw}}}, low, rows, {out});
}

int two_values(calotype_buffer_t *a, int ax, int as, int ay, int aw, calotype_buffer_t *b, int bx,
               int bs, int by, int bw, int low, int rows, calotype_buffer_t *first,
               calotype_buffer_t *second) {
    return external({{{a, ax, as, ay, aw}, {b, bx, bs, by, bw}}}, low, rows, {first, second});
}

/// The nearest stage from that on downwards which an external one can read.
int source_from(const RandomPipeline &p, int stage) {
    while (stage >= 0 && (p.stages[size_t(stage)].tuple || p.stages[size_t(stage)].holes)) {
        stage--;
    }
    return stage;
}

/// Then its definition says how large its values are.
bool is_looked_up(const RandomPipeline &p, int stage) {
    return std::any_of(p.stages.begin(), p.stages.end(), [&](const StageSpec &s) {
        return s.combine == Combine::Lookup && s.taps[0].source == stage;
    });
}

void make_external(Dice &dice, const RandomPipeline &p, StageSpec &s) {
    StageSpec result = s;
    result.external = true;
    result.external_rows = dice.chance(20) ? 2 : 1;
    result.combine = Combine::Sum;
    result.taps.resize(2, s.taps[0]);
    result.updates.clear();
    for (Tap &t : result.taps) {
        t.source = source_from(p, t.source);
        t.boundary = Boundary::None;
        t.transposed = false;
        t.value = 0;
        t.x = {1, 1, t.x.offset};
        t.y = {dice.chance(6) ? -1 : 1, 1, t.y.offset};
        if (t.source < 0) {
            return;
        }
    }
    s = result;
}

}  // namespace

RandomPipeline extern_random_pipeline(uint64_t seed) {
    Dice dice(seed);
    RandomPipeline p = dice.chance(60) ? windows_random_pipeline(seed) : full_random_pipeline(seed);
    for (size_t i = 1; i < p.stages.size(); i++) {
        StageSpec &s = p.stages[i];
        const bool can_be = !s.input && !s.holes && s.combine != Combine::Holes &&
                            !s.taps.empty() && !is_looked_up(p, int(i));
        if (can_be && dice.chance(45)) {
            make_external(dice, p, s);
        }
    }
    const int inner = int(p.stages.size()) - p.outputs;
    const int also = inner > 0 ? dice(inner) : -1;
    if (also >= 0 && dice.chance(25) && !p.stages[size_t(also)].holes) {
        p.also_output = also;
    }
    return p;
}

void define_external(Func f, const StageSpec &s, const std::vector<ExternFuncArgument> &sources) {
    std::vector<ExternFuncArgument> args;
    for (size_t i = 0; i < 2; i++) {
        const Tap &t = s.taps[i];
        args.insert(args.end(), {sources[i], t.x.offset, t.y.scale, t.y.offset, t.weight});
    }
    args.insert(args.end(), {int(s.low), s.external_rows});
    f.define_extern(s.tuple ? "random_two_values" : "random_one_value", args,
                    std::vector<Type>(s.tuple ? 2 : 1, s.type), {x, y});
}

std::map<std::string, JITExtern> external_functions() {
    return {{"random_one_value", JITExtern(ExternCFunction(one_value))},
            {"random_two_values", JITExtern(ExternCFunction(two_values))}};
}

}  // namespace calotype::test
