// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorSource: generators that come into being while a program runs, beside those of C++, which
// register themselves as it is loaded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/generator_base.h"

namespace calotype::internal {

/// A language that generators are written in, and that is interpreted.
class GeneratorSource {
public:
    virtual ~GeneratorSource() = default;
    virtual std::vector<std::string> names() const = 0;
    /// Null if there is none of that name.
    virtual std::unique_ptr<GeneratorBase> create(const std::string &name,
                                                  const GeneratorContext &context) = 0;
};

/// The one of this process, null: none. Not owned; to be set before the first generator is made.
void set_generator_source(GeneratorSource *source);
GeneratorSource *generator_source();

/// The names of all generators: of the source and of those registered.
std::vector<std::string> generator_names();

}  // namespace calotype::internal
