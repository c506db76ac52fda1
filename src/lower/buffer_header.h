// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making calotype_buffer_t on the stack: what is passed to extern stages and to the runtime.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// One dimension of a header.
struct HeaderDimension {
    Expr min, extent, stride;
};

/// The type of elements in memory: bools take a byte.
inline Type storage_type(const Type &t) {
    return t.is_bool() ? t.with_bits(8) : t;
}

/// Refuses elements that no header describes; `what` begins the error.
void check_element_size(const std::string &what, const Type &element);

/// The type of headers.
Type header_type();

/// A header of that shape on the frame. `host` is a handle; undefined means null (a bounds query).
Expr make_buffer_header(const Expr &host, const Type &element,
                        const std::vector<HeaderDimension> &shape);

/// A header of the part of `source` (a header) with those mins and extents.
Expr crop_buffer_header(const Expr &source, const std::vector<Expr> &mins,
                        const std::vector<Expr> &extents);

}  // namespace calotype::internal
