// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the inside out: a statement becomes a part as soon as what it holds, other than parts, is long enough. So each part
// is that long and not twice as long, and what is left of the function is shorter still.
#include "codegen/parts.h"

#include <vector>

#include "ir/visitor.h"
#include "ir/walk/field_walk.h"

namespace calotype::internal {

namespace {

/// A call, with what it hands over.
constexpr size_t call_nodes = 16;
/// What is checked and released with a block of the heap.
constexpr size_t allocation_nodes = 32;
/// How much longer a body of a loop may be.
constexpr size_t loop_factor = 2;

class NodeCount : public GraphVisitor {
public:
    size_t count = 0;

    void operator()(const Expr &e) override {
        count++;
        GraphVisitor::operator()(e);
    }
    void operator()(const Stmt &s) override {
        count++;
        GraphVisitor::operator()(s);
    }
};

class FindParts {
public:
    explicit FindParts(size_t most) : most_(most) {
    }

    std::set<const StmtNode *> found;

    /// What stands in the function that holds the statement.
    struct Held {
        size_t nodes = 0;
        bool has_loops = false;

        Held &operator+=(const Held &other) {
            nodes += other.nodes;
            has_loops |= other.has_loops;
            return *this;
        }
    };

    Held visit(const Stmt &s, bool in_loop) {
        // Chains of any length are walked without recursion.
        std::vector<const StmtNode *> chain;
        std::vector<Held> held;
        Stmt rest = s;
        while (rest.defined()) {
            chain.push_back(rest.get());
            if (const auto *block = rest.as<Block>()) {
                held.push_back(visit(block->first, in_loop));
                rest = block->rest;
            } else if (const auto *let = rest.as<LetStmt>()) {
                held.push_back({count(let->value), false});
                rest = let->body;
            } else {
                held.push_back(
                    dispatch(rest.get(), [&](const auto *op) { return hold(op, in_loop); }));
                break;
            }
        }
        Held result;
        for (size_t i = chain.size(); i-- > 0;) {
            result += held[i];
            divide(chain[i], in_loop, &result);
        }
        return result;
    }

private:
    template<typename T>
    static size_t count(const T &node) {
        NodeCount counter;
        counter(node);
        return counter.count;
    }

    void divide(const StmtNode *s, bool in_loop, Held *held) {
        if (in_loop ? held->has_loops && held->nodes >= loop_factor * most_
                    : held->nodes >= most_) {
            found.insert(s);
            *held = {call_nodes, true};
        }
    }

    template<typename T>
    Held hold(const T *op, bool in_loop) {
        Held result{1, false};
        for_each_child(*op, [&](const auto &child) { result += part(child, in_loop); });
        return result;
    }
    // The body is a function anyway, or several.
    Held hold(const Fork *, bool) {
        return {call_nodes, true};
    }
    Held hold(const Acquire *, bool) {
        return {call_nodes, true};
    }
    Held hold(const For *op, bool) {
        Held result{call_nodes, true};
        if (op->for_type == ForType::Serial) {
            result += visit(op->body, true);
        }
        return result;
    }
    // Updates in it are atomic wherever they stand.
    Held hold(const Atomic *op, bool) {
        return {count(op->body), false};
    }
    Held hold(const Allocate *op, bool in_loop) {
        Held result{allocation_nodes, false};
        for (const Expr &e : op->extents) {
            result.nodes += count(e);
        }
        result += visit(op->body, in_loop);
        return result;
    }

    Held part(const Expr &e, bool) {
        return {e.defined() ? count(e) : 0, false};
    }
    Held part(const Stmt &s, bool in_loop) {
        return visit(s, in_loop);
    }

    const size_t most_;
};

}  // namespace

std::set<const StmtNode *> parts_of(const Stmt &body, size_t most) {
    FindParts find(most);
    find.visit(body, false);
    find.found.erase(body.get());
    return std::move(find.found);
}

}  // namespace calotype::internal
