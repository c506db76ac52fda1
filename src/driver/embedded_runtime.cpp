// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/embedded_runtime.h"

#include "codegen/emit.h"
#include "codegen/runtime_names.h"
#include "driver/output_plan.h"
#include "support/embed_file.h"
#include "support/error.h"

CALOTYPE_EMBED_FILE(calotype_embedded_runtime, CALOTYPE_RUNTIME_ARCHIVE);

namespace calotype::internal {

std::string_view embedded_runtime() {
    return std::string_view(
        calotype_embedded_runtime_begin,
        size_t(calotype_embedded_runtime_end - calotype_embedded_runtime_begin));
}

bool has_runtime_for(const Target &target) {
    const Target host = get_host_target();
    return target.arch == host.arch && target.os == host.os && target.bits == host.bits;
}

std::string standalone_runtime(const Target &target, const RuntimeNamespaceMap &prefixes) {
    user_assert(has_runtime_for(target))
        << "this build of the compiler carries no runtime for " << target.to_string();
    return prefixes.empty() ? std::string(embedded_runtime())
                            : make_static_library(rename_runtime(
                                  read_static_library(embedded_runtime()), prefixes));
}

std::string standalone_runtime_object(const Target &target, const RuntimeNamespaceMap &prefixes) {
    return merge_objects(read_static_library(standalone_runtime(target, prefixes)));
}

}  // namespace calotype::internal
