// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LowerContext: what every pass may know besides the statement it rewrites.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "arith/bounds.h"
#include "arith/const_bounds.h"
#include "ir/module.h"
#include "pipeline/linked_code.h"
#include "pipeline/parameters_used.h"
#include "pipeline/source.h"
#include "support/text.h"
#include "target/target.h"

namespace calotype::internal {

/// A stage: its Func's name and its number.
using StageKey = std::pair<std::string, int>;

/// Which loop of which stage a For is; keyed by the For's name in LowerContext::loops.
struct LoopInfo {
    std::string func;
    int stage = 0;
    std::string var;  ///< plain name, as in the stage's dims
    std::vector<StageKey>
        fused;  ///< stages that run inside of this loop because they are computed with this one
    std::vector<std::string> stands_for;  ///< the loops of theirs that this one is, by name
};

/// Facts of one lowering. Passes add to `loops`, `moves_on`, `lane_storage`, `names` and `device_modules`; the
/// rest is fixed once the nest is built.
struct LowerContext {
    Target target;
    std::string pipeline_name;
    std::vector<Function> outputs;  ///< copies that belong to this lowering
    std::vector<Argument> args;     ///< inputs, in order of the signature
    std::vector<Requirement> requirements;
    std::vector<CustomPass> custom_passes;
    bool trace_pipeline = false;
    UsedParameters used;             ///< parameters, constant images and linkables
    LinkPlan link_plan;              ///< who supplies what is linked
    Environment env;                 ///< all Functions, by name
    std::vector<std::string> order;  ///< realization order: producers before their consumers
    std::vector<std::vector<std::string>> fused_groups;  ///< `order` cut into compute_with groups
    FuncValueBounds func_bounds;  ///< what values a Func can take, for indices that depend on data
    std::map<std::string, LoopInfo> loops;
    /// By the name of a Func: loops between its storage and its production in each of whose iterations
    /// it is computed where earlier ones did not. From slide_windows.
    std::map<std::string, std::set<std::string>> moves_on;
    /// What the schedule says of storage in kernels that lanes alone share: place_kernel_storage.
    std::map<std::string, MemoryType> lane_storage;
    UniqueNames names;                         ///< fresh names of this lowering
    std::vector<DeviceModule> device_modules;  ///< one an API, from offload_kernels

    bool is_output(const std::string &name) const;
    /// Calls of f become its values: it has no loops and no storage.
    bool is_inlined(const Function &f) const;
    /// Name of Variables and buffers: the Function whose storage is called `buffer` ("f" or "f.1"),
    /// or null.
    const Function *function_of_buffer(const std::string &buffer) const;
    /// True if that buffer, of a Func or an input, is to be in MemoryType::GPUTexture.
    bool is_texture(const std::string &buffer) const;
    /// The statement simplified, floats taken to be finite unless the target says strict_float.
    Stmt simplified(const Stmt &s) const;
    /// Of the int32 parameters, as far as they are given by constants.
    ConstantRanges ranges_of_parameters() const;
};

}  // namespace calotype::internal
