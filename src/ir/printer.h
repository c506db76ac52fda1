// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text form of the IR: what --print-after shows, pass tests contain, and ir/parser.h reads back
// without loss. An expression that is small as a graph and huge as a tree is cut short.
#pragma once

#include <iosfwd>
#include <string>

#include "ir/stmt_nodes.h"

namespace calotype {

std::ostream &operator<<(std::ostream &out, const Expr &e);

namespace internal {

std::ostream &operator<<(std::ostream &out, const Stmt &s);
std::string to_string(const Expr &e);
std::string to_string(const Stmt &s);

}  // namespace internal

}  // namespace calotype
