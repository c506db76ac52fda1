// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division of long functions.
#pragma once

#include <cstddef>
#include <set>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// The statements within a body that are to be functions of their own, so that none of the functions holds much more than
/// `most` nodes: many passes of LLVM take time that grows with the square of a function, or faster. What a loop repeats is
/// divided only where it is longer still and each part has loops of its own.
///
///     allocate a; produce a; allocate b; produce b; allocate c; produce c; ...
///  ->
///     allocate a; produce a; if (code = part(a)) return code;
///     int part(a) { allocate b; produce b; allocate c; produce c; ...; return 0; }
std::set<const StmtNode *> parts_of(const Stmt &body, size_t most);

}  // namespace calotype::internal
