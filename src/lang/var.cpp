// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/var.h"

#include <algorithm>

#include "ir/expr_nodes.h"
#include "pipeline/schedule.h"
#include "support/error.h"
#include "support/text.h"
#include "support/user_text.h"

namespace calotype {

using namespace internal;

Var::Var(const std::string &name) {
    user_assert(!name.empty()) << "the name of a Var is empty";
    check_name("Var", name);
    expr_ = Variable::make(Int(32), name);
}

Var::Var() : Var(internal::unique_name('v')) {
}

const std::string &Var::name() const {
    return expr_.as<Variable>()->name;
}

bool Var::same_as(const Var &other) const {
    return name() == other.name();
}

Var Var::implicit(int n) {
    return Var("_" + std::to_string(n));
}

int Var::implicit_index(const std::string &name) {
    const bool digits =
        name.size() > 1 && name.size() < 10 && name[0] == '_' &&
        std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits ? std::stoi(name.substr(1)) : -1;
}

bool Var::is_implicit(const std::string &name) {
    return implicit_index(name) >= 0;
}

bool Var::is_placeholder(const std::string &name) {
    return name == "_";
}

Var Var::outermost() {
    return Var(outermost_name);
}

}  // namespace calotype
