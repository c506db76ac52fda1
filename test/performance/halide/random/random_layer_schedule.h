// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random schedules of the stages of random_layers.cpp.
#pragma once
#include "random_gpu_schedule.h"

namespace random_programs {

class ScheduledLayers : public StagesForEither {
protected:
    int channels_ = 3;
    bool interleaved_out_ = false;
    Var fused_{"fused"};
    Dice definition_dice_;  // the pipeline of a seed is the same on the host

    ScheduledLayers(unsigned seed, int width, int height, bool on_gpu)
        : StagesForEither(seed, width, height, on_gpu), definition_dice_(seed) {
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

    // One that a stage is defined by, over a whole row or image.
    void compute_by_itself(Func func, const Var &x) {
        func.compute_root();
        if (on_gpu_) {
            func.gpu_tile(x, xo_, xi_, 64, TailStrategy::GuardWithIf);
        }
    }

    // The updates of a histogram: on a GPU at once, if it is not left to the host.
    void count_at_once(Func histogram, const RDom &r) {
        if (on_gpu_ && definition_dice_.chance(70)) {
            Halide::RVar xo("rxo"), yo("ryo"), xi("rxi"), yi("ryi");
            histogram.update().atomic().gpu_tile(r.x, r.y, xo, yo, xi, yi, 32, 8,
                                                 TailStrategy::GuardWithIf);
        }
    }

    void one_after_another(Halide::Stage stage) {
        if (on_gpu_) {
            stage.gpu_single_thread();
        }
    }

private:
    bool has_many_channels() const override {
        return channels_ > 4;
    }

    bool is_inlined(const Stage &stage) override {
        return stage.domains.empty() && dice_.chance(stage.at_root ? 15 : 35);
    }

    void unroll(const Stage &stage, size_t i, Halide::Stage update, std::ostream &text) override {
        if (!stage.is_scan) {
            update.unroll(stage.domains[i][0], 4, TailStrategy::GuardWithIf);
            text << ", reduction unrolled by 4";
        }
    }

    void schedule_output_on_host() override {
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

    int schedule_producer_on_host(Stage &stage) override {
        std::ostringstream text;
        const bool is_updated = !stage.domains.empty();
        if (is_inlined(stage)) {
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
