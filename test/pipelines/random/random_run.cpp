// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_run.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "random_externs.h"

namespace calotype::test {

namespace {

std::string list(const Tuple &values) {
    std::ostringstream out;
    for (size_t i = 0; i < values.size(); i++) {
        out << (i == 0 ? "" : ", ") << values[i];
    }
    return out.str();
}

std::string definition_text(const StageSpec &s, const Func &f) {
    if (!s.external) {
        return list(f.values());
    }
    std::ostringstream out;
    out << "external " << f.types()[0] << (s.tuple ? " twice" : "") << ", rows " << s.external_rows
        << ", low " << s.low;
    for (const Tap &t : s.taps) {
        out << " + f" << t.source << "(x + " << t.x.offset << ", y * " << t.y.scale << " + "
            << t.y.offset << ") * " << t.weight;
    }
    return out.str();
}

/// What of the output was asked for: one whose extent is bounded may begin where an update reads, and
/// end before the last element asked for.
Buffer<void> asked_part(const Buffer<void> &b, const RandomPipeline &p) {
    const auto part = [&](int d, int min, int extent) {
        const int begin = std::max(min, b.dim(d).min());
        const int end = std::min(min + extent, b.dim(d).min() + b.dim(d).extent());
        return std::pair(begin, std::max(end - begin, 0));
    };
    return b.cropped({part(0, p.min_x, p.width), part(1, p.min_y, p.height)});
}

}  // namespace

std::vector<Func> RandomRun::output_funcs() const {
    std::vector<Func> outputs;
    for (int i : p.output_stages()) {
        outputs.push_back(built.funcs[size_t(i)]);
    }
    return outputs;
}

Pipeline RandomRun::pipeline() {
    Pipeline result(output_funcs());
    result.set_jit_externs(external_functions());
    return result;
}

std::string RandomRun::text() const {
    std::ostringstream out;
    for (size_t i = 0; i < built.funcs.size(); i++) {
        const Func &f = built.funcs[i];
        out << "    f" << i << "(x, y) = " << definition_text(p.stages[i], f) << "\n";
        for (int u = 0; u < f.num_update_definitions(); u++) {
            out << "    f" << i << "(" << f.update_args(u)[0] << ", " << f.update_args(u)[1]
                << ") = " << list(f.update_values(u)) << "\n";
        }
    }
    out << "    of " << p.width << " x " << p.height << " at " << p.min_x << ", " << p.min_y << "\n"
        << directives.text();
    return out.str();
}

std::vector<Buffer<void>> RandomRun::outputs(const Target &target) {
    std::vector<Buffer<void>> outputs;
    for (const Func &f : output_funcs()) {
        for (const Type &t : f.types()) {
            outputs.emplace_back(t, nullptr, p.width, p.height);
            outputs.back().set_min(p.min_x, p.min_y);
        }
    }
    for (ImageParam &image : built.images) {
        image.reset();
    }
    pipeline().infer_input_bounds(Realization(outputs), target);
    for (Buffer<void> &b : outputs) {
        b.allocate();
    }
    return outputs;
}

void RandomRun::draw_layouts(uint64_t seed) {
    Dice dice(seed);
    const auto draw = [&](auto dimension) {
        const auto layout = MemoryLayout(dice(int(MemoryLayout::Upwards) + 1));
        if (!has_dense_rows(layout)) {
            dimension.set_stride(Expr());
        }
        return layout;
    };
    for (ImageParam &image : built.images) {
        input_layouts_.push_back(draw(image.dim(0)));
    }
    for (const Func &f : output_funcs()) {
        for (OutputImageParam &output : f.output_buffers()) {
            output_layouts_.push_back(draw(output.dim(0)));
        }
    }
}

std::vector<LaidOutImage> RandomRun::lay_out(std::vector<Buffer<void>> &outputs) const {
    std::vector<LaidOutImage> memory;
    for (size_t i = 0; i < output_layouts_.size(); i++) {
        memory.emplace_back(outputs[i], output_layouts_[i]);
        outputs[i] = memory.back().image();
    }
    return memory;
}

void RandomRun::set_choice(int choice) {
    p.choice = choice;
    built.choice.set(choice);
}

void RandomRun::set_inputs(const std::vector<Buffer<void>> &outputs, const Target &target) {
    if (built.images.empty()) {
        return;
    }
    for (ImageParam &image : built.images) {
        image.reset();
    }
    pipeline().infer_input_bounds(Realization(outputs), target);
    inputs_.clear();
    for (size_t i = 0; i < built.images.size(); i++) {
        Buffer<void> b = built.images[i].get();
        if (!b.defined()) {
            continue;  // nothing reads it
        }
        if (!input_layouts_.empty()) {
            inputs_.emplace_back(b, input_layouts_[i]);
            b = inputs_.back().image();
            built.images[i].set(b);
        }
        for (int py = b.dim(1).min(); py <= b.dim(1).max(); py++) {
            for (int px = b.dim(0).min(); px <= b.dim(0).max(); px++) {
                set_element(b, px, py, source_value(b.type(), px, py));
            }
        }
        b.set_host_dirty();
    }
}

void RandomRun::for_each_element(
    const std::vector<Buffer<void>> &outputs,
    const std::function<void(const OutputElement &, int64_t)> &visit) const {
    Evaluator evaluate(p);
    size_t n = 0;
    for (int i : p.output_stages()) {
        for (int v = 0; v < (p.stages[size_t(i)].tuple ? 2 : 1); v++, n++) {
            const Buffer<void> &b = outputs[n];
            for (int py = b.dim(1).min(); py <= b.dim(1).max(); py++) {
                for (int px = b.dim(0).min(); px <= b.dim(0).max(); px++) {
                    visit({b, i, v, px, py}, evaluate(i, v, px, py));
                }
            }
        }
    }
}

std::string RandomRun::difference(const std::vector<Buffer<void>> &outputs) const {
    std::ostringstream first;
    std::vector<Buffer<void>> asked_for;
    for (const Buffer<void> &b : outputs) {
        asked_for.push_back(asked_part(b, p));
    }
    for_each_element(asked_for, [&](const OutputElement &e, int64_t want) {
        const int64_t got = element(e.buffer, e.x, e.y);
        if (got != want && first.tellp() == 0) {
            first << "value " << e.value << " of f" << e.stage << " at " << e.x << ", " << e.y
                  << " is " << got << ", not " << want;
        }
    });
    return first.str();
}

}  // namespace calotype::test
