// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of a random program, and the walk that schedules them, each where the stages that use it allow it.
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

class ScheduledStages {
public:
    virtual ~ScheduledStages() = default;
    Func output() {
        return stages_.back().func;
    }
    void describe(std::ostream &out) const {
        for (const Stage &stage : stages_) {
            out << (stage.depth < 0 ? "(unused) " : "") << stage.text << "\n";
        }
    }

protected:
    ScheduledStages(unsigned seed, int width, int height)
        : dice_(seed), width_(width), height_(height) {
    }

    Dice dice_;
    int width_, height_;
    Var x_{"x"}, y_{"y"}, c_{"c"}, xo_{"xo"}, yo_{"yo"}, xi_{"xi"}, yi_{"yi"};
    std::vector<Stage> stages_;
    std::vector<size_t> uses_;  // of the stage that is being made

    std::vector<Var> loops_;  // of the output that others are computed in, from the outermost

    const Stage &used(size_t i) {
        uses_.push_back(i);
        return stages_[i];
    }

    // One of the last three, in so many of a hundred cases the last.
    const Stage &earlier(int percent) {
        const int back = dice_.chance(percent)
                             ? 1
                             : dice_.between(1, std::min<int>(3, static_cast<int>(stages_.size())));
        return used(stages_.size() - static_cast<size_t>(back));
    }

    void schedule() {
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

    virtual void schedule_output() = 0;
    // The depth of loops in which it is computed, at most what it has.
    virtual int schedule_producer(Stage &stage) = 0;
};

}  // namespace random_programs
