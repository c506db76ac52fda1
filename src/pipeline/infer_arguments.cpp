// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/infer_arguments.h"

#include <algorithm>
#include <map>

#include "ir/constants.h"
#include "pipeline/parameters_used.h"
#include "support/error.h"

namespace calotype::internal {

std::vector<InferredArgument> infer_arguments(const std::vector<Function> &outputs,
                                              const std::vector<Requirement> &requirements) {
    const UsedParameters used = parameters_used(build_environment(outputs), requirements);
    std::map<std::string, InferredArgument> by_name;
    for (const auto &entry : used.parameters) {
        const Parameter &p = entry.second;
        const auto kind = p.is_buffer() ? Argument::InputBuffer : Argument::InputScalar;
        ArgumentEstimates estimates = p.get_argument_estimates();
        if (!p.is_buffer() && !p.type().is_handle() && !estimates.scalar_def.defined()) {
            estimates.scalar_def = make_zero(p.type());  // what a parameter begins with
        }
        by_name[p.name()] = {Argument(p.name(), kind, p.type(), p.dimensions(), estimates), p, {}};
    }
    for (const auto &entry : used.images) {
        const calotype_buffer_t *raw = entry.second->buffer->raw();
        InferredArgument image{
            Argument(entry.first, Argument::InputBuffer, Type(raw->type), raw->dimensions, {}),
            {},
            entry.second};
        user_assert(by_name.emplace(entry.first, image).second)
            << "a parameter and an image of the pipeline are both named " << entry.first;
    }
    std::vector<InferredArgument> result;
    for (const auto &entry : by_name) {
        result.push_back(entry.second);
    }
    std::stable_partition(result.begin(), result.end(),
                          [](const InferredArgument &a) { return a.arg.is_buffer(); });
    return result;
}

bool is_argument(const std::vector<Argument> &args, const std::string &name) {
    return std::any_of(args.begin(), args.end(), [&](const Argument &a) { return a.name == name; });
}

}  // namespace calotype::internal
