// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expression nodes. Each has `make`, which checks its operands (InternalError otherwise), and
// `fields()`, the tuple of everything that makes two nodes equal: visitors, mutators, equality,
// hash and verifier are written over it.
//
// Lanes: operands of one node have equal lanes unless said otherwise. Arithmetic follows
// docs/ir.md: signed 32 and 64 bits do not overflow, other integers wrap, division rounds so that
// the remainder is not negative, x / 0 == 0.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include "ir/alignment.h"
#include "ir/expr.h"
#include "ir/intrinsics.h"
#include "ir/symbol.h"

namespace calotype::internal {

/// A constant integer of a signed scalar type, sign-extended to 64 bits.
struct IntImm : ExprBase<NodeKind::IntImm> {
    int64_t value;
    static Expr make(Type t, int64_t value);
    auto fields() const {
        return std::tie(value);
    }
};

struct UIntImm : ExprBase<NodeKind::UIntImm> {
    uint64_t value;
    static Expr make(Type t, uint64_t value);
    auto fields() const {
        return std::tie(value);
    }
};

/// A constant of any float type, held exactly as a double. Equality is by bits: NaN equals NaN, 0.0
/// differs from -0.0.
struct FloatImm : ExprBase<NodeKind::FloatImm> {
    double value;
    static Expr make(Type t, double value);
    auto fields() const {
        return std::tie(value);
    }
};

struct StringImm : ExprBase<NodeKind::StringImm> {
    std::string value;
    static Expr make(const std::string &value);
    auto fields() const {
        return std::tie(value);
    }
};

/// `lanes` copies of value; value may itself be a vector, which is then repeated as a whole.
struct Broadcast : ExprBase<NodeKind::Broadcast> {
    Expr value;
    int lanes;
    static Expr make(Expr value, int lanes);
    auto fields() const {
        return std::tie(value, lanes);
    }
};

/// Conversion by value: integers wrap, float to int truncates, to bool compares with zero.
struct Cast : ExprBase<NodeKind::Cast> {
    Expr value;
    static Expr make(Type t, Expr value);
    auto fields() const {
        return std::tie(value);
    }
};

/// Conversion by bits; total bits are equal, lanes may differ.
struct Reinterpret : ExprBase<NodeKind::Reinterpret> {
    Expr value;
    static Expr make(Type t, Expr value);
    auto fields() const {
        return std::tie(value);
    }
};

/// A name: a loop variable, a let, a Var, or, with a symbol, an RVar or something about a
/// parameter.
struct Variable : ExprBase<NodeKind::Variable> {
    std::string name;
    SymbolPtr symbol;
    static Expr make(Type t, const std::string &name, SymbolPtr symbol = nullptr);
    auto fields() const {
        return std::tie(name);
    }
};

/// Two operands of one type; `make` of the concrete node gives the result type.
template<NodeKind K, typename Self, bool yields_bool>
struct BinaryNode : ExprBase<K> {
    static constexpr bool is_comparison = yields_bool;
    Expr a, b;
    static Expr make(Expr a, Expr b);
    auto fields() const {
        return std::tie(a, b);
    }
};

#define ARITH(Name, symbol)                                                                        \
    struct Name : BinaryNode<NodeKind::Name, Name, false> {};
#define COMPARE(Name, symbol)                                                                      \
    struct Name : BinaryNode<NodeKind::Name, Name, true> {};
#define LOGIC(Name, symbol) COMPARE(Name, symbol)
#include "ir/nodes.def"

struct Not : ExprBase<NodeKind::Not> {
    Expr a;
    static Expr make(Expr a);
    auto fields() const {
        return std::tie(a);
    }
};

/// Both values may be evaluated. The condition is a Bool, scalar or of as many lanes as the values.
struct Select : ExprBase<NodeKind::Select> {
    Expr condition, true_value, false_value;
    static Expr make(Expr condition, Expr true_value, Expr false_value);
    auto fields() const {
        return std::tie(condition, true_value, false_value);
    }
};

/// Element `index` of flat buffer `name`, in elements; lanes whose predicate is false are undefined
/// and not read.
struct Load : ExprBase<NodeKind::Load> {
    std::string name;
    Expr index, predicate;
    Alignment alignment;        ///< what is known of the first lane's index
    SymbolPtr symbol;           ///< the parameter or image loaded from, if it is one
    bool is_streaming = false;  ///< around the cache, where the machine can
    static Expr make(Type t, const std::string &name, Expr index, Expr predicate,
                     Alignment alignment, SymbolPtr symbol = nullptr, bool is_streaming = false);
    /// All lanes, of which nothing is known.
    static Expr make(Type t, const std::string &name, Expr index);
    /// From a constant image or what is declared as a buffer (a Parameter); either may be undefined.
    template<typename Buffer, typename Declaration,
             typename = decltype(std::declval<Declaration>().contents())>
    static Expr make(Type t, const std::string &name, Expr index, const Buffer &,
                     const Declaration &declared, Expr predicate, Alignment alignment,
                     bool is_streaming = false) {
        return make(t, name, std::move(index), std::move(predicate), alignment, declared.contents(),
                    is_streaming);
    }
    auto fields() const {
        return std::tie(name, index, predicate, alignment, is_streaming);
    }
};

/// base, base + stride, ..., lanes of them. base may be a vector: then its copies are concatenated.
struct Ramp : ExprBase<NodeKind::Ramp> {
    Expr base, stride;
    int lanes;
    static Expr make(Expr base, Expr stride, int lanes);
    auto fields() const {
        return std::tie(base, stride, lanes);
    }
};

/// What a Call calls.
enum class CallKind : uint8_t {
    Func,             ///< value `value_index` of a Func at integer coordinates
    Image,            ///< a buffer parameter or constant image at integer coordinates
    Intrinsic,        ///< `intrinsic`; purity by its row
    Extern,           ///< a C function with effects
    PureExtern,       ///< a C function of its arguments alone
    ExternCPlusPlus,  ///< as Extern, name mangled as C++
    calotype = Func,  ///< CallType::Halide in programs for Halide
};

/// Names of Call: Call::likely is Intrinsic::likely, Call::Extern is CallKind::Extern.
struct CallNames {
    using CallType = CallKind;
    using IntrinsicOp = internal::Intrinsic;
#define INTRINSIC(name, arity, purity)                                                             \
    static constexpr internal::Intrinsic name = internal::Intrinsic::name;
#include "ir/intrinsics.def"
    static constexpr CallKind Image = CallKind::Image, Extern = CallKind::Extern,
                              PureExtern = CallKind::PureExtern,
                              ExternCPlusPlus = CallKind::ExternCPlusPlus,
                              Intrinsic = CallKind::Intrinsic, PureIntrinsic = CallKind::Intrinsic;
    static constexpr CallKind calotype = CallKind::Func;  ///< Call::Halide in those programs
};

struct Call : ExprBase<NodeKind::Call>, CallNames {
    std::string name;
    std::vector<Expr> args;
    CallKind call_type;
    internal::Intrinsic intrinsic = internal::Intrinsic::none;
    int value_index = 0;
    SymbolPtr symbol;  ///< the declaration (Func, Image) or linkable (Extern, linked_symbol)
    static Expr make(Type t, const std::string &name, std::vector<Expr> args, CallKind kind,
                     int value_index = 0, SymbolPtr symbol = nullptr);
    static Expr make(Type t, internal::Intrinsic intrinsic, std::vector<Expr> args,
                     SymbolPtr symbol = nullptr);
    static Expr make(Type t, const std::string &name, std::vector<Expr> args, CallKind kind,
                     SymbolPtr symbol, int value_index = 0);
    /// The element of what is declared as a buffer (a Parameter).
    template<typename Declaration, typename = decltype(std::declval<Declaration>().contents())>
    static Expr make(const Declaration &buffer, const std::vector<Expr> &args) {
        return make(buffer.type(), buffer.name(), args, CallKind::Image, 0, buffer.contents());
    }
    /// The kind says nothing that the intrinsic does not.
    static Expr make(Type t, internal::Intrinsic intrinsic, std::vector<Expr> args, CallKind) {
        return make(t, intrinsic, std::move(args));
    }
    bool is_intrinsic() const {
        return call_type == CallKind::Intrinsic;
    }
    bool is_intrinsic(internal::Intrinsic id) const {
        return intrinsic == id;
    }
    bool is_intrinsic(std::initializer_list<internal::Intrinsic> ids) const {
        return std::find(ids.begin(), ids.end(), intrinsic) != ids.end();
    }
    bool is_extern() const {
        return call_type == CallKind::Extern || call_type == CallKind::PureExtern ||
               call_type == CallKind::ExternCPlusPlus;
    }
    /// One of the two that mark what their argument is in most iterations.
    bool is_likely() const {
        return is_intrinsic({likely, likely_if_innermost});
    }
    /// Same arguments give the same value, and evaluation has no effect.
    bool is_pure() const;
    /// The arguments of e if it is a call of that intrinsic, else null.
    static const Call *as_intrinsic(const Expr &e, internal::Intrinsic id) {
        const Call *c = e.as<Call>();
        return c && c->intrinsic == id ? c : nullptr;
    }
    static const Call *as_intrinsic(const Expr &e, std::initializer_list<internal::Intrinsic> ids) {
        const Call *c = e.as<Call>();
        return c && c->is_intrinsic(ids) ? c : nullptr;
    }
    auto fields() const {
        return std::tie(name, args, call_type, intrinsic, value_index);
    }
};

struct Let : ExprBase<NodeKind::Let> {
    std::string name;
    Expr value, body;
    static Expr make(const std::string &name, Expr value, Expr body);
    auto fields() const {
        return std::tie(name, value, body);
    }
};

/// Lane i of the result is lane indices[i] of the concatenated vectors (all of one element type).
struct Shuffle : ExprBase<NodeKind::Shuffle> {
    std::vector<Expr> vectors;
    std::vector<int> indices;
    static Expr make(std::vector<Expr> vectors, std::vector<int> indices);
    static Expr make_interleave(std::vector<Expr> vectors);
    static Expr make_concat(std::vector<Expr> vectors);
    static Expr make_slice(Expr vector, int begin, int stride, int size);
    static Expr make_extract_element(Expr vector, int lane);
    static Expr make_broadcast(Expr vector, int factor);
    bool is_interleave() const;
    /// One vector, a matrix stored by rows, read by columns.
    bool is_transpose() const;
    bool is_concat() const;
    bool is_slice() const;  ///< one vector, indices in arithmetic progression
    bool is_extract_element() const {
        return indices.size() == 1;
    }
    int slice_begin() const {
        return indices[0];
    }
    int slice_stride() const {
        return indices.size() > 1 ? indices[1] - indices[0] : 1;
    }
    auto fields() const {
        return std::tie(vectors, indices);
    }
};

/// Adjacent groups of lanes combined: result lane i covers value lanes [i * factor, (i + 1) *
/// factor).
struct VectorReduce : ExprBase<NodeKind::VectorReduce> {
    enum Operator : uint8_t { Add, SaturatingAdd, Mul, Min, Max, And, Or };
    Expr value;
    Operator op;
    static Expr make(Operator op, Expr value, int lanes);
    auto fields() const {
        return std::tie(op, value);
    }
};

const char *to_string(VectorReduce::Operator op);
const char *to_string(CallKind kind);

}  // namespace calotype::internal
