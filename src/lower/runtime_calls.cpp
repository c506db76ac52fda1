// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/runtime_calls.h"

#include <map>

#include "support/text.h"

namespace calotype::internal {

namespace {

const std::map<std::string, DeviceOrder> &table() {
    static const std::map<std::string, DeviceOrder> rows = {
#define RUNTIME_CALL(name, order) {#name, DeviceOrder::order},
#include "lower/runtime_calls.def"
    };
    return rows;
}

}  // namespace

DeviceOrder device_order_of(const std::string &function) {
    const auto row = table().find(function);
    return row != table().end()          ? row->second
           : is_error_function(function) ? DeviceOrder::Keeps
                                         : DeviceOrder::Changes;
}

bool is_error_function(const std::string &function) {
    return starts_with(function, "calotype_error_");
}

bool is_runtime_function(const std::string &function) {
    return table().count(function) != 0;
}

}  // namespace calotype::internal
