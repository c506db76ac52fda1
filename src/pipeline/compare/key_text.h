// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KeyText: pipelines written down as text in which equal text means equal pipelines. For keys, not
// for people.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ir/argument.h"
#include "pipeline/parameters_used.h"
#include "pipeline/source.h"

namespace calotype::internal {

/// Appends to a text. Every field is delimited, so that no two sequences of calls give the same
/// text. Expressions are graphs: a node is written where it is first met and is a number from then
/// on.
class KeyText {
public:
    void put(std::string_view text);
    void put(const char *text) {
        put(std::string_view(text));
    }
    void put(const std::string &text) {
        put(std::string_view(text));
    }
    void put(int64_t number);
    void put(const Type &type);
    void put(const Expr &e);
    /// Without the estimates, which generated code does not depend on.
    void put(const Argument &argument);
    void put(const ArgumentEstimates &estimates);
    /// Everything that lowering reads of these outputs and of all that they call.
    void put_pipeline(const PipelineSource &source);

    std::string take() {
        return std::move(text_);
    }
    /// What was put also depends on files that are not part of the text: headers that the CUDA C++
    /// of a linkable includes.
    bool depends_on_files() const {
        return depends_on_files_;
    }

private:
    void put_node(const ExprNode *node);
    void put(const Range &r);
    void put(const LoopLevel &level);
    void put(const Image &image, bool with_contents);
    void put(const Linkable &linkable);
    void put(const LinkedFunction &signature);
    template<typename T>
    void put_all(const std::vector<T> &list);
    void put_names(const std::vector<std::string> &names);

    struct FieldWriter;
    std::string text_;
    bool depends_on_files_ = false;
    std::map<const ExprNode *, int64_t> written_;
};

}  // namespace calotype::internal
