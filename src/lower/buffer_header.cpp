// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of buffer_init and buffer_crop are explained where they are emitted
// (codegen/llvm/intrinsics_buffer.cpp).
#include "lower/buffer_header.h"

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "runtime/abi/buffer.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

Expr null_address() {
    return make_zero(UInt(64));
}

/// Storage for a header and its dimensions.
Expr header_storage(size_t dimensions) {
    const Expr bytes = Call::make(Int(32), Intrinsic::size_of_buffer, {Expr(int(dimensions))});
    return Call::make(header_type(), Intrinsic::alloca, {bytes});
}

Expr make_struct(std::vector<Expr> values) {
    if (values.empty()) {
        return null_address();
    }
    return Call::make(Handle(), Intrinsic::make_struct, std::move(values));
}

}  // namespace

// Code steps over elements by powers of two: those of uint24 would lie at every fourth byte of a buffer
// that says that they have three.
void check_element_size(const std::string &what, const Type &element) {
    const int bytes = element.bytes();
    user_assert((bytes & (bytes - 1)) == 0)
        << what << " has elements of type " << element << ", of " << bytes
        << " bytes, must be of a type of 1, 2, 4 or 8";
}

Type header_type() {
    return type_of<calotype_buffer_t *>();
}

Expr make_buffer_header(const Expr &host, const Type &element,
                        const std::vector<HeaderDimension> &shape) {
    std::vector<Expr> values;
    for (const HeaderDimension &d : shape) {
        values.insert(values.end(), {d.min, d.extent, d.stride, Expr(0)});
    }
    return Call::make(header_type(), Intrinsic::buffer_init,
                      {header_storage(shape.size()), null_address(),
                       host.defined() ? host : null_address(), null_address(), null_address(),
                       Expr(int(element.code())), Expr(element.bits()), Expr(int(shape.size())),
                       make_struct(std::move(values)), null_address()});
}

Expr crop_buffer_header(const Expr &source, const std::vector<Expr> &mins,
                        const std::vector<Expr> &extents) {
    return Call::make(header_type(), Intrinsic::buffer_crop,
                      {header_storage(mins.size()), null_address(), source, make_struct(mins),
                       make_struct(extents)});
}

}  // namespace calotype::internal
