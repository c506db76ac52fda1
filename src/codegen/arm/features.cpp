// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/features.h"

#include "codegen/llvm/target_names.h"

namespace calotype::internal {

namespace {

const FeatureAttributes feature_rows[] = {
    {Target::ARMv8a, "+v8a"},    {Target::ARMv81a, "+v8.1a"},      {Target::ARMv82a, "+v8.2a"},
    {Target::ARMv83a, "+v8.3a"}, {Target::ARMv84a, "+v8.4a"},      {Target::ARMv85a, "+v8.5a"},
    {Target::ARMv86a, "+v8.6a"}, {Target::ARMv87a, "+v8.7a"},      {Target::ARMv88a, "+v8.8a"},
    {Target::ARMv89a, "+v8.9a"}, {Target::ARMDotProd, "+dotprod"}, {Target::ARMFp16, "+fullfp16"},
};

}  // namespace

std::string arm_features(const Target &target) {
    const std::string more = attributes_of(target, feature_rows);
    return more.empty() ? "+neon" : "+neon," + more;
}

}  // namespace calotype::internal
