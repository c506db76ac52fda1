// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is traced, and the calls that report events: for inject_tracing and describe_traced.
#pragma once

#include <string>
#include <vector>

#include "lower/context.h"
#include "runtime/abi/tracing.h"

namespace calotype::internal {

/// The arguments of one event.
struct TraceEvent {
    std::string func;
    calotype_trace_event_code_t code;
    Expr parent = 0;
    Expr value = Expr();                 ///< of a load or store; other events have no type
    std::vector<Expr> coordinates = {};  ///< or min and extent of each dimension
    int value_index = 0;
    Expr tag = Expr();  ///< undefined: none
    Expr thread_id = 0;

    /// int32: its id.
    Expr call() const;
};

/// The id of the event that began the pipeline.
std::string pipeline_trace_id();

bool traces_realizations(const Function &f, const LowerContext &ctx);
bool traces_loads(const Function &f, const LowerContext &ctx);
bool traces_loads(const Parameter &p, const LowerContext &ctx);
bool traces_stores(const Function &f, const LowerContext &ctx);
/// Any of these.
bool is_traced(const Function &f, const LowerContext &ctx);

}  // namespace calotype::internal
