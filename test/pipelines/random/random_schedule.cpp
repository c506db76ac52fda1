// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_schedule.h"

#include "random_directives.h"

#include <algorithm>
#include <iterator>

namespace calotype::test {

using namespace internal;

bool Directives::apply(const std::string &text, const std::function<void()> &directive) {
    const int number = count_++;
    const bool is_kept = keeps_places && text.find(".compute_") != std::string::npos;
    if (skipped.count(number) != 0 && !is_kept) {
        return false;
    }
    try {
        directive();
    } catch (const CompileError &) {
        return false;
    }
    text_ += "    " + text + "  // " + std::to_string(number) + "\n";
    return true;
}

namespace {

using Loop = ScheduledLoop;

/// A level at which something can be computed: a loop of a stage.
struct Level {
    int func, stage;
    VarOrRVar var;
};

bool same(const Level &a, const Level &b) {
    return a.func == b.func && a.stage == b.stage && a.var.name() == b.var.name();
}

/// More would only compile for long.
constexpr int most_copies = 64;

/// The loops of one stage.
class StageScheduler {
public:
    StageScheduler(Dice &dice, Directives &directives, Stage stage, const std::string &text,
                   bool output, const Expr &wide)
        : wide_(wide), dice_(dice), directives_(directives), stage_(std::move(stage)), text_(text),
          output_(output) {
    }

    std::vector<Loop> loops;     ///< innermost first
    bool may_be_atomic = false;  ///< a reduction: then its loops may be in any order
    int most_directives = 5;     ///< and one
    int most_factor = 16;        ///< a tail may need a whole step of an output's size

    void run(const std::string &prefix, bool update) {
        prefix_ = prefix;
        update_ = update;
        if (may_be_atomic && dice_.chance(25) && apply("atomic()", [&] { stage_.atomic(); })) {
            for (Loop &l : loops) {
                l.impure = false;
            }
        }
        for (int i = dice_(most_directives); i > 0; i--) {
            one_directive();
        }
        if (dice_.chance(6)) {
            const Loop l = loops[size_t(dice_(int(loops.size())))];
            apply("specialize(wide).unroll(" + l.var.name() + ", 2, TailStrategy::GuardWithIf)",
                  [&] { stage_.specialize(wide_).unroll(l.var, 2, TailStrategy::GuardWithIf); });
        }
        if (dice_.chance(5)) {
            apply("never_partition_all()", [&] { stage_.never_partition_all(); });
        }
    }

private:
    bool apply(const std::string &text, const std::function<void()> &f) {
        return directives_.apply(text_ + "." + text + ";", f);
    }

    const NamedTail &tail(bool reduction) {
        const int n = int(named_tails().size());
        if (reduction) {
            return named_tails()[size_t(dice_(3))];
        }
        // What writes beyond an output that is not a multiple is refused when it runs.
        const int allowed = update_ ? n - (output_ ? 2 : 1) : output_ ? n - 2 + dice_(2) * 2 : n;
        const NamedTail &t = named_tails()[size_t(dice_(allowed))];
        return output_ && t.strategy == TailStrategy::RoundUp ? named_tails()[0] : t;
    }

    void one_directive() {
        switch (dice_(7)) {
        case 0:
        case 1:
            return split();
        case 2:
            return reorder();
        case 3:
            return vectorize();
        case 4:
            return unroll();
        case 5:
            return fuse();
        case 6:
            return parallel();
        }
    }

    /// An unmarked loop, or -1.
    int pick_loop(bool pure) {
        const int i = dice_(int(loops.size()));
        const Loop &l = loops[size_t(i)];
        return l.marked || (pure && l.impure) ? -1 : i;
    }

    VarOrRVar fresh(const VarOrRVar &like, const std::string &suffix) {
        const std::string name = prefix_ + std::to_string(fresh_++) + suffix;
        return like.is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
    }

    void split() {
        const int i = pick_loop(false);
        if (i < 0) {
            return;
        }
        const Loop old = loops[size_t(i)];
        const VarOrRVar outer = fresh(old.var, "o"), inner = fresh(old.var, "i");
        const int factor = std::min(dice_.pick<int>({1, 2, 3, 4, 5, 7, 8, 16}), most_factor);
        const NamedTail &t = tail(old.var.is_rvar);
        if (apply("split(" + old.var.name() + ", " + outer.name() + ", " + inner.name() + ", " +
                      std::to_string(factor) + ", TailStrategy::" + t.name + ")",
                  [&] { stage_.split(old.var, outer, inner, factor, t.strategy); })) {
            loops[size_t(i)] = {inner, old.impure, false};
            loops.insert(loops.begin() + i + 1, {outer, old.impure, false});
        }
    }

    void reorder() {
        std::vector<Loop> order = loops;
        for (size_t i = order.size(); i > 1; i--) {
            std::swap(order[i - 1], order[size_t(dice_(int(i)))]);
        }
        // Impure loops keep their order among themselves.
        std::vector<Loop> impure;
        std::copy_if(loops.begin(), loops.end(), std::back_inserter(impure),
                     [](const Loop &l) { return l.impure; });
        size_t next = 0;
        std::string names;
        std::vector<VarOrRVar> vars;
        for (Loop &l : order) {
            if (l.impure) {
                l = impure[next++];
            }
            names += (names.empty() ? "" : ", ") + l.var.name();
            vars.push_back(l.var);
        }
        if (apply("reorder(" + names + ")", [&] { stage_.reorder(vars); })) {
            loops = order;
        }
    }

    void vectorize() {
        const int i = pick_loop(true);
        if (i < 0) {
            return;
        }
        const int factor = std::min(dice_.pick<int>({2, 3, 4, 5, 8, 16}), most_factor);
        if ((copies_ *= factor) > most_copies) {
            copies_ /= factor;
            return;
        }
        const VarOrRVar v = loops[size_t(i)].var;
        const NamedTail &t = tail(v.is_rvar);
        apply("vectorize(" + v.name() + ", " + std::to_string(factor) +
                  ", TailStrategy::" + t.name + ")",
              [&] { stage_.vectorize(v, factor, t.strategy); });
    }

    void unroll() {
        const int i = pick_loop(false);
        if (i < 0) {
            return;
        }
        const int factor = std::min(2 + dice_(4), most_factor);
        if ((copies_ *= factor) > most_copies) {
            copies_ /= factor;
            return;
        }
        const VarOrRVar v = loops[size_t(i)].var;
        const NamedTail &t = tail(v.is_rvar);
        apply("unroll(" + v.name() + ", " + std::to_string(factor) + ", TailStrategy::" + t.name +
                  ")",
              [&] { stage_.unroll(v, factor, t.strategy); });
    }

    void fuse() {
        const int i = dice_(int(loops.size())), j = dice_(int(loops.size()));
        if (i == j) {
            return;
        }
        const Loop a = loops[size_t(i)], b = loops[size_t(j)];
        if (a.marked || b.marked || a.var.is_rvar || b.var.is_rvar || dice_.chance(50)) {
            return;
        }
        const VarOrRVar fused = fresh(a.var, "f");
        if (apply("fuse(" + a.var.name() + ", " + b.var.name() + ", " + fused.name() + ")",
                  [&] { stage_.fuse(a.var, b.var, fused); })) {
            loops[size_t(j)].var = fused;
            loops.erase(loops.begin() + i);
        }
    }

    void parallel() {
        const int i = pick_loop(true);
        if (i < 0) {
            return;
        }
        const VarOrRVar v = loops[size_t(i)].var;
        if (apply("parallel(" + v.name() + ")", [&] { stage_.parallel(v); })) {
            loops[size_t(i)].marked = true;
        }
    }

    Expr wide_;  ///< a condition on the output's size
    Dice &dice_;
    Directives &directives_;
    Stage stage_;
    std::string text_, prefix_;
    bool output_, update_ = false;
    int fresh_ = 0;
    int copies_ = 1;  ///< of the innermost statement, by lanes and unrolled iterations
};

/// All Funcs, consumers first.
class PipelineScheduler {
public:
    PipelineScheduler(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed,
                      Directives &directives)
        : p_(p), built_(built), dice_(seed), seed_(seed), directives_(directives),
          loops_(p.stages.size()), chains_(p.stages.size()), inlined_(p.stages.size(), false),
          at_root_(p.stages.size(), false) {
    }

    void run() {
        const int last = int(p_.stages.size()) - 1;
        for (int i = last; i >= 0; i--) {
            place(i, p_.is_output(i));
            if (!inlined_[size_t(i)]) {
                schedule_loops(i, p_.is_output(i));
                memory(i, p_.is_output(i));
            }
        }
    }

private:
    Func &func(int i) {
        return built_.funcs[size_t(i)];
    }
    std::string name(int i) const {
        return "f" + std::to_string(i);
    }

    Expr wide() {
        return built_.funcs.back().output_buffers()[0].dim(0).extent() > 12;
    }

    Expr condition() {
        return p_.full ? built_.choice > 0 : wide();
    }

    /// Drawn apart.
    void more(int i, int stage, const ScheduledStage &s, std::vector<Loop> &loops) {
        if (p_.full) {
            draw_stage_directives(Dice(seed_ ^ (uint64_t(i * 4 + stage + 1) << 40)), directives_, s,
                                  loops);
        }
    }

    int most_factor(bool output) const {
        return output ? std::max(1, std::min(p_.width, p_.height)) : 16;
    }

    void schedule_loops(int i, bool output) {
        if (p_.stages[size_t(i)].external) {
            loops_[size_t(i)].push_back({});
            return;
        }
        StageScheduler pure(dice_, directives_, func(i), name(i), output, wide());
        pure.loops = {{x}, {y}};
        pure.most_directives = p_.windows ? 2 : 5;
        pure.most_factor = most_factor(output);
        pure.run("p", false);
        more(i, 0, {func(i), name(i), condition(), false}, pure.loops);
        prefetch(i, func(i), name(i), pure.loops);
        loops_[size_t(i)].push_back(pure.loops);
        const std::vector<UpdateSpec> &updates = p_.stages[size_t(i)].updates;
        for (size_t u = 0; u < updates.size(); u++) {
            const std::string text = name(i) + ".update(" + std::to_string(u) + ")";
            StageScheduler s(dice_, directives_, func(i).update(int(u)), text, output, wide());
            s.loops = update_loops(updates[u].kind, built_.rvars[size_t(i)][u]);
            s.may_be_atomic = p_.full && is_reduction(updates[u].kind);
            s.most_factor = most_factor(output);
            if (p_.full && s.may_be_atomic && s.loops.size() == 4 && dice_.chance(50)) {
                factor(i, int(u), s.loops);
            }
            s.run("u" + std::to_string(u) + "_", true);
            more(i, int(u) + 1, {func(i).update(int(u)), text, condition(), s.may_be_atomic},
                 s.loops);
            prefetch(i, func(i).update(int(u)), text, s.loops);
            loops_[size_t(i)].push_back(s.loops);
        }
        if (p_.full && dice_.chance(40)) {
            compute_with(i);
        }
    }

    /// Of anything before Func i, from a loop that is around.
    void prefetch(int i, Stage stage, const std::string &text, const std::vector<Loop> &loops) {
        if (!p_.full || i == 0 || !dice_.chance(8)) {
            return;
        }
        const int source = dice_(i), offset = dice_(4);
        const size_t at = size_t(dice_(int(loops.size()))),
                     from = at + size_t(dice_(int(loops.size() - at)));
        const VarOrRVar &inner = loops[at].var, &outer = loops[from].var;
        const auto strategy = dice_.pick<PrefetchBoundStrategy>(
            {PrefetchBoundStrategy::GuardWithIf, PrefetchBoundStrategy::Clamp,
             PrefetchBoundStrategy::NonFaulting});
        directives_.apply(text + ".prefetch(" + name(source) + ", " + inner.name() + ", " +
                              outer.name() + ", " + std::to_string(offset) + ");",
                          [&] { stage.prefetch(func(source), inner, outer, offset, strategy); });
    }

    static bool is_reduction(UpdateKind kind) {
        switch (kind) {
        case UpdateKind::Pure:
        case UpdateKind::Keep:
        case UpdateKind::Row:
        case UpdateKind::ScanColumns:
        case UpdateKind::ScanRows:
        case UpdateKind::WhileSmall:
            return false;
        default:
            return true;
        }
    }

    /// One of the two RVars of a window stays; a Func that is computed first reduces over the other.
    void factor(int i, int update, std::vector<Loop> &loops) {
        const size_t kept = size_t(dice_(2));
        const RVar stays = built_.rvars[size_t(i)][size_t(update)][kept];
        const Var v("v" + std::to_string(update));
        Func first;
        const std::string text = name(i) + ".update(" + std::to_string(update) + ").rfactor(" +
                                 stays.name() + ", " + v.name() + ")";
        if (!directives_.apply(text + ".compute_root();", [&] {
                first = func(i).update(update).rfactor(stays, v).compute_root();
            })) {
            return;
        }
        at_root_[size_t(p_.stages[size_t(i)].updates[size_t(update)].tap.source)] = true;
        StageScheduler s(dice_, directives_, first.update(0), text + ".update()", false, wide());
        s.loops = {loops[1 - kept], {x}, {y}, {v}};
        s.may_be_atomic = true;
        s.run("r" + std::to_string(update) + "_", true);
        loops.erase(loops.begin() + std::ptrdiff_t(1 - kept));
    }

    /// Whether the values of Func i are made of those of Func `of`.
    bool depends(int i, int of) const {
        for (int source = of; source < i; source++) {
            const bool is_on_the_way = source == of || depends(source, of);
            for (size_t stage = 0; stage <= p_.stages[size_t(i)].updates.size(); stage++) {
                if (is_on_the_way && uses(i, stage, source)) {
                    return true;
                }
            }
        }
        return false;
    }

    bool has_free_rows(int i) const {
        const std::vector<Loop> &loops = loops_[size_t(i)][0];
        if (loops.empty()) {
            return false;
        }
        const Loop &outermost = loops.back();
        return outermost.var.name() == y.name() && !outermost.marked;
    }

    /// One pass over the rows of two Funcs that are computed at the same level.
    void compute_with(int i) {
        for (int other = i + 1; other < int(p_.stages.size()); other++) {
            const std::vector<Level> &here = chains_[size_t(i)], &there = chains_[size_t(other)];
            const bool is_same_level =
                std::equal(here.begin(), here.end(), there.begin(), there.end(), same);
            if (!inlined_[size_t(other)] && is_same_level && has_free_rows(i) &&
                has_free_rows(other) && !depends(other, i)) {
                directives_.apply(name(i) + ".compute_with(" + name(other) + ", y);",
                                  [&] { func(i).compute_with(func(other), y); });
                return;
            }
        }
    }

    /// A copy of Func i for one of those that use it, or one of its values for all of them.
    void wrap(int i, const std::vector<Level> &all, int compute) {
        if (dice_.chance(6)) {
            clone(i);
        } else if (dice_.chance(8)) {
            const int level = compute + dice_(int(all.size()) - compute);
            Func wrapper;
            directives_.apply(name(i) + ".in();", [&] { wrapper = func(i).in(); });
            if (wrapper.defined()) {
                const std::string text = name(i) + ".in()";
                place_at(wrapper, text, all, level);
                StageScheduler s(dice_, directives_, wrapper, text, false, wide());
                s.loops = {{x}, {y}};
                s.run("w", false);
            }
        }
    }

    void clone(int i) {
        for (int c = int(p_.stages.size()) - 1; c > i; c--) {
            if (inlined_[size_t(c)] || !uses(c, 0, i)) {
                continue;
            }
            const bool is_cloned =
                directives_.apply(name(i) + ".clone_in(" + name(c) + ").compute_root();",
                                  [&] { func(i).clone_in(func(c)).compute_root(); });
            for (int source = 0; is_cloned && source < i; source++) {
                at_root_[size_t(source)] = at_root_[size_t(source)] || depends(i, source);
            }
            return;
        }
    }

    static std::vector<Loop> update_loops(UpdateKind kind, const std::vector<RVar> &r) {
        switch (kind) {
        case UpdateKind::Pure:
        case UpdateKind::Keep:
            return {{x}, {y}};
        case UpdateKind::Row:
            return {{x}};
        case UpdateKind::ScanColumns:
            return {{r[0], true}, {x}};
        case UpdateKind::ScanRows:
        case UpdateKind::Histogram:
            return {{r[0], true}, {y}};
        case UpdateKind::LongWindow:
        case UpdateKind::ParamWindow:
            return {{r[0], true}, {x}, {y}};
        default:
            break;
        }
        return {{r[0], true}, {r[1], true}, {x}, {y}};
    }

    /// Where the value of Func i is used, from the outside in: the levels common to all uses.
    std::vector<Level> levels(int i) {
        std::vector<Level> common;
        if (at_root_[size_t(i)]) {
            return common;
        }
        bool first = true;
        for (int c = int(p_.stages.size()) - 1; c > i; c--) {
            for (size_t stage = 0; stage <= p_.stages[size_t(c)].updates.size(); stage++) {
                if (!uses(c, stage, i)) {
                    continue;
                }
                std::vector<Level> here = inlined_[size_t(c)] ? levels(c) : chains_[size_t(c)];
                if (!inlined_[size_t(c)]) {
                    const std::vector<Loop> &loops = loops_[size_t(c)][stage];
                    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
                        here.push_back({c, int(stage), l->var});
                    }
                }
                size_t n = 0;
                while (!first && n < std::min(common.size(), here.size()) &&
                       same(common[n], here[n])) {
                    n++;
                }
                common.resize(first ? 0 : n, Level{0, 0, x});
                common = first ? here : common;
                first = false;
            }
        }
        return common;
    }

    bool uses(int consumer, size_t stage, int i) const {
        const StageSpec &s = p_.stages[size_t(consumer)];
        if (stage > 0) {
            return s.updates[stage - 1].tap.source == i;
        }
        return s.reads(i);
    }

    bool can_be_inlined(int i) const {
        const StageSpec &s = p_.stages[size_t(i)];
        const bool is_passed_on =
            std::any_of(p_.stages.begin(), p_.stages.end(), [&](const StageSpec &reader) {
                return reader.external && reader.reads(i);
            });
        return s.updates.empty() && !s.holes && !s.external && !is_passed_on;
    }

    void place(int i, bool output) {
        if (output) {
            return;
        }
        if (can_be_inlined(i) && dice_.chance(p_.windows ? 5 : 20)) {
            inlined_[size_t(i)] = true;
            return;
        }
        const StageSpec &s = p_.stages[size_t(i)];
        const std::vector<Level> all = levels(i);
        const bool at_root = dice_.chance(p_.windows ? 10 : 30) || all.empty();
        const int compute = at_root ? -1 : dice_(int(all.size()));
        // What can be inlined is, when this is left out; what has updates is computed where it is
        // used.
        if (!compute_at(i, all, compute)) {
            inlined_[size_t(i)] = can_be_inlined(i) || s.holes;
            return;
        }
        chains_[size_t(i)].assign(all.begin(), std::next(all.begin(), compute + 1));
        int store = compute;
        if (compute >= 0 && dice_.chance(p_.windows ? 85 : 45)) {
            store = p_.windows && dice_.chance(60) ? -1 : dice_(compute + 2) - 1;
            store_at(i, all, store);
            fold(i, store < compute ? (p_.windows ? 50 : 20) : 0);
        }
        storage(i, all, store);
        if (p_.full) {
            wrap(i, all, compute);
        }
    }

    /// Factors that are too small are refused, at the latest when the pipeline runs.
    void fold(int i, int percent) {
        if (dice_.chance(percent)) {
            const Var &v = dice_.chance(75) ? y : x;
            const int factor = 2 << dice_(4);
            directives_.apply(name(i) + ".fold_storage(" + v.name() + ", " +
                                  std::to_string(factor) + ");",
                              [&] { func(i).fold_storage(v, factor); });
        }
    }

    /// How the storage of Func i, made at level `store`, is laid out and kept.
    void storage(int i, const std::vector<Level> &all, int store) {
        const auto sometimes = [&](int percent, const std::string &directive,
                                   const std::function<void()> &f) {
            if (dice_.chance(percent)) {
                directives_.apply(name(i) + "." + directive + ";", f);
            }
        };
        sometimes(8, "store_in(MemoryType::Stack)", [&] { func(i).store_in(MemoryType::Stack); });
        sometimes(8, "reorder_storage(y, x)", [&] { func(i).reorder_storage(y, x); });
        sometimes(6, "align_storage(x, 8)", [&] { func(i).align_storage(x, 8); });
        sometimes(5, "align_bounds(x, 4)", [&] { func(i).align_bounds(x, 4); });
        if (p_.stages[size_t(i)].combine == Combine::Lookup) {
            // It looks up many more values than are needed.
            sometimes(40, "bound_extent(x, 400)", [&] { func(i).bound_extent(x, 400); });
        }
        if (store >= 0 && dice_.chance(p_.windows ? 30 : 12)) {
            hoist(i, all, dice_(store + 1) - 1);
            sometimes(50, "ring_buffer(2)", [&] { func(i).ring_buffer(2); });
        }
        sometimes(p_.windows ? 15 : 5, "async()", [&] { func(i).async(); });
        const bool is_whole = chains_[size_t(i)].empty();  // not in parts of what is stored
        sometimes(p_.full && is_whole ? 20 : 0, "memoize()", [&] { func(i).memoize(); });
    }

    /// How the memory of Func i is used, and bounds of it: drawn apart, as nothing depends on them.
    void memory(int i, bool output) {
        Dice dice(seed_ ^ (uint64_t(i + 1) << 32));
        const auto sometimes = [&](int percent, const std::string &directive,
                                   const std::function<void()> &f) {
            if (dice.chance(percent)) {
                directives_.apply(name(i) + "." + directive + ";", f);
            }
        };
        sometimes(8, "stream_stores()", [&] { func(i).stream_stores(); });
        sometimes(8, "stream_loads()", [&] { func(i).stream_loads(); });
        if (!output) {
            sometimes(5, "align_extent(y, 2)", [&] { func(i).align_extent(y, 2); });
            sometimes(5, "bound_storage(x, 128)", [&] { func(i).bound_storage(x, 128); });
        }
        if (p_.full) {
            draw_func_directives(Dice(seed_ ^ (uint64_t(i + 1) << 48)), directives_, func(i),
                                 name(i), output ? p_.width : 0);
        }
    }

    void hoist(int i, const std::vector<Level> &all, int level) {
        if (level < 0) {
            directives_.apply(name(i) + ".hoist_storage_root();",
                              [&] { func(i).hoist_storage_root(); });
            return;
        }
        const Level &l = all[size_t(level)];
        directives_.apply(name(i) + ".hoist_storage(" + text(l) + ");",
                          [&] { func(i).hoist_storage(LoopLevel(func(l.func), l.var, l.stage)); });
    }

    std::string text(const Level &l) const {
        return "LoopLevel(" + name(l.func) + ", " + l.var.name() + ", " + std::to_string(l.stage) +
               ")";
    }

    bool compute_at(int i, const std::vector<Level> &all, int level) {
        return place_at(func(i), name(i), all, level);
    }

    bool place_at(Func f, const std::string &name, const std::vector<Level> &all, int level) {
        if (level < 0) {
            return directives_.apply(name + ".compute_root();", [&] { f.compute_root(); });
        }
        const Level &l = all[size_t(level)];
        return directives_.apply(name + ".compute_at(" + text(l) + ");",
                                 [&] { f.compute_at(LoopLevel(func(l.func), l.var, l.stage)); });
    }

    void store_at(int i, const std::vector<Level> &all, int level) {
        if (level < 0) {
            directives_.apply(name(i) + ".store_root();", [&] { func(i).store_root(); });
            return;
        }
        const Level &l = all[size_t(level)];
        directives_.apply(name(i) + ".store_at(" + text(l) + ");",
                          [&] { func(i).store_at(LoopLevel(func(l.func), l.var, l.stage)); });
    }

    const RandomPipeline &p_;
    BuiltPipeline &built_;
    Dice dice_;
    const uint64_t seed_;
    Directives &directives_;
    std::vector<std::vector<std::vector<Loop>>> loops_;  ///< of each stage of each Func
    std::vector<std::vector<Level>> chains_;  ///< the loops that each Func is computed in
    std::vector<bool> inlined_;
    std::vector<bool> at_root_;  ///< used also by a Func of the schedule's that is computed there
};

}  // namespace

const std::vector<NamedTail> &named_tails() {
    static const std::vector<NamedTail> tails = {
        {TailStrategy::Auto, "Auto"},
        {TailStrategy::GuardWithIf, "GuardWithIf"},
        {TailStrategy::Predicate, "Predicate"},
        {TailStrategy::PredicateLoads, "PredicateLoads"},
        {TailStrategy::PredicateStores, "PredicateStores"},
        {TailStrategy::RoundUpAndBlend, "RoundUpAndBlend"},
        {TailStrategy::ShiftInwardsAndBlend, "ShiftInwardsAndBlend"},
        {TailStrategy::RoundUp, "RoundUp"},
        {TailStrategy::ShiftInwards, "ShiftInwards"},
    };
    return tails;
}

void random_schedule(const RandomPipeline &p, BuiltPipeline &built, uint64_t seed,
                     Directives &directives) {
    PipelineScheduler(p, built, seed, directives).run();
}

}  // namespace calotype::test
