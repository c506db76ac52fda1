// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reduction_schedule.h"

#include <algorithm>

namespace calotype::test {

namespace {

struct Loop {
    VarOrRVar var;
    bool is_marked = false;  ///< vectorized, unrolled or parallel already
};

/// A stage of a Func, where something may be computed.
struct Stages {
    std::vector<std::vector<Loop>>
        loops;  ///< of the definition and of each update, innermost first
    bool is_inlined = false, is_at_root = false;
};

/// More would only compile for long.
constexpr int most_copies = 48;

class LoopScheduler {
public:
    LoopScheduler(Dice &dice, Directives &directives, Stage stage, std::string text, bool is_update,
                  std::vector<Loop> loops)
        : dice_(dice), directives_(directives), stage_(std::move(stage)), text_(std::move(text)),
          is_update_(is_update), loops_(std::move(loops)) {
    }

    std::vector<Loop> run(const Expr &condition) {
        if (loops_.empty()) {
            return loops_;
        }
        if (is_update_ && dice_.chance(15)) {
            apply("atomic()", [&] { stage_.atomic(); });
        }
        for (int i = dice_(5); i > 0; i--) {
            one_directive();
        }
        if (dice_.chance(8)) {
            apply("specialize(condition)", [&] { stage_.specialize(condition); });
        }
        return loops_;
    }

private:
    bool apply(const std::string &text, const std::function<void()> &f) {
        return directives_.apply(text_ + "." + text + ";", f);
    }

    const NamedTail &tail(bool is_rvar) {
        return named_tails()[size_t(dice_(is_rvar ? 3 : is_update_ ? 8 : 9))];
    }

    void one_directive() {
        const size_t at = size_t(dice_(int(loops_.size())));
        Loop &loop = loops_[at];
        const VarOrRVar v = loop.var;
        const NamedTail &t = tail(v.is_rvar);
        const int kind = dice_(10),
                  factor = kind < 7 ? dice_.pick<int>({2, 3, 4, 5, 8, 16}) : 2 + dice_(3);
        const std::string factored =
            "(" + v.name() + ", " + std::to_string(factor) + ", TailStrategy::" + t.name + ")";
        if (kind <= 1) {
            return reorder();
        }
        if (loop.is_marked || (kind >= 5 && copies_ * factor > most_copies)) {
            return;
        }
        if (kind <= 3) {
            split(at, factor, t);
        } else if (kind == 4) {
            loop.is_marked = apply("parallel(" + v.name() + ")", [&] { stage_.parallel(v); });
        } else if (kind <= 7) {
            copies_ *= factor;
            apply("vectorize" + factored, [&] { stage_.vectorize(v, factor, t.strategy); });
        } else if (kind == 8) {
            copies_ *= factor;
            apply("unroll" + factored, [&] { stage_.unroll(v, factor, t.strategy); });
        } else {
            fuse(at);
        }
    }

    VarOrRVar fresh(bool is_rvar, const std::string &suffix) {
        const std::string name = "v" + std::to_string(fresh_++) + suffix;
        return is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
    }

    void split(size_t at, int factor, const NamedTail &t) {
        const VarOrRVar old = loops_[at].var, outer = fresh(old.is_rvar, "o"),
                        inner = fresh(old.is_rvar, "i");
        if (apply("split(" + old.name() + ", " + outer.name() + ", " + inner.name() + ", " +
                      std::to_string(factor) + ", TailStrategy::" + t.name + ")",
                  [&] { stage_.split(old, outer, inner, factor, t.strategy); })) {
            loops_[at].var = inner;
            loops_.insert(loops_.begin() + std::ptrdiff_t(at) + 1, {outer, false});
        }
    }

    void fuse(size_t at) {
        if (at + 1 >= loops_.size() || loops_[at + 1].is_marked) {
            return;
        }
        const VarOrRVar a = loops_[at].var, b = loops_[at + 1].var, fused = fresh(a.is_rvar, "f");
        if (apply("fuse(" + a.name() + ", " + b.name() + ", " + fused.name() + ")",
                  [&] { stage_.fuse(a, b, fused); })) {
            loops_[at].var = fused;
            loops_.erase(loops_.begin() + std::ptrdiff_t(at) + 1);
        }
    }

    void reorder() {
        std::vector<Loop> order = loops_;
        for (size_t i = order.size(); i > 1; i--) {
            std::swap(order[i - 1], order[size_t(dice_(int(i)))]);
        }
        std::vector<VarOrRVar> vars;
        std::string names;
        for (const Loop &l : order) {
            vars.push_back(l.var);
            names += (names.empty() ? "" : ", ") + l.var.name();
        }
        if (apply("reorder(" + names + ")", [&] { stage_.reorder(vars); })) {
            loops_ = order;
        }
    }

    Dice &dice_;
    Directives &directives_;
    Stage stage_;
    std::string text_;
    const bool is_update_;
    std::vector<Loop> loops_;
    int fresh_ = 0, copies_ = 1;
};

class ProgramScheduler {
public:
    ProgramScheduler(const ReductionProgram &p, ReductionFuncs &funcs, uint64_t seed,
                     Directives &directives)
        : p_(p), b_(funcs), dice_(seed), directives_(directives), done_(p.stages.size()) {
    }

    void run() {
        for (int i = int(p_.stages.size()) - 1; i >= 0; i--) {
            place(i);
            if (!done_[size_t(i)].is_inlined) {
                loops(i);
                storage(i);
            }
        }
    }

private:
    Func &func(int i) {
        return b_.stages[size_t(i)].func;
    }

    bool apply(const std::string &text, const std::function<void()> &f) {
        return directives_.apply(text, f);
    }

    bool is_output(int i) const {
        return i + 1 == int(p_.stages.size());
    }

    Expr condition() {
        return b_.params[size_t(dice_(params))] > dice_(6);
    }

    struct Reader {
        int func;
        size_t stage;
    };

    /// The stages that read this Func, perhaps through inlined ones.
    std::vector<Reader> readers(int i) const {
        std::vector<Reader> all;
        for (int j = i + 1; j < int(p_.stages.size()); j++) {
            const ReductionStage &s = p_.stages[size_t(j)];
            const bool is_inlined = done_[size_t(j)].is_inlined;
            for (size_t stage = 0; stage <= s.updates.size(); stage++) {
                if (!uses(s, stage, ReductionTerm::Kind::Read, i)) {
                    continue;
                }
                const std::vector<Reader> through =
                    is_inlined ? readers(j) : std::vector<Reader>{{j, stage}};
                all.insert(all.end(), through.begin(), through.end());
            }
        }
        return all;
    }

    void place(int i) {
        if (is_output(i)) {
            return;
        }
        const bool is_reduction = !p_.stages[size_t(i)].updates.empty();
        const std::vector<Reader> from = readers(i);
        const bool has_one =
            !from.empty() && std::all_of(from.begin(), from.end(), [&](const Reader &r) {
                return r.func == from[0].func && r.stage == from[0].stage;
            });
        const int kind = dice_(10);
        if (has_one && kind < 7 && compute_at(i, from[0])) {
            return;
        }
        if (is_reduction || kind < 8) {
            apply(func(i).name() + ".compute_root();", [&] { func(i).compute_root(); });
            done_[size_t(i)].is_at_root = !from.empty();
            return;
        }
        done_[size_t(i)].is_inlined = true;
    }

    bool compute_at(int i, const Reader &reader) {
        const Func &f = func(reader.func);
        const std::vector<Loop> &loops = done_[size_t(reader.func)].loops[reader.stage];
        if (loops.empty()) {
            return false;
        }
        const size_t at = size_t(dice_(int(loops.size()))),
                     store = at + size_t(dice_(int(loops.size() - at) + 1));
        const auto level = [&](size_t n) {
            return LoopLevel(f, loops[n].var, int(reader.stage));
        };
        const auto text = [&](size_t n) {
            return "LoopLevel(" + f.name() + ", " + loops[n].var.name() + ", " +
                   std::to_string(reader.stage) + "));";
        };
        if (!apply(func(i).name() + ".compute_at(" + text(at),
                   [&] { func(i).compute_at(level(at)); })) {
            return false;
        }
        if (dice_.chance(40) && store == loops.size()) {
            apply(func(i).name() + ".store_root();", [&] { func(i).store_root(); });
        } else if (dice_.chance(40) && store < loops.size()) {
            apply(func(i).name() + ".store_at(" + text(store),
                  [&] { func(i).store_at(level(store)); });
        }
        return true;
    }

    void loops(int i) {
        ReductionFuncs::Stage &s = b_.stages[size_t(i)];
        std::vector<Loop> pure;
        for (const Var &v : s.vars) {
            pure.push_back({v});
        }
        auto &all = done_[size_t(i)].loops;
        all.push_back(
            LoopScheduler(dice_, directives_, s.func, s.func.name(), false, pure).run(condition()));
        const auto &updates = p_.stages[size_t(i)].updates;
        for (size_t u = 0; u < updates.size(); u++) {
            const std::string text = s.func.name() + ".update(" + std::to_string(u) + ")";
            std::vector<Loop> loops = update_loops(s, updates[u], u);
            if (dice_.chance(20) && !updates[u].extents.empty()) {
                factor(i, u, text, loops);
            }
            all.push_back(
                LoopScheduler(dice_, directives_, s.func.update(int(u)), text, true, loops)
                    .run(condition()));
        }
        if (dice_.chance(10)) {
            compute_with(i);
        }
    }

    static std::vector<Loop> update_loops(const ReductionFuncs::Stage &s, const ReductionUpdate &u,
                                          size_t index) {
        std::vector<Loop> loops;
        for (size_t d = 0; d < u.extents.size(); d++) {
            loops.push_back({s.domains[index][int(d)]});
        }
        for (size_t d = 0; d < s.vars.size(); d++) {
            if (u.is_pure(int(d))) {
                loops.push_back({s.vars[d]});
            }
        }
        return loops;
    }

    /// Some RVar is kept; a Func that is computed first reduces over the others.
    void factor(int i, size_t u, const std::string &text, std::vector<Loop> &loops) {
        const size_t kept = size_t(dice_(int(p_.stages[size_t(i)].updates[u].extents.size())));
        const RVar r = b_.stages[size_t(i)].domains[u][int(kept)];
        const Var v("k" + std::to_string(u));
        Func first;
        if (!apply(text + ".rfactor(" + r.name() + ", " + v.name() + ").compute_root();",
                   [&] { first = func(i).update(int(u)).rfactor(r, v).compute_root(); })) {
            return;
        }
        std::vector<Loop> inner = {{v}}, outer;
        for (size_t l = 0; l < loops.size(); l++) {
            const bool is_rvar = l < p_.stages[size_t(i)].updates[u].extents.size();
            if (is_rvar && l != kept) {
                inner.insert(inner.begin(), loops[l]);
            } else {
                outer.push_back(loops[l]);
            }
            if (!is_rvar) {
                inner.push_back(loops[l]);
            }
        }
        LoopScheduler(dice_, directives_, first.update(0), text + ".intm.update()", true, inner)
            .run(condition());
        loops = outer;
    }

    void compute_with(int i) {
        const auto &all = done_[size_t(i)].loops;
        const auto stage = [&](size_t n) {
            return n == 0 ? Stage(func(i)) : func(i).update(int(n) - 1);
        };
        if (all.size() > 1 && dice_.chance(50)) {
            const size_t with = 1 + size_t(dice_(int(all.size()) - 1)), of = with - 1;
            if (all[with].empty() || all[of].empty()) {
                return;
            }
            const VarOrRVar v = all[with].back().var;
            apply(func(i).name() + ".update(" + std::to_string(with - 1) + ").compute_with(stage " +
                      std::to_string(of) + ", " + v.name() + ");",
                  [&] { stage(with).compute_with(stage(of), v); });
            return;
        }
        for (int j = i + 1; j < int(p_.stages.size()); j++) {
            const bool at_root = done_[size_t(i)].is_at_root && done_[size_t(j)].is_at_root;
            if (at_root && !depends(j, i) && !all[0].empty()) {
                const VarOrRVar v = all[0].back().var;
                apply(func(i).name() + ".compute_with(" + func(j).name() + ", " + v.name() + ");",
                      [&] { func(i).compute_with(func(j), v); });
                return;
            }
        }
    }

    bool depends(int j, int i) const {
        for (int k = i; k < j; k++) {
            for (size_t stage = 0; stage <= p_.stages[size_t(j)].updates.size(); stage++) {
                if (uses(p_.stages[size_t(j)], stage, ReductionTerm::Kind::Read, k) &&
                    (k == i || depends(k, i))) {
                    return true;
                }
            }
        }
        return false;
    }

    void storage(int i) {
        std::vector<Var> vars = b_.stages[size_t(i)].vars;
        Func &f = func(i);
        if (vars.empty()) {
            return;
        }
        if (is_output(i)) {
            if (dice_.chance(10)) {
                apply(f.name() + ".bound(" + vars[0].name() + ", min, extent);",
                      [&] { f.bound(vars[0], b_.min, b_.extent); });
            }
            return;
        }
        if (dice_.chance(10) && vars.size() > 1) {
            std::rotate(vars.begin(), vars.begin() + 1, vars.end());
            apply(f.name() + ".reorder_storage(rotated);", [&] { f.reorder_storage(vars); });
        }
        if (dice_.chance(8)) {
            apply(f.name() + ".align_storage(" + vars[0].name() + ", 8);",
                  [&] { f.align_storage(vars[0], 8); });
        }
        if (dice_.chance(10)) {
            const Var &v = dice_.pick(vars);
            const int factor = dice_.pick<int>({4, 8, 16, 32});
            apply(f.name() + ".fold_storage(" + v.name() + ", " + std::to_string(factor) + ");",
                  [&] { f.fold_storage(v, factor); });
        }
        if (dice_.chance(5)) {
            apply(f.name() + ".async();", [&] { f.async(); });
        }
    }

    const ReductionProgram &p_;
    ReductionFuncs &b_;
    Dice dice_;
    Directives &directives_;
    std::vector<Stages> done_;
};

}  // namespace

void schedule_reductions(const ReductionProgram &p, ReductionFuncs &funcs, uint64_t seed,
                         Directives &directives) {
    ProgramScheduler(p, funcs, seed, directives).run();
}

}  // namespace calotype::test
