// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random schedules for GPUs, of programs that have a schedule for the host as well.
#pragma once
#include "random_schedule.h"

namespace random_programs {

// Each program draws its own schedules for the host; those for GPUs are drawn here.
class StagesForEither : public ScheduledStages {
protected:
    const bool on_gpu_;

    StagesForEither(unsigned seed, int width, int height, bool on_gpu)
        : ScheduledStages(seed, width, height), on_gpu_(on_gpu) {
    }

    virtual void schedule_output_on_host() = 0;
    virtual int schedule_producer_on_host(Stage &stage) = 0;
    virtual bool is_inlined(const Stage &stage) = 0;
    virtual bool has_many_channels() const {
        return false;
    }
    // Unrolls the loops of an update over its domain, if they can be.
    virtual void unroll(const Stage &stage, size_t i, Halide::Stage update, std::ostream &text) = 0;

    void schedule_output() final {
        on_gpu_ ? schedule_output_on_gpu() : schedule_output_on_host();
    }
    int schedule_producer(Stage &stage) final {
        return on_gpu_ ? schedule_producer_on_gpu(stage) : schedule_producer_on_host(stage);
    }

private:
    enum class Channels { Launched, Blocks, Inside, Unrolled };

    void schedule_output_on_gpu() {
        Stage &stage = stages_.back();
        std::ostringstream text;
        tiles(stage, text);
        loops_ = {xo_, xi_};
        if (!stage.domains.empty()) {
            loops_.clear();
        }
        stage.text += ";" + text.str();
    }

    // In the loops of which it is computed: 0 all by itself, 1 by each block, 2 by each thread.
    int schedule_producer_on_gpu(Stage &stage) {
        std::ostringstream text;
        if (is_inlined(stage)) {
            stage.text += "; inline";
            return stage.at_root ? 0 : stage.depth;
        }
        const int depth = stage.at_root || dice_.chance(25) ? 0 : dice_.between(0, stage.depth);
        if (depth == 0) {
            stage.func.compute_root();
            text << " compute_root";
            tiles(stage, text);
        } else if (depth == 1) {
            stage.func.compute_at(output(), xo_);
            text << " compute_at a block";
            threads(stage, text);
        } else {
            stage.func.compute_at(output(), xi_);
            text << " compute_at a thread";
            for (size_t i = 0; i < stage.domains.size(); ++i) {
                unrolled_or_not(stage, i, text);
            }
        }
        if (stage.rank == 3 && dice_.chance(15)) {
            stage.func.reorder_storage(c_, x_, y_);
            text << ", interleaved";
        }
        stage.text += ";" + text.str();
        return depth;
    }

    // Blocks of random size, threads that compute one value or a few, and the same for updates.
    void tiles(Stage &stage, std::ostream &text) {
        const int w = dice_.of<int>({8, 16, 32, 32, 64}), h = dice_.of<int>({1, 2, 4, 8, 8});
        const bool is_updated = !stage.domains.empty();
        const int n = dice_.chance(30) && !is_updated ? dice_.of<int>({2, 4}) : 1;
        const TailStrategy how = is_updated ? TailStrategy::GuardWithIf : TailStrategy::Auto;
        if (n > 1) {
            stage.func.vectorize(x_, n);
        }
        text << " blocks of " << w << " x " << h << ", " << n << " values a thread";
        const Channels channels = where_channels_go(stage, text);
        Halide::Stage pure = stage.func;
        pure.gpu_tile(x_, y_, xo_, yo_, xi_, yi_, w, h, how);
        place_channels(stage, pure, channels, {xi_, yi_, xo_, yo_});
        for (size_t i = 0; i < stage.domains.size(); ++i) {
            Halide::Stage update = unrolled_or_not(stage, i, text);
            if (stage.is_scan) {
                const Var &across = stage.is_along_x ? y_ : x_;
                update.gpu_tile(across, xo_, xi_, 64, how);
                place_channels(stage, update, channels, {xi_, xo_});
            } else {
                update.gpu_tile(x_, y_, xo_, yo_, xi_, yi_, w, h, how);
                place_channels(stage, update, channels, {xi_, yi_, xo_, yo_});
            }
        }
    }

    Channels where_channels_go(const Stage &stage, std::ostream &text) {
        if (stage.rank == 2) {
            return Channels::Launched;
        }
        const int which = dice_.below(4);
        text << (which == 0   ? ", a launch for each channel"
                 : which == 1 ? ", channels in blocks"
                              : ", channels in a thread");
        return which == 3 && has_many_channels() ? Channels::Inside : static_cast<Channels>(which);
    }

    // loops: of the tiles, from the innermost.
    void place_channels(const Stage &stage, Halide::Stage &where, Channels channels,
                        const std::vector<Var> &loops) {
        if (stage.rank == 2 || channels == Channels::Launched) {
            return;
        }
        if (channels == Channels::Blocks) {
            where.gpu_blocks(c_);
            return;
        }
        std::vector<Halide::VarOrRVar> order = {c_};
        order.insert(order.end(), loops.begin(), loops.end());
        where.reorder(order);
        if (channels == Channels::Unrolled && !stage.is_scan) {
            where.unroll(c_);
        }
    }

    void threads(Stage &stage, std::ostream &text) {
        stage.func.gpu_threads(x_, y_);
        for (size_t i = 0; i < stage.domains.size(); ++i) {
            unrolled_or_not(stage, i, text).gpu_threads(x_, y_);
        }
    }

    Halide::Stage unrolled_or_not(Stage &stage, size_t i, std::ostream &text) {
        Halide::Stage update = stage.func.update(static_cast<int>(i));
        update.unscheduled();
        if (dice_.chance(40)) {
            unroll(stage, i, update, text);
        }
        return update;
    }
};

}  // namespace random_programs
