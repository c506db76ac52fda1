// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random pipeline of images of two dimensions (stencils, other resolutions, tables, choices, small reductions) under a
// random schedule, made from a seed; random_program.h says how it is run. compare_random.py runs both sides.
#include "random_gpu_schedule.h"
#include <cmath>
#include <sstream>
#include <utility>

namespace {

using namespace random_programs;

class Program : public StagesForEither {
public:
    Program(unsigned seed, int width, int height, bool on_gpu)
        : StagesForEither(seed, width, height, on_gpu) {
    }

    void make() {
        begin();
        const int count = dice_.between(2, 7);
        for (int i = 0; i < count; ++i) {
            add(i);
        }
        if (!is_set("PLAIN")) {
            schedule();
        }
    }

private:
    Halide::Buffer<> table_;
    bool narrow_sums_ = true;

    Type random_type() {
        return dice_.of<Type>({Halide::UInt(8), Halide::UInt(8), Halide::UInt(16), Halide::Int(16),
                               Halide::Int(32), Halide::Float(32), Halide::Float(32)});
    }

    template<typename T>
    Halide::Buffer<> image(int width, int height, unsigned largest) {
        Halide::Buffer<T> made(width, height);
        std::mt19937 engine(width * 31u + height);
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                made(x, y) = static_cast<T>(engine() % largest);
            }
        }
        return made;
    }

    Halide::Buffer<> image_of(Type type, int width, int height) {
        if (type == Halide::UInt(8)) {
            return image<uint8_t>(width, height, 256);
        } else if (type == Halide::UInt(16)) {
            return image<uint16_t>(width, height, 4096);
        } else if (type == Halide::Int(16)) {
            return image<int16_t>(width, height, 4096);
        } else if (type == Halide::Int(32)) {
            return image<int32_t>(width, height, 65536);
        }
        return image<float>(width, height, 1024);
    }

    // The image, in its type, beyond its edges by a boundary condition.
    void begin() {
        const Type type = random_type();
        Halide::Buffer<> input = image_of(type, width_, height_);
        table_ = image_of(Halide::UInt(16), 256, 1);
        Stage stage;
        stage.rank = 2;
        stage.type = type;
        const Halide::Region bounds = {{0, width_}, {0, height_}};
        const int kind = dice_.below(5);
        Func source("source");
        source(x_, y_) = Expr(input(x_, y_));
        switch (kind) {
        case 0:
            stage.func = Halide::BoundaryConditions::mirror_image(source, bounds);
            break;
        case 1:
            stage.func = Halide::BoundaryConditions::constant_exterior(
                source, Halide::cast(type, 3), bounds);
            break;
        case 2:
            stage.func = Halide::BoundaryConditions::repeat_image(source, bounds);
            break;
        case 3: {
            Func clamped("clamped");
            clamped(x_, y_) =
                source(Halide::clamp(x_, 0, width_ - 1), Halide::clamp(y_, 0, height_ - 1));
            stage.func = clamped;
            break;
        }
        default:
            stage.func = Halide::BoundaryConditions::repeat_edge(source, bounds);
            break;
        }
        stage.text = "source: " + text_of(type) + ", boundary condition " + std::to_string(kind);
        stages_.push_back(stage);
    }

    // Room for sums: integers in 32 bits, or often in 16 where the values have 8.
    Expr wide(const Expr &value) {
        const Type type = value.type();
        if (type.is_float()) {
            return value;
        }
        return type.bits() == 8 && narrow_sums_ ? Halide::cast(Halide::UInt(16), value)
                                                : Halide::cast(Halide::Int(32), value);
    }

    void add(int number) {
        Stage stage;
        stage.rank = 2;
        narrow_sums_ = dice_.chance(50);
        stage.func = Func("f" + std::to_string(number));
        std::ostringstream text;
        text << stage.func.name() << " = ";
        static const std::vector<int> forms = {0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        const int form = dice_.of(forms);
        const Stage from = earlier(65);
        Expr value = define(stage, form, from, text);
        if (value.defined()) {
            stage.func(x_, y_) = value;
        }
        stage.type = stage.func.types()[0];
        stage.uses.swap(uses_);
        text << ": " << stage.type;
        stage.text = text.str();
        stages_.push_back(stage);
    }

    // The value of a stage; undefined if define() has already given it its definitions.
    Expr define(Stage &stage, int form, const Stage &from, std::ostream &text) {
        const Func f = from.func;
        switch (form) {
        case 0:
            return stencil(f, dice_.between(1, 3), 0, text);
        case 1:
            return stencil(f, 0, dice_.between(1, 3), text);
        case 2:
            return stencil(f, 1, 1, text);
        case 3:
            return pointwise(f, text);
        case 4: {
            text << from.func.name() << " at twice the distance";
            return narrow((wide(f(2 * x_, 2 * y_)) + wide(f(2 * x_ + 1, 2 * y_)) +
                           wide(f(2 * x_, 2 * y_ + 1))) /
                              3,
                          f);
        }
        case 5: {
            text << from.func.name() << " at half the distance";
            return narrow((3 * wide(f(x_ / 2, y_)) + wide(f((x_ + 1) / 2, y_))) / 4, f);
        }
        case 6: {
            text << from.func.name() << " at half the distance in both";
            return narrow((wide(f(x_ / 2, y_ / 2)) + wide(f(x_ / 2 + 1, y_ / 2 + 1))) / 2, f);
        }
        case 7:
            return combined(text);
        case 8:
            return chosen(f, text);
        case 9:
            return extreme(f, text);
        case 10:
            return looked_up(f, text);
        case 11:
            return summed(stage, f, text);
        default:
            return phases(f, text);
        }
    }

    Expr narrow(const Expr &value, const Func &like) {
        return Halide::cast(like.types()[0], value);
    }

    Expr stencil(const Func &f, int rx, int ry, std::ostream &text) {
        text << f.name() << " stencil " << rx << "," << ry;
        Expr sum;
        int weights = 0;
        for (int dy = -ry; dy <= ry; ++dy) {
            for (int dx = -rx; dx <= rx; ++dx) {
                const int weight = dice_.between(1, 4);
                weights += weight;
                Expr term =
                    wide(f(x_ + dx, y_ + dy)) * Halide::cast(wide(f(x_, y_)).type(), weight);
                sum = sum.defined() ? sum + term : term;
            }
        }
        return dice_.chance(70) ? narrow(sum / Halide::cast(sum.type(), weights), f) : sum;
    }

    Expr pointwise(const Func &f, std::ostream &text) {
        const Type to = random_type();
        text << f.name() << " pointwise";
        Expr value = f(x_, y_);
        if (to.is_float()) {
            return Halide::sqrt(Halide::abs(Halide::cast<float>(value))) * 1.25f + 0.5f;
        }
        if (value.type().is_float()) {
            return Halide::cast(to, Halide::clamp(value, 0.0f, 255.0f));
        }
        return Halide::cast(to, Halide::clamp(wide(value) * 3 / 2, 0, 255));
    }

    Expr combined(std::ostream &text) {
        const Func a = used(stages_.size() - 1).func, b = earlier(65).func, c = used(0).func;
        text << a.name() << " with " << b.name() << " and the source";
        Expr u = Halide::cast<float>(a(x_, y_)), v = Halide::cast<float>(b(x_ + 1, y_)),
             w = Halide::cast<float>(c(x_, y_ - 1));
        return dice_.chance(50) ? u * 0.25f + v * 0.5f - w * 0.125f
                                : Halide::max(u - v, w) / (Halide::abs(v) + 1.0f);
    }

    Expr chosen(const Func &f, std::ostream &text) {
        text << f.name() << " chosen";
        Expr here = f(x_, y_), there = f(x_ + 1, y_ - 1);
        switch (dice_.below(3)) {
        case 0:
            return Halide::select(here > there, here, there + Halide::cast(there.type(), 1));
        case 1:
            return Halide::select((x_ + y_) % 2 == 0, here, there);
        default:
            return Halide::select(x_ < width_ / 2, here, there);
        }
    }

    Expr extreme(const Func &f, std::ostream &text) {
        text << f.name() << " extremes";
        Expr low = Halide::min(f(x_ - 1, y_), Halide::min(f(x_, y_), f(x_ + 1, y_)));
        Expr high = Halide::max(f(x_, y_ - 1), Halide::max(f(x_, y_), f(x_, y_ + 1)));
        return dice_.chance(50) ? high - low : Halide::clamp(f(x_, y_), low, high);
    }

    Expr looked_up(const Func &f, std::ostream &text) {
        text << f.name() << " in a table";
        Halide::Buffer<uint16_t> table(table_);
        Expr index = Halide::cast<int32_t>(Halide::clamp(f(x_, y_), Halide::cast(f.types()[0], 0),
                                                         Halide::cast(f.types()[0], 255)));
        return table(index, 0);
    }

    Expr summed(Stage &stage, const Func &f, std::ostream &text) {
        const int w = dice_.between(2, 9), h = dice_.chance(50) ? 1 : dice_.between(2, 5);
        text << f.name() << " reduced over " << w << " x " << h;
        const RDom r = h == 1 ? RDom(-w / 2, w) : RDom(-w / 2, w, -h / 2, h);
        stage.domains = {r};
        Expr at = h == 1 ? wide(f(x_ + r.x, y_)) : wide(f(x_ + r.x, y_ + r.y));
        stage.func(x_, y_) = Halide::cast(at.type(), 0);
        if (dice_.chance(60)) {
            stage.func(x_, y_) += at;
        } else {
            stage.func(x_, y_) = Halide::max(stage.func(x_, y_), at);
        }
        return Expr();
    }

    Expr phases(const Func &f, std::ostream &text) {
        text << f.name() << " in phases";
        Expr even = wide(f(x_, y_)) + wide(f(x_ + 2, y_)), odd = 2 * wide(f(x_ + 1, y_));
        return narrow(Halide::select(x_ % 2 == 0, even, odd) / 2, f);
    }

    // ---- the schedule ----

    TailStrategy tail() {
        return dice_.of<TailStrategy>({TailStrategy::Auto, TailStrategy::Auto,
                                       TailStrategy::ShiftInwards, TailStrategy::GuardWithIf,
                                       TailStrategy::RoundUp});
    }

    void schedule_output_on_host() override {
        Stage &stage = stages_.back();
        Func out = stage.func;
        const int n = lanes(dice_, stage.type);
        std::ostringstream text;
        const TailStrategy how =
            !stage.domains.empty() ? TailStrategy::GuardWithIf : TailStrategy::Auto;
        switch (dice_.below(4)) {
        case 0:
            out.vectorize(x_, n, how);
            loops_ = {y_};
            break;
        case 1: {
            const int rows = dice_.of<int>({4, 8, 16, 32, 64});
            out.split(y_, yo_, yi_, rows, how).vectorize(x_, n, how).parallel(yo_);
            text << " strips of " << rows;
            loops_ = {yo_, yi_};
            break;
        }
        case 2: {
            const int w = dice_.of<int>({32, 64, 128, 256}), h = dice_.of<int>({4, 8, 16, 32});
            out.tile(x_, y_, xo_, yo_, xi_, yi_, w, h, how).vectorize(xi_, n, how).parallel(yo_);
            text << " tiles of " << w << " x " << h;
            loops_ = {yo_, xo_, yi_};
            break;
        }
        default: {
            const int rows = dice_.of<int>({2, 4});
            out.split(y_, yo_, yi_, rows, how)
                .reorder(yi_, x_, yo_)
                .unroll(yi_)
                .vectorize(x_, n, how);
            text << " " << rows << " rows unrolled";
            loops_ = {yo_};
        }
        }
        // An update has loops of its own, in which nothing of these can be computed.
        if (!stage.domains.empty()) {
            loops_.clear();
        }
        text << ", vectors of " << n;
        update_of(stage, n, text);
        stage.text += ";" + text.str();
    }

    void update_of(Stage &stage, int n, std::ostream &text) {
        if (stage.domains.empty()) {
            return;
        }
        Halide::Stage update = stage.func.update();
        bool scheduled = true;
        if (dice_.chance(75)) {
            update.vectorize(x_, n, TailStrategy::GuardWithIf);
            text << ", update vectorised";
        } else {
            scheduled = false;
            text << ", update scalar";
        }
        switch (dice_.below(4)) {
        case 0:
            update.unroll(stage.domains[0].x);
            text << ", reduction unrolled";
            break;
        case 1:
            update.reorder(stage.domains[0].x, x_, y_);
            text << ", reduction inside";
            break;
        default:
            if (!scheduled) {
                update.unscheduled();
            }
        }
    }

    int schedule_producer_on_host(Stage &stage) override {
        std::ostringstream text;
        if (is_inlined(stage)) {
            stage.text += "; inline";
            return stage.depth;
        }
        const int depth =
            dice_.chance(20) ? 0 : dice_.between(std::min(1, stage.depth), stage.depth);
        place(stage.func, depth, text);
        if (dice_.chance(85)) {
            const int n = lanes(dice_, stage.type);
            const TailStrategy how = !stage.domains.empty() ? TailStrategy::Auto : tail();
            stage.func.vectorize(x_, n, how);
            text << ", vectors of " << n << ", tail " << static_cast<int>(how);
            update_of(stage, n, text);
        } else if (!stage.domains.empty()) {
            stage.func.update().unscheduled();
        }
        stage.text += ";" + text.str();
        return depth;
    }

    void place(Func &f, int depth, std::ostream &text) {
        if (depth == 0) {
            f.compute_root();
            text << " compute_root";
            if (dice_.chance(50)) {
                f.parallel(y_, 16, TailStrategy::GuardWithIf);
                text << " parallel";
            }
            return;
        }
        f.compute_at(output(), loops_[static_cast<size_t>(depth) - 1]);
        text << " compute_at " << loops_[static_cast<size_t>(depth) - 1].name();
        const int outermost =
            loops_.size() > 1 ? 1 : 0;  // within the parallel loop, if there is one
        if (depth <= outermost || !dice_.chance(60)) {
            return;
        }
        const int outer = dice_.between(outermost, depth - 1);
        if (outer == 0) {
            f.store_root();
            text << " store_root";
        } else {
            f.store_at(output(), loops_[static_cast<size_t>(outer) - 1]);
            text << " store_at " << loops_[static_cast<size_t>(outer) - 1].name();
        }
    }

    // ---- what is drawn for a GPU, too ----

    bool is_inlined(const Stage &stage) override {
        return dice_.chance(30) && stage.domains.empty();
    }

    void unroll(const Stage &stage, size_t i, Halide::Stage update, std::ostream &text) override {
        update.unroll(stage.domains[i].x);
        text << ", reduction unrolled";
    }
};

void run(unsigned seed, int width, int height) {
    Program program(seed, width, height,
                    Halide::get_jit_target_from_environment().has_gpu_feature());
    program.make();
    if (is_set("SHOW")) {
        program.describe(std::cerr);
    }
    const Func out = program.output();
    measure(seed, out, Halide::Buffer<>(out.types()[0], {width, height}));
}

}  // namespace

int main(int argc, char **argv) {
    return random_programs::run_program(argc, argv, 1520, 1100, run);
}
