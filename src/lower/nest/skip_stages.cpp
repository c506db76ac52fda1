// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/skip_stages.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/names.h"
#include "lower/nest/elements/element_stages.h"

namespace calotype::internal {

namespace {

/// Under which conditions a Func is needed in the body of its realization.
class Uses : public Visitor {
public:
    /// The handles are those of the Func's storage. A Func that is fused with others has their
    /// statements in its production.
    Uses(const std::string &func, const std::set<std::string> &handles, bool is_fused,
         const Stmt &body)
        : func_(func), handles_(handles), is_fused_(is_fused), body_(body) {
        (*this)(body);
    }

    Expr matters = const_false();  ///< something depends on its values
    Expr read = const_false();     ///< it is read
    int producers = 0;

private:
    using Visitor::visit;

    /// What may differ from the begin of the realization to the place of a condition in it.
    struct Changes : Visitor {
        using Visitor::visit;
        explicit Changes(const Stmt &body) {
            (*this)(body);
        }
        void visit(const Provide *op) override {
            stored.insert(op->name);
            Visitor::visit(op);
        }
        void visit(const ProducerConsumer *op) override {
            stored.insert(op->name);
            Visitor::visit(op);
        }
        void visit(const Realize *op) override {
            stored.insert(op->name);
            Visitor::visit(op);
        }
        void visit(const For *op) override {
            kernels |= is_gpu(op->for_type);
            Visitor::visit(op);
        }
        std::unordered_set<std::string> stored;
        bool kernels = false;
    };

    /// Found when the first condition is met: most Funcs are needed in any case.
    const Changes &changes() const {
        if (!changes_) {
            changes_.emplace(body_);
        }
        return *changes_;
    }

    /// Nothing that follows changes the answer.
    bool is_decided() const {
        return is_const_one(matters) && is_const_one(read);
    }

    /// Can be asked where the storage is made. What is stored within the realization cannot, nor
    /// what may have no element there since a condition around this one keeps it from being read;
    /// and what a kernel asks for itself is not copied to the host for that.
    bool is_known_outside(const Expr &e) const {
        return !uses_any_var(e, bound_) && !contains_kind(e, NodeKind::Let) &&
               !contains_kind(e, NodeKind::Load) && calls_are_known(e);
    }

    bool calls_are_known(const Expr &e) const {
        struct Finder : GraphVisitor {
            using GraphVisitor::visit;
            void visit(const Call *op) override {
                const bool reads =
                    op->call_type == CallKind::Func || op->call_type == CallKind::Image;
                loads |= reads;
                impure |= !reads && !op->is_pure();
                stored |= reads && uses->changes().stored.count(op->name) > 0;
                GraphVisitor::visit(op);
            }
            const Uses *uses = nullptr;
            bool loads = false, impure = false, stored = false;
        } finder;
        finder.uses = this;
        finder(e);
        return !finder.impure && !finder.stored &&
               (!finder.loads || (unknown_conditions_ == 0 && !changes().kernels));
    }

    void add_use() {
        matters = simplify(matters || if_matters_);
        read = simplify(read || if_read_);
    }

    /// What is known outside of a condition's conjuncts, in terms of what is defined there.
    struct KnownPart {
        Expr condition = const_true();
        bool is_all = true;
    };

    void add_known_part(const Expr &condition, KnownPart *part) const {
        if (const And *both = condition.as<And>()) {
            add_known_part(both->a, part);
            add_known_part(both->b, part);
            return;
        }
        const Expr outside = outer_lets_.empty() ? condition : substitute(outer_lets_, condition);
        if (is_known_outside(outside)) {
            part->condition = is_const_one(part->condition) ? outside : part->condition && outside;
        } else {
            part->is_all = false;
        }
    }

    /// Where `condition` holds.
    template<typename Code>
    void under(const Expr &condition, const Code &code, bool also_unread) {
        KnownPart known;
        add_known_part(remove_likelies(condition), &known);
        unknown_conditions_ += !known.is_all;
        under_known(known.condition, code, also_unread);
        unknown_conditions_ -= !known.is_all;
    }

    template<typename Code>
    void under_known(const Expr &c, const Code &code, bool also_unread) {
        const Expr matters_before = std::exchange(if_matters_, if_matters_ && c);
        const Expr read_before = std::exchange(if_read_, also_unread ? if_read_ && c : if_read_);
        (*this)(code);
        if_matters_ = matters_before;
        if_read_ = read_before;
    }

    /// Evaluated in any case, with consequences.
    void always(const std::vector<Expr> &exprs) {
        const Expr before = std::exchange(if_matters_, if_read_);
        for (const Expr &e : exprs) {
            (*this)(e);
        }
        if_matters_ = before;
    }

    void visit(const Variable *op) override {
        if (handles_.count(op->name)) {
            add_use();
        }
    }
    void visit(const Select *op) override {
        (*this)(op->condition);
        // Branches have been specialized: the values that are not chosen go when they are
        // simplified.
        if (!is_excluded(op->condition)) {
            under(op->condition, op->true_value, false);
        }
        if (!is_excluded(!op->condition)) {
            under(!op->condition, op->false_value, false);
        }
    }

    /// The opposite is the condition of a branch around this place.
    bool is_excluded(const Expr &condition) const {
        const Expr opposite = simplify(!remove_likelies(condition));
        return std::any_of(branches_.begin(), branches_.end(),
                           [&](const Expr &e) { return equal(e, opposite); });
    }

    void in_branch(const Expr &condition, const Stmt &code) {
        branches_.push_back(simplify(remove_likelies(condition)));
        under(condition, code, true);
        branches_.pop_back();
    }
    void visit(const Call *op) override {
        if (op->call_type == CallKind::Func && op->name == func_) {
            add_use();
        }
        if (op->is_intrinsic(Intrinsic::if_then_else)) {
            (*this)(op->args[0]);
            under(op->args[0], op->args[1], true);
            if (op->args.size() > 2) {
                under(!op->args[0], op->args[2], true);
            }
        } else if (op->call_type == CallKind::PureExtern ||
                   (op->call_type == CallKind::Intrinsic && op->is_pure())) {
            Visitor::visit(op);
        } else {
            always(op->args);
        }
    }
    void visit(const Let *op) override {
        always({op->value});
        within(op->name, op->body);
    }
    void visit(const LetStmt *op) override {
        always({op->value});
        const Expr value = is_offset(op->value) ? substitute(outer_lets_, op->value) : Expr();
        const bool is_outer = value.defined() && is_known_outside(value);
        if (is_outer) {
            outer_lets_[op->name] = value;
        }
        within(op->name, op->body);
        if (is_outer) {
            outer_lets_.erase(op->name);
        }
    }

    /// What lies in the scope of a name; names are unique.
    template<typename Code>
    void within(const std::string &name, const Code &code) {
        bound_.insert(name);
        (*this)(code);
        bound_.erase(name);
    }

    /// A variable, or what adds to one: what stands for it may be written many times over.
    static bool is_offset(const Expr &e) {
        const Add *sum = e.as<Add>();
        const Sub *difference = e.as<Sub>();
        return e.as<Variable>() || is_const(e) || (sum && is_offset(sum->a) && is_offset(sum->b)) ||
               (difference && is_offset(difference->a) && is_offset(difference->b));
    }

    void visit(const Block *op) override {
        (*this)(op->first);
        if (!is_decided()) {
            (*this)(op->rest);
        }
    }
    void visit(const For *op) override {
        always({op->min, op->extent});
        within(op->name, op->body);
    }
    void visit(const IfThenElse *op) override {
        always({op->condition});
        in_branch(op->condition, op->then_case);
        if (op->else_case.defined()) {
            in_branch(!op->condition, op->else_case);
        }
    }
    void visit(const Provide *op) override {
        if (op->name == func_) {
            return;
        }
        always(op->args);
        always({op->predicate});
        for (const Expr &e : op->values) {
            (*this)(e);
        }
    }
    void visit(const ProducerConsumer *op) override {
        const bool own = op->is_producer && op->name == func_;
        producers += own;
        if (!own || is_fused_) {
            Visitor::visit(op);
        }
    }

    const std::string &func_;
    const std::set<std::string> &handles_;
    const bool is_fused_;
    const Stmt &body_;
    std::unordered_set<std::string> bound_;  ///< inside of the realization, around this place
    mutable std::optional<Changes> changes_;
    std::map<std::string, Expr> outer_lets_;  ///< lets that code outside could make
    int unknown_conditions_ = 0;
    std::vector<Expr> branches_;  ///< conditions that hold here
    Expr if_matters_ = const_true(), if_read_ = const_true();
};

/// `produce f` happens only under a condition, in place of the one that an earlier round gave it.
class GuardProducer : public StmtMutator {
public:
    GuardProducer(const std::string &func, const Expr &condition, const Expr &earlier)
        : func_(func), condition_(condition), earlier_(earlier) {
    }

private:
    using Mutator::visit;
    Stmt visit(const ProducerConsumer *op) override {
        const bool found = op->is_producer && op->name == func_;
        return found ? IfThenElse::make(condition_, op) : Mutator::visit(op);
    }
    Stmt visit(const IfThenElse *op) override {
        const bool found = earlier_.defined() && op->condition.same_as(earlier_);
        return found ? mutate(op->then_case) : Mutator::visit(op);
    }
    const std::string &func_;
    const Expr &condition_, &earlier_;
};

/// What code stores, and whether it does no more than store and compute.
class Effects : public Visitor {
public:
    explicit Effects(const Stmt &s) {
        (*this)(s);
    }
    bool are_only(const std::string &func) const {
        return plain_ && stored_ == std::set<std::string>{func};
    }

private:
    using Visitor::visit;
    void visit(const Provide *op) override {
        stored_.insert(op->name);
        Visitor::visit(op);
    }
    void visit(const Evaluate *op) override {
        plain_ = false;
        Visitor::visit(op);
    }
    void visit(const Realize *op) override {
        plain_ = false;
        Visitor::visit(op);
    }
    void visit(const ProducerConsumer *op) override {
        plain_ = false;
        Visitor::visit(op);
    }
    void visit(const For *op) override {
        plain_ &= !is_gpu(op->for_type);
        Visitor::visit(op);
    }
    bool plain_ = true;
    std::set<std::string> stored_;
};

/// The same for a Func that is fused with others: what is stored there, statement by statement.
class GuardStores : public StmtMutator {
public:
    GuardStores(const std::string &func, const Expr &condition, const Expr &earlier)
        : func_(func), condition_(condition), earlier_(earlier) {
    }
    using Mutator::mutate;
    Stmt mutate(const Stmt &s) override {
        const IfThenElse *guarded = s.as<IfThenElse>();
        if (earlier_.defined() && guarded && guarded->condition.same_as(earlier_)) {
            return mutate(guarded->then_case);
        }
        return Effects(s).are_only(func_) ? IfThenElse::make(condition_, s) : Mutator::mutate(s);
    }

private:
    const std::string &func_;
    const Expr &condition_, &earlier_;
};

class SkipStages : public StmtMutator {
public:
    explicit SkipStages(const LowerContext &ctx) : ctx_(ctx) {
    }

    /// The condition of a Func may make another one unnecessary whose storage lies within its own.
    Stmt until_nothing_changes(Stmt s) {
        constexpr int most_rounds = 4;
        for (int i = 0; i < most_rounds; i++) {
            const Stmt before = s;
            s = mutate(s);
            if (s.same_as(before)) {
                break;
            }
        }
        return s;
    }

private:
    using Mutator::visit;

    /// Nothing else waits for its producer.
    bool can_be_skipped(const std::string &func) const {
        const auto f = ctx_.env.find(func);
        return f == ctx_.env.end() || !f->second.schedule().async;
    }

    /// Its producer is no statement of its own.
    bool is_fused(const std::string &func) const {
        return std::any_of(ctx_.fused_groups.begin(), ctx_.fused_groups.end(),
                           [&](const std::vector<std::string> &group) {
                               return group.size() > 1 &&
                                      std::find(group.begin(), group.end(), func) != group.end();
                           });
    }

    /// What stands for the address of its storage, or of a part of it.
    std::set<std::string> handles_of(const std::string &func) const {
        const auto f = ctx_.env.find(func);
        std::set<std::string> handles;
        for (int i = 0; i < (f == ctx_.env.end() ? 1 : f->second.outputs()); i++) {
            const std::string buffer = f == ctx_.env.end() ? func : f->second.buffer_name(i);
            handles.insert({buffer, names::buffer(buffer), names::crop(buffer)});
        }
        return handles;
    }

    /// What else is computed where a Func is produced, and kept in storage that is made outside of
    /// that Func's: later iterations of the loops between may count on it, whatever this one needs.
    bool computes_for_later(const Realize *op, const Expr &condition) const {
        struct Productions : Visitor {
            using Visitor::visit;
            void visit(const ProducerConsumer *op) override {
                const bool outer = inside;
                inside |= op->is_producer && op->name == func;
                if (inside && op->is_producer) {
                    names.insert(op->name);
                }
                Visitor::visit(op);
                inside = outer;
            }
            std::string func;
            std::set<std::string> names;
            bool inside = false;
        } found;
        found.func = op->name;
        found(op->body);
        found.names.erase(op->name);
        std::vector<std::string> between;
        bool loops = false;
        for (size_t i = around_.size(); i-- > 0;) {
            const Around &a = around_[i];
            if (!a.is_storage) {
                between.push_back(a.name);
                loops |= a.is_loop;
            } else if (found.names.count(a.name) && loops &&
                       (uses_any_var(condition, between) ||
                        contains_kind(condition, NodeKind::Call))) {
                return true;
            }
        }
        return false;
    }

    Stmt visit(const Realize *op) override {
        around_.push_back({op->name, true, false});
        const Stmt body = mutate(op->body);
        around_.pop_back();
        const Stmt same = body.same_as(op->body) ? Stmt(op) : with(op, &Realize::body, body);
        if (kernels_ > 0 || !can_be_skipped(op->name)) {
            return same;
        }
        const bool fused = is_fused(op->name);
        if (fused && ctx_.env.at(op->name).has_extern_definition()) {
            return same;
        }
        const Uses uses(op->name, handles_of(op->name), fused, body);
        Expr &guard = guards_[op->name];
        if (is_trivially_true(uses.matters) || uses.producers != 1 ||
            (guard.defined() && equal(guard, uses.matters)) ||
            (!fused && (computes_for_later(op, uses.matters) ||
                        loop_.is_better_without(uses.matters, op->name, body)))) {
            return same;
        }
        const Stmt guarded = fused ? GuardStores(op->name, uses.matters, guard).mutate(body)
                                   : GuardProducer(op->name, uses.matters, guard).mutate(body);
        if (guarded.same_as(body)) {
            return same;
        }
        guard = uses.matters;
        // What an earlier round found for its storage may be less than the producer has room for now.
        const Expr given = given_.emplace(op->name, op->condition).first->second;
        return with(op, &Realize::condition, simplify(given && uses.read), &Realize::body, guarded);
    }

    Stmt visit(const For *op) override {
        kernels_ += is_gpu(op->for_type);
        around_.push_back({op->name, false, true});
        loop_.enter(op);
        const Stmt s = Mutator::visit(op);
        loop_.leave(op);
        around_.pop_back();
        kernels_ -= is_gpu(op->for_type);
        return s;
    }
    Stmt visit(const LetStmt *op) override {
        around_.push_back({op->name, false, false});
        loop_.enter(op);
        const Stmt s = Mutator::visit(op);
        loop_.leave(op);
        around_.pop_back();
        return s;
    }

    /// A realization, loop or let around the place.
    struct Around {
        std::string name;
        bool is_storage, is_loop;
    };

    const LowerContext &ctx_;
    std::vector<Around> around_;
    ElementLoop loop_;
    std::map<std::string, Expr> guards_;  ///< of producers, as they stand in the code
    std::map<std::string, Expr> given_;   ///< conditions of storage before the first round
    int kernels_ = 0;
};

}  // namespace

Stmt skip_stages(const Stmt &s, LowerContext &ctx) {
    return SkipStages(ctx).until_nothing_changes(s);
}

}  // namespace calotype::internal
