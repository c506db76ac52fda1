// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/validate_levels.h"

#include <sstream>
#include <unordered_set>

#include "ir/visitor.h"
#include "pipeline/level_text.h"

namespace calotype::internal {

namespace {

/// Where f is used (outside of its own stages), produced and stored.
class Uses : public Visitor {
public:
    explicit Uses(const Function &f) : f_(f) {
    }
    std::vector<std::vector<std::string>> nests;  ///< the loops around each use, outermost first
    bool all_covered = true;                      ///< every use stands in a consume node of f
    bool produced = false;
    bool stored = true;   ///< every production stands in a Realize of f
    bool hoisted = true;  ///< every Realize of f stands where its storage is hoisted to
    const For *racing =
        nullptr;  ///< a loop of iterations in no order between the storage and a production

    using Visitor::operator();
    /// Expressions may share what is in them: each node is seen once in each expression.
    void operator()(const Expr &e) override {
        if (e.defined() && seen_.insert(e.get()).second) {
            in_expression_++;
            Visitor::operator()(e);
            in_expression_--;
        }
        if (in_expression_ == 0) {
            seen_.clear();
        }
    }

protected:
    void visit(const For *op) override {
        const For *around = unordered_;
        unordered_ = is_parallel(op->for_type) && in_storage_ + hoisted_ > 0 ? op : unordered_;
        loops_.push_back(op->name);
        Visitor::visit(op);
        loops_.pop_back();
        unordered_ = around;
    }
    void visit(const Realize *op) override {
        bool mine = op->name == f_.name();
        in_storage_ += mine;
        hoisted = hoisted && (!mine || hoisted_ > 0);
        Visitor::visit(op);
        in_storage_ -= mine;
    }
    void visit(const HoistedStorage *op) override {
        bool mine = op->name == f_.name();
        hoisted_ += mine;
        Visitor::visit(op);
        hoisted_ -= mine;
    }
    void visit(const ProducerConsumer *op) override {
        if (op->name != f_.name()) {
            Visitor::visit(op);
        } else if (op->is_producer) {
            produced = true;
            stored = stored && in_storage_;
            racing = racing ? racing : unordered_;
        } else {
            covered_++;
            Visitor::visit(op);
            covered_--;
        }
    }
    void visit(const Call *op) override {
        Visitor::visit(op);
        if (op->call_type == CallKind::Func && op->name == f_.name()) {
            nests.push_back(loops_);
            all_covered = all_covered && covered_;
        }
    }

private:
    const Function &f_;
    std::vector<std::string> loops_;
    const For *unordered_ = nullptr;  ///< the last such loop inside of f's storage
    int in_storage_ = 0, hoisted_ = 0, covered_ = 0, in_expression_ = 0;
    std::unordered_set<const ExprNode *> seen_;
};

/// The levels that enclose all uses, as directives.
std::string legal_levels(const std::vector<std::vector<std::string>> &nests,
                         const LowerContext &ctx) {
    std::ostringstream out;
    out << "compute_root()";
    for (size_t i = 0; !nests.empty() && i < nests[0].size(); i++) {
        const std::string &loop = nests[0][i];
        for (const auto &nest : nests) {
            if (nest.size() <= i || nest[i] != loop) {
                return out.str();
            }
        }
        auto it = ctx.loops.find(loop);
        if (it != ctx.loops.end() && it->second.var != outermost_name) {
            out << ", compute_at(" << it->second.func << ", " << it->second.var << ")";
        }
    }
    return out.str();
}

}  // namespace

void validate_levels(const Stmt &s, const Function &f, const LowerContext &ctx) {
    Uses uses(f);
    uses(s);
    const FuncSchedule &sched = f.schedule();
    user_assert(uses.hoisted || sched.hoist_storage_level == sched.store_level)
        << "storage of func " << f.name() << " is hoisted to "
        << level_text(sched.hoist_storage_level) << ", which does not enclose its storage at "
        << level_text(sched.store_level);
    if (uses.produced && uses.all_covered && uses.stored) {
        user_assert(!uses.racing) << "func " << f.name() << " is computed at "
                                  << level_text(sched.compute_level) << ", inside of the "
                                  << to_string(uses.racing->for_type) << " loop "
                                  << uses.racing->name
                                  << ", but its storage is outside of that loop: its iterations "
                                  << "would race";
        return;
    }
    user_assert(uses.produced && uses.all_covered)
        << "func " << f.name() << " is computed at " << level_text(sched.compute_level)
        << ", which does not enclose all its uses; legal are: " << legal_levels(uses.nests, ctx);
    user_error << "func " << f.name() << " is stored at " << level_text(sched.store_level)
               << ", which does not enclose its computation at " << level_text(sched.compute_level);
}

}  // namespace calotype::internal
