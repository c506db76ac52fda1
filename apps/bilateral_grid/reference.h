// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same filter in plain C++, with a grid that is large enough for all that is read of it.
#pragma once

#include <vector>

#include "app.h"

class BilateralGridReference {
public:
    BilateralGridReference(const app::Image<float, 2> &input, float range, int cell = 8)
        : input_(input), scale_(1.0f / range), cell_(cell) {
    }

    app::Image<float, 2> run() {
        // Cells from -3 on, in all three directions.
        const int width = input_.width() / cell_ + 8, height = input_.height() / cell_ + 8;
        const int depth = int(scale_) + 9;
        Grid grid(width, height, depth, 2);
        grid.fill(0);
        grid.translate({-3, -3, -3});
        fill(grid);
        for (int axis : {2, 0, 1}) {
            grid = smooth(grid, axis);
        }
        app::Image<float, 2> output(input_.width(), input_.height());
        output.for_each_element(
            [&](int x, int y) { output(x, y) = slice(grid, x, y, 0) / slice(grid, x, y, 1); });
        return output;
    }

private:
    using Grid = calotype::Runtime::Buffer<float, 4>;

    float value(int x, int y) const {
        const float v = input_(app::clamped(x, input_.width()), app::clamped(y, input_.height()));
        return std::clamp(v, 0.0f, 1.0f);
    }

    void fill(Grid &grid) const {
        for (int y = grid.dim(1).min(); y <= grid.dim(1).max(); y++) {
            for (int x = grid.dim(0).min(); x <= grid.dim(0).max(); x++) {
                for (int i = 0; i < cell_ * cell_; i++) {
                    const float v =
                        value(x * cell_ + i % cell_ - cell_ / 2, y * cell_ + i / cell_ - cell_ / 2);
                    const int z = int(v * scale_ + 0.5f);
                    grid(x, y, z, 0) += v;
                    grid(x, y, z, 1) += 1;
                }
            }
        }
    }

    /// What lies beyond the grid counts as nothing: nothing of it is used in the end.
    static Grid smooth(const Grid &in, int axis) {
        Grid out = Grid::make_with_shape_of(in);
        out.for_each_element([&](int x, int y, int z, int c) {
            const auto at = [&](int i) {
                const int p[4] = {x + i * (axis == 0), y + i * (axis == 1), z + i * (axis == 2), c};
                return in.contains(p[0], p[1], p[2], p[3]) ? in(p) : 0;
            };
            out(x, y, z, c) = at(-2) + at(2) + 4 * (at(-1) + at(1)) + 6 * at(0);
        });
        return out;
    }

    float slice(const Grid &grid, int x, int y, int c) const {
        const float depth = value(x, y) * scale_;
        const int cx = x / cell_, cy = y / cell_, cz = int(depth);
        const float fx = float(x % cell_) / float(cell_), fy = float(y % cell_) / float(cell_);
        const float fz = depth - float(cz);
        float sum = 0;
        for (int i = 0; i < 8; i++) {
            const int dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
            sum += grid(cx + dx, cy + dy, cz + dz, c) * (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy) *
                   (dz ? fz : 1 - fz);
        }
        return sum;
    }

    const app::Image<float, 2> &input_;
    float scale_;
    int cell_;
};
