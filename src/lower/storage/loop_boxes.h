// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What iterations of loops touch of the Funcs whose storage is around them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "arith/box.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Asked about one Func, it looks at all Funcs whose storage is around the loop: windows of a chain
/// depend on the same lets. So the accesses of a Func must not change before it was asked about.
class LoopBoxes {
public:
    struct Of {
        Box provided, required;
    };

    explicit LoopBoxes(const FuncValueBounds &funcs) : funcs_(funcs) {
    }

    /// What follows is inside of the storage of the Func, until end().
    void begin(const std::string &func) {
        around_.insert(func);
    }
    void end(const std::string &func) {
        around_.erase(func);
    }

    /// What one iteration touches. Each loop has a name of its own.
    Of of(const For *loop, const std::string &func);

private:
    struct OfAll {
        std::map<std::string, Box> provided, required;
    };

    const FuncValueBounds &funcs_;
    std::set<std::string> around_;
    std::map<std::string, OfAll> known_;  ///< by loops
};

}  // namespace calotype::internal
