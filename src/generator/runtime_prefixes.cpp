// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/runtime_prefixes.h"

#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

const std::map<std::string, RuntimeLinkage> &linkages() {
    static const std::map<std::string, RuntimeLinkage> known = {
        {"import", RuntimeLinkage::Import},
        {"export", RuntimeLinkage::Export},
        {"internal", RuntimeLinkage::Internal},
    };
    return known;
}

}  // namespace

bool take_runtime_prefix(const std::string &name, const std::string &value,
                         RuntimeNamespaceMap &prefixes) {
    const std::string family = "runtime_prefixes.";
    if (!starts_with(name, family)) {
        return false;
    }
    const auto linkage = linkages().find(name.substr(family.size()));
    user_assert(linkage != linkages().end())
        << "there is no parameter '" << name << "', but " << family << "import, " << family
        << "export and " << family << "internal";
    user_assert(prefixes.emplace(linkage->second, value).second)
        << "parameter '" << name << "' is given twice";
    return true;
}

}  // namespace calotype::internal
