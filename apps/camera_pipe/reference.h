// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same pipeline in plain C++, an image after the other.
#pragma once

#include "app.h"

class CameraPipeReference {
public:
    using Raw = app::Image<uint16_t, 2>;

    CameraPipeReference(const Raw &input, const app::Image<float, 2> &matrix, float gamma,
                        float contrast, float sharpen)
        : input_(input), matrix_(matrix), gamma_(gamma), contrast_(contrast), sharpen_(sharpen) {
    }

    app::Image<uint8_t> run() const {
        const int width = input_.width(), height = input_.height();
        // Three more pixels on each side: two for the filters, one for sharpening.
        app::Image<int, 2> clean(width + 6, height + 6);
        clean.set_min(-3, -3);
        clean.for_each_element([&](int x, int y) { clean(x, y) = without_hot_pixels(x, y); });
        app::Image<int> colours(width + 2, height + 2, 3);
        colours.set_min(-1, -1);
        for (int y = -1; y <= height; y++) {
            for (int x = -1; x <= width; x++) {
                int rgb[3];
                demosaic(clean, x, y, rgb);
                for (int c = 0; c < 3; c++) {
                    colours(x, y, c) = curve(corrected(rgb, c));
                }
            }
        }
        app::Image<uint8_t> output(width, height, 3);
        output.for_each_element(
            [&](int x, int y, int c) { output(x, y, c) = sharpened(colours, x, y, c); });
        return output;
    }

private:
    /// Beyond the image it is mirrored, so that filters continue in their pattern.
    static int mirrored(int i, int extent) {
        return i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i;
    }

    int raw(int x, int y) const {
        return input_(mirrored(x, input_.width()), mirrored(y, input_.height()));
    }

    int without_hot_pixels(int x, int y) const {
        const int n[4] = {raw(x - 2, y), raw(x + 2, y), raw(x, y - 2), raw(x, y + 2)};
        return std::clamp(raw(x, y), *std::min_element(n, n + 4), *std::max_element(n, n + 4));
    }

    static void demosaic(const app::Image<int, 2> &clean, int x, int y, int rgb[3]) {
        // Weights in sixteenths: of the pixel, of those beside it, above and below, at the corners,
        // two beside, two above and below.
        const auto filter = [&](int here, int beside, int above, int corner, int far_beside,
                                int far_above) {
            int sum = here * clean(x, y) + 8;
            for (int i : {-1, 1}) {
                sum += beside * clean(x + i, y) + above * clean(x, y + i);
                sum += corner * (clean(x + i, y - 1) + clean(x + i, y + 1));
                sum += far_beside * clean(x + 2 * i, y) + far_above * clean(x, y + 2 * i);
            }
            return std::clamp(sum >> 4, 0, 1023);
        };
        const bool odd_row = y & 1, odd_column = x & 1;
        const int own = clean(x, y);
        if (odd_row == odd_column) {  // red or blue
            rgb[odd_row ? 2 : 0] = own;
            rgb[1] = filter(8, 4, 4, 0, -2, -2);
            rgb[odd_row ? 0 : 2] = filter(12, 0, 0, 4, -3, -3);
        } else {
            rgb[odd_row ? 2 : 0] = filter(10, 8, 0, -2, -2, 1);
            rgb[1] = own;
            rgb[odd_row ? 0 : 2] = filter(10, 0, 8, -2, 1, -2);
        }
    }

    int corrected(const int rgb[3], int c) const {
        int sum = 128;
        for (int i = 0; i < 3; i++) {
            sum += int(std::lround(matrix_(i, c) * 256)) * rgb[i];
        }
        return std::clamp(sum >> 8, 0, 1023);
    }

    int curve(int value) const {
        const float t = std::pow(float(value) / 1023, 1 / gamma_);
        const float s = t * t * (3 - 2 * t);
        return int(std::clamp((t + (s - t) * contrast_ * 0.01f) * 255 + 0.5f, 0.0f, 255.0f));
    }

    uint8_t sharpened(const app::Image<int> &colours, int x, int y, int c) const {
        int sum = 8;
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                sum += (2 - dx * dx) * (2 - dy * dy) * colours(x + dx, y + dy, c);
            }
        }
        const int strength = int(std::clamp(sharpen_ * 32, 0.0f, 127.0f));
        const int difference = colours(x, y, c) - (sum >> 4);
        return uint8_t(std::clamp(colours(x, y, c) + (difference * strength >> 5), 0, 255));
    }

    const Raw &input_;
    const app::Image<float, 2> &matrix_;
    float gamma_, contrast_, sharpen_;
};
