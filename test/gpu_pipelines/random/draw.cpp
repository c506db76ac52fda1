// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpu_pipelines/random/draw.h"

namespace calotype::test {

namespace {

std::string names(const StageDraw::Loops &loops) {
    std::string text;
    for (const VarOrRVar &v : loops) {
        text += (text.empty() ? "" : ", ") + v.name();
    }
    return text;
}

}  // namespace

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

bool StageDraw::apply(const std::string &feature, const std::string &text,
                      const std::function<void()> &f) {
    return draw_.apply(feature, s.text + "." + text, f);
}

VarOrRVar StageDraw::fresh(const VarOrRVar &v, const std::string &suffix) const {
    const std::string name = prefix_ + v.name() + suffix;
    return v.is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
}

const NamedTail &StageDraw::tail(bool of_rvar) {
    const size_t guard = 1;
    if (dice_.chance(40)) {
        return named_tails()[guard];
    }
    return named_tails()[program_.is_exact ? guard + size_t(dice_(2))
                                           : size_t(dice_(of_rvar      ? 3
                                                          : index_ > 0 ? 7
                                                                       : 9))];
}

std::optional<std::pair<VarOrRVar, VarOrRVar>> StageDraw::split(const VarOrRVar &v, int factor,
                                                                const std::string &suffix) {
    const VarOrRVar outer = fresh(v, suffix + "o"), inner = fresh(v, suffix + "i");
    const NamedTail &t = tail(v.is_rvar);
    const bool made = apply("",
                            "split(" + v.name() + ", " + outer.name() + ", " + inner.name() + ", " +
                                std::to_string(factor) + ", TailStrategy::" + t.name + ")",
                            [&] { s.stage.split(v, outer, inner, factor, t.strategy); });
    return made ? std::optional(std::pair(outer, inner)) : std::nullopt;
}

std::optional<VarOrRVar> StageDraw::fuse(const VarOrRVar &inner, const VarOrRVar &outer) {
    const VarOrRVar fused = fresh(inner, "f");
    const bool made =
        apply("fuse", "fuse(" + inner.name() + ", " + outer.name() + ", " + fused.name() + ")",
              [&] { s.stage.fuse(inner, outer, fused); });
    return made ? std::optional(fused) : std::nullopt;
}

void StageDraw::reorder(const Loops &innermost_first) {
    if (innermost_first.size() > 1) {
        apply("", "reorder(" + names(innermost_first) + ")",
              [&] { s.stage.reorder(innermost_first); });
    }
}

bool StageDraw::gpu_blocks(const std::string &feature, const Loops &loops) {
    return apply(feature, "gpu_blocks(" + names(loops) + ")", [&] {
        loops.size() == 1   ? s.stage.gpu_blocks(loops[0])
        : loops.size() == 2 ? s.stage.gpu_blocks(loops[0], loops[1])
                            : s.stage.gpu_blocks(loops[0], loops[1], loops[2]);
    });
}

bool StageDraw::gpu_threads(const std::string &feature, const Loops &loops) {
    return apply(feature, "gpu_threads(" + names(loops) + ")", [&] {
        loops.size() == 1   ? s.stage.gpu_threads(loops[0])
        : loops.size() == 2 ? s.stage.gpu_threads(loops[0], loops[1])
                            : s.stage.gpu_threads(loops[0], loops[1], loops[2]);
    });
}

void StageDraw::unrolled(const VarOrRVar &v) {
    const bool vectors = dice_.chance(65);
    const int n = vectors ? dice_.pick<int>({2, 2, 3, 4, 4, 8, 16}) : 2 + dice_(2);
    const NamedTail &t = tail(v.is_rvar);
    const std::string args =
        "(" + v.name() + ", " + std::to_string(n) + ", TailStrategy::" + t.name + ")";
    apply(vectors ? "vectorize" : "unroll", (vectors ? "vectorize" : "unroll") + args, [&] {
        vectors ? s.stage.vectorize(v, n, t.strategy) : s.stage.unroll(v, n, t.strategy);
    });
}

std::optional<StageDraw> StageDraw::specialized() {
    StageDraw special = *this;
    special.s.text += ".specialize(condition)";
    special.prefix_ += "s_";
    const bool made = draw_.apply("specialize", special.s.text, [&] {
        special.s.stage = s.stage.specialize(program_.condition);
    });
    return made ? std::optional(special) : std::nullopt;
}

}  // namespace calotype::test
