// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorContext: what a generator is told from outside: the target, and how to schedule what it
// leaves open.
#pragma once

#include <memory>
#include <string>

#include "lang/pipeline.h"
#include "lang/schedule/autoscheduler.h"
#include "target/target.h"

namespace calotype {

class GeneratorContext {
public:
    GeneratorContext() = default;
    explicit GeneratorContext(const Target &target) : target_(target) {
    }
    GeneratorContext(const Target &target, const AutoschedulerParams &autoscheduler_params,
                     const RuntimePrefixParams &runtime_prefixes = {})
        : target_(target), autoscheduler_(autoscheduler_params),
          runtime_prefixes_(runtime_prefixes) {
    }

    const Target &target() const {
        return target_;
    }
    const AutoschedulerParams &autoscheduler_params() const {
        return autoscheduler_;
    }
    const RuntimePrefixParams &namespace_params() const {
        return runtime_prefixes_;
    }
    GeneratorContext with_target(const Target &target) const {
        return GeneratorContext(target, autoscheduler_, runtime_prefixes_);
    }

    /// A generator of class T for this context.
    template<typename T>
    std::unique_ptr<T> create() const {
        return T::create(*this);
    }
    /// The same, and its pipeline built with these inputs; its outputs can then be used as Funcs.
    template<typename T, typename... Args>
    std::unique_ptr<T> apply(const Args &...args) const {
        std::unique_ptr<T> t = create<T>();
        t->apply(args...);
        return t;
    }

private:
    Target target_;
    AutoschedulerParams autoscheduler_;
    RuntimePrefixParams runtime_prefixes_;
};

}  // namespace calotype
