// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/random_ir.h"

#include <limits>

namespace calotype::test {

using namespace internal;

Type RandomIr::scalar_type() {
    std::vector<Type> types = {Int(8),  Int(16),  Int(32),  Int(64),  Int(32),
                               UInt(8), UInt(16), UInt(32), UInt(64), Bool()};
    if (options_.floats) {
        types.insert(types.end(), {Float(16), Float(32), Float(64), BFloat(16)});
    }
    return one_of(types);
}

Expr RandomIr::expr(Type t, int depth) {
    if (t.is_handle()) {
        return variable(t);
    }
    if (depth <= 0 || one_in(6)) {
        return leaf(t);
    }
    if (options_.intrinsics && one_in(3)) {
        return intrinsic(t, depth - 1);
    }
    switch (below(12)) {
    case 0:
    case 1:
    case 2:
        return t.is_bool() ? condition(t, depth - 1) : arithmetic(t, depth - 1);
    case 3:
        return Select::make(expr(one_in(2) ? Bool() : Bool(t.lanes()), depth - 1),
                            expr(t, depth - 1), expr(t, depth - 1));
    case 4:
        return conversion(t, depth - 1);
    case 5: {
        const Type v = scalar_type();
        return Let::make(name(), expr(v, depth - 1), expr(t, depth - 1));
    }
    case 6:
    case 7:
        return t.is_vector() ? vector(t, depth - 1) : arithmetic_or_condition(t, depth - 1);
    case 8:
    case 9:
        return options_.loads_and_calls ? load_or_call(t, depth - 1)
                                        : arithmetic_or_condition(t, depth - 1);
    case 10:
        return options_.vectors && t.lanes() <= 4 ? reduction(t, depth - 1) : leaf(t);
    default:
        return arithmetic_or_condition(t, depth - 1);
    }
}

Stmt RandomIr::stmt(int depth) {
    if (depth <= 0) {
        return flat_stmt();
    }
    switch (below(16)) {
    case 0:
        return LetStmt::make(name(), expr(scalar_type(), 2), stmt(depth - 1));
    case 1:
        return ProducerConsumer::make(name(), one_in(2), stmt(depth - 1));
    case 2:
    case 3:
        return loop(depth - 1);
    case 4:
        return Acquire::make(variable(Handle()), int32(), stmt(depth - 1));
    case 5:
        return allocation(depth - 1);
    case 6:
        return Realize::make(name(), types(), memory(), bounds(), maybe_true(), stmt(depth - 1));
    case 7:
        return HoistedStorage::make(name(), stmt(depth - 1));
    case 8:
    case 9:
        return Block::make(stmt(depth - 1), stmt(depth - 1));
    case 10:
        return Fork::make(stmt(depth - 1), stmt(depth - 1));
    case 11:
    case 12:
        return IfThenElse::make(expr(Bool(), 2), one_in(8) ? Stmt() : stmt(depth - 1),
                                one_in(2) ? Stmt() : stmt(depth - 1));
    case 13:
        return Prefetch::make(name(), types(), bounds(), name(), name(), int32(),
                              PrefetchBoundStrategy(below(3)), maybe_true(), stmt(depth - 1));
    case 14:
        return Atomic::make(name(), one_in(2) ? "" : name(), stmt(depth - 1));
    default:
        return flat_stmt();
    }
}

Expr RandomIr::constant(Type t) {
    const Type s = t.element_of();
    Expr value;
    if (s.is_float()) {
        const double infinity = std::numeric_limits<double>::infinity();
        value = FloatImm::make(
            s, one_of(std::vector<double>{0.0, -0.0, 1.0, -1.5, 0.1, 1e-30, 3e38, 65504.0,
                                          double(random_()) / 7, infinity, -infinity,
                                          std::numeric_limits<double>::quiet_NaN()}));
    } else if (s.is_int()) {
        value =
            IntImm::make(s, one_of(std::vector<int64_t>{0, 1, -1, 2, 7, s.imax(), s.imin(),
                                                        int64_t(random_()) - int64_t(random_())}));
    } else {
        value = UIntImm::make(s, one_of(std::vector<uint64_t>{0, 1, 2, s.umax(), random_()}));
    }
    return Broadcast::make(value, t.lanes());
}

std::string RandomIr::name() {
    return one_of(std::vector<std::string>{"a", "b", "f", "f.s0.x", "f.0", "g$3", "x.min", "min",
                                           "an odd `name`", "uint8", "abs", "if", "f.s1.r$x",
                                           "_0"});
}

Expr RandomIr::leaf(Type t) {
    if (t.is_vector() && one_in(3)) {
        return Broadcast::make(leaf(t.element_of()), t.lanes());
    }
    return one_in(2) ? constant(t) : variable(t);
}

Expr RandomIr::arithmetic(Type t, int depth) {
    const Expr a = expr(t, depth), b = expr(t, depth);
    switch (below(7)) {
    case 0:
        return Add::make(a, b);
    case 1:
        return Sub::make(a, b);
    case 2:
        return Mul::make(a, b);
    case 3:
        return Div::make(a, b);
    case 4:
        return Mod::make(a, b);
    case 5:
        return Min::make(a, b);
    default:
        return Max::make(a, b);
    }
}

Expr RandomIr::condition(Type t, int depth) {
    const int kind = below(9);
    const Type operand = kind < 6 ? scalar_type().with_lanes(t.lanes()) : t;
    const Expr a = expr(operand, depth), b = expr(operand, depth);
    switch (kind) {
    case 0:
        return EQ::make(a, b);
    case 1:
        return NE::make(a, b);
    case 2:
        return LT::make(a, b);
    case 3:
        return LE::make(a, b);
    case 4:
        return GT::make(a, b);
    case 5:
        return GE::make(a, b);
    case 6:
        return And::make(a, b);
    case 7:
        return Or::make(a, b);
    default:
        return Not::make(a);
    }
}

Expr RandomIr::conversion(Type t, int depth) {
    if (one_in(3) && !t.is_bool()) {
        const Type same_size = t.is_float() ? t.with_code(one_in(2) ? Type::Int : Type::UInt)
                               : t.is_int() ? t.with_code(Type::UInt)
                                            : t.with_code(Type::Int);
        return Reinterpret::make(t, expr(same_size, depth));
    }
    return Cast::make(t, expr(scalar_type().with_lanes(t.lanes()), depth));
}

Expr RandomIr::vector(Type t, int depth) {
    const int lanes = t.lanes();
    switch (below(5)) {
    case 0:
        return t.is_bool()
                   ? leaf(t)
                   : Ramp::make(expr(t.element_of(), depth), expr(t.element_of(), depth), lanes);
    case 1:
        return Broadcast::make(expr(t.element_of(), depth), lanes);
    case 2: {
        if (lanes % 2 != 0) {
            return leaf(t);
        }
        const Type half = t.with_lanes(lanes / 2);
        return one_in(2) ? Shuffle::make_concat({expr(half, depth), expr(half, depth)})
                         : Shuffle::make_interleave({expr(half, depth), expr(half, depth)});
    }
    case 3:
        return Shuffle::make_slice(expr(t.with_lanes(lanes * 2), depth), below(2), 2, lanes);
    default: {
        std::vector<int> indices;
        for (int i = 0; i < lanes; i++) {
            indices.push_back(below(lanes + 1));
        }
        return Shuffle::make({expr(t, depth), expr(t.element_of(), depth)}, indices);
    }
    }
}

Expr RandomIr::reduction(Type t, int depth) {
    const int op = t.is_bool() ? below(7) : below(5);
    return VectorReduce::make(VectorReduce::Operator(op), expr(t.with_lanes(t.lanes() * 2), depth),
                              t.lanes());
}

Expr RandomIr::load_or_call(Type t, int depth) {
    const Type index = Int(32, t.lanes());
    switch (below(6)) {
    case 0:
    case 1: {
        const Expr predicate = one_in(3) ? expr(Bool(t.lanes()), depth) : const_true(t.lanes());
        return Load::make(t, name(), expr(index, depth), predicate, alignment());
    }
    case 2:
        return Call::make(t, Intrinsic::likely, {expr(t, depth)});
    case 3:
        return Call::make(t, Intrinsic::if_then_else,
                          {expr(Bool(), depth), expr(t, depth), expr(t, depth)});
    case 4:
        return Call::make(t, name(), {expr(index, depth), expr(index, depth)},
                          one_in(2) ? CallKind::Func : CallKind::Image, one_in(3) ? below(3) : 0);
    default: {
        std::vector<Expr> args;
        if (one_in(2)) {
            args.push_back(StringImm::make("a \"text\"\n\x01"));
        }
        if (options_.handles && one_in(2)) {
            args.push_back(variable(Handle()));
        }
        const CallKind kinds[] = {CallKind::Extern, CallKind::PureExtern,
                                  CallKind::ExternCPlusPlus};
        return Call::make(t, one_in(2) ? name() : "space::function", args, kinds[below(3)]);
    }
    }
}

Region RandomIr::bounds() {
    Region region;
    for (int d = below(4); d > 0; d--) {
        const Expr min = int32();
        region.emplace_back(min, int32());
    }
    return region;
}

std::vector<Type> RandomIr::types() {
    std::vector<Type> list = {scalar_type()};
    while (one_in(3)) {
        list.push_back(scalar_type());
    }
    return list;
}

Stmt RandomIr::loop(int depth) {
    const Type t = one_in(5) ? Int(64) : Int(32);
    const Expr min = expr(t, 2);
    return For::make(name(), min, expr(t, 2), ForType(below(8)), Partition(below(3)),
                     DeviceAPI(below(6)), stmt(depth));
}

Stmt RandomIr::allocation(int depth) {
    std::vector<Expr> extents;
    for (int d = below(3); d > 0; d--) {
        extents.push_back(int32());
    }
    const bool custom = options_.handles && one_in(3);
    return Allocate::make(name(), type(), memory(), extents, maybe_true(), stmt(depth),
                          custom ? variable(Handle()) : Expr(), custom ? "free_it" : "",
                          one_in(3) ? 3 : 0);
}

Stmt RandomIr::flat_stmt() {
    switch (below(6)) {
    case 0:
        return AssertStmt::make(expr(Bool(), 2), int32());
    case 1: {
        const Type t = type();
        const Expr value = expr(t, 3), index = expr(Int(32, t.lanes()), 2);
        return Store::make(name(), value, index,
                           one_in(3) ? expr(Bool(t.lanes()), 2) : const_true(t.lanes()),
                           alignment());
    }
    case 2: {
        std::vector<Expr> values = {expr(type(), 3)}, args;
        while (one_in(3)) {
            values.push_back(expr(type(), 2));
        }
        for (int d = below(3); d > 0; d--) {
            args.push_back(int32());
        }
        return Provide::make(name(), values, args, maybe_true());
    }
    case 3:
        return Free::make(name());
    default:
        return Evaluate::make(expr(type(), 3));
    }
}
}  // namespace calotype::test
