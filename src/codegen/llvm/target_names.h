// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets of machines by LLVM's names for them.
#pragma once

#include <span>
#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The triple of the target's system: "x86_64-unknown-linux-gnu" for the architecture "x86_64". CompileError if
/// there is no code for that system.
std::string triple_of(const Target &target, const std::string &architecture);

/// What a feature means to a back end.
struct FeatureAttributes {
    Target::Feature feature;
    const char *attributes;  ///< "+sse4.2,+popcnt,+avx"
};
/// The attributes of all features that the target has, with commas between.
std::string attributes_of(const Target &target, std::span<const FeatureAttributes> rows);

}  // namespace calotype::internal
