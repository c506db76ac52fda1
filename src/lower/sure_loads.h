// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loads of an expression that are made whatever its values are.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "ir/stmt_nodes.h"
#include "ir/visitor.h"

namespace calotype::internal {

/// Gathers them, of buffers that are asked for, but for what if_then_else guards; those in lets, whose indices may depend
/// on these, only if `in_lets`.
class SureLoads : public GraphVisitor {
public:
    using IsWanted = std::function<bool(const std::string &buffer)>;

    explicit SureLoads(IsWanted is_wanted, bool in_lets = true)
        : is_wanted_(std::move(is_wanted)), in_lets_(in_lets) {
    }

    std::vector<const Load *> found;

private:
    using GraphVisitor::visit;

    void visit(const Load *op) override {
        if (is_wanted_(op->name)) {
            found.push_back(op);
        }
        GraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        if (in_lets_) {
            GraphVisitor::visit(op);
        }
    }
    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::if_then_else)) {
            (*this)(op->args[0]);
        } else {
            GraphVisitor::visit(op);
        }
    }

    const IsWanted is_wanted_;
    const bool in_lets_;
};

}  // namespace calotype::internal
