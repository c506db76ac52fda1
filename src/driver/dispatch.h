// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dispatch: the function that chooses between those compiled for several targets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "target/target.h"

namespace calotype::internal {

class Dispatch {
public:
    /// The next choice: a module of one function, compiled for that target.
    void add(LoweredModule module, const Target &target);
    /// A module with the function `name`, which takes what the choices take:
    ///     if the machine has what the first needs: first(args) else if ... else last(args)
    LoweredModule module(const std::string &name, const Target &target) const;

private:
    Stmt choose(size_t i, std::vector<LoweredBuffer> &buffers) const;
    struct Choice {
        LoweredModule module;
        Target target;
    };
    std::vector<Choice> choices_;
};

}  // namespace calotype::internal
