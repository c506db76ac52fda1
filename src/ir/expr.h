// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expr and Stmt: immutable, shared handles to IR nodes, and the bases of all nodes.
// The nodes themselves are in ir/expr_nodes.h and ir/stmt_nodes.h; users need only this and
// ir/operators.h.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "ir/type.h"
#include "support/intrusive_ptr.h"

namespace calotype {

// Nodes stand in calotype::internal: programs that use all names of calotype may have classes of
// their own that are called Add or Load.
namespace internal {

class Visitor;

/// One tag a row of ir/nodes.def.
enum class NodeKind : uint8_t {
#define EXPR(Name) Name,
#define STMT(Name) Name,
#include "ir/nodes.def"
};

/// Says of a node what is found out about it, once. A copy, which may get other fields, is without.
class Mark {
public:
    Mark() = default;
    Mark(const Mark &) {
    }
    Mark &operator=(const Mark &) {
        return *this;
    }
    bool is_set() const {
        return set_.load(std::memory_order_relaxed);
    }
    void set() {
        set_.store(true, std::memory_order_relaxed);
    }

private:
    std::atomic<bool> set_{false};
};

/// Base of all nodes. Nodes never change once shared, but for their marks.
struct Node : RefCounted {
    explicit Node(NodeKind kind) : kind(kind) {
    }
    const NodeKind kind;
};

struct ExprNode : Node {
    using Node::Node;
    Type type;
    /// Of the simplifier: it was simplified where nothing is known, and need not be entered there again.
    mutable Mark simplified;
};

struct StmtNode : Node {
    using Node::Node;
};

/// Base of a concrete node: fixes the tag. `T::kind_tag` lets Expr::as<T>() test without virtual
/// calls.
template<NodeKind K>
struct ExprBase : ExprNode {
    static constexpr NodeKind kind_tag = K;
    ExprBase() : ExprNode(K) {
    }
};
template<NodeKind K>
struct StmtBase : StmtNode {
    static constexpr NodeKind kind_tag = K;
    StmtBase() : StmtNode(K) {
    }
};
}  // namespace internal

/// A value: a handle to an immutable expression, undefined by default.
///
/// Built from C++ numbers, Vars, Params, Funcs applied to coordinates, and the operators of
/// ir/operators.h.
class Expr : public internal::IntrusivePtr<const internal::ExprNode> {
public:
    Expr() = default;
    Expr(const internal::ExprNode *n) : IntrusivePtr(n) {
    }
    /// Constants. The type is that of the C++ value: Expr(1) is an int32, Expr(1.0f) a float32,
    /// Expr(true) a bool.
    explicit Expr(int8_t x);
    explicit Expr(int16_t x);
    Expr(int32_t x);
    explicit Expr(int64_t x);
    explicit Expr(uint8_t x);
    explicit Expr(uint16_t x);
    explicit Expr(uint32_t x);
    explicit Expr(uint64_t x);
    Expr(float16_t x);
    Expr(bfloat16_t x);
#ifdef CALOTYPE_CPP_COMPILER_HAS_FLOAT16
    explicit Expr(_Float16 x) : Expr(float16_t(x)) {
    }
#endif
    Expr(float x);
    explicit Expr(double x);
    explicit Expr(bool x);
    /// A string constant, for print and require.
    Expr(const std::string &s);
    explicit Expr(const char *s) : Expr(std::string(s)) {
    }

    /// The type; of an undefined expression it is Type().
    Type type() const {
        return get() ? get()->type : Type();
    }
    /// The node as a T, or null if it is another kind (or undefined).
    template<typename T>
    const T *as() const {
        return get() && get()->kind == T::kind_tag ? static_cast<const T *>(get()) : nullptr;
    }
    /// Precondition: defined().
    internal::NodeKind kind() const {
        return get()->kind;
    }
    /// Visit this node; the same as (*visitor)(*this).
    void accept(internal::Visitor *visitor) const;
};

/// Orders handles by identity, for maps keyed on an expression's node.
struct ExprCompare {
    bool operator()(const Expr &a, const Expr &b) const {
        return a.get() < b.get();
    }
};

namespace internal {

/// A statement: a handle to an immutable statement node; undefined means "does nothing".
class Stmt : public IntrusivePtr<const internal::StmtNode> {
public:
    Stmt() = default;
    Stmt(const internal::StmtNode *n) : IntrusivePtr(n) {
    }
    template<typename T>
    const T *as() const {
        return get() && get()->kind == T::kind_tag ? static_cast<const T *>(get()) : nullptr;
    }
    internal::NodeKind kind() const {
        return get()->kind;
    }
    void accept(Visitor *visitor) const;
};

}  // namespace internal

/// One dimension of a rectangle: coordinates min, min + 1, ..., min + extent - 1.
struct Range {
    Expr min, extent;
    Range() = default;
    Range(const Expr &min, const Expr &extent);
};

/// A rectangle of coordinates, one Range a dimension.
using Region = std::vector<Range>;

}  // namespace calotype
