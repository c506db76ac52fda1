// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConcreteRange and ConcreteRegion: coordinates as numbers, as the estimates give them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace calotype::internal {

/// min .. max, both included; a whole number each.
struct ConcreteRange {
    double min = 0, max = -1;
    double extent() const {
        return std::max(0.0, max - min + 1);
    }
    void include(const ConcreteRange &other) {
        min = std::min(min, other.min);
        max = std::max(max, other.max);
    }
};

/// One range a dimension.
using ConcreteRegion = std::vector<ConcreteRange>;

inline double volume(const ConcreteRegion &region) {
    double product = 1;
    for (const ConcreteRange &range : region) {
        product *= range.extent();
    }
    return product;
}

inline void include(std::optional<ConcreteRegion> &region, const ConcreteRegion &other) {
    if (!region) {
        region = other;
        return;
    }
    for (size_t d = 0; d < other.size(); d++) {
        (*region)[d].include(other[d]);
    }
}

}  // namespace calotype::internal
