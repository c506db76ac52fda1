// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RandomCalls: definitions and directives with arguments drawn from all that there is, most of which make sense and
// some of which do not.
#pragma once

#include <calotype/calotype.h>

#include <functional>
#include <string>
#include <vector>

#include "random_pipeline.h"

namespace calotype::test {

class RandomCalls {
public:
    explicit RandomCalls(uint64_t seed);
    /// What was called and what of it was refused.
    const std::string &text() const {
        return text_;
    }
    /// The Func that is defined last; an undefined one if all definitions were refused.
    Func output() const;

private:
    Dice dice_;
    std::string text_;
    std::vector<Var> vars_;
    std::vector<RVar> rvars_;
    std::vector<Param<int>> params_;
    std::vector<ImageParam> images_;
    std::vector<Func> funcs_;
    std::vector<VarOrRVar> own_loops_;  ///< of the stage that a directive is for
    int names_ = 0;

    /// Says what is called, and what a user is told who calls it.
    void call(const std::string &what, const std::function<void()> &f);
    template<typename T>
    T said(T value, const std::string &text) {
        text_ += " " + text;
        return value;
    }

    int number();
    Type type();
    Var new_var();
    Func func();
    VarOrRVar loop();
    LoopLevel level();
    TailStrategy tail();
    Expr expr(int depth);
    Expr leaf();
    Expr read(int depth);
    std::vector<Expr> coordinates(int dimensions, int depth);

    void declare();
    void define();
    void update();
    void schedule();
    void schedule_func(Func f);
    void schedule_storage(Func f);
    void schedule_bounds(Func f);
    void schedule_order(Stage s);
    void schedule_kinds(Stage s);
};

}  // namespace calotype::test
