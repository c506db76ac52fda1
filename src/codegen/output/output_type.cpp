// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/output_type.h"

namespace calotype::internal {

namespace {

const OutputTypeInfo rows[] = {
#define OUTPUT_TYPE(name, extension, per_target) {#name, extension, per_target},
#include "codegen/output/output_types.def"
};

struct Alias {
    const char *alias;
    OutputFileType type;
};

const Alias aliases[] = {
#define OUTPUT_ALIAS(alias, name) {alias, OutputFileType::name},
#include "codegen/output/output_types.def"
};

}  // namespace

const OutputTypeInfo &output_type_info(OutputFileType type) {
    return rows[size_t(type)];
}

std::optional<OutputFileType> output_type_from_name(const std::string &name) {
    for (size_t i = 0; i < std::size(rows); i++) {
        if (name == rows[i].name) {
            return OutputFileType(i);
        }
    }
    for (const Alias &a : aliases) {
        if (name == a.alias) {
            return a.type;
        }
    }
    return std::nullopt;
}

std::vector<std::string> output_type_names() {
    std::vector<std::string> names;
    for (const OutputTypeInfo &row : rows) {
        names.push_back(row.name);
    }
    for (const Alias &a : aliases) {
        names.push_back(a.alias);
    }
    return names;
}

}  // namespace calotype::internal
