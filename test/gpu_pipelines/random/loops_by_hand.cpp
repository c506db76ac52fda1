// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "gpu_pipelines/random/stage_loops.h"

namespace calotype::test {

namespace {

/// From the inside out.
enum class Role { Lanes, Inside, Thread, AroundThreads, Block, Host };

struct Loop {
    VarOrRVar var;
    Role role = Role::Inside;
};

class HandMade {
public:
    explicit HandMade(StageDraw &stage) : d_(stage), dice_(stage.dice()) {
    }

    GpuLevels run() {
        is_atomic_ = d_.s.may_be_atomic && !d_.s.impure.empty() && dice_.chance(50) &&
                     d_.apply("atomic", "atomic()", [&] { d_.s.stage.atomic(); });
        for (size_t i = 0; i < d_.s.pure.size(); i++) {
            pure(d_.s.pure[i], i + 1 == d_.s.pure.size());
        }
        impure();
        order();
        return map();
    }

private:
    static constexpr int most_threads = 256;

    void add(const VarOrRVar &v, Role role) {
        loops_.push_back({v, role});
    }

    Role around(bool must_be_block) {
        if (blocks_ < 3 && (must_be_block || dice_.chance(65))) {
            blocks_++;
            return Role::Block;
        }
        return dice_.chance(25) ? Role::Host : Role::AroundThreads;
    }

    /// Of a loop of so many iterations.
    Role inside(int extent) {
        if (thread_loops_ < 3 && threads_ * extent <= most_threads && dice_.chance(70)) {
            thread_loops_++;
            threads_ *= extent;
            return Role::Thread;
        }
        return dice_.chance(75) ? Role::Inside : Role::AroundThreads;
    }

    void pure(const VarOrRVar &v, bool is_last) {
        const bool must_be_block = is_last && blocks_ == 0;
        const int factor = dice_.pick<int>({1, 2, 3, 4, 5, 8, 8, 16, 32});
        const auto parts = dice_.chance(75) ? d_.split(v, factor) : std::nullopt;
        if (!parts) {
            // Nobody knows how many iterations it has, so that it comes instead of all other threads.
            add(v, must_be_block || dice_.chance(50) ? around(must_be_block) : inside(100));
            return;
        }
        add(parts->first, around(must_be_block));
        const auto lanes = dice_.chance(30)
                               ? d_.split(parts->second, dice_.pick<int>({2, 3, 4, 4, 8}), "i")
                               : std::nullopt;
        if (lanes) {
            add(lanes->second, Role::Lanes);
        }
        add(lanes ? lanes->first : parts->second, inside(factor));
    }

    /// In the order in which they are, unless updates are atomic.
    void impure() {
        const size_t inside_of_threads =
            dice_.chance(60) ? d_.s.impure.size() : size_t(dice_(int(d_.s.impure.size()) + 1));
        for (size_t i = 0; i < d_.s.impure.size(); i++) {
            const VarOrRVar &v = d_.s.impure[i];
            const Role serial = i < inside_of_threads ? Role::Inside : Role::AroundThreads;
            const int factor = dice_.pick<int>({2, 3, 4, 8});
            const auto parts = dice_.chance(40) ? d_.split(v, factor) : std::nullopt;
            const bool last = i + 1 == d_.s.impure.size();
            if (parts) {
                add(parts->second, is_atomic_ ? inside(factor) : serial);
                add(parts->first, is_atomic_                 ? around(false)
                                  : last && dice_.chance(50) ? Role::AroundThreads
                                                             : serial);
            } else {
                add(v, is_atomic_ ? inside(16) : serial);
            }
        }
    }

    void order() {
        // Pure loops come in any order, those over RVars stay as they are.
        for (size_t i = loops_.size(); i > 1; i--) {
            Loop &a = loops_[i - 1], &b = loops_[size_t(dice_(int(i)))];
            if (!a.var.is_rvar && !b.var.is_rvar) {
                std::swap(a, b);
            }
        }
        std::stable_sort(loops_.begin(), loops_.end(),
                         [](const Loop &a, const Loop &b) { return a.role < b.role; });
        StageDraw::Loops all;
        for (const Loop &l : loops_) {
            all.push_back(l.var);
        }
        d_.reorder(all);
        fuse(Role::Block);
        fuse(Role::Thread);
    }

    /// Sometimes the two innermost of a role.
    void fuse(Role role) {
        const auto inner = std::find_if(loops_.begin(), loops_.end(),
                                        [&](const Loop &l) { return l.role == role; });
        if (inner == loops_.end() || std::next(inner) == loops_.end()) {
            return;
        }
        const auto outer = std::next(inner);
        if (outer->role != role || inner->var.is_rvar != outer->var.is_rvar || !dice_.chance(20)) {
            return;
        }
        if (const auto fused = d_.fuse(inner->var, outer->var)) {
            outer->var = *fused;
            loops_.erase(inner);
        }
    }

    StageDraw::Loops with(Role role) const {
        StageDraw::Loops some;
        for (const Loop &l : loops_) {
            if (l.role == role) {
                some.push_back(l.var);
            }
        }
        return some;
    }

    GpuLevels map() {
        const StageDraw::Loops blocks = with(Role::Block), threads = with(Role::Thread);
        if (blocks.empty() || !d_.gpu_blocks("by_hand", blocks)) {
            return {};
        }
        if (!threads.empty()) {
            d_.gpu_threads("", threads);
        }
        for (const VarOrRVar &v : with(Role::Lanes)) {
            dice_.chance(65)
                ? d_.apply("vectorize", "vectorize(" + v.name() + ")",
                           [&] { d_.s.stage.vectorize(v); })
                : d_.apply("unroll", "unroll(" + v.name() + ")", [&] { d_.s.stage.unroll(v); });
        }
        if (const auto inside = with(Role::Inside); !inside.empty() && dice_.chance(20)) {
            d_.unrolled(dice_.pick(inside));
        }
        return levels();
    }

    GpuLevels levels() const {
        GpuLevels all;
        for (auto l = loops_.rbegin(); l != loops_.rend(); ++l) {
            const auto inner = std::next(l);
            const bool is_innermost = inner == loops_.rend() || inner->role != l->role;
            switch (l->role) {
            case Role::Host:
                all.push_back(level(d_, l->var, Where::Host, true));
                break;
            case Role::Block:
                if (is_innermost) {
                    all.push_back(level(d_, l->var, Where::Block));
                }
                break;
            case Role::AroundThreads:
                all.push_back(level(d_, l->var, Where::Block, true));
                break;
            case Role::Thread:
                all.push_back(level(d_, l->var, is_innermost ? Where::Thread : Where::Row));
                break;
            case Role::Inside:
                all.push_back(level(d_, l->var, Where::Thread, true));
                break;
            case Role::Lanes:
                break;
            }
        }
        return all;
    }

    StageDraw &d_;
    Dice &dice_;
    std::vector<Loop> loops_;  ///< from the inside out, once they are in order
    bool is_atomic_ = false;
    int blocks_ = 0, thread_loops_ = 0, threads_ = 1;
};

}  // namespace

GpuLevels loops_by_hand(StageDraw &stage) {
    return HandMade(stage).run();
}

}  // namespace calotype::test
