// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinkPlan: which linkables a pipeline has, in which order they are set up, and who supplies which
// function.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "linkables/linkable.h"
#include "pipeline/parameters_used.h"

namespace calotype::internal {

/// Names of functions and symbols that some code uses.
struct LinkedNames {
    std::set<std::string> functions, symbols;
};

/// What one lowering knows of linkables.
class LinkPlan {
public:
    LinkPlan() = default;
    /// Those declared, in that order, then those that are only used, by name. The same linkable
    /// given several times is one. Those named by `after` come first. A CompileError for two that
    /// share a name, for `after` of a name that is not there, and for a cycle.
    LinkPlan(const std::vector<Linkable> &declared, const UsedParameters &used);

    /// In order of set-up.
    const std::vector<LinkableData> &linkables() const {
        return linkables_;
    }
    bool supplies_function(const std::string &name) const {
        return functions_.count(name) > 0;
    }
    bool supplies_symbol(const std::string &name) const {
        return symbols_.count(name) > 0;
    }
    /// What code that uses these names links: their suppliers, those that these come after, and,
    /// if asked for, those that are pinned.
    LinkedCode code_for(const LinkedNames &names, bool with_pinned) const;

private:
    void add(const Linkable &linkable);
    size_t index_of(const Linkable &linkable) const;
    void check_names() const;
    void resolve_after();

    std::vector<LinkableData> linkables_;
    std::vector<std::vector<size_t>> after_;      ///< of each, those that come before it
    std::map<std::string, std::string> aliases_;  ///< other names of the same linkable
    std::map<std::string, LinkedFunction> signatures_;
    std::map<std::string, size_t> functions_, symbols_;
};

/// The linkables and functions of both, each once, in order of set-up. A CompileError if they
/// contradict each other.
void merge_linked_code(LinkedCode &into, const LinkedCode &from);

}  // namespace calotype::internal
