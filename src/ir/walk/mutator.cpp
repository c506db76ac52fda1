// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/mutator.h"

#include <array>
#include <memory_resource>
#include <type_traits>
#include <unordered_map>

#include "ir/walk/field_walk.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

/// The fields of a node after mutation of its children, in the order of fields(); `changed` tells
/// whether any differs.
class FieldMutator {
public:
    explicit FieldMutator(Mutator &mutator) : mutator_(mutator) {
    }
    bool changed() const {
        return changed_;
    }

    Expr operator()(const Expr &e) {
        return note(e, mutator_.mutate(e));
    }
    Stmt operator()(const Stmt &s) {
        return note(s, mutator_.mutate(s));
    }
    std::vector<Expr> operator()(const std::vector<Expr> &v) {
        std::vector<Expr> result;
        result.reserve(v.size());
        for (const Expr &e : v) {
            result.push_back((*this)(e));
        }
        return result;
    }
    Region operator()(const Region &region) {
        Region result;
        result.reserve(region.size());
        for (const Range &r : region) {
            // One statement each: the order of evaluation is that of the printed text.
            Expr min = (*this)(r.min);
            Expr extent = (*this)(r.extent);
            result.emplace_back(std::move(min), std::move(extent));
        }
        return result;
    }
    template<typename Data>
    const Data &operator()(const Data &data) {
        return data;
    }

private:
    template<typename T>
    T note(const T &before, T after) {
        changed_ |= !before.same_as(after);
        return after;
    }
    Mutator &mutator_;
    bool changed_ = false;
};

/// The fields of `op`, evaluated from first to last: children mutated, other data by reference.
template<typename T>
auto mutate_fields(const T *op, FieldMutator &m) {
    // Braced initialisation evaluates in order.
    return std::apply(
        [&](const auto &...field) { return std::tuple<decltype(m(field))...>{m(field)...}; },
        op->fields());
}

// How to make a node from fields(): make(fields...) for most, with what is not a field (type,
// symbol) taken from `op`.

template<typename T, typename... Fields>
auto rebuild(const T *, Fields &&...fields) {
    return T::make(std::forward<Fields>(fields)...);
}
Expr rebuild(const Cast *op, Expr value) {
    return Cast::make(op->type.with_lanes(value.type().lanes()), value);
}
Expr rebuild(const Reinterpret *op, Expr value) {
    return Reinterpret::make(op->type, std::move(value));
}
Expr rebuild(const Load *op, std::string name, Expr index, Expr predicate, Alignment alignment,
             bool is_streaming) {
    return Load::make(op->type.with_lanes(index.type().lanes()), name, index, std::move(predicate),
                      alignment, op->symbol, is_streaming);
}
Expr rebuild(const Call *op, std::string name, std::vector<Expr> args, CallKind kind,
             Intrinsic intrinsic, int value_index) {
    return kind == CallKind::Intrinsic
               ? Call::make(op->type, intrinsic, std::move(args), op->symbol)
               : Call::make(op->type, name, std::move(args), kind, value_index, op->symbol);
}
Expr rebuild(const VectorReduce *op, VectorReduce::Operator reduction, Expr value) {
    return VectorReduce::make(reduction, std::move(value), op->type.lanes());
}
Stmt rebuild(const Store *op, std::string name, Expr value, Expr index, Expr predicate,
             Alignment alignment, bool is_streaming) {
    return Store::make(name, std::move(value), std::move(index), std::move(predicate), alignment,
                       op->symbol, is_streaming);
}
Stmt rebuild(const Prefetch *op, std::string name, std::vector<Type> types, Region bounds,
             std::string at, std::string from, Expr offset, PrefetchBoundStrategy strategy,
             Expr condition, Stmt body) {
    return Prefetch::make(name, std::move(types), std::move(bounds), at, from, std::move(offset),
                          strategy, std::move(condition), std::move(body), op->symbol);
}
// Leaves have no children.
#define LEAF(Name, FieldType)                                                                      \
    Expr rebuild(const Name *op, FieldType) {                                                      \
        return new Name(*op);                                                                      \
    }
LEAF(IntImm, int64_t)
LEAF(UIntImm, uint64_t)
LEAF(FloatImm, double)
LEAF(StringImm, std::string)
LEAF(Variable, std::string)
#undef LEAF

template<typename Handle, typename T>
Handle mutate_children(Mutator &mutator, const T *op) {
    FieldMutator m(mutator);
    auto fields = mutate_fields(op, m);
    if (!m.changed()) {
        return op;
    }
    return std::apply([&](auto &...field) { return Handle(rebuild(op, std::move(field)...)); },
                      fields);
}

}  // namespace

Expr Mutator::mutate(const Expr &e) {
    return e.defined() ? dispatch(e.get(), [&](const auto *op) { return visit(op); }) : Expr();
}

Stmt Mutator::mutate(const Stmt &s) {
    return s.defined() ? dispatch(s.get(), [&](const auto *op) { return visit(op); }) : Stmt();
}

Region Mutator::mutate(const Region &r) {
    return FieldMutator(*this)(r);
}

std::vector<Expr> Mutator::mutate(const std::vector<Expr> &v) {
    return FieldMutator(*this)(v);
}

#define EXPR(Name)                                                                                 \
    Expr Mutator::visit(const Name *op) {                                                          \
        return mutate_children<Expr>(*this, op);                                                   \
    }
#define STMT(Name)                                                                                 \
    Stmt Mutator::visit(const Name *op) {                                                          \
        return mutate_children<Stmt>(*this, op);                                                   \
    }
#include "ir/nodes.def"

// Each entry keeps its node alive, so that the address cannot be used again by a node made later.
// Memory is given back at once: mutators are many, and most are small.
struct GraphMutator::Memo {
    std::array<std::byte, 2048> first;
    std::pmr::monotonic_buffer_resource memory{first.data(), first.size()};
    std::pmr::unordered_map<const Node *, std::pair<Expr, Expr>> exprs{&memory};
    std::pmr::unordered_map<const Node *, std::pair<Stmt, Stmt>> stmts{&memory};
};

GraphMutator::GraphMutator() : memo_(new Memo) {
}

GraphMutator::~GraphMutator() {
    delete memo_;
}

// What only one other holds is met once, with that, and need not be remembered.
Expr GraphMutator::mutate(const Expr &e) {
    if (!e.defined() || e->is_unique()) {
        return Mutator::mutate(e);
    }
    auto it = memo_->exprs.find(e.get());
    if (it != memo_->exprs.end()) {
        return it->second.second;
    }
    Expr result = Mutator::mutate(e);
    memo_->exprs.emplace(e.get(), std::make_pair(e, result));
    return result;
}

Stmt GraphMutator::mutate(const Stmt &s) {
    if (!s.defined() || s->is_unique()) {
        return Mutator::mutate(s);
    }
    auto it = memo_->stmts.find(s.get());
    if (it != memo_->stmts.end()) {
        return it->second.second;
    }
    Stmt result = Mutator::mutate(s);
    memo_->stmts.emplace(s.get(), std::make_pair(s, result));
    return result;
}

template<typename T>
constexpr bool is_leaf =
    std::is_same_v<T, IntImm> || std::is_same_v<T, UIntImm> || std::is_same_v<T, FloatImm> ||
    std::is_same_v<T, StringImm> || std::is_same_v<T, Variable>;

template<typename Handle, typename T>
Handle remake(T &node) {
    if constexpr (is_leaf<T>) {
        return new T(node);
    } else {
        // fields() gives constant references; the node itself is not constant.
        const auto take = []<typename F>(const F &field) -> F && {
            return std::move(const_cast<F &>(field));
        };
        return std::apply(
            [&](const auto &...field) { return Handle(rebuild(&node, take(field)...)); },
            node.fields());
    }
}
#define EXPR(Name)                                                                                 \
    Expr remade(Name &&node) {                                                                     \
        return remake<Expr>(node);                                                                 \
    }
#define STMT(Name)                                                                                 \
    Stmt remade(Name &&node) {                                                                     \
        return remake<Stmt>(node);                                                                 \
    }
#include "ir/nodes.def"

}  // namespace calotype::internal
