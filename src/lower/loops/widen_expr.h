// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExprWidener: expressions of a loop's body, for all iterations of the loop at once. Helper of
// vectorize_loops.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/mutator.h"
#include "lower/context.h"
#include "support/scope.h"

namespace calotype::internal {

/// Widens expressions over one loop variable.
///
/// Where the result has as many lanes as the input, its value is the same for all iterations; else
/// it has `lanes` times as many, and iteration k of original lane i is lane i * lanes + k: the new
/// lanes are innermost.
class ExprWidener : public Mutator {
public:
    /// The loop runs over min, min + 1, ..., min + lanes - 1; min must be cheap.
    ExprWidener(LowerContext &ctx, const std::string &var, const Expr &min, int lanes);

    using Mutator::mutate;
    Expr mutate(const Expr &e) override;

protected:
    using Mutator::visit;
#define ARITH(Name, symbol) Expr visit(const Name *op) override;
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
    Expr visit(const Variable *op) override;
    Expr visit(const Broadcast *op) override;
    Expr visit(const Ramp *op) override;
    Expr visit(const Cast *op) override;
    Expr visit(const Reinterpret *op) override;
    Expr visit(const Not *op) override;
    Expr visit(const Select *op) override;
    Expr visit(const Load *op) override;
    Expr visit(const Call *op) override;
    Expr visit(const Let *op) override;
    Expr visit(const Shuffle *op) override;
    Expr visit(const VectorReduce *op) override;

    /// Whether what was widened since the last question may be used: true unless something in it had
    /// no vector form.
    bool succeeded();
    /// `widened` has more lanes than `original`.
    static bool varies(const Expr &widened, const Expr &original) {
        return widened.type().lanes() != original.type().lanes();
    }
    /// `widened` with its lanes repeated if it is the same for all iterations.
    Expr widen(const Expr &widened, const Expr &original) const;
    /// 0, 1, ..., lanes - 1 of each of `copies` lanes.
    Expr iteration_numbers(int copies) const;
    /// The flat index of iteration k's own copy of storage that each iteration has for itself.
    Expr private_index(const Expr &widened, const Expr &original) const;
    /// The predicate of a load or store: its own and that of the conditions around it.
    Expr masked(const Expr &widened, const Expr &original) const;

    /// Gives meaning to a name (a let that varies) while it lives.
    class BindLet {
    public:
        BindLet(ExprWidener &w, const std::string &name, const Expr &value);
        ~BindLet();
        BindLet(const BindLet &) = delete;

    private:
        ExprWidener &w_;
        std::string name_;
    };
    /// Further conditions under which a lane is alive, while it lives. With `some_lane` some lane
    /// is known to be.
    class BindMask {
    public:
        BindMask(ExprWidener &w, const Expr &mask, bool some_lane);
        ~BindMask();
        BindMask(const BindMask &) = delete;

    private:
        ExprWidener &w_;
        Expr outer_;
        bool outer_some_lane_;
    };

    LowerContext &ctx_;
    const std::string var_;
    const Expr min_;
    const int lanes_;
    Scope<Expr> wide_lets_;        ///< lets that vary: the Variable of all iterations' values
    Scope<> private_;              ///< allocations of which each iteration has a copy
    Expr mask_;                    ///< which lanes are alive; undefined: all
    bool some_lane_alive_ = true;  ///< it is known that one is
    bool failed_ = false;          ///< something was met that has no vector form

private:
    template<typename T>
    Expr visit_binary(const T *op);
    Expr visit_if_then_else(const Call *op);
    Expr same_choice(const Call *op, const Expr &condition);
    Expr visit_require(const Call *op);
    Expr visit_trace(const Call *op);

    /// Results so far, as long as lets and mask stay the same.
    std::unordered_map<const ExprNode *, Expr> memo_;
};

}  // namespace calotype::internal
