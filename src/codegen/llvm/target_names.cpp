// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/target_names.h"

#include "support/error.h"

namespace calotype::internal {

std::string triple_of(const Target &target, const std::string &architecture) {
    switch (target.os) {
    case Target::Linux:
        return architecture + "-unknown-linux-gnu";
    case Target::Android:
        return architecture + "-unknown-linux-android";
    case Target::NoOS:
        return architecture + "-unknown-unknown-elf";
    default:
        user_error << "no code can be generated for target "
                   << target.without_implied_features().to_string()
                   << ": the system must be linux, android or noos";
    }
}

std::string attributes_of(const Target &target, std::span<const FeatureAttributes> rows) {
    std::string result;
    for (const FeatureAttributes &row : rows) {
        if (target.has_feature(row.feature)) {
            result += result.empty() ? "" : ",";
            result += row.attributes;
        }
    }
    return result;
}

}  // namespace calotype::internal
