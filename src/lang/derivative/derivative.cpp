// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode differentiation of a pipeline. Funcs are visited after all that read them, the
// definitions of a Func from the last to the first. With the adjoint of what a Func holds after a
// definition, each iteration of it
//
//     f(place) = value(f(read), g(other), r)
//
// contributes adjoint(place) * (derivative of value) to the adjoints of g at `other`, and of what f
// held before at `read`; before it, f(place) did not matter. Where iterations read what others
// wrote, the adjoints are carried from the last iteration to the first (see scan).
#include "lang/derivative/derivative.h"

#include <algorithm>
#include <set>

#include "arith/box.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lang/derivative/adjoint_sum.h"
#include "lang/derivative/expr_adjoints.h"
#include "lang/tuple.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

namespace {

// Calls of a Func by its name alone become calls of another of the same dimensions, chosen by the
// coordinates.
template<typename Choose>
class ReplaceSelfCalls : public GraphMutator {
public:
    ReplaceSelfCalls(const std::string &name, Choose choose) : name_(name), choose_(choose) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->name != name_) {
            return GraphMutator::visit(op);
        }
        return choose_(op, Mutator::mutate(op->args));
    }
    const std::string &name_;
    Choose choose_;
};
template<typename Choose>
Expr replace_self_calls(const Expr &e, const std::string &name, Choose choose) {
    return ReplaceSelfCalls<Choose>(name, choose).mutate(e);
}

// One definition, with names of its own for its variables.
struct StageToDifferentiate {
    Function func;
    int index = 0;  // 0: the pure definition
    std::vector<AdjointLoop> loops;
    std::vector<std::string> rvars;           // innermost first
    std::map<std::string, std::string> vars;  // from the Func's arguments to their names here
    std::vector<Expr> place, values;
    Expr predicate;

    SelfRead read_at(const std::vector<Expr> &read) const {
        return classify_self_read(place, read, loops, rvars);
    }
    std::string describe() const {
        return index == 0 ? "func " + func.name()
                          : "update " + std::to_string(index - 1) + " of func " + func.name();
    }
};

StageToDifferentiate prepare_stage(const Function &f, int index, const Box &needed) {
    StageToDifferentiate s;
    s.func = f;
    s.index = index;
    std::map<std::string, Expr> renaming;
    const auto rename = [&](const std::string &name) {
        const std::string fresh = unique_name(name);
        renaming[name] = Variable::make(Int(32), fresh);
        return fresh;
    };
    for (size_t i = 0; i < f.args().size(); i++) {
        const std::string &arg = f.args()[i];
        s.vars[arg] = rename(arg);
        const bool is_loop =
            index == 0 || std::any_of(f.stage(index)->args.begin(), f.stage(index)->args.end(),
                                      [&](const Expr &e) { return uses_var(e, arg); });
        if (is_loop) {
            s.loops.push_back({s.vars[arg], needed.empty() ? Interval() : needed[i], true});
        }
    }
    const Definition &d = *f.stage(index);
    for (const ReductionVariable &r : d.schedule.rvars) {
        s.rvars.push_back(rename(r.var));
        s.loops.push_back({s.rvars.back(), Interval(r.min, simplify(r.min + r.extent - 1)), false});
    }
    const auto renamed = [&](const Expr &e) {
        return substitute(renaming, substitute_in_all_lets(e));
    };
    std::transform(d.args.begin(), d.args.end(), std::back_inserter(s.place), renamed);
    std::transform(d.values.begin(), d.values.end(), std::back_inserter(s.values), renamed);
    s.predicate = d.predicate.defined() ? renamed(d.predicate) : const_true();
    return s;
}

class Propagate {
public:
    Propagate(const Func &output, const Func &adjoint, const Box &bounds);
    std::map<Derivative::FuncKey, Func> take() {
        return std::move(adjoints_);
    }

private:
    struct Target {
        AdjointSum sum;
        Box needed;
    };
    void visit(const Function &f);
    void need_of_stages(const Function &f, Box &needed);
    Func visit_stage(const StageToDifferentiate &s, const Func &after);
    void contribute(const StageToDifferentiate &s, const std::vector<LeafAdjoint> &leaves,
                    const std::string &adjoint);
    std::vector<LeafAdjoint> leaves_of(const StageToDifferentiate &s,
                                       const std::vector<Expr> &adjoints) const;
    Func without_dependence(const StageToDifferentiate &s, const Func &after,
                            const std::vector<LeafAdjoint> &self);
    Func scan(const StageToDifferentiate &s, const Func &after);
    Func expanded(const StageToDifferentiate &s, const Func &after);
    Function after_stages(const Function &f, int stages);
    bool is_earlier(const std::string &name) const;
    std::string readable_anywhere(const Func &adjoint) const;
    Func before(const StageToDifferentiate &s, const AdjointSum &sum, const Func &of);
    Target &target(const std::string &name, const std::vector<std::string> &args,
                   const std::vector<Type> &types);

    std::map<std::string, Target> targets_;  // by name of the Func, image or parameter
    std::map<std::pair<std::string, int>, Function> earlier_;
    std::map<Derivative::FuncKey, Func> adjoints_;
    std::set<std::string> only_where_needed_;  ///< adjoints that read what need not be there
};

void order_calls_first(const Function &f, const Environment &env, std::set<std::string> &seen,
                       std::vector<Function> &order) {
    if (!seen.insert(f.name()).second) {
        return;
    }
    for (const auto &callee : find_direct_calls(f, env)) {
        order_calls_first(callee.second, env, seen, order);
    }
    order.push_back(f);
}

Propagate::Propagate(const Func &output, const Func &adjoint, const Box &bounds) {
    const Function f = output.function();
    Target &t = target(f.name(), f.args(), f.output_types());
    Expr inside = const_true();
    for (size_t i = 0; i < bounds.size(); i++) {
        t.needed.push_back(bounds[i]);
        if (bounds[i].is_bounded()) {
            inside = inside && t.sum.vars()[i] >= bounds[i].min && t.sum.vars()[i] <= bounds[i].max;
        }
    }
    for (int i = 0; i < f.outputs(); i++) {
        if (f.output_types()[size_t(i)].is_float()) {
            const Expr value = make_func_call(adjoint.function(), t.sum.vars(), i);
            t.sum.add(i, {true, t.sum.vars(), simplify(inside),
                          cast(f.output_types()[size_t(i)], value)});
        }
    }
    const Environment env = build_environment({f});
    std::set<std::string> seen;
    std::vector<Function> order;
    order_calls_first(f, env, seen, order);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        visit(*it);
    }
    for (const auto &[name, input] : targets_) {
        if (!seen.count(name) && !input.sum.is_empty()) {
            adjoints_.emplace(Derivative::FuncKey(name, -1), input.sum.make(name + "_adjoint"));
        }
    }
}

Propagate::Target &Propagate::target(const std::string &name, const std::vector<std::string> &args,
                                     const std::vector<Type> &types) {
    const auto found = targets_.find(name);
    return found != targets_.end()
               ? found->second
               : targets_.emplace(name, Target{AdjointSum(args, types), Box()}).first->second;
}

// What the stages read of the Func itself, and of others.
void Propagate::need_of_stages(const Function &f, Box &needed) {
    for (int i = f.stages() - 1; i >= 0; i--) {
        const StageToDifferentiate s = prepare_stage(f, i, needed);
        Scope<Interval> ranges;
        for (const AdjointLoop &loop : s.loops) {
            ranges.push(loop.name, loop.range);
        }
        std::vector<Expr> all = s.values;
        all.insert(all.end(), s.place.begin(), s.place.end());
        for (const Expr &e : all) {
            for (const auto &[name, box] : boxes_required(e, ranges)) {
                merge_boxes(name == f.name() ? needed : targets_[name].needed, box);
            }
        }
    }
}

void Propagate::visit(const Function &f) {
    const auto found = targets_.find(f.name());
    if (found == targets_.end() || found->second.sum.is_empty()) {
        // Nothing depends on it through floats.
        const auto &types = f.output_types();
        if (std::any_of(types.begin(), types.end(), [](const Type &t) { return t.is_float(); })) {
            const Func zero = AdjointSum(f.args(), types).make(f.name() + "_adjoint");
            for (int i = f.stages() - 1; i >= 0; i--) {
                adjoints_.emplace(Derivative::FuncKey(f.name(), i - 1), zero);
            }
        }
        return;
    }
    user_assert(!f.has_extern_definition())
        << "func " << f.name() << " is an extern stage, which cannot be differentiated";
    need_of_stages(f, found->second.needed);
    Func after = found->second.sum.make(f.name() + "_adjoint");
    for (int i = f.stages() - 1; i >= 0; i--) {
        adjoints_.emplace(Derivative::FuncKey(f.name(), i - 1), after);
        after = visit_stage(prepare_stage(f, i, targets_[f.name()].needed), after);
    }
}

// The Func as it is after so many of its stages.
Function Propagate::after_stages(const Function &f, int stages) {
    if (stages == f.stages()) {
        return f;
    }
    const auto key = std::make_pair(f.name(), stages);
    const auto found = earlier_.find(key);
    if (found != earlier_.end()) {
        return found->second;
    }
    Func early(f.name() + "_before");
    const auto of_early = [&](const Call *op, const std::vector<Expr> &args) {
        return make_func_call(early.function(), args, op->value_index);
    };
    for (int i = 0; i < stages; i++) {
        std::vector<Expr> args, values;
        for (const Expr &e : f.stage(i)->args) {
            args.push_back(replace_self_calls(e, f.name(), of_early));
        }
        for (const Expr &e : f.stage(i)->values) {
            values.push_back(replace_self_calls(e, f.name(), of_early));
        }
        early(args) = Tuple(values);
    }
    if (stages > 1) {
        early.compute_root();
    }
    return earlier_.emplace(key, early.function()).first->second;
}

bool Propagate::is_earlier(const std::string &name) const {
    return std::any_of(earlier_.begin(), earlier_.end(),
                       [&](const auto &entry) { return entry.second.name() == name; });
}

// Adjoints are 0 where nothing is needed, and may be read there, but for scans: they read inputs
// for all values of their pure Vars.
std::string Propagate::readable_anywhere(const Func &adjoint) const {
    return only_where_needed_.count(adjoint.name()) ? "" : adjoint.name();
}

// The adjoint before a stage, made from one after it.
Func Propagate::before(const StageToDifferentiate &s, const AdjointSum &sum, const Func &of) {
    const Func result = sum.make(s.func.name() + "_adjoint");
    if (only_where_needed_.count(of.name())) {
        only_where_needed_.insert(result.name());
    }
    return result;
}

std::vector<LeafAdjoint> Propagate::leaves_of(const StageToDifferentiate &s,
                                              const std::vector<Expr> &adjoints) const {
    std::vector<LeafAdjoint> all;
    for (size_t i = 0; i < s.values.size(); i++) {
        if (!s.values[i].type().is_float()) {
            continue;
        }
        for (const LeafAdjoint &leaf : leaf_adjoints(s.values[i], adjoints[i])) {
            const auto same = std::find_if(all.begin(), all.end(), [&](const LeafAdjoint &other) {
                return equal(other.leaf, leaf.leaf);
            });
            if (same == all.end()) {
                all.push_back(leaf);
            } else {
                same->adjoint = same->adjoint + leaf.adjoint;
            }
        }
    }
    return all;
}

// To the adjoints of all but the Func itself, as it is and as it was earlier.
void Propagate::contribute(const StageToDifferentiate &s, const std::vector<LeafAdjoint> &leaves,
                           const std::string &adjoint) {
    for (const LeafAdjoint &leaf : leaves) {
        std::vector<std::string> args;
        std::vector<Type> types = {leaf.leaf.type()};
        Contribution c{s.loops, s.predicate, {}, leaf.adjoint};
        int value_index = 0;
        std::string name;
        if (const Call *call = leaf.leaf.as<Call>()) {
            name = call->name;
            if (name == s.func.name() || is_earlier(name)) {
                continue;
            }
            c.place = call->args;
            value_index = call->value_index;
            if (call->call_type == CallKind::Func) {
                args = Function(call->symbol).args();
                types = Function(call->symbol).output_types();
            } else {
                for (size_t i = 0; i < call->args.size(); i++) {
                    args.push_back(Var::implicit(int(i)).name());
                }
            }
        } else {
            name = leaf.leaf.as<Variable>()->name;
        }
        Target &t = targets_[name];
        if (t.sum.is_empty()) {
            t.sum = AdjointSum(args, types);
        }
        t.sum.add(value_index, place_contribution(c, t.sum.args(), adjoint, s.describe()));
    }
}

std::vector<LeafAdjoint> only_of(const std::vector<LeafAdjoint> &leaves, const Function &f) {
    std::vector<LeafAdjoint> result;
    std::copy_if(leaves.begin(), leaves.end(), std::back_inserter(result),
                 [&](const LeafAdjoint &leaf) {
                     const Call *call = leaf.leaf.as<Call>();
                     return call && call->name == f.name();
                 });
    return result;
}

std::vector<Expr> calls_at(const Function &f, const std::vector<Expr> &place) {
    std::vector<Expr> result;
    for (int i = 0; i < f.outputs(); i++) {
        result.push_back(make_func_call(f, place, i));
    }
    return result;
}

// f(place) += something that does not depend on f.
bool only_adds(const StageToDifferentiate &s, const std::vector<LeafAdjoint> &self,
               const std::vector<Expr> &adjoints) {
    size_t floats = 0;
    for (const Expr &value : s.values) {
        floats += value.type().is_float();
    }
    return self.size() == floats &&
           std::all_of(self.begin(), self.end(), [&](const LeafAdjoint &leaf) {
               const Call *call = leaf.leaf.as<Call>();
               for (size_t j = 0; j < s.place.size(); j++) {
                   if (!equal(simplify(call->args[j]), simplify(s.place[j]))) {
                       return false;
                   }
               }
               return equal(simplify(leaf.adjoint), simplify(adjoints[size_t(call->value_index)]));
           });
}

std::string place_clash(const StageToDifferentiate &s) {
    return s.describe() +
           " writes elements more than once and is not a sum, which cannot be differentiated";
}

// Hands on the adjoint `after` a stage; gives that before it.
Func Propagate::visit_stage(const StageToDifferentiate &s, const Func &after) {
    const std::vector<Expr> adjoints = calls_at(after.function(), s.place);
    std::vector<LeafAdjoint> leaves = leaves_of(s, adjoints);
    const std::vector<LeafAdjoint> self = only_of(leaves, s.func);
    if (s.index == 0 || only_adds(s, self, adjoints)) {
        // The derivatives may read the Func where it adds to itself.
        const Function f = after_stages(s.func, s.func.stages());
        for (LeafAdjoint &leaf : leaves) {
            leaf.adjoint = replace_self_calls(leaf.adjoint, f.name(),
                                              [&](const Call *op, const std::vector<Expr> &args) {
                                                  return make_func_call(f, args, op->value_index);
                                              });
        }
        contribute(s, leaves, readable_anywhere(after));
        return after;
    }
    std::set<SelfRead> reads;
    for (const LeafAdjoint &leaf : self) {
        reads.insert(s.read_at(leaf.leaf.as<Call>()->args));
    }
    if (!is_injective(s.place, s.rvars)) {
        const bool only_same =
            std::all_of(reads.begin(), reads.end(), [](SelfRead r) { return r == SelfRead::Same; });
        const bool moves = std::any_of(s.place.begin(), s.place.end(),
                                       [&](const Expr &e) { return uses_any_var(e, s.rvars); });
        user_assert(only_same && !moves && !reads.empty()) << place_clash(s);
        return expanded(s, after);
    }
    user_assert(!reads.count(SelfRead::Unknown))
        << s.describe() << " reads the func at places that other iterations may write, in an "
        << "order that is not known: it cannot be differentiated";
    user_assert(!(reads.count(SelfRead::Before) && reads.count(SelfRead::Scan)))
        << s.describe() << " reads the func before and after other iterations write it, which "
        << "cannot be differentiated";
    return reads.count(SelfRead::Scan) ? scan(s, after) : without_dependence(s, after, self);
}

// No iteration reads what another wrote.
Func Propagate::without_dependence(const StageToDifferentiate &s, const Func &after,
                                   const std::vector<LeafAdjoint> &self) {
    std::vector<LeafAdjoint> leaves = leaves_of(s, calls_at(after.function(), s.place));
    const bool is_last = s.index == s.func.stages() - 1;
    const auto forward = [&](const Call *op, const std::vector<Expr> &args) {
        const bool is_kept = is_last && s.read_at(args) == SelfRead::Separate;
        const Function f = after_stages(s.func, is_kept ? s.func.stages() : s.index);
        return make_func_call(f, args, op->value_index);
    };
    for (LeafAdjoint &leaf : leaves) {
        leaf.adjoint = replace_self_calls(leaf.adjoint, s.func.name(), forward);
    }
    contribute(s, leaves, readable_anywhere(after));

    AdjointSum sum(s.func.args(), s.func.output_types());
    sum.start_from(after,
                   place_contribution({s.loops, s.predicate, s.place, make_zero(Float(32))},
                                      s.func.args(), readable_anywhere(after), s.describe()));
    for (size_t i = 0; i < self.size(); i++) {
        const Call *call = self[i].leaf.as<Call>();
        const Expr value = replace_self_calls(self[i].adjoint, s.func.name(), forward);
        sum.add(call->value_index,
                place_contribution({s.loops, s.predicate, call->args, value}, s.func.args(),
                                   readable_anywhere(after), s.describe()));
    }
    return before(s, sum, after);
}

// The stage's expressions in the Func's own Vars.
std::map<std::string, Expr> to_vars(const StageToDifferentiate &s) {
    std::map<std::string, Expr> result;
    for (const auto &[arg, name] : s.vars) {
        result[name] = Var(arg);
    }
    return result;
}

// What the iterations add to the adjoint that is carried, from the last to the first.
struct ScanUpdate {
    std::vector<std::vector<Expr>> places, values;  ///< for each place a value an element
};

ScanUpdate backwards(const StageToDifferentiate &s, const std::vector<LeafAdjoint> &self,
                     const Func &carried) {
    Region region;
    for (const ReductionVariable &r : s.func.stage(s.index)->schedule.rvars) {
        region.emplace_back(r.min, r.extent);
    }
    const RDom domain(region);
    std::map<std::string, Expr> renaming = to_vars(s);
    for (size_t i = 0; i < region.size(); i++) {
        renaming[s.rvars[i]] = region[i].min * 2 + region[i].extent - 1 - domain[int(i)];
    }
    const auto reversed = [&](const Expr &e) {
        return simplify(substitute(renaming, e));
    };
    ScanUpdate update;
    for (const LeafAdjoint &leaf : self) {
        const Call *call = leaf.leaf.as<Call>();
        if (s.read_at(call->args) == SelfRead::Same) {
            continue;
        }
        std::vector<Expr> place;
        std::transform(call->args.begin(), call->args.end(), std::back_inserter(place), reversed);
        const auto same =
            std::find_if(update.places.begin(), update.places.end(), [&](const auto &other) {
                return std::equal(place.begin(), place.end(), other.begin(),
                                  [](const Expr &a, const Expr &b) { return equal(a, b); });
            });
        const size_t at = size_t(same - update.places.begin());
        if (same == update.places.end()) {
            update.places.push_back(place);
            update.values.emplace_back();
            for (const Type &t : carried.types()) {
                update.values.back().push_back(make_zero(t));
            }
        }
        Expr &value = update.values[at][size_t(call->value_index)];
        value =
            value + select(reversed(s.predicate), reversed(leaf.adjoint), make_zero(value.type()));
    }
    return update;
}

// The values of an update that adds, at places that may coincide, to the adjoints read there.
void define_scan_update(Func &carried, const std::vector<std::vector<Expr>> &places,
                        const std::vector<std::vector<Expr>> &values) {
    const size_t n = places.size();
    const auto coincide = [&](size_t a, size_t b) {
        Expr all = const_true();
        for (size_t d = 0; d < places[a].size(); d++) {
            all = all && places[a][d] == places[b][d];
        }
        return simplify(all);
    };
    std::vector<std::vector<Expr>> sums(n);
    for (size_t p = 0; p < n; p++) {
        for (size_t i = 0; i < values[p].size(); i++) {
            Expr sum = make_func_call(carried.function(), places[p], int(i));
            for (size_t q = 0; q < n; q++) {
                sum = sum + (p == q ? values[q][i]
                                    : select(coincide(p, q), values[q][i],
                                             make_zero(values[q][i].type())));
            }
            sums[p].push_back(simplify(sum));
        }
    }
    if (n == 1) {
        carried(places[0]) = Tuple(sums[0]);
        return;
    }
    std::vector<Expr> place, value;
    for (size_t d = 0; d < places[0].size(); d++) {
        std::vector<Expr> column;
        for (size_t p = 0; p < n; p++) {
            column.push_back(places[p][d]);
        }
        const bool is_one = std::all_of(column.begin(), column.end(),
                                        [&](const Expr &e) { return equal(e, column[0]); });
        place.push_back(is_one ? column[0] : scatter(column));
    }
    for (size_t i = 0; i < sums[0].size(); i++) {
        std::vector<Expr> column;
        for (size_t p = 0; p < n; p++) {
            column.push_back(sums[p][i]);
        }
        value.push_back(gather(column));
    }
    carried(place) = Tuple(value);
}

// Iterations read what earlier ones wrote, and nothing that later ones write: the adjoint of what
// iteration r wrote is complete when all after r have handed on theirs.
//     f(r) = f(r - 1) * c(r)
//     ->  carried(x) = after(x);  carried(r - 1) += carried(r) * c(r), from the last r to the first
Func Propagate::scan(const StageToDifferentiate &s, const Func &after) {
    Func carried(s.func.name() + "_adjoint");
    only_where_needed_.insert(carried.name());
    std::vector<Var> vars(s.func.args().begin(), s.func.args().end());
    const std::vector<Expr> coordinates(vars.begin(), vars.end());
    carried(vars) = Tuple(calls_at(after.function(), coordinates));

    std::vector<LeafAdjoint> leaves = leaves_of(s, calls_at(carried.function(), s.place));
    const auto is_same = [&](const std::vector<Expr> &args) {
        return s.read_at(args) == SelfRead::Same;
    };
    for (LeafAdjoint &leaf : leaves) {
        leaf.adjoint = replace_self_calls(
            leaf.adjoint, s.func.name(), [&](const Call *op, const std::vector<Expr> &args) {
                const Function f = after_stages(s.func, s.index + (is_same(args) ? 0 : 1));
                return make_func_call(f, args, op->value_index);
            });
    }

    const ScanUpdate update = backwards(s, only_of(leaves, s.func), carried);
    define_scan_update(carried, update.places, update.values);
    carried.compute_root();
    contribute(s, leaves, readable_anywhere(carried));

    AdjointSum sum(s.func.args(), s.func.output_types());
    sum.start_from(carried,
                   place_contribution({s.loops, s.predicate, s.place, make_zero(Float(32))},
                                      s.func.args(), readable_anywhere(carried), s.describe()));
    for (const LeafAdjoint &leaf : only_of(leaves, s.func)) {
        const Call *call = leaf.leaf.as<Call>();
        if (is_same(call->args)) {
            sum.add(call->value_index,
                    place_contribution({s.loops, s.predicate, call->args, leaf.adjoint},
                                       s.func.args(), readable_anywhere(carried), s.describe()));
        }
    }
    return before(s, sum, carried);
}

// All iterations write one element for each value of the pure Vars. All values that it has on the
// way are kept, along a dimension of their own, and that scan is differentiated:
//     f(x) = f(x) * c(r)
//     ->  steps(x, 0) = f before;  steps(x, q + 1) = steps(x, q) * c(q);  f(x) = steps(x, extent)
struct Steps {
    Func func;
    std::vector<Expr> vars;  ///< f's pure Vars, the dimensions of `func` but the last
    Expr count;
    /// `vars`, and this step.
    std::vector<Expr> at(const Expr &step) const {
        std::vector<Expr> place = vars;
        place.push_back(step);
        return place;
    }
};

// The RVars in terms of the number of the iteration.
void decode_step(const StageToDifferentiate &s, Expr step, std::map<std::string, Expr> &rvars) {
    for (size_t i = 0; i < s.rvars.size(); i++) {
        const ReductionVariable &r = s.func.stage(s.index)->schedule.rvars[i];
        const bool is_last = i + 1 == s.rvars.size();
        rvars[s.rvars[i]] = (is_last ? step : step % r.extent) + r.min;
        step = step / r.extent;
    }
}

Steps define_steps(const StageToDifferentiate &s, const Function &before) {
    Steps steps{Func(s.func.name() + "_steps"), {}, 1};
    std::map<std::string, Expr> renaming = to_vars(s);
    for (const AdjointLoop &loop : s.loops) {
        if (loop.is_pure) {
            steps.vars.push_back(renaming.at(loop.name));
        }
    }
    for (const ReductionVariable &r : s.func.stage(s.index)->schedule.rvars) {
        steps.count = simplify(steps.count * r.extent);
    }
    std::vector<Expr> place;
    for (const Expr &e : s.place) {
        place.push_back(substitute(renaming, e));
    }
    Func &f = steps.func;
    f(steps.at(Var("step"))) = Tuple(calls_at(before, place));

    const RDom q(0, steps.count, unique_name(s.func.name() + "_step"));
    decode_step(s, q.x, renaming);
    const std::vector<Expr> unchanged = calls_at(f.function(), steps.at(q.x));
    const auto in_step = [&](const Expr &e) {
        const Expr of_steps =
            replace_self_calls(e, s.func.name(), [&](const Call *op, const std::vector<Expr> &) {
                return unchanged[size_t(op->value_index)];
            });
        return substitute(renaming, of_steps);
    };
    std::vector<Expr> values;
    const Expr condition = simplify(in_step(s.predicate));
    for (size_t i = 0; i < s.values.size(); i++) {
        const Expr value = in_step(s.values[i]);
        values.push_back(is_trivially_true(condition) ? value
                                                      : select(condition, value, unchanged[i]));
    }
    f(steps.at(q.x + 1)) = Tuple(values);
    f.compute_root();
    return steps;
}

Func Propagate::expanded(const StageToDifferentiate &s, const Func &after) {
    const Steps steps = define_steps(s, after_stages(s.func, s.index));
    // As if f(place) = steps(..., count) were the stage.
    StageToDifferentiate last = s;
    last.loops.resize(s.loops.size() - s.rvars.size());
    last.rvars.clear();
    last.predicate = const_true();
    std::map<std::string, Expr> to_loops;
    for (const auto &[arg, name] : s.vars) {
        to_loops[arg] = Variable::make(Int(32), name);
    }
    const auto of_loops = [&](std::vector<Expr> all) {
        for (Expr &e : all) {
            e = substitute(to_loops, e);
        }
        return all;
    };
    last.values = of_loops(calls_at(steps.func.function(), steps.at(steps.count)));
    Box &needed = targets_[steps.func.name()].needed;
    for (const AdjointLoop &loop : last.loops) {
        needed.push_back(loop.range);
    }
    needed.push_back(Interval(0, steps.count));
    const Func at_end = without_dependence(last, after, {});
    visit(steps.func.function());

    // The first step reads what f was before.
    const Func steps_adjoint = adjoints_.at({steps.func.name(), -1});
    AdjointSum sum(s.func.args(), s.func.output_types());
    sum.start_from(at_end);
    const std::vector<Expr> first = calls_at(steps_adjoint.function(), of_loops(steps.at(0)));
    for (size_t i = 0; i < first.size(); i++) {
        sum.add(int(i),
                place_contribution({last.loops, const_true(), s.place, first[i]}, s.func.args(),
                                   readable_anywhere(steps_adjoint), s.describe()));
    }
    only_where_needed_.insert(steps_adjoint.name());
    return before(s, sum, steps_adjoint);
}

}  // namespace

Func Derivative::operator()(const Func &func, int update_id) const {
    const auto found = adjoints.find({func.name(), update_id});
    if (found != adjoints.end()) {
        return found->second;
    }
    // The Func of an image stands for the image.
    if (update_id == -1 && func.defined() && !func.is_extern() && func.outputs() == 1) {
        const Call *call = func.value().as<Call>();
        if (call && call->call_type == CallKind::Image) {
            return (*this)(call->name);
        }
    }
    return Func(func.name() + "_adjoint");
}

Func Derivative::operator()(const Buffer<> &buffer) const {
    return (*this)(buffer.name());
}

Func Derivative::operator()(const Param<> &param) const {
    return (*this)(param.name());
}

Func Derivative::operator()(const std::string &name) const {
    const auto found = adjoints.find({name, -1});
    return found != adjoints.end() ? found->second : Func(name + "_adjoint");
}

namespace {

Derivative differentiate(const Func &output, const Func &adjoint, const Box &output_bounds) {
    user_assert(output.defined()) << "func " << output.name()
                                  << " is differentiated, but not defined yet";
    user_assert(adjoint.defined() && adjoint.dimensions() == output.dimensions() &&
                adjoint.outputs() == output.outputs())
        << "the adjoint " << adjoint.name() << " of func " << output.name()
        << " must have as many dimensions and values";
    user_assert(output_bounds.size() == size_t(output.dimensions()))
        << "func " << output.name() << " has " << output.dimensions()
        << " dimensions, the bounds to differentiate it in have " << output_bounds.size();
    return Derivative(Propagate(output, adjoint, output_bounds).take());
}

}  // namespace

Derivative propagate_adjoints(const Func &output, const Func &adjoint,
                              const Region &output_bounds) {
    Box covered;
    for (const Range &r : output_bounds) {
        covered.push_back(Interval(r.min, simplify(r.min + r.extent)));
    }
    return differentiate(output, adjoint, covered);
}

Derivative propagate_adjoints(const Func &output, const Buffer<float> &adjoint) {
    Box bounds;
    for (int i = 0; i < adjoint.dimensions(); i++) {
        bounds.push_back(Interval(adjoint.dim(i).min(), adjoint.dim(i).max()));
    }
    Buffer<float> b = adjoint;
    return differentiate(output, Func(b), bounds);
}

Derivative propagate_adjoints(const Func &output) {
    user_assert(output.defined()) << "func " << output.name()
                                  << " is differentiated, but not defined yet";
    std::vector<Expr> ones;
    for (const Type &t : adjoint_types(output.types())) {
        ones.push_back(make_one(t));
    }
    Func one("one");
    one(output.args()) = Tuple(ones);
    Box everywhere;
    for (int i = 0; i < output.dimensions(); i++) {
        everywhere.push_back(Interval::everything());
    }
    return differentiate(output, one, everywhere);
}

}  // namespace calotype
