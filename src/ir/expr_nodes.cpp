// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/expr_nodes.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "ir/constants.h"
#include "ir/node_assert.h"
#include "ir/walk/node_memory.h"

namespace calotype::internal {

namespace {

/// A new node under construction; it becomes immutable as an Expr.
template<typename T>
T *new_node(Type t) {
    auto *node = new StoredNode<T>;
    node->type = t;
    return node;
}

double round_to_type(const Type &t, double x) {
    if (std::isnan(x)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (t.is_bfloat()) {
        return double(bfloat16_t(x));
    }
    switch (t.bits()) {
    case 16:
        return double(float16_t(x));
    case 32:
        return double(float(x));
    default:
        return x;
    }
}

}  // namespace

Expr IntImm::make(Type t, int64_t value) {
    node_assert(t.is_int() && t.is_scalar() && t.bits() >= 1 && t.bits() <= 64)
        << "IntImm of type " << t;
    auto *node = new_node<IntImm>(t);
    const int unused = 64 - t.bits();
    node->value = int64_t(uint64_t(value) << unused) >> unused;
    return node;
}

Expr UIntImm::make(Type t, uint64_t value) {
    node_assert(t.is_uint() && t.is_scalar() && t.bits() >= 1 && t.bits() <= 64)
        << "UIntImm of type " << t;
    auto *node = new_node<UIntImm>(t);
    node->value = value & t.umax();
    return node;
}

Expr FloatImm::make(Type t, double value) {
    node_assert(t.is_float() && t.is_scalar()) << "FloatImm of type " << t;
    auto *node = new_node<FloatImm>(t);
    node->value = round_to_type(t, value);
    return node;
}

Expr StringImm::make(const std::string &value) {
    auto *node = new_node<StringImm>(type_of<const char *>());
    node->value = value;
    return node;
}

Expr Broadcast::make(Expr value, int lanes) {
    node_assert(value.defined()) << "Broadcast of undefined";
    node_assert(lanes >= 1) << "Broadcast to " << lanes << " lanes";
    if (lanes == 1) {
        return value;
    }
    auto *node = new_node<Broadcast>(value.type().with_lanes(value.type().lanes() * lanes));
    node->value = std::move(value);
    node->lanes = lanes;
    return node;
}

Expr Cast::make(Type t, Expr value) {
    node_assert(value.defined()) << "Cast of undefined";
    node_assert(t.lanes() == value.type().lanes()) << "Cast of " << value.type() << " to " << t;
    auto *node = new_node<Cast>(t);
    node->value = std::move(value);
    return node;
}

Expr Reinterpret::make(Type t, Expr value) {
    node_assert(value.defined()) << "Reinterpret of undefined";
    node_assert(t.lanes() * t.bits() == value.type().lanes() * value.type().bits())
        << "Reinterpret of " << value.type() << " as " << t;
    auto *node = new_node<Reinterpret>(t);
    node->value = std::move(value);
    return node;
}

Expr Variable::make(Type t, const std::string &name, SymbolPtr symbol) {
    node_assert(!name.empty()) << "Variable without a name";
    auto *node = new_node<Variable>(t);
    node->name = name;
    node->symbol = std::move(symbol);
    return node;
}

namespace {

constexpr bool is_logic(NodeKind kind) {
    switch (kind) {
#define LOGIC(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return true;
#include "ir/nodes.def"
    default:
        return false;
    }
}

const char *kind_name(NodeKind kind) {
    switch (kind) {
#define EXPR(Name)                                                                                 \
    case NodeKind::Name:                                                                           \
        return #Name;
#include "ir/nodes.def"
    default:
        return "?";
    }
}

void check_operands(NodeKind kind, const Expr &a, const Expr &b) {
    node_assert(a.defined() && b.defined()) << kind_name(kind) << " of undefined";
    node_assert(a.type() == b.type())
        << kind_name(kind) << " of " << a.type() << " and " << b.type();
    node_assert(!is_logic(kind) || a.type().is_bool()) << kind_name(kind) << " of " << a.type();
}

}  // namespace

template<NodeKind K, typename Self, bool yields_bool>
Expr BinaryNode<K, Self, yields_bool>::make(Expr a, Expr b) {
    check_operands(K, a, b);
    auto *node = new_node<Self>(yields_bool ? Bool(a.type().lanes()) : a.type());
    node->a = std::move(a);
    node->b = std::move(b);
    return node;
}

#define ARITH(Name, symbol) template struct BinaryNode<NodeKind::Name, Name, false>;
#define COMPARE(Name, symbol) template struct BinaryNode<NodeKind::Name, Name, true>;
#define LOGIC(Name, symbol) COMPARE(Name, symbol)
#include "ir/nodes.def"

Expr Not::make(Expr a) {
    node_assert(a.defined() && a.type().is_bool()) << "Not of " << a.type();
    auto *node = new_node<Not>(a.type());
    node->a = std::move(a);
    return node;
}

Expr Select::make(Expr condition, Expr true_value, Expr false_value) {
    node_assert(condition.defined() && true_value.defined() && false_value.defined())
        << "Select of undefined";
    const Type t = true_value.type();
    node_assert(t == false_value.type()) << "Select of " << t << " and " << false_value.type();
    node_assert(condition.type() == Bool() || condition.type() == Bool(t.lanes()))
        << "Select of " << t << " by " << condition.type();
    auto *node = new_node<Select>(t);
    node->condition = std::move(condition);
    node->true_value = std::move(true_value);
    node->false_value = std::move(false_value);
    return node;
}

Expr Load::make(Type t, const std::string &name, Expr index) {
    return make(t, name, std::move(index), const_true(t.lanes()), Alignment());
}

Expr Load::make(Type t, const std::string &name, Expr index, Expr predicate, Alignment alignment,
                SymbolPtr symbol, bool is_streaming) {
    node_assert(index.defined() && predicate.defined())
        << "Load of " << name << " with undefined operand";
    node_assert(index.type().lanes() == t.lanes())
        << "Load of " << t << " from " << name << " at index of type " << index.type();
    node_assert(predicate.type() == Bool(t.lanes()))
        << "Load of " << t << " from " << name << " under a predicate of type " << predicate.type();
    auto *node = new_node<Load>(t);
    node->name = name;
    node->is_streaming = is_streaming;
    node->index = std::move(index);
    node->predicate = std::move(predicate);
    node->alignment = alignment;
    node->symbol = std::move(symbol);
    return node;
}

Expr Ramp::make(Expr base, Expr stride, int lanes) {
    node_assert(base.defined() && stride.defined()) << "Ramp of undefined";
    node_assert(base.type() == stride.type())
        << "Ramp of " << base.type() << " by " << stride.type();
    node_assert(lanes >= 1) << "Ramp of " << lanes << " lanes";
    if (lanes == 1) {
        return base;
    }
    auto *node = new_node<Ramp>(base.type().with_lanes(base.type().lanes() * lanes));
    node->base = std::move(base);
    node->stride = std::move(stride);
    node->lanes = lanes;
    return node;
}

Expr Call::make(Type t, const std::string &name, std::vector<Expr> args, CallKind kind,
                int value_index, SymbolPtr symbol) {
    node_assert(kind != CallKind::Intrinsic) << "intrinsic " << name << " called by name";
    for (const Expr &arg : args) {
        node_assert(arg.defined()) << "Call of " << name << " with undefined argument";
        node_assert((kind != CallKind::Func && kind != CallKind::Image) ||
                    arg.type().is_int_or_uint())
            << "Call of " << name << " at a coordinate of type " << arg.type();
    }
    auto *node = new_node<Call>(t);
    node->name = name;
    node->args = std::move(args);
    node->call_type = kind;
    node->value_index = value_index;
    node->symbol = std::move(symbol);
    return node;
}

Expr Call::make(Type t, const std::string &name, std::vector<Expr> args, CallKind kind,
                SymbolPtr symbol, int value_index) {
    return make(t, name, std::move(args), kind, value_index, std::move(symbol));
}

Expr Call::make(Type t, internal::Intrinsic intrinsic, std::vector<Expr> args, SymbolPtr symbol) {
    const IntrinsicInfo &info = intrinsic_info(intrinsic);
    node_assert(info.arity < 0 || size_t(info.arity) == args.size())
        << info.name << " takes " << info.arity << " arguments, not " << args.size();
    for (const Expr &arg : args) {
        node_assert(arg.defined()) << info.name << " of undefined argument";
    }
    auto *node = new_node<Call>(t);
    node->name = info.name;
    node->args = std::move(args);
    node->call_type = CallKind::Intrinsic;
    node->intrinsic = intrinsic;
    node->symbol = std::move(symbol);
    return node;
}

bool Call::is_pure() const {
    switch (call_type) {
    case CallKind::PureExtern:
    case CallKind::Image:
    case CallKind::Func:
        return true;
    case CallKind::Intrinsic:
        return intrinsic_info(intrinsic).pure;
    case CallKind::Extern:
    case CallKind::ExternCPlusPlus:
        return false;
    }
    return false;
}

Expr Let::make(const std::string &name, Expr value, Expr body) {
    node_assert(value.defined() && body.defined()) << "Let of undefined";
    auto *node = new_node<Let>(body.type());
    node->name = name;
    node->value = std::move(value);
    node->body = std::move(body);
    return node;
}

Expr Shuffle::make(std::vector<Expr> vectors, std::vector<int> indices) {
    node_assert(!vectors.empty() && !indices.empty()) << "Shuffle of nothing";
    int total = 0;
    for (const Expr &v : vectors) {
        node_assert(v.defined() && v.type().element_of() == vectors[0].type().element_of())
            << "Shuffle of " << vectors[0].type() << " and " << v.type();
        total += v.type().lanes();
    }
    for (int i : indices) {
        node_assert(0 <= i && i < total) << "Shuffle index " << i << " of " << total << " lanes";
    }
    auto *node = new_node<Shuffle>(vectors[0].type().with_lanes(int(indices.size())));
    node->vectors = std::move(vectors);
    node->indices = std::move(indices);
    return node;
}

Expr Shuffle::make_interleave(std::vector<Expr> vectors) {
    node_assert(!vectors.empty()) << "interleave of nothing";
    if (vectors.size() == 1) {
        return vectors[0];
    }
    const int lanes = vectors[0].type().lanes();
    std::vector<int> indices;
    for (int lane = 0; lane < lanes; lane++) {
        for (size_t v = 0; v < vectors.size(); v++) {
            node_assert(vectors[v].type().lanes() == lanes) << "interleave of unequal lanes";
            indices.push_back(int(v) * lanes + lane);
        }
    }
    return make(std::move(vectors), std::move(indices));
}

Expr Shuffle::make_concat(std::vector<Expr> vectors) {
    node_assert(!vectors.empty()) << "concat of nothing";
    if (vectors.size() == 1) {
        return vectors[0];
    }
    int total = 0;
    for (const Expr &v : vectors) {
        total += v.type().lanes();
    }
    std::vector<int> indices(total);
    std::iota(indices.begin(), indices.end(), 0);
    return make(std::move(vectors), std::move(indices));
}

Expr Shuffle::make_slice(Expr vector, int begin, int stride, int size) {
    if (begin == 0 && stride == 1 && size == vector.type().lanes()) {
        return vector;
    }
    std::vector<int> indices;
    for (int i = 0; i < size; i++) {
        indices.push_back(begin + i * stride);
    }
    return make({std::move(vector)}, std::move(indices));
}

Expr Shuffle::make_extract_element(Expr vector, int lane) {
    return make_slice(std::move(vector), lane, 1, 1);
}

Expr Shuffle::make_broadcast(Expr vector, int factor) {
    const int lanes = vector.type().lanes();
    std::vector<int> indices;
    for (int i = 0; i < factor * lanes; i++) {
        indices.push_back(i % lanes);
    }
    return make({std::move(vector)}, std::move(indices));
}

bool Shuffle::is_interleave() const {
    const int n = int(vectors.size());
    const int lanes = vectors[0].type().lanes();
    for (const Expr &v : vectors) {
        if (v.type().lanes() != lanes) {
            return false;
        }
    }
    if (n == 1 || int(indices.size()) != n * lanes) {
        return false;
    }
    for (int i = 0; i < n * lanes; i++) {
        if (indices[i] != (i % n) * lanes + i / n) {
            return false;
        }
    }
    return true;
}

bool Shuffle::is_transpose() const {
    const int lanes = vectors[0].type().lanes();
    const int columns = indices.size() > 1 ? indices[1] : 0;
    if (vectors.size() != 1 || int(indices.size()) != lanes || columns <= 1 || columns >= lanes ||
        lanes % columns != 0) {
        return false;
    }
    const int rows = lanes / columns;
    for (int i = 0; i < lanes; i++) {
        if (indices[size_t(i)] != i % rows * columns + i / rows) {
            return false;
        }
    }
    return true;
}

bool Shuffle::is_concat() const {
    int total = 0;
    for (const Expr &v : vectors) {
        total += v.type().lanes();
    }
    for (int i = 0; i < int(indices.size()); i++) {
        if (indices[i] != i) {
            return false;
        }
    }
    return vectors.size() > 1 && int(indices.size()) == total;
}

bool Shuffle::is_slice() const {
    for (size_t i = 2; i < indices.size(); i++) {
        if (indices[i] - indices[i - 1] != slice_stride()) {
            return false;
        }
    }
    return vectors.size() == 1 && int(indices.size()) < vectors[0].type().lanes();
}

Expr VectorReduce::make(Operator op, Expr value, int lanes) {
    node_assert(value.defined()) << "VectorReduce of undefined";
    node_assert(lanes >= 1 && value.type().lanes() % lanes == 0)
        << "VectorReduce of " << value.type() << " to " << lanes << " lanes";
    node_assert((op != And && op != Or) || value.type().is_bool())
        << "VectorReduce " << to_string(op) << " of " << value.type();
    auto *node = new_node<VectorReduce>(value.type().with_lanes(lanes));
    node->op = op;
    node->value = std::move(value);
    return node;
}

const char *to_string(VectorReduce::Operator op) {
    switch (op) {
    case VectorReduce::Add:
        return "add";
    case VectorReduce::SaturatingAdd:
        return "saturating_add";
    case VectorReduce::Mul:
        return "mul";
    case VectorReduce::Min:
        return "min";
    case VectorReduce::Max:
        return "max";
    case VectorReduce::And:
        return "and";
    case VectorReduce::Or:
        return "or";
    }
    return "?";
}

const char *to_string(CallKind kind) {
    switch (kind) {
    case CallKind::Func:
        return "func";
    case CallKind::Image:
        return "image";
    case CallKind::Intrinsic:
        return "intrinsic";
    case CallKind::Extern:
        return "extern";
    case CallKind::PureExtern:
        return "pure_extern";
    case CallKind::ExternCPlusPlus:
        return "extern_cpp";
    }
    return "?";
}

}  // namespace calotype::internal
