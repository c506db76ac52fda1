// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language under the names that Halide gives it: programs and generators that were written
// against Halide's public C++ interface compile unchanged. Nothing is defined here that
// <calotype/calotype.h> does not have; the two may be mixed.
#pragma once

#include "calotype.h"
#include "driver/jit_shared_runtime.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/stmt_nodes.h"
#include "ir/visitor.h"

#include "HalideBuffer.h"
#include "HalideRuntime.h"

#define HALIDE_VERSION_MAJOR 22
#define HALIDE_VERSION_MINOR 0
#define HALIDE_VERSION_PATCH 0
#define HALIDE_VERSION 220000

namespace calotype {

/// Nodes and passes, for programs that look inside.
namespace Internal {
using namespace calotype;
using namespace calotype::internal;
// Classes, not aliases: derived classes say IRMutator::visit(op).
class IRMutator : public calotype::Mutator {
public:
    using Mutator::Mutator;
};
class IRVisitor : public calotype::Visitor {
public:
    using Visitor::Visitor;
};
class IRGraphVisitor : public calotype::GraphVisitor {
public:
    using GraphVisitor::GraphVisitor;
};
}  // namespace Internal

}  // namespace calotype

namespace Halide = calotype;

#define HALIDE_REGISTER_GENERATOR CALOTYPE_REGISTER_GENERATOR
#define HALIDE_REGISTER_GENERATOR_ALIAS CALOTYPE_REGISTER_GENERATOR_ALIAS

#define HalideExtern_1 CalotypeExtern_1
#define HalideExtern_2 CalotypeExtern_2
#define HalideExtern_3 CalotypeExtern_3
#define HalideExtern_4 CalotypeExtern_4
#define HalideExtern_5 CalotypeExtern_5
#define HalidePureExtern_1 CalotypePureExtern_1
#define HalidePureExtern_2 CalotypePureExtern_2
#define HalidePureExtern_3 CalotypePureExtern_3
#define HalidePureExtern_4 CalotypePureExtern_4
#define HalidePureExtern_5 CalotypePureExtern_5
