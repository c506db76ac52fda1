// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs say to a viewer of traces, HalideTraceViz, in the tags of their Funcs: the text is
// one that it reads.
#pragma once

#include <stdint.h>

#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "halide_namespace.h"

namespace calotype {
namespace Trace {

struct Point {
    int x = 0, y = 0;

    Point() = default;
    Point(int x, int y) : x(x), y(y) {
    }
};

inline std::ostream &operator<<(std::ostream &os, const Point &point) {
    return os << point.x << " " << point.y;
}

/** Text that is drawn on the picture. */
struct Label {
    std::string text;
    Point pos;
    int fade_in_frames = 0;
    float h_scale = 1;

    Label() = default;
    Label(std::string text, const Point &pos = {}, int fade_in_frames = 0, float h_scale = 1)
        : text(std::move(text)), pos(pos), fade_in_frames(fade_in_frames), h_scale(h_scale) {
    }
};

inline std::ostream &operator<<(std::ostream &os, const Label &label) {
    for (char c : label.text) {
        os << (c == ' ' ? std::string("\\x20") : std::string(1, c));
    }
    return os << " " << label.pos << " " << label.fade_in_frames << " " << label.h_scale;
}

namespace internal {

template<typename T>
void write_list(std::ostream &os, const std::vector<T> &list) {
    os << list.size() << " ";
    for (const T &item : list) {
        os << item << " ";
    }
}

}  // namespace internal

/** How a Func is drawn. The values that stand here mean: as the viewer likes. */
struct FuncConfig {
    float zoom = -1;
    int load_cost = -1, store_cost = -1;
    Point pos{std::numeric_limits<int>::lowest(), std::numeric_limits<int>::lowest()};
    std::vector<Point> strides;
    int color_dim = -2;
    double min = std::numeric_limits<double>::quiet_NaN();
    double max = std::numeric_limits<double>::quiet_NaN();
    std::vector<Label> labels;
    int blank_on_end_realization = -1;
    uint32_t uninitialized_memory_color = 0xFFFFFFFF;

    std::string to_trace_tag() const {
        std::ostringstream os;
        os << "htv_func_config: " << zoom << " " << load_cost << " " << store_cost << " " << pos
           << " ";
        internal::write_list(os, strides);
        os << " " << color_dim << " " << min << " " << max << " ";
        internal::write_list(os, labels);
        os << " " << blank_on_end_realization << " " << uninitialized_memory_color;
        return os.str();
    }
};

/** How the whole picture is drawn. */
struct GlobalConfig {
    Point frame_size{1920, 1080};
    int decay_factor_during_compute = 1, decay_factor_after_compute = 2;
    int hold_frames = 250;
    int timestep = 10000;
    bool auto_layout = false;
    Point auto_layout_grid{-1, -1};
    Point auto_layout_pad{32, 32};
    uint32_t default_uninitialized_memory_color = 0xFFFFFFFF;

    std::string to_trace_tag() const {
        std::ostringstream os;
        os << "htv_global_config: " << frame_size << " " << decay_factor_during_compute << " "
           << decay_factor_after_compute << " " << hold_frames << " " << timestep << " "
           << auto_layout << " " << auto_layout_grid << " " << auto_layout_pad << " "
           << default_uninitialized_memory_color;
        return os.str();
    }
};

}  // namespace Trace
}  // namespace calotype
