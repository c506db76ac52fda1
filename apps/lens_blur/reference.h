// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same blur in plain C++.
#pragma once

#include "app.h"

class LensBlurReference {
public:
    LensBlurReference(const app::Picture &left, const app::Picture &right, float focus,
                      float aperture)
        : left_(left), right_(right), focus_(focus), aperture_(aperture) {
    }

    app::Image<float> run() const {
        app::Image<float, 2> blur(left_.width(), left_.height());
        blur.for_each_element([&](int x, int y) {
            const float shift = float(best_shift(x, y));
            blur(x, y) = std::min(std::abs(shift - focus_) * aperture_, float(radius));
        });
        app::Image<float> output(left_.width(), left_.height(), 3);
        for (int y = 0; y < left_.height(); y++) {
            for (int x = 0; x < left_.width(); x++) {
                gather(blur, x, y, output);
            }
        }
        return output;
    }

private:
    static constexpr int shifts = 16, window = 9, radius = 12, samples = 96;

    static int at(const app::Picture &p, int x, int y, int c) {
        return p(app::clamped(x, p.width()), app::clamped(y, p.height()), c);
    }

    int best_shift(int x, int y) const {
        int best = 0, least = 65535;
        for (int d = 0; d < shifts; d++) {
            int cost = 0;
            for (int j = y - window / 2; j <= y + window / 2; j++) {
                for (int i = x - window / 2; i <= x + window / 2; i++) {
                    int difference = 0;
                    for (int c = 0; c < 3; c++) {
                        difference += std::abs(at(left_, i, j, c) - at(right_, i - d, j, c));
                    }
                    cost += std::min(difference, 255);
                }
            }
            if (cost < least) {
                least = cost;
                best = d;
            }
        }
        return best;
    }

    void gather(const app::Image<float, 2> &blur, int x, int y, app::Image<float> &output) const {
        float sums[4] = {};
        const auto add = [&](int sx, int sy, float weight) {
            for (int c = 0; c < 3; c++) {
                sums[c] += weight * float(at(left_, sx, sy, c));
            }
            sums[3] += weight;
        };
        add(x, y, 1 / (blur(x, y) * blur(x, y) + 1));
        for (int i = 0; i < samples; i++) {
            const float r = std::sqrt((float(i) + 0.5f) / samples) * radius;
            const int dx = int(std::lround(r * std::cos(float(i) * 2.39996323f)));
            const int dy = int(std::lround(r * std::sin(float(i) * 2.39996323f)));
            const float reach =
                blur(app::clamped(x + dx, blur.width()), app::clamped(y + dy, blur.height()));
            const float far = std::sqrt(float(dx * dx + dy * dy));
            add(x + dx, y + dy, std::clamp(reach - far + 1, 0.0f, 1.0f) / (reach * reach + 1));
        }
        for (int c = 0; c < 3; c++) {
            output(x, y, c) = sums[c] / sums[3];
        }
    }

    const app::Picture &left_, &right_;
    float focus_, aperture_;
};
