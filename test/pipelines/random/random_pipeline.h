// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RandomPipeline: a few stencil stages drawn from a seed, as plain data; Funcs that compute it, and
// a plain evaluator of one value at a time that knows nothing of the compiler.
#pragma once

#include <calotype/calotype.h>

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

/// floor(v * scale / divide) + offset, for v = x or y.
struct Access {
    int scale = 1, divide = 1, offset = 0;
};

/// One use of an earlier stage.
struct Tap {
    int source = 0;
    int value = 0;  ///< which of the source's values
    bool transposed = false;
    Access x, y;
    int weight = 1;
};

enum class Combine { Sum, Max, Select, Gather };

enum class UpdateKind {
    Pure,         ///< f(x, y) += t(x, y)
    Window,       ///< f(x, y) += t(x + r.x, y + r.y)
    HalfWindow,   ///< the same where r.x <= r.y
    ScanColumns,  ///< f(x, r) += f(x, r - 1) + t(x, r)
    ScanRows,     ///< f(r, y) += f(r - 1, y) + t(r, y)
    Row,          ///< f(x, 3) = t(x, 3)
};

struct UpdateSpec {
    UpdateKind kind = UpdateKind::Pure;
    Tap tap;
    int width = 3, height = 2;
};

struct StageSpec {
    Type type;
    bool tuple = false;  ///< a second value: twice the first, plus one
    Combine combine = Combine::Sum;
    std::vector<Tap> taps;  ///< none: a formula of the coordinates
    std::vector<UpdateSpec> updates;
};

struct RandomPipeline {
    std::vector<StageSpec> stages;  ///< the last is the output; stage 0 has no taps
    int min_x = 0, min_y = 0, width = 1, height = 1;
};

RandomPipeline random_pipeline(uint64_t seed);

/// The Funcs, with the RVars of each of their updates.
struct BuiltPipeline {
    std::vector<Func> funcs;
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
    int64_t after(int stage, int updates, int x, int y);
    int64_t definition(const StageSpec &s, int x, int y);
    int64_t update(int stage, int index, int x, int y);
    int64_t tap(const Tap &t, const Type &as, int x, int y);

    const RandomPipeline &p_;
    std::map<std::array<int, 4>, int64_t> known_;
};

/// What the pipeline gave, as a whole number.
int64_t element(const Buffer<void> &b, int x, int y);

}  // namespace calotype::test
