// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopEditor: checks a directive on the loops of one stage and appends it to the stage's schedule.
#pragma once

#include <string>
#include <vector>

#include "lang/stage.h"
#include "pipeline/loop_graph.h"

namespace calotype::internal {

class LoopEditor {
public:
    explicit LoopEditor(const Stage &stage);

    void split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
               const Expr &factor, TailStrategy tail);
    void fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    void rename(const VarOrRVar &old_name, const VarOrRVar &new_name);
    void reorder(const std::vector<VarOrRVar> &vars);
    void set_for_type(const VarOrRVar &var, ForType type);
    void set_device_api(const VarOrRVar &var, DeviceAPI api);
    void set_partition(const VarOrRVar &var, Partition policy);
    void set_partition_of_all(Partition policy);
    Stage specialize(const Expr &condition);
    void specialize_fail(const std::string &message);
    void stream_stores();
    void atomic(bool override_associativity_test);
    void prefetch(const std::string &name, const SymbolPtr &parameter, const VarOrRVar &at,
                  const VarOrRVar &from, const Expr &offset, PrefetchBoundStrategy strategy);

    StageSchedule &schedule() {
        return definition_->schedule;
    }
    /// A free name for the inner loop of a split whose author gave none.
    VarOrRVar name_inner(const VarOrRVar &var) const;
    /// Of the loop's dim in the schedule; a CompileError that names the directive if there is none.
    size_t find(const char *directive, const VarOrRVar &var) const;

private:
    bool is_name_taken(const std::string &name) const;
    void check_new_name(const char *directive, const VarOrRVar &var,
                        const std::vector<std::string> &replaced) const;
    void check_same_kind(const char *directive, const VarOrRVar &old, const VarOrRVar &made) const;
    void check_factor(const VarOrRVar &old, const Expr &factor) const;
    void check_tail(const LoopGraph &graph, int old, const Expr &factor, TailStrategy tail) const;
    void check_race(const Dim &dim, ForType type) const;
    void check_fuse(size_t inner, size_t outer) const;
    void check_race_of_fused(const Dim &dim, const Dim &other) const;
    void check_blend(const Dim &dim, ForType type) const;
    void set_name(size_t dim, const std::string &name);
    LoopGraph loop_graph() const;
    std::string loops_as_text() const;

    Stage stage_;
    Definition *definition_;  ///< of stage_
};

}  // namespace calotype::internal
