// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generators that an executable holds, by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "generator/context.h"
#include "generator/generator_base.h"

namespace calotype {
namespace internal {

using GeneratorFactoryFunction =
    std::function<std::unique_ptr<GeneratorBase>(const GeneratorContext &)>;

/// Makes generators of a class, with members that know whom they belong to.
class GeneratorFactory {
public:
    template<typename T, typename... Args>
    static std::unique_ptr<T> create(const GeneratorContext &context,
                                     const std::string &registered_name, Args &&...args) {
        GeneratorBase::Construction scope;
        std::unique_ptr<T> generator(new T(std::forward<Args>(args)...));
        finish(*generator, context, registered_name);
        return generator;
    }

private:
    static void finish(GeneratorBase &generator, const GeneratorContext &context,
                       const std::string &registered_name);
};

/// A static object of this type, made by CALOTYPE_REGISTER_GENERATOR, registers one generator while
/// the program starts. Two of one name are an error when the registry is first read.
class GeneratorRegistration {
public:
    GeneratorRegistration(const char *name, const char *stub_name,
                          GeneratorFactoryFunction factory);
    GeneratorRegistration(const GeneratorRegistration &) = delete;
    GeneratorRegistration &operator=(const GeneratorRegistration &) = delete;

    const char *name() const {
        return name_;
    }
    const char *stub_name() const {
        return stub_name_;
    }
    const GeneratorFactoryFunction &factory() const {
        return factory_;
    }
    const GeneratorRegistration *next() const {
        return next_;
    }

private:
    const char *name_, *stub_name_;
    GeneratorFactoryFunction factory_;
    const GeneratorRegistration *next_;
};

/// All registered, by name.
std::map<std::string, const GeneratorRegistration *> registered_generators();

/// The registration of that name. A CompileError with the nearest known name if there is none.
const GeneratorRegistration &find_generator(const std::string &name);

/// The same made. A CompileError with the nearest known name if there is none of that name.
std::unique_ptr<GeneratorBase> create_generator(const std::string &name,
                                                const GeneratorContext &context);

}  // namespace internal
}  // namespace calotype
