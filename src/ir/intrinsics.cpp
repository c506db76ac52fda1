// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/intrinsics.h"

#include <unordered_map>

#include "support/error.h"

namespace calotype::internal {

namespace {

constexpr bool Pure = true, Impure = false;

const IntrinsicInfo table[] = {
#define INTRINSIC(name, arity, purity) {#name, arity, purity},
#include "ir/intrinsics.def"
};

}  // namespace

const IntrinsicInfo &intrinsic_info(Intrinsic id) {
    internal_assert(id < Intrinsic::none) << "no such intrinsic: " << int(id);
    return table[size_t(id)];
}

Intrinsic intrinsic_from_name(const std::string &name) {
    static const std::unordered_map<std::string, Intrinsic> by_name = [] {
        std::unordered_map<std::string, Intrinsic> map;
        for (size_t i = 0; i < size_t(Intrinsic::none); i++) {
            map.emplace(table[i].name, Intrinsic(i));
        }
        return map;
    }();
    auto it = by_name.find(name);
    return it == by_name.end() ? Intrinsic::none : it->second;
}

}  // namespace calotype::internal
