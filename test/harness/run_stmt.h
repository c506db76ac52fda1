// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs flat statements (loads and stores, no Provide or Realize) in the interpreter, serially, so
// that tests can compare what a statement does before and after a pass.
#pragma once

#include "harness/interpret.h"
#include "ir/stmt_nodes.h"

namespace calotype::test {

class Machine {
public:
    Machine();

    /// Values of free variables.
    std::map<std::string, Value> &variables() {
        return interpreter_.variables;
    }
    /// Runs to the end or to the first assert that fails. May be called again; memory stays.
    void run(const internal::Stmt &s);

    /// What differs from before the first run, by buffer and index. At first each element is a
    /// number made of name and index.
    std::map<std::string, std::map<int64_t, Lane>> memory;
    bool assert_failed = false;

    /// As Interpreter's.
    bool undefined() const {
        return interpreter_.undefined() || interpreter_.met_nan();
    }
    /// "f[3] = 7, ...", and whether an assert failed.
    std::string state() const;

private:
    struct Stop {};

    void step(const internal::Stmt &s);
    void store(const Store *op);
    void loop(const For *op);
    void bind(const std::string &name, const Value &value, const internal::Stmt &body);
    Value load(const Load &op, const Value &index);
    bool holds(const Expr &condition);

    Interpreter interpreter_;
};

}  // namespace calotype::test
