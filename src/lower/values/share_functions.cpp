// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each copy of an unrolled body has lets of its own, so values are compared by what they are made of: what a let
// names has a number, the same for equal values, and that stands for the value wherever it occurs. A first walk
// numbers the lets, a second one counts the functions of numbers, and a third one names those that occur twice:
// in front of the first store, after the numbers that they need.
#include "lower/values/share_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/effects.h"

namespace calotype::internal {

namespace {

/// A choice is shared as a function is.
bool is_function(const Call *op) {
    return is_long_function(op) || (op && op->is_intrinsic(Intrinsic::if_then_else));
}

/// Several such functions of different scalars are computed as lanes of one vector: they are the same there, and take
/// about as long as one of them.
bool has_lanes(const Call *op) {
    return is_long_function(op) && op->type.is_scalar() && op->type.is_float() &&
           op->type.bits() >= 32;
}

/// Lets as they are put in front of a sequence, outermost first.
using Lets = std::vector<std::pair<std::string, Expr>>;

/// Puts functions of scalars that do not need each other together.
class Pack {
public:
    explicit Pack(LowerContext &ctx) : ctx_(ctx) {
    }

    /// In rounds: what needs no function that is left, then the functions that need no other.
    Lets run(const Lets &lets) {
        std::vector<std::vector<const Lets::value_type *>> rounds;
        for (const auto &let : lets) {
            int round = 0;
            for (const std::string &name : free_variables(let.second)) {
                const auto known = ready_.find(name);
                round = known == ready_.end() ? round : std::max(round, known->second);
            }
            rounds.resize(std::max(rounds.size(), size_t(round) + 1));
            rounds[round].push_back(&let);
            ready_[let.first] = round + has_lanes(let.second.as<Call>());
        }
        for (const auto &round : rounds) {
            place(round);
        }
        return std::move(placed_);
    }

private:
    void place(const std::vector<const Lets::value_type *> &round) {
        std::map<std::pair<Intrinsic, int>, std::vector<const Lets::value_type *>> functions;
        for (const auto *let : round) {
            const Call *call = let->second.as<Call>();
            if (has_lanes(call)) {
                functions[{call->intrinsic, call->type.bits()}].push_back(let);
            } else {
                placed_.push_back(*let);
            }
        }
        for (const auto &[kind, alike] : functions) {
            const size_t most = size_t(std::max(ctx_.target.natural_lanes(kind.second, true), 1));
            for (size_t i = 0; i < alike.size(); i += most) {
                place_as_lanes(
                    {alike.begin() + i, alike.begin() + std::min(i + most, alike.size())});
            }
        }
    }

    void place_as_lanes(const std::vector<const Lets::value_type *> &alike) {
        if (alike.size() == 1) {
            placed_.push_back(*alike[0]);
            return;
        }
        size_t lanes = 2;
        while (lanes < alike.size()) {
            lanes *= 2;
        }
        const Call *first = alike[0]->second.as<Call>();
        std::vector<Expr> args;
        for (size_t i = 0; i < first->args.size(); i++) {
            std::vector<Expr> of_lanes;
            for (size_t lane = 0; lane < lanes; lane++) {  // the last one fills up
                const auto *let = alike[std::min(lane, alike.size() - 1)];
                of_lanes.push_back(let->second.as<Call>()->args[i]);
            }
            const bool is_one = std::all_of(of_lanes.begin(), of_lanes.end(),
                                            [&](const Expr &e) { return equal(e, of_lanes[0]); });
            args.push_back(is_one ? Broadcast::make(of_lanes[0], int(lanes))
                                  : Shuffle::make_concat(of_lanes));
        }
        const Type type = first->type.with_lanes(int(lanes));
        const std::string all = ctx_.names.unique(alike[0]->first + ".lanes");
        placed_.emplace_back(all, Call::make(type, first->intrinsic, args));
        for (size_t lane = 0; lane < alike.size(); lane++) {
            const Expr value = Shuffle::make_extract_element(Variable::make(type, all), int(lane));
            placed_.emplace_back(alike[lane]->first, value);
        }
    }

    LowerContext &ctx_;
    std::map<std::string, int> ready_;  ///< the round in which what needs the name can be placed
    Lets placed_;
};

/// A let that functions may go past.
bool is_value(const LetStmt *let) {
    return !let->value.type().is_handle() && !has_effects(let->value);
}

/// Stores with lets around them, and nothing else.
bool is_sequence(const Stmt &s) {
    if (const LetStmt *let = s.as<LetStmt>()) {
        return is_value(let) && is_sequence(let->body);
    }
    const Block *block = s.as<Block>();
    return block ? is_sequence(block->first) && is_sequence(block->rest) : s.as<Store>() != nullptr;
}

/// A sequence; or the lets in front of something else, which is left out.
class Sequence : public Visitor {
public:
    explicit Sequence(const Stmt &s) : rest_(rest_of(s)) {
        (*this)(s);
    }
    void operator()(const Stmt &s) override {
        if (!is_rest(s)) {
            Visitor::operator()(s);
        }
    }
    using Visitor::operator();

    bool is_rest(const Stmt &s) const {
        return s.same_as(rest_);
    }
    /// Several functions occur in it.
    bool is_worth_sharing() const {
        return functions_ > 1;
    }
    const std::set<std::string> &written() const {
        return written_;
    }

private:
    using Visitor::visit;

    static Stmt rest_of(const Stmt &s) {
        const LetStmt *let = s.as<LetStmt>();
        if (let && is_value(let)) {
            return rest_of(let->body);
        }
        return is_sequence(s) ? Stmt() : s;
    }
    void visit(const Call *op) override {
        functions_ += is_function(op);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        written_.insert(op->name);
        Visitor::visit(op);
    }

    const Stmt rest_;
    int functions_ = 0;
    std::set<std::string> written_;
};

/// Numbers of the values of lets.
struct Numbers {
    std::map<std::string, Expr> meanings;             ///< what the names of lets mean at a place
    std::map<Expr, std::string, ExprDeepLess> names;  ///< by what the values are made of
    std::map<std::string, Expr> values;               ///< the same the other way round
    std::set<std::string> changing;                   ///< those that are not the same at all places
};

/// Expressions made of numbers.
class Numbered : public Mutator {
public:
    using Uses = std::map<Expr, int, ExprDeepLess>;

    /// `uses`: where to count functions, or null.
    explicit Numbered(const Numbers &numbers, Uses *uses = nullptr)
        : numbers_(numbers), uses_(uses) {
    }
    /// The whole stays what it is, even where it has a number.
    Expr of_operands(const Expr &e) {
        Expr made = Mutator::mutate(e);
        if (uses_ && is_function(made.as<Call>())) {
            (*uses_)[made]++;
        }
        return made;
    }
    Expr mutate(const Expr &e) override {
        if (!e.defined()) {
            return e;
        }
        const Expr made = of_operands(e);
        const auto known = is_trivial(made) ? numbers_.names.end() : numbers_.names.find(made);
        return known == numbers_.names.end() ? made : Variable::make(e.type(), known->second);
    }
    using Mutator::mutate;

private:
    using Mutator::visit;

    Expr visit(const Variable *op) override {
        const auto known = numbers_.meanings.find(op->name);
        return known == numbers_.meanings.end() ? Expr(op) : known->second;
    }
    Expr visit(const Let *op) override {
        return op;
    }
    Expr visit(const Call *op) override {
        if (uses_ && op->is_intrinsic(Intrinsic::if_then_else)) {
            return Numbered(numbers_).visit(op);  // shared as a whole, or not at all
        }
        return Mutator::visit(op);
    }

    const Numbers &numbers_;
    Uses *const uses_;
};

/// Whether a value made of numbers is the same at all places of a sequence.
class IsFixed : public Visitor {
public:
    static bool ask(const Expr &e, const std::set<std::string> &written, const Numbers &numbers) {
        IsFixed f(written, numbers);
        f(e);
        return f.is_fixed_;
    }

private:
    using Visitor::visit;

    IsFixed(const std::set<std::string> &written, const Numbers &numbers)
        : written_(written), numbers_(numbers) {
    }
    void visit(const Variable *op) override {
        is_fixed_ = is_fixed_ && !numbers_.changing.count(op->name);
    }
    void visit(const Load *op) override {
        is_fixed_ = is_fixed_ && !written_.count(op->name);
        Visitor::visit(op);
    }
    void visit(const Let *) override {
        is_fixed_ = false;
    }
    void visit(const Call *op) override {
        is_fixed_ = is_fixed_ && op->is_intrinsic() && op->is_pure();
        Visitor::visit(op);
    }

    const std::set<std::string> &written_;
    const Numbers &numbers_;
    bool is_fixed_ = true;
};

/// The functions of one sequence of stores.
class Share : public Mutator {
public:
    Share(const Sequence &sequence, const std::string &prefix, LowerContext &ctx)
        : sequence_(sequence), written_(sequence.written()), prefix_(prefix), ctx_(ctx) {
    }

    Stmt mutate(const Stmt &s) override {
        return sequence_.is_rest(s) ? s : Mutator::mutate(s);
    }
    using Mutator::mutate;

    Stmt run(const Stmt &s) {
        walk(s, nullptr);
        Numbered::Uses uses;
        walk(s, &uses);
        std::map<Intrinsic, int> alike;
        for (const auto &[call, count] : uses) {
            const Call *op = call.as<Call>();
            alike[op->intrinsic] += has_lanes(op) && IsFixed::ask(call, written_, numbers_);
        }
        for (const auto &[call, count] : uses) {
            const Call *op = call.as<Call>();
            const bool moves = count > 1 || (has_lanes(op) && alike[op->intrinsic] > 1);
            if (moves && IsFixed::ask(call, written_, numbers_)) {
                shared_.emplace(call, std::string());
            }
        }
        if (shared_.empty()) {
            return s;
        }
        const Stmt result = mutate(s);
        return wrap_in_lets(Pack(ctx_).run(lets_), result);
    }

private:
    using Mutator::visit;

    void walk(const Stmt &s, Numbered::Uses *uses) {
        if (sequence_.is_rest(s)) {
            return;
        }
        if (const Block *block = s.as<Block>()) {
            walk(block->first, uses);
            walk(block->rest, uses);
        } else if (const LetStmt *let = s.as<LetStmt>()) {
            const Expr around = enter(let, uses);
            walk(let->body, uses);
            leave(let, around);
        } else if (uses) {
            const Store *store = s.as<Store>();
            Numbered made(numbers_, uses);
            made.mutate(store->value);
            made.mutate(store->index);
        }
    }

    /// From here on the let's name means the number of its value. Returns what it meant before.
    Expr enter(const LetStmt *let, Numbered::Uses *uses) {
        const Expr value = Numbered(numbers_, uses).of_operands(let->value);
        Expr number = value;
        if (!is_trivial(value)) {
            const auto [known, is_new] = numbers_.names.emplace(value, std::string());
            if (is_new) {
                known->second = ctx_.names.unique(prefix_ + ".value");
                numbers_.values.emplace(known->second, value);
                if (!IsFixed::ask(value, written_, numbers_)) {
                    numbers_.changing.insert(known->second);
                }
            }
            number = Variable::make(value.type(), known->second);
        }
        return std::exchange(numbers_.meanings[let->name], number);
    }

    void leave(const LetStmt *let, const Expr &around) {
        if (around.defined()) {
            numbers_.meanings[let->name] = around;
        } else {
            numbers_.meanings.erase(let->name);
        }
    }

    Stmt visit(const LetStmt *op) override {
        Expr value = mutate(op->value);
        const Expr around = enter(op, nullptr);
        const Expr number = numbers_.meanings[op->name];
        const Stmt body = mutate(op->body);
        leave(op, around);
        const Variable *name = number.as<Variable>();
        if (name && placed_.count(name->name)) {
            value = number;
        }
        const bool same = value.same_as(op->value) && body.same_as(op->body);
        return same ? Stmt(op) : LetStmt::make(op->name, value, body);
    }

    Expr visit(const Let *op) override {
        return op;
    }

    Expr visit(const Call *op) override {
        const Expr name =
            is_function(op) ? shared_name(Numbered(numbers_).of_operands(op)) : Expr();
        if (name.defined()) {
            return name;
        }
        return op->is_intrinsic(Intrinsic::if_then_else) ? Expr(op) : Mutator::visit(op);
    }

    /// Undefined if it is not shared.
    Expr shared_name(const Expr &made) {
        const auto shared = shared_.find(made);
        if (shared == shared_.end()) {
            return Expr();
        }
        if (shared->second.empty()) {
            const Expr value = Place(*this).of_operands(made);
            shared->second = ctx_.names.unique(prefix_ + ".shared");
            lets_.emplace_back(shared->second, value);
        }
        return Variable::make(made.type(), shared->second);
    }

    /// Puts what a shared value is made of in front of the sequence.
    class Place : public Mutator {
    public:
        explicit Place(Share &share) : share_(share) {
        }
        Expr of_operands(const Expr &e) {
            return Mutator::visit(e.as<Call>());
        }

    private:
        using Mutator::visit;
        Expr visit(const Variable *op) override {
            const auto value = share_.numbers_.values.find(op->name);
            if (value != share_.numbers_.values.end() && share_.placed_.insert(op->name).second) {
                const Expr made = mutate(value->second);
                share_.lets_.emplace_back(op->name, made);
            }
            return op;
        }
        Expr visit(const Call *op) override {
            const Expr name = is_function(op) ? share_.shared_name(op) : Expr();
            return name.defined() ? name : Mutator::visit(op);
        }
        Share &share_;
    };

    const Sequence &sequence_;
    const std::set<std::string> &written_;
    const std::string prefix_;
    LowerContext &ctx_;
    Numbers numbers_;
    std::map<Expr, std::string, ExprDeepLess>
        shared_;                    ///< what occurs twice; without a name until one is needed
    std::set<std::string> placed_;  ///< numbers that stand in front of the sequence
    Lets lets_;                     ///< all that stands there, in order
};

/// What the value of a let names stands in front of it, so that what is computed there is shared as all else is:
/// the same function of the same values, computed once as a lane and once by itself, could give two results.
class OpenLets : public StmtMutator {
public:
    explicit OpenLets(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        return is_gpu(op->for_type) ? Stmt(op) : Mutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        if (!op->value.as<Let>() || !is_value(op) || !contains<Call>(op->value, is_function)) {
            return Mutator::visit(op);
        }
        Lets lets;
        Expr value = op->value;
        while (const Let *let = value.as<Let>()) {
            const std::string name = ctx_.names.unique(let->name);
            lets.emplace_back(name, let->value);
            value = substitute(let->name, Variable::make(let->value.type(), name), let->body);
        }
        return wrap_in_lets(lets, LetStmt::make(op->name, value, mutate(op->body)));
    }

    LowerContext &ctx_;
};

class ShareAll : public StmtMutator {
public:
    explicit ShareAll(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            return op;
        }
        const std::string around = std::exchange(prefix_, op->name);
        const Stmt s = Mutator::visit(op);
        prefix_ = around;
        return s;
    }

    Stmt visit(const Block *op) override {
        return is_sequence(op) ? shared(op) : Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        return shared(op);
    }
    Stmt visit(const LetStmt *op) override {
        if (!is_value(op)) {
            return inside_lets(op, false);
        }
        if (in_lets_) {
            return inside_lets(op, true);
        }
        return shared(is_sequence(op) ? Stmt(op) : inside_lets(op, true));
    }

    Stmt inside_lets(const LetStmt *op, bool in_lets) {
        const bool around = std::exchange(in_lets_, in_lets && op->body.as<LetStmt>() != nullptr);
        const Stmt s = Mutator::visit(op);
        in_lets_ = around;
        return s;
    }

    Stmt shared(const Stmt &s) {
        const Sequence sequence(s);
        return sequence.is_worth_sharing() ? Share(sequence, prefix_, ctx_).run(s) : s;
    }

    LowerContext &ctx_;
    std::string prefix_ = "stores";
    bool in_lets_ = false;  ///< of which the first was asked
};

}  // namespace

Stmt share_functions(const Stmt &s, LowerContext &ctx) {
    return ShareAll(ctx).mutate(OpenLets(ctx).mutate(s));
}

}  // namespace calotype::internal
