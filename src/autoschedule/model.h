// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Model: the Funcs of a pipeline as an autoscheduler sees them: what each stage costs, and what it
// reads for a region that is computed of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arith/bounds.h"
#include "autoschedule/estimates.h"
#include "autoschedule/formula.h"
#include "autoschedule/region.h"
#include "pipeline/function.h"

namespace calotype::internal {

/// What a stage reads of one Func or input; what an update writes of its own Func counts as read.
struct Read {
    int source = 0;    ///< of Model::funcs, or, from Model::funcs.size() on, of Model::inputs
    double calls = 0;  ///< that differ, for each iteration
    double cost = 0;   ///< of all of them, in loads of neighbours
    std::vector<std::optional<Formula>> mins, maxs;  ///< one a dimension
};

struct StageModel {
    double operations = 0;  ///< for each iteration, without reads
    int widest_bits = 8;    ///< of what its values are computed in
    double iterations_of_rdom = 1;
    std::vector<bool> pure;  ///< for each dimension of the Func: it is a loop of the stage
    std::vector<Read> reads;
};

struct FuncModel {
    Function original;  ///< whose schedule is written
    Function f;         ///< a copy in which inlined Funcs have been put in place of their calls
    std::vector<StageModel> stages;
    std::vector<int> consumers;  ///< ascending
    ConcreteRegion region;       ///< all that is computed of it
    double bytes = 0;            ///< of an element
    bool is_output = false;
    bool is_inlined = false;
    bool stays_at_root = false;  ///< outputs, extern stages and what they read, memoized ones

    /// The dimension along which vectors lie: the innermost in memory.
    static int vector_dimension(const Function &f);
    int vector_dimension() const {
        return vector_dimension(original);
    }
    double bytes_of_all() const {
        return bytes * volume(region);
    }
};

struct InputModel {
    std::string name;
    double bytes = 0;  ///< of an element
    ConcreteRegion region;
};

struct Model {
    std::vector<FuncModel> funcs;  ///< producers before their consumers
    std::vector<InputModel> inputs;

    bool is_input(int source) const {
        return size_t(source) >= funcs.size();
    }
    const InputModel &input(int source) const {
        return inputs[size_t(source) - funcs.size()];
    }
};

/// The region of what is read for `region` of f; what cannot be found is taken as `all`.
ConcreteRegion region_read(const Read &read, const ConcreteRegion &region,
                           const ConcreteRegion &all);
/// Iterations of the stage when `region` of its Func is computed.
double iterations(const StageModel &stage, const ConcreteRegion &region);

/// Makes the Model, and changes it as Funcs are inlined. A CompileError names an output without an
/// estimate, or a Func that has a schedule.
class ModelBuilder {
public:
    ModelBuilder(const std::vector<Function> &outputs,
                 const std::vector<Requirement> &requirements);
    /// Puts the definition of Func i in place of its calls.
    void inline_func(int i);
    Model &model() {
        return model_;
    }
    const Estimates &estimates() const {
        return estimates_;
    }

private:
    void add_funcs(const std::vector<Function> &outputs);
    void mark_what_stays_at_root(const std::vector<Function> &outputs);
    void find_value_bounds();
    void find_consumers();
    void find_regions();
    void add_region(int source, const ConcreteRegion &region);
    void analyse_func(int i);
    StageModel analyse_stage(const Function &f, int stage);
    StageModel analyse_extern(const Function &f);
    int source_of(const std::string &name);

    Environment originals_, copies_;
    Estimates estimates_;
    FuncValueBounds value_bounds_;  ///< of what is read at coordinates that are data
    Model model_;
    std::map<std::string, int> index_;
};

}  // namespace calotype::internal
