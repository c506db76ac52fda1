// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/expr.h"

#include "ir/expr_nodes.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

Expr::Expr(int8_t x) : Expr(IntImm::make(Int(8), x)) {
}
Expr::Expr(int16_t x) : Expr(IntImm::make(Int(16), x)) {
}
Expr::Expr(int32_t x) : Expr(IntImm::make(Int(32), x)) {
}
Expr::Expr(int64_t x) : Expr(IntImm::make(Int(64), x)) {
}
Expr::Expr(uint8_t x) : Expr(UIntImm::make(UInt(8), x)) {
}
Expr::Expr(uint16_t x) : Expr(UIntImm::make(UInt(16), x)) {
}
Expr::Expr(uint32_t x) : Expr(UIntImm::make(UInt(32), x)) {
}
Expr::Expr(uint64_t x) : Expr(UIntImm::make(UInt(64), x)) {
}
Expr::Expr(float16_t x) : Expr(FloatImm::make(Float(16), double(x))) {
}
Expr::Expr(bfloat16_t x) : Expr(FloatImm::make(BFloat(16), double(x))) {
}
Expr::Expr(float x) : Expr(FloatImm::make(Float(32), x)) {
}
Expr::Expr(double x) : Expr(FloatImm::make(Float(64), x)) {
}
Expr::Expr(bool x) : Expr(UIntImm::make(Bool(), x)) {
}
Expr::Expr(const std::string &s) : Expr(StringImm::make(s)) {
}

Range::Range(const Expr &min, const Expr &extent) : min(min), extent(extent) {
    // An undefined side leaves the range open. Who uses it converts each side to what is needed.
    for (const Expr &side : {min, extent}) {
        const Type t = side.defined() ? side.type() : Int(32);
        user_assert(t.is_scalar() && t.is_int_or_uint())
            << "a Range from a min of type " << min.type() << " and an extent of type "
            << extent.type() << ", must be of scalar integers";
    }
}

}  // namespace calotype
