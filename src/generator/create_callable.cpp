// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/create_callable.h"

#include "generator/registry.h"

namespace calotype {

Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const GeneratorParamsMap &params) {
    const auto generator = internal::create_generator(name, context);
    generator->set_params(params);
    return generator->compile_to_callable();
}

Callable internal::compile_built(Pipeline pipeline, const std::vector<Argument> &args,
                                 const Target &target, const JITHandlers *handlers,
                                 const std::map<std::string, JITExtern> *externs) {
    if (handlers) {
        pipeline.jit_handlers() = *handlers;
    }
    if (externs) {
        pipeline.set_jit_externs(*externs);
    }
    return pipeline.compile_to_callable(args, target);
}

Callable
internal::GeneratorBase::compile_to_callable(const JITHandlers *handlers,
                                             const std::map<std::string, JITExtern> *externs) {
    const Pipeline pipeline = build_pipeline();
    return compile_built(pipeline, arguments(), get_target(), handlers, externs);
}

Callable create_callable_from_generator(const Target &target, const std::string &name,
                                        const GeneratorParamsMap &params) {
    return create_callable_from_generator(GeneratorContext(target), name, params);
}

}  // namespace calotype
