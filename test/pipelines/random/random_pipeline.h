// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RandomPipeline: a few stencil stages drawn from a seed, as plain data; Funcs that compute it, and
// a plain evaluator of one value at a time that knows nothing of the compiler.
#pragma once

#include <calotype/calotype.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace calotype::test {

/// Uniform numbers that are the same on every platform.
class Dice {
public:
    explicit Dice(uint64_t seed) : engine_(seed) {
    }
    /// In [0, n).
    int operator()(int n) {
        return int(engine_() % uint64_t(n));
    }
    bool chance(int percent) {
        return (*this)(100) < percent;
    }
    template<typename T>
    const T &pick(const std::vector<T> &values) {
        return values[size_t((*this)(int(values.size())))];
    }

private:
    std::mt19937_64 engine_;
};

/// floor(v * scale / divide) + offset, for v = x or y. A scale below 0 in full pipelines alone.
struct Access {
    int scale = 1, divide = 1, offset = 0;
};

/// What is beyond [0, bounded_width) x [0, bounded_height) of what a tap reads.
enum class Boundary { None, Edge, Repeat, Mirror, Constant };
constexpr int bounded_width = 21, bounded_height = 13, beyond = 5;

/// One use of an earlier stage.
struct Tap {
    int source = 0;
    int value = 0;  ///< which of the source's values
    Boundary boundary = Boundary::None;
    bool transposed = false;
    Access x, y;
    int weight = 1;
};

enum class Combine {
    Sum,
    Max,
    Select,
    Gather,
    // Of full pipelines alone:
    Lookup,   ///< the value of the first tap, of which only the definition says how large it is
    Partial,  ///< choices of which some sides are undef, but none of those that count
    Choice,   ///< the first tap if the pipeline's choice is above a threshold, else the second
    Inside,   ///< the first tap inside of a rectangle that the choice moves, else the second
    Holes,    ///< a Lookup by a value that is undef in the holes, where this is 1 instead
};

enum class UpdateKind {
    Pure,         ///< f(x, y) += t(x, y)
    Window,       ///< f(x, y) += t(x + r.x, y + r.y)
    HalfWindow,   ///< the same where r.x <= r.y
    ScanColumns,  ///< f(x, r) += f(x, r - 1) + t(x, r)
    ScanRows,     ///< f(r, y) += f(r - 1, y) + t(r, y)
    Row,          ///< f(x, 3) = t(x, 3)
    // Of wide pipelines alone:
    OddWindow,   ///< f(x, y) += t(x + r.x, y + r.y) where (x + r.x) % 2 == 0
    MaxWindow,   ///< f(x, y) = max(f(x, y), t(x + r.x, y + r.y))
    LongWindow,  ///< f(x, y) += t(x + r, y)
    Histogram,   ///< f(t(r, y) % 7, y) += weight
    // Of full pipelines alone:
    WhileSmall,   ///< f(x, y) += t(x + r.x, y + r.y) where f(x, y) < 20
    WhereEven,    ///< f(x, y) += t(x + r.x, y + r.y) where t(x + r.x, y) % 2 == 0
    ParamWindow,  ///< f(x, y) += t(x + r, y) for r in [0, choice + 2)
    MinWindow,    ///< f(x, y) = min(f(x, y), t(x + r.x, y + r.y))
    Keep,         ///< f(x, y) += t(x, y) in the holes, elsewhere undef
};

struct UpdateSpec {
    UpdateKind kind = UpdateKind::Pure;
    Tap tap;
    int width = 3, height = 2;
};

struct StageSpec {
    Type type;
    /// A second value: twice the first, plus one; updates add the first's old value to it, too.
    bool tuple = false;
    bool input = false;  ///< an image, of the values that the formula gives
    bool low = false;    ///< the definition's values, if there are taps, are below 0
    bool holes = false;  ///< undef where (x + y) % 3 == 0; read by Combine::Holes alone
    bool external =
        false;  ///< a C function of two taps that are neither scaled in x nor transposed
    int external_rows = 1;  ///< it begins and ends at multiples of that
    Combine combine = Combine::Sum;
    int threshold = 0;      ///< of Combine::Choice
    std::vector<Tap> taps;  ///< none: a formula of the coordinates
    std::vector<UpdateSpec> updates;

    /// Whether the definition does.
    bool reads(int stage) const {
        return std::any_of(taps.begin(), taps.end(),
                           [&](const Tap &t) { return t.source == stage; });
    }
};

struct RandomPipeline {
    std::vector<StageSpec> stages;  ///< the last are the outputs; stage 0 has no taps
    int outputs = 1;                ///< which do not use each other
    int also_output = -1;           ///< another, if any, that others may use
    bool wide = false;              ///< has what only wide pipelines have
    bool full = false;              ///< and what only full pipelines have
    bool windows = false;           ///< to be scheduled so that windows slide and fold
    int choice = 0;                 ///< a parameter, from -1 to 2
    int min_x = 0, min_y = 0, width = 1, height = 1;

    bool is_output(int stage) const {
        return stage == also_output || stage >= int(stages.size()) - outputs;
    }
    std::vector<int> output_stages() const;
};

RandomPipeline random_pipeline(uint64_t seed);
/// With elements of all types, inputs, boundary conditions, several outputs, empty ones, and more
/// kinds of updates.
RandomPipeline wide_random_pipeline(uint64_t seed);
/// A wide one, with conditions on what updates change and read, lookups of values, choices of undef,
/// and what a parameter chooses.
RandomPipeline full_random_pipeline(uint64_t seed);
/// A full one whose schedules compute most Funcs in inner loops and store them further out.
RandomPipeline windows_random_pipeline(uint64_t seed);

/// The formula of stages without taps, as type t has it.
int64_t source_value(const Type &t, int x, int y);

/// The type that values are computed in.
Type work_type(const Type &t);
/// The value as the type holds it.
int64_t wrap(const Type &t, int64_t v);
/// What a tap of that weight makes of a value that it reads.
int64_t weighted(const Type &as, int64_t value, int weight);
/// What a definition stores where its taps come to v: one value, or both of a tuple.
std::array<int64_t, 2> stored_values(const StageSpec &s, int64_t v);

/// The Funcs, with the RVars of each of their updates, and the images that the pipeline reads.
struct BuiltPipeline {
    std::vector<Func> funcs;
    std::vector<ImageParam> images;
    Param<int> choice{"choice"};
    std::vector<std::vector<std::vector<RVar>>> rvars;
};

extern const Var x, y;
BuiltPipeline build(const RandomPipeline &p);

/// What the pipeline means.
class Evaluator {
public:
    explicit Evaluator(const RandomPipeline &p) : p_(p) {
    }
    int64_t operator()(int stage, int value, int x, int y);

private:
    using Values = std::array<int64_t, 2>;

    Values after(int stage, int updates, int x, int y);
    int64_t definition(const StageSpec &s, int x, int y);
    int64_t unweighted(const Tap &t, int x, int y);
    Values update(int stage, int index, int x, int y);
    int64_t tap(const Tap &t, const Type &as, int x, int y);
    int64_t update_tap(const Tap &t, const Type &as, int x, int y);

    const RandomPipeline &p_;
    std::map<std::array<int, 4>, Values> known_;
};

/// What the pipeline gave, as a whole number.
int64_t element(const Buffer<void> &b, int x, int y);
void set_element(const Buffer<void> &b, int x, int y, int64_t value);

}  // namespace calotype::test
