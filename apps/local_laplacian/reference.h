// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same filter in plain C++. Coarse levels are computed where the finer ones read them, beyond
// the image too: as in the pipeline, pyramids are those of the image continued by its edge pixels,
// not of a cropped one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <calotype/buffer.h>

class LocalLaplacianReference {
public:
    using Image = calotype::Runtime::Buffer<uint16_t, 3>;
    using Plane = calotype::Runtime::Buffer<float, 2>;

    LocalLaplacianReference(const Image &input, int levels, float alpha, float beta,
                            int pyramid_levels = 8)
        : input_(input), levels_(levels), alpha_(alpha), beta_(beta), depth_(pyramid_levels) {
    }

    Image run() {
        std::vector<Plane> guide = pyramid([&](int x, int y) { return gray(x, y); });
        std::vector<std::vector<Plane>> remapped;
        for (int k = 0; k < levels_; k++) {
            remapped.push_back(pyramid([&](int x, int y) { return remap(gray(x, y), k); }));
        }
        std::vector<Plane> collapsed(depth_);
        for (int j = depth_ - 1; j >= 0; j--) {
            collapsed[j] = make_plane(j);
            collapsed[j].for_each_element([&](int x, int y) {
                float value = interpolate(guide[j](x, y), [&](int k) {
                    float fine = remapped[k][j](x, y);
                    return j == depth_ - 1 ? fine : fine - upsample(remapped[k][j + 1], x, y);
                });
                collapsed[j](x, y) =
                    j == depth_ - 1 ? value : value + upsample(collapsed[j + 1], x, y);
            });
        }
        return colour(collapsed[0]);
    }

private:
    static int half(int v) {
        return int(std::floor(v / 2.0));
    }
    static int odd(int v) {
        return v & 1;
    }

    /// Level j covers what its finer neighbour reads of it, two more on each side.
    Plane make_plane(int j) const {
        int x0 = 0, x1 = input_.width() - 1, y0 = 0, y1 = input_.height() - 1;
        for (int i = 0; i < j; i++) {
            x0 = half(x0) - 1;
            x1 = half(x1) + 1;
            y0 = half(y0) - 1;
            y1 = half(y1) + 1;
        }
        Plane p(x1 - x0 + 1, y1 - y0 + 1);
        p.set_min(x0, y0);
        return p;
    }

    float floating(int x, int y, int c) const {
        return input_(std::clamp(x, 0, input_.width() - 1), std::clamp(y, 0, input_.height() - 1),
                      c) /
               65535.0f;
    }
    float gray(int x, int y) const {
        return 0.299f * floating(x, y, 0) + 0.587f * floating(x, y, 1) + 0.114f * floating(x, y, 2);
    }

    float remap(float value, int k) const {
        float intensity = float(k) * (1.0f / float(levels_ - 1));
        int scaled = std::clamp(int(value * float((levels_ - 1) * 256)), 0, (levels_ - 1) * 256);
        float d = float(scaled - 256 * k) / 256.0f;
        return beta_ * (value - intensity) + intensity + alpha_ * d * std::exp(-d * d / 2.0f);
    }

    /// A Gaussian pyramid of a function on the whole plane: level j is sampled from the exact level
    /// j - 1, extended as far as the coarsest level needs.
    std::vector<Plane> pyramid(const std::function<float(int, int)> &base) const {
        std::vector<Plane> wide(depth_);
        Plane last = make_plane(depth_ - 1);
        int x0 = last.left(), x1 = last.right(), y0 = last.top(), y1 = last.bottom();
        for (int j = depth_ - 1; j >= 0; j--) {
            Plane own = make_plane(j);
            x0 = std::min(x0, own.left());
            x1 = std::max(x1, own.right());
            y0 = std::min(y0, own.top());
            y1 = std::max(y1, own.bottom());
            wide[j] = Plane(x1 - x0 + 1, y1 - y0 + 1);
            wide[j].set_min(x0, y0);
            x0 = 2 * x0 - 1;
            x1 = 2 * x1 + 2;
            y0 = 2 * y0 - 1;
            y1 = 2 * y1 + 2;
        }
        wide[0].for_each_element([&](int x, int y) { wide[0](x, y) = base(x, y); });
        for (int j = 1; j < depth_; j++) {
            wide[j].for_each_element(
                [&](int x, int y) { wide[j](x, y) = downsample(wide[j - 1], x, y); });
        }
        return wide;
    }

    static float downsample(const Plane &p, int x, int y) {
        auto row = [&](int yy) {
            return (p(2 * x - 1, yy) + 3.0f * (p(2 * x, yy) + p(2 * x + 1, yy)) +
                    p(2 * x + 2, yy)) /
                   8.0f;
        };
        return (row(2 * y - 1) + 3.0f * (row(2 * y) + row(2 * y + 1)) + row(2 * y + 2)) / 8.0f;
    }

    static float upsample(const Plane &p, int x, int y) {
        auto row = [&](int yy) {
            return 0.25f * p(half(x) - 1 + 2 * odd(x), yy) + 0.75f * p(half(x), yy);
        };
        return 0.25f * row(half(y) - 1 + 2 * odd(y)) + 0.75f * row(half(y));
    }

    template<typename Detail>
    float interpolate(float guide, Detail detail) const {
        float level = guide * float(levels_ - 1);
        int lower = std::clamp(int(level), 0, levels_ - 2);
        float weight = level - float(lower);
        return (1.0f - weight) * detail(lower) + weight * detail(lower + 1);
    }

    Image colour(const Plane &result) const {
        Image output(input_.width(), input_.height(), 3);
        output.for_each_element([&](int x, int y, int c) {
            float value = floating(x, y, c) * (result(x, y) + 0.01f) / (gray(x, y) + 0.01f);
            output(x, y, c) = uint16_t(std::clamp(value, 0.0f, 1.0f) * 65535.0f);
        });
        return output;
    }

    const Image &input_;
    int levels_;
    float alpha_, beta_;
    int depth_;
};
