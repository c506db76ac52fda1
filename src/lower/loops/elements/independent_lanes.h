// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether iterations of a loop can be lanes. Helper of vectorize_reductions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"
#include "ir/visitor.h"

namespace calotype::internal {

/// By how much an integer grows from one iteration of a loop to the next.
class LaneSteps {
public:
    explicit LaneSteps(const std::string &loop) : steps_{{loop, 1}} {
    }

    /// The buffer holds something else for each iteration.
    void add_private(const std::string &buffer) {
        private_.insert(buffer);
    }
    bool is_private(const std::string &buffer) const {
        return private_.count(buffer) != 0;
    }

    /// What a name stands for in what is asked from now on; false if it stood for what has another step.
    bool define(const std::string &name, const Expr &value);
    /// The step of e; nullopt: none that is constant. 0 is that of any value, also of other types, which all iterations
    /// share.
    std::optional<int64_t> step(const Expr &e);
    bool is_uniform(const Expr &e) {
        return step(e) == 0;
    }

private:
    using Step = std::optional<int64_t>;

    Step sum(const Expr &a, const Expr &b, int64_t sign);
    Step product(const Expr &a, const Expr &b);
    bool varies(const Expr &e) const;

    std::map<std::string, Step> steps_;  ///< of what is not the same in all iterations
    std::set<std::string> private_;
};

/// The body of a loop, in which lanes are the loop's iterations: whether each has its own elements, all of them take part
/// in the same loops and branches, and lie next to each other in memory.
class IndependentLanes : public GraphVisitor {
public:
    explicit IndependentLanes(const std::string &loop) : steps_(loop) {
    }

    /// Whether that holds, and there is a loop inside.
    bool has_reductions(const Stmt &body);
    /// Whether an iteration reads what it stores for the outside, so that it must not run twice.
    bool updates() const;
    /// Bits of the widest value that is stored, or loaded from neighbours.
    int bits() const {
        return bits_;
    }

    void operator()(const Stmt &s) override;
    using GraphVisitor::operator();

private:
    using GraphVisitor::visit;

    void visit(const Let *op) override;
    void visit(const Load *op) override;
    void visit(const Call *op) override;
    void visit(const LetStmt *op) override;
    void visit(const Store *op) override;
    void visit(const For *op) override;
    void visit(const IfThenElse *op) override;
    void visit(const Allocate *op) override;

    void define(const std::string &name, const Expr &value);
    bool is_dense(const Expr &index);

    LaneSteps steps_;
    std::set<std::string> inner_;  ///< names of what differs between iterations of loops inside
    std::set<std::string> bound_, rebound_;  ///< names of lets, and those that have several values
    std::map<std::string, Expr> stores_;
    std::map<std::string, std::vector<Expr>> loads_;
    int bits_ = 0;
    bool is_independent_ = true, has_loop_ = false;
};

}  // namespace calotype::internal
