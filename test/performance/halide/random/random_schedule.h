// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random schedules of the stages of random_layers.cpp.
#pragma once
#include "random_program.h"
#include <sstream>

namespace random_programs {

struct Stage {
    Func func;
    Type type;
    int rank = 3;               // (x, y, c), or (x, y)
    std::vector<RDom> domains;  // of its updates, if it has some
    bool at_root = false;       // it is used at places that are not known
    bool is_scan = false;       // its last domain goes along x or y, in order
    bool is_along_x = false;    // the scan
    int depth = -1;             // of the loops of the output around what uses it; -1: nothing does
    std::vector<size_t> uses;
    std::string text;
};

class ScheduledLayers {
public:
    virtual ~ScheduledLayers() = default;
    Func output() {
        return stages_.back().func;
    }

protected:
    ScheduledLayers(unsigned seed, int width, int height)
        : dice_(seed), width_(width), height_(height) {
    }

    Dice dice_;
    int width_, height_, channels_ = 3;
    bool interleaved_out_ = false;
    Var x_{"x"}, y_{"y"}, c_{"c"}, xo_{"xo"}, yo_{"yo"}, xi_{"xi"}, yi_{"yi"}, fused_{"fused"};
    std::vector<Stage> stages_;

    std::vector<Var> loops_;  // of the output that others are computed in, from the outermost

    void schedule() {
        constrain_output();
        schedule_output();
        stages_.back().depth = static_cast<int>(loops_.size());
        for (size_t i = stages_.size(); i-- > 0;) {
            Stage &stage = stages_[i];
            if (stage.depth >= 0 && i + 1 < stages_.size()) {
                stage.depth = schedule_producer(stage);
            }
            for (size_t j : stage.uses) {
                int &depth = stages_[j].depth;
                depth = stage.depth < 0 ? depth
                        : depth < 0     ? stage.depth
                                        : std::min(depth, stage.depth);
            }
        }
    }

    void constrain_output() {
        Stage &stage = stages_.back();
        if (stage.rank == 3) {
            stage.func.bound(c_, 0, channels_);
            if (interleaved_out_) {
                stage.func.output_buffer().dim(0).set_stride(channels_);
                stage.func.output_buffer().dim(2).set_stride(1);
            }
        }
    }

    virtual void schedule_output() {
        Stage &stage = stages_.back();
        Func &out = stage.func;
        std::ostringstream text;
        const bool is_updated = !stage.domains.empty();
        const int n = lanes(dice_, stage.type);
        const TailStrategy how = is_updated ? TailStrategy::GuardWithIf : TailStrategy::Auto;
        if (stage.rank == 3 && dice_.chance(interleaved_out_ ? 90 : 35)) {
            text << " channels inside";
            out.reorder(c_, x_, y_);
            if (channels_ <= 4 && dice_.chance(70)) {
                out.unroll(c_);
                text << ", unrolled";
            }
        }
        switch (dice_.below(4)) {
        case 0:
            out.vectorize(x_, n, how);
            loops_ = {y_};
            if (dice_.chance(50)) {
                out.parallel(y_);
                text << " parallel";
            }
            break;
        case 1: {
            const int rows = dice_.of<int>({4, 8, 16, 32});
            out.split(y_, yo_, yi_, rows, how).vectorize(x_, n, how).parallel(yo_);
            text << " strips of " << rows;
            loops_ = {yo_, yi_};
            break;
        }
        case 2: {
            const int w = dice_.of<int>({32, 64, 128}), h = dice_.of<int>({4, 8, 16});
            out.split(x_, xo_, xi_, w, how).split(y_, yo_, yi_, h, how);
            stage.rank == 3 ? out.reorder(xi_, yi_, c_, xo_, yo_) : out.reorder(xi_, yi_, xo_, yo_);
            out.vectorize(xi_, n, how).parallel(yo_);
            text << " tiles of " << w << " x " << h;
            loops_ = {yo_, xo_};
            break;
        }
        default:
            if (stage.rank == 3) {
                out.reorder(x_, y_, c_).fuse(y_, c_, fused_).parallel(fused_).vectorize(x_, n, how);
                text << " rows of all channels in parallel";
                loops_ = {fused_};
            } else {
                out.vectorize(x_, n, how);
                loops_ = {y_};
            }
        }
        text << ", vectors of " << n;
        if (is_updated) {
            loops_.clear();
            schedule_updates(stage, n, text);
        }
        stage.text += ";" + text.str();
    }

    void schedule_updates(Stage &stage, int n, std::ostream &text) {
        for (size_t i = 0; i < stage.domains.size(); ++i) {
            Halide::Stage update = stage.func.update(static_cast<int>(i));
            stage.is_scan ? schedule_scan(stage, update, n, text)
                          : schedule_sum(stage, update, stage.domains[i], n, text);
        }
    }

    // Vectors along the other dimension, where there is one.
    void schedule_scan(const Stage &stage, Halide::Stage &update, int n, std::ostream &text) {
        update.unscheduled();
        if (!stage.is_along_x) {
            update.vectorize(x_, n, TailStrategy::GuardWithIf);
            text << ", scan in vectors";
        } else if (dice_.chance(50)) {
            update.parallel(y_);
            text << ", scan of rows in parallel";
        }
    }

    void schedule_sum(const Stage &stage, Halide::Stage &update, const RDom &r, int n,
                      std::ostream &text) {
        update.unscheduled();
        if (dice_.chance(80)) {
            update.vectorize(x_, n, TailStrategy::GuardWithIf);
            text << ", update in vectors";
        } else if (dice_.chance(50)) {
            update.atomic().vectorize(r[0], 8, TailStrategy::GuardWithIf);
            text << ", reduction in vectors";
            return;
        }
        switch (dice_.below(5)) {
        case 0:
            update.unroll(r[0], 4, TailStrategy::GuardWithIf);
            text << ", reduction unrolled by 4";
            break;
        case 1:
            r.dimensions() == 1 ? update.reorder(r[0], x_, y_) : update.reorder(r[0], r[1], x_, y_);
            text << ", reduction inside";
            break;
        case 2:
            update.unroll(y_, 2, TailStrategy::GuardWithIf);
            text << ", two rows";
            break;
        case 3:
            if (stage.rank == 3) {
                update.reorder(c_, x_, y_);
                text << ", channels inside";
            }
            break;
        default:
            break;
        }
        if (dice_.chance(40)) {
            update.parallel(y_);
            text << " parallel";
        }
    }

    virtual int schedule_producer(Stage &stage) {
        std::ostringstream text;
        const bool is_updated = !stage.domains.empty();
        if (!is_updated && dice_.chance(stage.at_root ? 15 : 35)) {
            stage.text += "; inline";
            return stage.at_root ? 0 : stage.depth;
        }
        const int depth = stage.at_root || dice_.chance(25)
                              ? 0
                              : dice_.between(std::min(1, stage.depth), stage.depth);
        place(stage, depth, text);
        const int n = lanes(dice_, stage.type);
        if (dice_.chance(85)) {
            stage.func.vectorize(x_, n);
            text << ", vectors of " << n;
        }
        if (stage.rank == 3 && dice_.chance(25)) {
            stage.func.reorder_storage(c_, x_, y_);
            text << ", interleaved";
        }
        if (is_updated) {
            schedule_updates(stage, n, text);
        }
        stage.text += ";" + text.str();
        return depth;
    }

    void place(Stage &stage, int depth, std::ostream &text) {
        Func &f = stage.func;
        if (depth == 0) {
            f.compute_root();
            text << " compute_root";
            if (dice_.chance(60)) {
                f.parallel(y_);
                text << " parallel";
            }
            return;
        }
        f.compute_at(output(), loops_[static_cast<size_t>(depth) - 1]);
        text << " compute_at " << loops_[static_cast<size_t>(depth) - 1].name();
        if (depth > 1 && dice_.chance(50)) {
            f.store_at(output(), loops_[static_cast<size_t>(depth) - 2]);
            text << " store_at " << loops_[static_cast<size_t>(depth) - 2].name();
        }
    }
};

}  // namespace random_programs
