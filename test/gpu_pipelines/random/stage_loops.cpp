// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/stage_loops.h"

#include <algorithm>

namespace calotype::test {

bool Draw::apply(const std::string &feature, const std::string &text,
                 const std::function<void()> &directive) {
    const bool applied = directives_.apply(text + ";", directive);
    if (applied && !feature.empty()) {
        features_.insert(feature);
    }
    return applied;
}

bool Draw::sometimes(int percent, const std::string &feature, const std::string &text,
                     const std::function<void()> &directive) {
    return dice.chance(percent) && apply(feature, text, directive);
}

namespace {

GpuLevel serial(GpuLevel level) {
    level.is_serial = true;
    return level;
}

}  // namespace

StageLoops::StageLoops(Draw &draw, Stage stage, std::string text, const std::string &prefix,
                       int index)
    : draw_(draw), dice_(draw.dice), stage_(std::move(stage)), text_(std::move(text)),
      prefix_(prefix), func_(text_.substr(0, text_.find('.'))), index_(index) {
}

bool StageLoops::apply(const std::string &feature, const std::string &text,
                       const std::function<void()> &f) {
    return draw_.apply(feature, text_ + "." + text, f);
}

GpuLevel StageLoops::level(const VarOrRVar &v, Where where) const {
    return {func_, index_, v, where};
}

VarOrRVar StageLoops::inner(const VarOrRVar &v, const std::string &suffix) const {
    const std::string name = prefix_ + v.name() + suffix;
    return v.is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
}

TailStrategy StageLoops::tail(std::string *name, bool of_rvar) {
    static const struct {
        TailStrategy strategy;
        const char *name;
    } tails[] = {
        {TailStrategy::GuardWithIf, "GuardWithIf"},   {TailStrategy::GuardWithIf, "GuardWithIf"},
        {TailStrategy::Predicate, "Predicate"},       {TailStrategy::Auto, "Auto"},
        {TailStrategy::ShiftInwards, "ShiftInwards"}, {TailStrategy::RoundUp, "RoundUp"}};
    const bool update = index_ > 0;
    const auto &t = tails[dice_(of_rvar ? 3 : is_output ? (update ? 3 : 5) : update ? 3 : 6)];
    *name = std::string("TailStrategy::") + t.name;
    return t.strategy;
}

std::vector<GpuLevel> StageLoops::at_root() {
    const int kind = dice_(pure.size() < 2 ? 4 : 14);
    if (may_be_atomic && !impure.empty() && dice_.chance(60)) {
        return atomic_blocks();
    }
    if (kind == 0 && dice_.chance(60)) {
        return {};  // on the host
    }
    if (kind == 1 && dice_.chance(25)) {
        apply("gpu_single_thread", "gpu_single_thread()", [&] { stage_.gpu_single_thread(); });
        return {};
    }
    if (pure.size() < 2) {
        return line();
    }
    if (kind <= 2) {
        return line();
    } else if (kind <= 5) {
        return serial_rows();
    } else if (kind <= 7) {
        return lanes();
    } else if (kind == 8) {
        return fused_blocks();
    }
    return tile();
}

/// What a thread does of its own: vectors of it, copies of it, another version of all.
void StageLoops::decorate(const VarOrRVar &v) {
    if (dice_.chance(30)) {
        const int n = dice_.pick<int>({2, 2, 3, 4, 4, 8, 16});
        std::string name;
        const TailStrategy t = tail(&name);
        apply("vectorize", "vectorize(" + v.name() + ", " + std::to_string(n) + ", " + name + ")",
              [&] { stage_.vectorize(v, n, t); });
    } else if (dice_.chance(15)) {
        apply("unroll", "unroll(" + v.name() + ", 2, TailStrategy::GuardWithIf)",
              [&] { stage_.unroll(v, 2, TailStrategy::GuardWithIf); });
    } else if (wide.defined() && dice_.chance(15)) {
        specialize(v);
    }
    if (dice_.chance(5)) {
        apply("never_partition", "never_partition_all()", [&] { stage_.never_partition_all(); });
    }
}

void StageLoops::specialize(const VarOrRVar &v) {
    const int n = dice_.pick<int>({2, 4});
    apply("specialize",
          "specialize(wide).vectorize(" + v.name() + ", " + std::to_string(n) +
              ", TailStrategy::GuardWithIf)",
          [&] { stage_.specialize(wide).vectorize(v, n, TailStrategy::GuardWithIf); });
}

std::vector<GpuLevel> StageLoops::tile() {
    const int w = dice_.pick<int>({4, 8, 16, 5, 32}), h = dice_.pick<int>({1, 2, 4, 8, 3});
    const VarOrRVar a = pure[0], b = pure[1], ai = inner(a, "i"), bi = inner(b, "i");
    std::string name;
    const TailStrategy t = tail(&name);
    if (!apply("gpu_tile",
               "gpu_tile(" + a.name() + ", " + b.name() + ", " + ai.name() + ", " + bi.name() +
                   ", " + std::to_string(w) + ", " + std::to_string(h) + ", " + name + ")",
               [&] { stage_.gpu_tile(a, b, ai, bi, w, h, t); })) {
        return {};
    }
    decorate(ai);
    return {level(a, Where::Block), level(bi, Where::Row), level(ai, Where::Thread)};
}

std::vector<GpuLevel> StageLoops::line() {
    const int w = dice_.pick<int>({4, 8, 16, 7, 32});
    const VarOrRVar a = pure[size_t(dice_(int(pure.size())))], ai = inner(a, "i");
    std::string name;
    const TailStrategy t = tail(&name);
    if (!apply("gpu_line",
               "gpu_tile(" + a.name() + ", " + ai.name() + ", " + std::to_string(w) + ", " + name +
                   ")",
               [&] { stage_.gpu_tile(a, ai, w, t); })) {
        return {};
    }
    decorate(ai);
    return {level(a, Where::Block), level(ai, Where::Thread)};
}

/// Blocks of rows that come one after another.
std::vector<GpuLevel> StageLoops::serial_rows() {
    const int w = dice_.pick<int>({4, 8, 16, 32}), h = dice_.pick<int>({2, 3, 4, 8});
    const VarOrRVar a = pure[0], b = pure[1], ao = inner(a, "o"), ai = inner(a, "i"),
                    bo = inner(b, "o"), bi = inner(b, "i");
    std::string ta_name, tb_name;
    const TailStrategy ta = tail(&ta_name), tb = tail(&tb_name);
    const bool in_threads = dice_.chance(25);
    apply("serial_rows",
          "split(" + b.name() + ", " + bo.name() + ", " + bi.name() + ", " + std::to_string(h) +
              ", " + tb_name + ").split(" + a.name() + ", " + ao.name() + ", " + ai.name() + ", " +
              std::to_string(w) + ", " + ta_name + ").reorder(" +
              (in_threads ? bi.name() + ", " + ai.name() : ai.name() + ", " + bi.name()) + ", " +
              ao.name() + ", " + bo.name() + ").gpu_blocks(" + ao.name() + ", " + bo.name() +
              ").gpu_threads(" + ai.name() + ")",
          [&] {
              stage_.split(b, bo, bi, h, tb).split(a, ao, ai, w, ta);
              if (in_threads) {
                  stage_.reorder(bi, ai, ao, bo);
              } else {
                  stage_.reorder(ai, bi, ao, bo);
              }
              stage_.gpu_blocks(ao, bo).gpu_threads(ai);
          });
    if (in_threads) {
        decorate(bi);
        return {level(ao, Where::Block), level(ai, Where::Thread),
                serial(level(bi, Where::Thread))};
    }
    return {level(ao, Where::Block), serial(level(bi, Where::Block)), level(ai, Where::Thread)};
}

std::vector<GpuLevel> StageLoops::lanes() {
    const int w = dice_.pick<int>({32, 32, 16, 8}), h = dice_.pick<int>({1, 2, 4});
    const VarOrRVar a = pure[0], b = pure[1], ao = inner(a, "o"), ai = inner(a, "i"),
                    bo = inner(b, "o"), bi = inner(b, "i"), v = inner(a, "v");
    std::string name;
    const TailStrategy t = tail(&name);
    const int vector = dice_.chance(25) ? dice_.pick<int>({2, 4}) : 1;
    apply(
        "lanes",
        "tile(" + a.name() + ", " + b.name() + ", " + ao.name() + ", " + bo.name() + ", " +
            ai.name() + ", " + bi.name() + ", " + std::to_string(w * vector) + ", " +
            std::to_string(h) + ", " + name + ").gpu_blocks(" + ao.name() + ", " + bo.name() +
            ").gpu_threads(" + bi.name() + ")" +
            (vector > 1 ? ".split(" + ai.name() + ", " + ai.name() + ", " + v.name() + ", " +
                              std::to_string(vector) + ").vectorize(" + v.name() + ")"
                        : "") +
            ".gpu_lanes(" + ai.name() + ")",
        [&] {
            stage_.tile(a, b, ao, bo, ai, bi, w * vector, h, t).gpu_blocks(ao, bo).gpu_threads(bi);
            if (vector > 1) {
                stage_.split(ai, ai, v, vector).vectorize(v);
            }
            stage_.gpu_lanes(ai);
        });
    Levels levels = {level(ao, Where::Block), level(bi, Where::Row), level(ai, Where::Thread)};
    for (GpuLevel &l : levels) {
        l.has_lanes = true;
    }
    return levels;
}

std::vector<GpuLevel> StageLoops::fused_blocks() {
    const VarOrRVar a = pure[0], b = pure[1], ao = inner(a, "o"), ai = inner(a, "i"),
                    bo = inner(b, "o"), bi = inner(b, "i"), t = inner(a, "t");
    apply("fuse",
          "tile(" + a.name() + ", " + b.name() + ", " + ao.name() + ", " + bo.name() + ", " +
              ai.name() + ", " + bi.name() + ", 8, 4, TailStrategy::GuardWithIf).fuse(" +
              ao.name() + ", " + bo.name() + ", " + t.name() + ").gpu_blocks(" + t.name() +
              ").gpu_threads(" + ai.name() + ", " + bi.name() + ")",
          [&] {
              stage_.tile(a, b, ao, bo, ai, bi, 8, 4, TailStrategy::GuardWithIf)
                  .fuse(ao, bo, t)
                  .gpu_blocks(t)
                  .gpu_threads(ai, bi);
          });
    decorate(ai);
    return {level(t, Where::Block), level(bi, Where::Row), level(ai, Where::Thread)};
}

/// Blocks of the last pure loop, and threads of a reduction.
std::vector<GpuLevel> StageLoops::atomic_blocks() {
    const VarOrRVar b = pure.back(), r = impure[0];
    const bool tile = impure.size() == 1 && dice_.chance(40);
    const VarOrRVar ro = inner(r, "o"), ri = inner(r, "i");
    if (tile) {
        apply("atomic",
              "atomic().split(" + r.name() + ", " + ro.name() + ", " + ri.name() +
                  ", 4).gpu_blocks(" + ro.name() + ", " + b.name() + ").gpu_threads(" + ri.name() +
                  ")",
              [&] {
                  stage_.atomic().split(r, ro, ri, 4);
                  std::vector<VarOrRVar> order = {ri};
                  for (size_t i = 1; i < impure.size(); i++) {
                      order.push_back(impure[i]);
                  }
                  for (size_t i = 0; i + 1 < pure.size(); i++) {
                      order.push_back(pure[i]);
                  }
                  order.push_back(ro);
                  order.push_back(b);
                  // The threads are inside of what is serial.
                  stage_.reorder(order).gpu_blocks(ro, b).gpu_threads(ri);
              });
        return {level(b, Where::Block), level(ro, Where::Block)};
    }
    apply("atomic", "atomic().gpu_blocks(" + b.name() + ").gpu_threads(" + r.name() + ")",
          [&] { stage_.atomic().gpu_blocks(b).gpu_threads(r); });
    return {level(b, Where::Block)};
}

std::vector<GpuLevel> StageLoops::in_kernel(const GpuLevel &at) {
    Levels levels;
    switch (at.where) {
    case Where::Block:
        levels = at_block(at.has_lanes);
        break;
    case Where::Row:
        levels = at_row(at.has_lanes);
        break;
    case Where::Thread:
        levels = in_thread();
        break;
    }
    for (GpuLevel &l : levels) {
        l.has_lanes = at.has_lanes;
    }
    return levels;
}

/// The innermost loop over Vars, of which vectors may have been split off.
VarOrRVar StageLoops::vectors() {
    const VarOrRVar a = pure[0];
    if (!dice_.chance(25)) {
        return a;
    }
    const int n = dice_.pick<int>({2, 3, 4, 4, 8});
    const VarOrRVar ao = inner(a, "o"), v = inner(a, "v");
    std::string name;
    const TailStrategy t = tail(&name);
    return apply("vectors_in_kernel",
                 "split(" + a.name() + ", " + ao.name() + ", " + v.name() + ", " +
                     std::to_string(n) + ", " + name + ").vectorize(" + v.name() + ")",
                 [&] { stage_.split(a, ao, v, n, t).vectorize(v); })
               ? ao
               : a;
}

/// A part of the reduction comes around the threads.
std::vector<GpuLevel> StageLoops::impure_outermost(const VarOrRVar &r) {
    const int n = dice_.pick<int>({1, 2, 4, 8});
    const VarOrRVar ro = inner(r, "o"), ri = inner(r, "i");
    const bool both = pure.size() > 1 && dice_.chance(60);
    apply("slices",
          "split(" + r.name() + ", " + ro.name() + ", " + ri.name() + ", " + std::to_string(n) +
              ", TailStrategy::GuardWithIf).reorder(" + ri.name() + ", the others, " + ro.name() +
              ").gpu_threads(" + pure[0].name() + (both ? ", " + pure[1].name() : "") + ")",
          [&] {
              stage_.split(r, ro, ri, n, TailStrategy::GuardWithIf);
              std::vector<VarOrRVar> order(impure.begin(), std::prev(impure.end()));
              order.push_back(ri);
              order.insert(order.end(), pure.begin(), pure.end());
              order.push_back(ro);
              stage_.reorder(order);
              if (both) {
                  stage_.gpu_threads(pure[0], pure[1]);
              } else {
                  stage_.gpu_threads(pure[0]);
              }
          });
    return {serial(level(ro, Where::Block)), level(pure[0], Where::Thread)};
}

std::vector<GpuLevel> StageLoops::at_block(bool has_lanes) {
    if (!impure.empty() && may_be_atomic && dice_.chance(40)) {
        const bool both = pure.size() > 1 && dice_.chance(60);
        apply("atomic_in_block",
              "atomic().gpu_threads(" + impure[0].name() + (both ? ", " + pure.back().name() : "") +
                  ")",
              [&] {
                  both ? stage_.atomic().gpu_threads(impure[0], pure.back())
                       : stage_.atomic().gpu_threads(impure[0]);
              });
        return {};
    }
    // Of the last RVar, so that the order of the reduction stays.
    if (!impure.empty() && dice_.chance(50)) {
        return impure_outermost(impure.back());
    }
    if (has_lanes && dice_.chance(75)) {
        const VarOrRVar a = pure[0], ao = inner(a, "o"), ai = inner(a, "i");
        const bool unroll = dice_.chance(50);
        apply("lanes_in_block",
              "split(" + a.name() + ", " + ao.name() + ", " + ai.name() +
                  ", 32, TailStrategy::GuardWithIf).gpu_lanes(" + ai.name() + ")" +
                  (unroll ? ".unroll(" + ao.name() + ")" : ""),
              [&] {
                  stage_.split(a, ao, ai, 32, TailStrategy::GuardWithIf).gpu_lanes(ai);
                  unroll ? stage_.unroll(ao) : stage_;
              });
        return {};
    }
    const int kind = dice_(8);
    if (kind == 0) {
        return {};  // by one thread for all
    }
    const VarOrRVar a = vectors();
    if (kind <= 2 || pure.size() < 2) {
        apply("threads", "gpu_threads(" + a.name() + ")", [&] { stage_.gpu_threads(a); });
        return {level(a, Where::Thread)};
    } else if (kind == 3) {
        apply("threads", "gpu_threads(" + pure[1].name() + ")",
              [&] { stage_.gpu_threads(pure[1]); });
        return {level(pure[1], Where::Thread)};
    }
    if (pure.size() > 2) {
        apply("threads",
              "gpu_threads(" + a.name() + ", " + pure[1].name() + ", " + pure[2].name() + ")",
              [&] { stage_.gpu_threads(a, pure[1], pure[2]); });
    } else {
        apply("threads", "gpu_threads(" + a.name() + ", " + pure[1].name() + ")",
              [&] { stage_.gpu_threads(a, pure[1]); });
    }
    return {level(pure[1], Where::Row), level(a, Where::Thread)};
}

std::vector<GpuLevel> StageLoops::at_row(bool has_lanes) {
    if (dice_.chance(40)) {
        return {};
    }
    if (has_lanes) {
        return at_block(true);
    }
    const VarOrRVar a = vectors();
    apply("threads_in_row", "gpu_threads(" + a.name() + ")", [&] { stage_.gpu_threads(a); });
    return {level(a, Where::Thread)};
}

std::vector<GpuLevel> StageLoops::in_thread() {
    vectors();
    return {};
}

}  // namespace calotype::test
