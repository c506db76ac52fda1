// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/conventions/names.h"

namespace calotype::internal::names {

std::string buffer_min(const std::string &name, int d) {
    return name + ".min." + std::to_string(d);
}

std::string buffer_extent(const std::string &name, int d) {
    return name + ".extent." + std::to_string(d);
}

std::string buffer_stride(const std::string &name, int d) {
    return name + ".stride." + std::to_string(d);
}

std::string buffer(const std::string &name) {
    return name + ".buffer";
}

}  // namespace calotype::internal::names
