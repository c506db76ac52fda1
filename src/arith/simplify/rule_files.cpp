// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/simplify/rule.h"

namespace calotype::internal {

const std::vector<RuleFile> &rule_files() {
    static const std::vector<RuleFile> files = {
        add_rules, sub_rules, mul_rules,    div_rules,  mod_rules,
        min_rules, max_rules, lt_rules,     eq_rules,   and_rules,
        or_rules,  not_rules, select_rules, ramp_rules, broadcast_rules,
    };
    return files;
}

}  // namespace calotype::internal
