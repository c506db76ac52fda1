// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/features.h"

namespace calotype::internal {

namespace {

struct FeatureRow {
    Target::Feature feature;
    const char *attributes;
};

const FeatureRow feature_rows[] = {
    {Target::ARMv8a, "+v8a"},    {Target::ARMv81a, "+v8.1a"},      {Target::ARMv82a, "+v8.2a"},
    {Target::ARMv83a, "+v8.3a"}, {Target::ARMv84a, "+v8.4a"},      {Target::ARMv85a, "+v8.5a"},
    {Target::ARMv86a, "+v8.6a"}, {Target::ARMv87a, "+v8.7a"},      {Target::ARMv88a, "+v8.8a"},
    {Target::ARMv89a, "+v8.9a"}, {Target::ARMDotProd, "+dotprod"}, {Target::ARMFp16, "+fullfp16"},
};

}  // namespace

std::string arm_features(const Target &target) {
    std::string result = "+neon";
    for (const FeatureRow &row : feature_rows) {
        if (target.has_feature(row.feature)) {
            result += std::string(",") + row.attributes;
        }
    }
    return result;
}

}  // namespace calotype::internal
