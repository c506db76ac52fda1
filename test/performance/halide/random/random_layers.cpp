// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random pipeline of images with channels, planar or interleaved, and of matrices, made from a seed: functions of floats,
// products over channels, kernels and rows, histograms, scans, choices of the largest, gathers at computed places, sorting,
// bits, Tuples, of nine types and with parameters, under a random schedule. random_program.h says how it is run.
#include "random_layer_schedule.h"
#include <functional>
#include <sstream>

namespace {

using namespace random_programs;
using Halide::cast;
using Halide::clamp;

class Program : public ScheduledLayers {
public:
    Program(unsigned seed, int width, int height, bool on_gpu)
        : ScheduledLayers(seed + 500009, width, height, on_gpu) {
    }

    void make() {
        begin();
        const int count = dice_.between(1, 5);
        for (int i = 0; i < count; ++i) {
            add("f" + std::to_string(i));
        }
        if (!is_set("PLAIN")) {
            constrain_output();
            schedule();
        }
    }

    Halide::Buffer<> result() {
        const Stage &last = stages_.back();
        if (last.rank == 2) {
            return Halide::Buffer<>(last.type, {width_, height_});
        }
        return interleaved_out_
                   ? Halide::Buffer<>::make_interleaved(last.type, width_, height_, channels_)
                   : Halide::Buffer<>(last.type, {width_, height_, channels_});
    }

    void describe(std::ostream &out) const {
        out << width_ << " x " << height_ << " x " << channels_ << "\n";
        ScheduledStages::describe(out);
    }

private:
    Halide::Param<int> level_{"level"};
    Halide::Param<float> gain_{"gain"};

    // ---- inputs ----

    template<typename T>
    static void fill(Halide::Buffer<> &buffer, double largest) {
        Halide::Buffer<T> typed(buffer);
        std::mt19937 engine(
            static_cast<unsigned>(buffer.dim(0).extent() * 31 + buffer.dim(1).extent()));
        typed.for_each_element([&](const int *at) {
            typed(at) = static_cast<T>(static_cast<double>(engine() % 4096) * largest / 4096);
        });
    }

    static void fill(Halide::Buffer<> &buffer) {
        const Type type = buffer.type();
        if (type == Halide::UInt(8)) {
            fill<uint8_t>(buffer, 256);
        } else if (type == Halide::Int(8)) {
            fill<int8_t>(buffer, 127);
        } else if (type == Halide::UInt(16)) {
            fill<uint16_t>(buffer, 4096);
        } else if (type == Halide::Int(16)) {
            fill<int16_t>(buffer, 4096);
        } else if (type == Halide::Int(32)) {
            fill<int32_t>(buffer, 60000);
        } else {
            fill<float>(buffer, 1);
        }
    }

    // A parameter, so that sizes are not known, bound to values.
    Halide::ImageParam input_of(const std::string &name, const Halide::Buffer<> &values) {
        Halide::ImageParam input(values.type(), values.dimensions(),
                                 name + std::to_string(stages_.size()));
        input.set(values);
        return input;
    }

    Halide::Buffer<> values_of(Type type, const std::vector<int> &sizes, bool interleaved = false) {
        Halide::Buffer<> values =
            interleaved ? Halide::Buffer<>::make_interleaved(type, sizes[0], sizes[1], sizes[2])
                        : Halide::Buffer<>(type, sizes);
        fill(values);
        return values;
    }

    // The image beyond its edges, and of more channels than it has.
    void begin() {
        channels_ = dice_.of<int>({1, 3, 3, 3, 4, 4, 8, 16});
        const bool interleaved = dice_.chance(35);
        interleaved_out_ = dice_.chance(25);
        level_.set(100);
        gain_.set(0.75f);
        Stage stage;
        stage.type = dice_.of<Type>({Halide::UInt(8), Halide::UInt(8), Halide::Int(8),
                                     Halide::UInt(16), Halide::Int(16), Halide::Int(32),
                                     Halide::Float(32), Halide::Float(32)});
        Halide::ImageParam input =
            input_of("input", values_of(stage.type, {width_, height_, channels_}, interleaved));
        if (interleaved) {
            input.dim(0).set_stride(channels_);
            input.dim(2).set_stride(1).set_bounds(0, channels_);
        }
        stage.func = Func("source");
        Expr c = clamp(c_, 0, channels_ - 1);
        if (dice_.chance(50)) {
            stage.func(x_, y_, c_) = Halide::BoundaryConditions::repeat_edge(input)(x_, y_, c_);
        } else {
            stage.func(x_, y_, c_) =
                input(clamp(x_, 0, input.width() - 1), clamp(y_, 0, input.height() - 1), c);
        }
        stage.text = "source: " + text_of(stage.type) + (interleaved ? " interleaved" : "");
        stages_.push_back(stage);
    }

    // ---- stages ----

    // Its value there; the channel of images that have some.
    Expr at(const Stage &stage, const Expr &x, const Expr &y, const Expr &c) {
        return stage.rank == 3 ? Expr(stage.func(x, y, c)) : Expr(stage.func(x, y));
    }
    Expr here(const Stage &stage) {
        return at(stage, x_, y_, c_);
    }

    static Expr as_float(const Expr &value) {
        return value.type().is_float() ? value : cast<float>(value) * (1.0f / 256);
    }

    // Integers with room for sums, floats as they are.
    Expr wide(const Expr &value) {
        const Type type = value.type();
        if (type.is_float() || type.bits() >= 32) {
            return value;
        }
        return cast(type.bits() == 8 && dice_.chance(50) ? type.with_bits(16) : Halide::Int(32),
                    value);
    }

    Expr as_byte(const Expr &value) {
        if (value.type() == Halide::UInt(8)) {
            return value;
        }
        const Type type = value.type();
        return type.is_float()
                   ? cast<uint8_t>(clamp(value * 255.0f, 0.0f, 255.0f))
                   : cast<uint8_t>(clamp(value, cast(type, 0),
                                         cast(type, type == Halide::Int(8) ? 127 : 255)));
    }

    void add(const std::string &name) {
        Stage stage;
        const Stage from = earlier(70);
        stage.rank = from.rank;
        stage.func = Func(name);
        std::ostringstream text;
        text << name << " = " << from.func.name();
        const Expr value = form(stage, from, text);
        if (value.defined()) {
            define(stage, value);
        }
        stage.type = stage.func.types()[0];
        stage.uses.swap(uses_);
        text << ": " << stage.type << (stage.rank == 2 ? " without channels" : "");
        stage.text = text.str();
        stages_.push_back(stage);
    }

    Halide::FuncRef ref(const Stage &stage) {
        return stage.rank == 3 ? stage.func(x_, y_, c_) : stage.func(x_, y_);
    }

    void define(Stage &stage, const Expr &value) {
        ref(stage) = value;
    }

    Expr form(Stage &stage, const Stage &from, std::ostream &text) {
        switch (dice_.below(24)) {
        case 0:
        case 1:
            return function_of(from, text);
        case 2:
            return mixed(from, text);
        case 3:
            return grey(stage, from, text);
        case 4:
            return filtered(stage, from, text);
        case 5:
            return dense(stage, from, text);
        case 6:
            return looked_up(from, text);
        case 7:
            return scanned(stage, from, text);
        case 8:
            return largest(stage, from, text);
        case 9:
            return window(from, text);
        case 10:
            return normalized(from, text);
        case 11:
            return product(stage, from, text);
        case 12:
            return turned(from, text);
        case 13:
            return warped(from, text);
        case 14:
            return median(from, text);
        case 15:
            return bits(from, text);
        case 16:
            return resized(from, text);
        case 17:
            return chosen(from, text);
        case 18:
            return extremes(from, text);
        case 19:
            return long_sums(from, text);
        case 20:
            return divided(from, text);
        case 21:
            return converted(from, text);
        case 22:
            return fixed_point(from, text);
        default:
            return blended(from, text);
        }
    }

    Expr function_of(const Stage &from, std::ostream &text) {
        Expr v = as_float(here(from)) * gain_;
        const int which = dice_.below(10);
        text << " under function " << which;
        switch (which) {
        case 0:
            return Halide::exp(-Halide::abs(v));
        case 1:
            return Halide::log(Halide::abs(v) + 1.0f);
        case 2:
            return Halide::pow(Halide::abs(v) + 0.01f, 1.0f / 2.2f);
        case 3:
            return Halide::sqrt(Halide::abs(v));
        case 4:
            return Halide::sin(v) * 0.5f + Halide::cos(v);
        case 5:
            return Halide::tanh(v);
        case 6:
            return 1.0f / (1.0f + Halide::fast_exp(-v));
        case 7:
            return Halide::fast_pow(Halide::abs(v) + 0.01f, 0.45f);
        case 8:
            return Halide::floor(v * 8.0f) + Halide::round(v) * 0.25f;
        default:
            return Halide::atan2(v, Halide::abs(v) + 0.5f);
        }
    }

    // A product of the channels with a small matrix of constants.
    Expr mixed(const Stage &from, std::ostream &text) {
        if (from.rank == 2 || channels_ > 4) {
            return blended(from, text);
        }
        text << " with its channels mixed";
        std::vector<Expr> rows;
        for (int i = 0; i < channels_; ++i) {
            Expr sum = 0.01f * static_cast<float>(i);
            for (int k = 0; k < channels_; ++k) {
                sum += as_float(from.func(x_, y_, k)) *
                       (static_cast<float>(dice_.between(1, 9)) * 0.1f);
            }
            rows.push_back(sum);
        }
        return Halide::mux(c_, rows);
    }

    Expr grey(Stage &stage, const Stage &from, std::ostream &text) {
        if (from.rank == 2) {
            return median(from, text);
        }
        stage.rank = 2;
        if (dice_.chance(50)) {
            text << " summed over channels";
            RDom r(0, channels_);
            return Halide::sum(wide(from.func(x_, y_, r))) / 2;
        }
        text << " as grey";
        Expr a = as_float(from.func(x_, y_, 0)), b = as_float(from.func(x_, y_, channels_ / 2)),
             c = as_float(from.func(x_, y_, channels_ - 1));
        return a * 0.299f + b * 0.587f + c * 0.114f;
    }

    // With weights that a parameter has.
    Expr filtered(Stage &stage, const Stage &from, std::ostream &text) {
        const int w = dice_.of<int>({1, 3, 3, 5, 7}), h = dice_.of<int>({1, 3, 3, 5});
        const Type type = from.type.is_float() ? from.type
                          : dice_.chance(50)   ? Halide::Int(16)
                                               : Halide::Int(8);
        Halide::ImageParam weights =
            input_of("weights", values_of(type.bits() == 64 ? Halide::Float(32) : type, {w, h}));
        text << " filtered by " << w << " x " << h << " weights of " << type;
        RDom r(0, w, 0, h);
        Expr term = at(from, x_ + r.x - w / 2, y_ + r.y - h / 2, c_);
        Expr product = from.type.is_float()
                           ? cast(type, weights(r.x, r.y)) * term
                           : cast<int32_t>(weights(r.x, r.y)) * cast<int32_t>(term);
        return summed(stage, r, product, text);
    }

    // sum() where it is used, or an update.
    Expr summed(Stage &stage, const RDom &r, const Expr &term, std::ostream &text) {
        if (dice_.chance(30)) {
            text << " in an expression";
            return Halide::sum(term);
        }
        define(stage, cast(term.type(), 0));
        ref(stage) += term;
        stage.domains = {r};
        return Expr();
    }

    // A layer of a network: each channel out of all.
    Expr dense(Stage &stage, const Stage &from, std::ostream &text) {
        if (from.rank == 2) {
            return filtered(stage, from, text);
        }
        const int w = dice_.of<int>({1, 1, 3});
        const Type type = from.type.is_float() ? Halide::Float(32) : Halide::Int(8);
        Halide::ImageParam weights = input_of("filter", values_of(type, {w, channels_, channels_}));
        text << " through " << w << " x " << channels_ << " weights of each channel";
        RDom r(0, w, 0, channels_);
        Expr term = from.func(x_ + r.x - w / 2, y_, r.y),
             weight = weights(r.x, r.y, clamp(c_, 0, channels_ - 1));
        Expr product = from.type.is_float() ? cast(from.type, weight) * term
                                            : cast<int32_t>(weight) * cast<int32_t>(term);
        return summed(stage, r, product, text);
    }

    // A histogram of all, and its sums up to each value in place of the value.
    Expr looked_up(const Stage &from, std::ostream &text) {
        text << " by its histogram";
        RDom r(0, width_, 0, height_), v(1, 255);
        Func histogram("histogram"), sums("sums");
        Var i("i");
        histogram(i) = 0;
        histogram(cast<int>(as_byte(at(from, r.x, r.y, 0)))) += 1;
        sums(i) = histogram(i);
        sums(v.x) = sums(v.x - 1) + histogram(v.x);
        compute_by_itself(sums, i);
        one_after_another(sums.update());
        compute_by_itself(histogram, i);
        count_at_once(histogram, r);
        stages_[uses_.back()].at_root = true;
        return cast<float>(sums(cast<int>(as_byte(here(from))))) / cast<float>(width_ * height_);
    }

    Expr scanned(Stage &stage, const Stage &from, std::ostream &text) {
        const bool along_x = dice_.chance(50);
        stage.is_along_x = along_x;
        text << " scanned along " << (along_x ? "x" : "y");
        const Expr value = from.type.is_float() ? here(from) : as_float(here(from));
        define(stage, value);
        const int length = along_x ? width_ : height_;
        RDom r(1, length - 1);
        const std::function<Halide::FuncRef(Expr)> there = [&](Expr i) {
            Expr x = along_x ? i : Expr(x_), y = along_x ? Expr(y_) : i;
            return stage.rank == 3 ? stage.func(x, y, c_) : stage.func(x, y);
        };
        there(r) = there(r) * 0.25f + there(r - 1) * 0.75f;
        stage.domains = {r};
        if (dice_.chance(50)) {
            text << " and back";
            Expr i = length - 1 - r;
            there(i) = there(i) * 0.25f + there(i + 1) * 0.75f;
            stage.domains.push_back(r);
        }
        stage.is_scan = true;
        stage.at_root = true;
        stages_[uses_.back()].at_root = true;
        return Expr();
    }

    Expr largest(Stage &stage, const Stage &from, std::ostream &text) {
        if (from.rank == 2) {
            text << " at the largest of five";
            RDom r(-2, 5);
            return cast<float>(Halide::argmax(from.func(x_ + r, y_))[0]);
        }
        stage.rank = 2;
        text << " at its largest channel";
        RDom r(0, channels_);
        return cast<uint8_t>(Halide::argmax(from.func(x_, y_, r))[0]);
    }

    Expr window(const Stage &from, std::ostream &text) {
        const int w = dice_.between(2, 7), h = dice_.between(1, 4);
        RDom r(0, w, 0, h);
        Expr v = at(from, x_ + r.x, y_ + r.y, c_);
        const int which = dice_.below(4);
        text << " over " << w << " x " << h << " by " << which;
        switch (which) {
        case 0:
            return Halide::maximum(v);
        case 1:
            return Halide::minimum(v);
        case 2: {
            Expr d = wide(v) - wide(here(from));
            return Halide::sum(Halide::select(d < cast(d.type(), 0), cast(d.type(), 0) - d, d));
        }
        default:
            return Halide::sum(wide(v)) / cast(Halide::sum(wide(v)).type(), w * h);
        }
    }

    // Over the largest of each row, by the sum of the row.
    Expr normalized(const Stage &from, std::ostream &text) {
        text << " normalized by rows";
        RDom r(0, width_);
        Func largest("largest"), total("total");
        std::vector<Var> args = from.rank == 3 ? std::vector<Var>{y_, c_} : std::vector<Var>{y_};
        largest(args) = Halide::maximum(as_float(at(from, r, y_, c_)));
        total(args) = Halide::sum(Halide::exp(as_float(at(from, r, y_, c_)) - largest(args)));
        compute_by_itself(largest, y_);
        compute_by_itself(total, y_);
        if (dice_.chance(50) && !on_gpu_) {
            total.parallel(y_);
        }
        stages_[uses_.back()].at_root = true;
        return Halide::exp(as_float(here(from)) - largest(args)) / total(args);
    }

    // Of each channel, as a matrix, with another matrix.
    Expr product(Stage &stage, const Stage &from, std::ostream &text) {
        const int depth = dice_.of<int>({16, 32, 64, 100});
        const Type type = from.type.is_float()
                              ? Halide::Float(32)
                              : dice_.of<Type>({Halide::Int(16), Halide::Int(8), Halide::UInt(8)});
        text << " times a matrix of " << depth << " rows of " << type;
        Halide::ImageParam other = input_of("matrix", values_of(type, {width_, depth}));
        RDom r(0, depth);
        Expr a = at(from, r, y_, c_), b = other(clamp(x_, 0, other.width() - 1), r);
        Expr term =
            from.type.is_float() ? a * cast(a.type(), b) : cast<int32_t>(a) * cast<int32_t>(b);
        return summed(stage, r, term, text);
    }

    Expr turned(const Stage &from, std::ostream &text) {
        text << " turned";
        stages_[uses_.back()].at_root = true;
        switch (dice_.below(3)) {
        case 0:
            return at(from, y_, x_, c_);
        case 1:
            return at(from, width_ - 1 - x_, y_, c_);
        default:
            return at(from, height_ - 1 - y_, x_, c_);
        }
    }

    // By factors that floats hold exactly, so that places do not depend on what is rounded.
    Expr warped(const Stage &from, std::ostream &text) {
        text << " warped";
        stages_[uses_.back()].at_root = true;
        Expr fx = clamp(cast<float>(x_) * 0.875f + cast<float>(y_) * 0.125f, 0.0f,
                        static_cast<float>(width_ - 2));
        Expr fy = clamp(cast<float>(y_) * 0.9375f - cast<float>(x_) * 0.0625f, 0.0f,
                        static_cast<float>(height_ - 2));
        Expr ix = cast<int>(fx), iy = cast<int>(fy);
        if (dice_.chance(40)) {
            return at(from, ix, iy, c_);
        }
        Expr ax = fx - cast<float>(ix), ay = fy - cast<float>(iy);
        return Halide::lerp(
            Halide::lerp(as_float(at(from, ix, iy, c_)), as_float(at(from, ix + 1, iy, c_)), ax),
            Halide::lerp(as_float(at(from, ix, iy + 1, c_)), as_float(at(from, ix + 1, iy + 1, c_)),
                         ax),
            ay);
    }

    Expr median(const Stage &from, std::ostream &text) {
        text << " medians";
        const auto of_three = [](const Expr &a, const Expr &b, const Expr &c) {
            return Halide::max(Halide::min(a, b), Halide::min(Halide::max(a, b), c));
        };
        const auto row = [&](int dy) {
            return of_three(at(from, x_ - 1, y_ + dy, c_), at(from, x_, y_ + dy, c_),
                            at(from, x_ + 1, y_ + dy, c_));
        };
        return dice_.chance(50) ? row(0) : of_three(row(-1), row(0), row(1));
    }

    Expr bits(const Stage &from, std::ostream &text) {
        Expr v = from.type.is_float() ? as_byte(here(from)) : here(from);
        const Type type = v.type().with_code(Halide::Type::UInt);
        v = cast(type, v);
        const int which = dice_.below(5);
        text << " bits " << which;
        switch (which) {
        case 0:
            return (v >> cast(type, 3)) ^ (v << cast(type, 2));
        case 1:
            return Halide::popcount(v) + Halide::count_leading_zeros(v);
        case 2:
            return (cast<uint32_t>(v) << 16) | (cast<uint32_t>(at(from, x_ + 1, y_, c_)) & 0xff);
        case 3:
            return cast<uint8_t>(v & cast(type, 15)) * 16 +
                   cast<uint8_t>((v >> cast(type, 4)) & cast(type, 15));
        default:
            return Halide::select((v & cast(type, 1)) == cast(type, 0), v, ~v);
        }
    }

    Expr resized(const Stage &from, std::ostream &text) {
        const int which = dice_.below(4);
        text << " resized " << which;
        switch (which) {
        case 0:
            return cast(from.type, (wide(at(from, 2 * x_, 2 * y_, c_)) +
                                    wide(at(from, 2 * x_ + 1, 2 * y_ + 1, c_))) /
                                       2);
        case 1:
            return (as_float(at(from, x_ / 2, y_ / 2, c_)) +
                    as_float(at(from, (x_ + 1) / 2, (y_ + 1) / 2, c_))) *
                   0.5f;
        case 2:
            return at(from, x_ / 3, y_ / 3, c_);
        default:
            return Halide::select(x_ % 2 == 0, at(from, x_ / 2, y_, c_),
                                  at(from, x_ / 2 + 1, y_, c_));
        }
    }

    Expr chosen(const Stage &from, std::ostream &text) {
        const int which = dice_.below(4);
        text << " chosen " << which;
        Expr a = here(from), b = at(from, x_ + 1, y_ + 1, c_);
        switch (which) {
        case 0:
            return Halide::select(cast<int>(a) > level_, a, b);
        case 1:
            return Halide::select(x_ < level_, a, Halide::max(a, b));
        case 2:
            return from.rank == 3 ? Halide::select(c_ == 0, a, c_ == 1, b, Halide::min(a, b))
                                  : Halide::min(a, b);
        default:
            return Halide::select(a == b, cast(a.type(), 0), a > b && (x_ + y_) % 3 == 1, a, b);
        }
    }

    // A Tuple of the least and the largest, over a window.
    Expr extremes(const Stage &from, std::ostream &text) {
        const int w = dice_.between(2, 6);
        text << " extremes of " << w << " as a Tuple";
        RDom r(0, w);
        Func pair("pair");
        std::vector<Var> args =
            from.rank == 3 ? std::vector<Var>{x_, y_, c_} : std::vector<Var>{x_, y_};
        pair(args) = Halide::Tuple(here(from), here(from));
        Expr v = at(from, x_ + r, y_, c_);
        pair(args) = Halide::Tuple(Halide::min(pair(args)[0], v), Halide::max(pair(args)[1], v));
        if (dice_.chance(50)) {
            compute_by_itself(pair, x_);
            if (on_gpu_) {
                pair.update().gpu_tile(x_, xo_, xi_, 64, TailStrategy::GuardWithIf);
            } else {
                pair.vectorize(x_, 8).update().vectorize(x_, 8);
            }
            stages_[uses_.back()].at_root = true;
        }
        return wide(pair(args)[1]) - wide(pair(args)[0]);
    }

    Expr long_sums(const Stage &from, std::ostream &text) {
        text << " in 64 bits";
        Expr v = here(from), w = at(from, x_ + 1, y_, c_);
        if (from.type.is_float()) {
            return cast<float>(cast<double>(v) * cast<double>(w) + Expr(0.125));
        }
        return cast<int32_t>((cast<int64_t>(v) * cast<int64_t>(w) + 32768) >> 16);
    }

    Expr divided(const Stage &from, std::ostream &text) {
        const int which = dice_.below(4);
        text << " divided " << which;
        Expr v = from.type.is_float() ? cast<int>(here(from) * 255.0f) : cast<int>(here(from));
        switch (which) {
        case 0:
            return v / 7 + v % 5;
        case 1:
            return v / level_;
        case 2:
            return cast<uint16_t>(clamp(v, 0, 65535)) / cast<uint16_t>(10);
        default:
            return as_float(v) / (Halide::abs(as_float(at(from, x_ + 1, y_, c_))) + 1.0f);
        }
    }

    Expr converted(const Stage &from, std::ostream &text) {
        const Type to = dice_.of<Type>({Halide::UInt(8), Halide::Int(8), Halide::UInt(16),
                                        Halide::Int(16), Halide::Int(32), Halide::UInt(32),
                                        Halide::Float(32), Halide::Float(64)});
        text << " converted";
        Expr v = here(from);
        if (from.type.is_float() && !to.is_float()) {
            return cast(to, clamp(v * 100.0f, 0.0f, 127.0f));
        }
        return dice_.chance(50) && !to.is_float() && !from.type.is_float()
                   ? Halide::saturating_cast(to, v)
                   : cast(to, v);
    }

    Expr fixed_point(const Stage &from, std::ostream &text) {
        text << " in fixed point";
        Expr v = from.type.is_float()
                     ? cast<int16_t>(clamp(here(from) * 256.0f, -30000.0f, 30000.0f))
                     : cast<int16_t>(clamp(cast<int>(here(from)), -30000, 30000));
        switch (dice_.below(3)) {
        case 0:
            return cast<int16_t>((cast<int32_t>(v) * 19661 + 16384) >> 15);
        case 1:
            return cast<uint8_t>(clamp((cast<int32_t>(v) * 3 + 8) >> 4, 0, 255));
        default:
            return cast<uint8_t>((cast<uint16_t>(as_byte(here(from))) +
                                  cast<uint16_t>(as_byte(at(from, x_ + 1, y_, c_))) + 1) >>
                                 1);
        }
    }

    // With the source and a parameter.
    Expr blended(const Stage &from, std::ostream &text) {
        const Stage &source = used(0);
        text << " blended with the source";
        Expr a = as_float(here(from)),
             b = as_float(source.func(x_, y_, from.rank == 3 ? Expr(c_) : Expr(0)));
        return dice_.chance(50) ? Halide::lerp(a, b, gain_) : a * b * gain_ + Halide::max(a, b);
    }
};

void run(unsigned seed, int width, int height) {
    Program program(seed, width, height,
                    Halide::get_jit_target_from_environment().has_gpu_feature());
    program.make();
    if (is_set("SHOW")) {
        program.describe(std::cerr);
    }
    measure(seed, program.output(), program.result());
}

}  // namespace

int main(int argc, char **argv) {
    return random_programs::run_program(argc, argv, 640, 480, run);
}
