// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ScheduleText and StageWriter: directives that are carried out, and written down as C++.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "lang/func.h"
#include "support/text.h"

namespace calotype::internal {

/// The text of a function that gives a pipeline its schedule.
class ScheduleText {
public:
    /// `order` as Pipeline::get_func counts.
    explicit ScheduleText(const std::vector<Function> &order);
    /// What the Func is called in the text.
    const std::string &name_of(const Function &f) const {
        return names_.at(f.name());
    }
    /// What a loop is called, which is declared on the way.
    std::string variable(const VarOrRVar &v);
    void statement(const std::string &text) {
        body_ << "    " << text << ";\n";
    }
    /// The whole, with `heading` as a comment before it.
    std::string text(const std::string &heading) const;

private:
    std::string identifier(const std::string &name);

    std::map<std::string, std::string> names_;  ///< of Funcs
    std::map<std::string, std::string> variables_;
    UniqueNames identifiers_;
    std::ostringstream funcs_, declarations_, body_;
};

/// The directives of one stage.
class StageWriter {
public:
    StageWriter(const Function &f, int stage, ScheduleText &text);
    ~StageWriter();
    StageWriter(const StageWriter &) = delete;
    StageWriter &operator=(const StageWriter &) = delete;

    void split(const VarOrRVar &v, const VarOrRVar &outer, const VarOrRVar &inner, int factor,
               TailStrategy tail);
    void reorder(const std::vector<VarOrRVar> &loops);
    void vectorize(const VarOrRVar &v);
    void unroll(const VarOrRVar &v);
    void parallel(const VarOrRVar &v);
    void gpu_blocks(const std::vector<VarOrRVar> &loops);
    void gpu_threads(const std::vector<VarOrRVar> &loops);
    void gpu_single_thread();

private:
    void write(const std::string &directive, const std::vector<VarOrRVar> &loops,
               const std::string &rest = "");

    Stage stage_;
    ScheduleText &text_;
    std::string chain_;
};

/// Computed before all that use it.
void compute_root(const Function &f, ScheduleText &text);
void compute_at(const Function &f, const Function &host, const Var &loop, int stage,
                ScheduleText &text);

}  // namespace calotype::internal
