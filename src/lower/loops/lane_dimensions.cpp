// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/lane_dimensions.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ir/visitor.h"

namespace calotype::internal {

namespace {

/// How the elements of one buffer are used.
struct Uses {
    std::vector<int> of_stores, of_loads;  ///< in which dimension the lanes of each vector lie
    bool is_mixed = false;                 ///< another use

    std::optional<int> dimension() const {
        if (is_mixed || of_stores.empty() || of_loads.empty()) {
            return std::nullopt;
        }
        const int first = of_stores[0];
        const auto is_first = [&](int d) {
            return d == first;
        };
        const bool all = std::all_of(of_stores.begin(), of_stores.end(), is_first) &&
                         std::all_of(of_loads.begin(), of_loads.end(), is_first);
        return all ? std::optional(first) : std::nullopt;
    }
};

class FindLaneDimensions : public GraphVisitor {
public:
    std::unordered_map<std::string, Uses> uses;

    void operator()(const Expr &e) override {
        if (!e.defined()) {
            return;
        }
        const bool outside = is_varying_;
        is_varying_ = false;
        GraphVisitor::operator()(e);
        if (is_varying_) {
            varying_.insert(e.get());
        }
        is_varying_ = outside || varying_.count(e.get()) > 0;
    }
    using GraphVisitor::operator();

private:
    using GraphVisitor::visit;

    bool is_different_in_lanes(const Expr &e) const {
        return varying_.count(e.get()) > 0;
    }
    void define(const std::string &name, const Expr &value) {
        (*this)(value);
        if (is_different_in_lanes(value)) {
            varying_names_.insert(name);
        }
    }
    void visit(const Variable *op) override {
        is_varying_ = varying_names_.count(op->name) > 0;
    }
    void visit(const Let *op) override {
        define(op->name, op->value);
        is_varying_ = false;
        (*this)(op->body);
    }
    void visit(const LetStmt *op) override {
        define(op->name, op->value);
        (*this)(op->body);
    }
    void visit(const For *op) override {
        if (op->for_type == ForType::Vectorized) {
            varying_names_.insert(op->name);
        }
        GraphVisitor::visit(op);
    }

    /// The dimensions of the coordinates that are not the same in all lanes.
    std::vector<int> lanes_of(const std::vector<Expr> &args) const {
        std::vector<int> result;
        for (size_t d = 0; d < args.size(); d++) {
            if (is_different_in_lanes(args[d])) {
                result.push_back(int(d));
            }
        }
        return result;
    }
    /// An element that is stored by itself says nothing, one that is loaded is a use of another kind.
    void add_use(const std::string &buffer, const std::vector<Expr> &args, bool is_load) {
        const auto found = uses.find(buffer);
        if (found == uses.end()) {
            return;
        }
        Uses &known = found->second;
        const std::vector<int> lanes = lanes_of(args);
        if (lanes.size() == 1) {
            (is_load ? known.of_loads : known.of_stores).push_back(lanes[0]);
        } else {
            known.is_mixed |= is_load || lanes.size() > 1;
        }
    }
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        if (op->call_type == CallKind::Func) {
            add_use(op->name, op->args, true);
        }
    }
    void visit(const Provide *op) override {
        GraphVisitor::visit(op);
        add_use(op->name, op->args, false);
    }
    void visit(const Realize *op) override {
        uses.emplace(op->name, Uses());
        GraphVisitor::visit(op);
    }

    std::unordered_set<std::string> varying_names_;
    std::unordered_set<const Node *> varying_;
    bool is_varying_ = false;  ///< of the expression that is being visited
};

}  // namespace

std::unordered_map<std::string, int> lane_dimensions(const Stmt &s) {
    FindLaneDimensions find;
    find(s);
    std::unordered_map<std::string, int> result;
    for (const auto &[name, uses] : find.uses) {
        if (const auto dimension = uses.dimension()) {
            result.emplace(name, *dimension);
        }
    }
    return result;
}

}  // namespace calotype::internal
