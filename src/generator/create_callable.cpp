// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/create_callable.h"

#include "generator/registry.h"

namespace calotype {

Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const GeneratorParamsMap &params) {
    const auto generator = internal::create_generator(name, context);
    generator->set_params(params);
    Pipeline pipeline = generator->build_pipeline();
    return pipeline.compile_to_callable(generator->arguments(), context.target());
}

Callable create_callable_from_generator(const Target &target, const std::string &name,
                                        const GeneratorParamsMap &params) {
    return create_callable_from_generator(GeneratorContext(target), name, params);
}

}  // namespace calotype
