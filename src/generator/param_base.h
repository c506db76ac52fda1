// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeneratorParamBase: a named value that a generator reads while it builds its pipeline, set from
// text.
#pragma once

#include <string>
#include <vector>

#include "lang/extern_device.h"

namespace calotype {
namespace internal {

class GeneratorBase;

/// What `--help` and stubs show of a parameter.
struct ParamInfo {
    std::string kind;  ///< "int32", "bool", "enum", "type", "string", "target", "loop_level",
                       ///< "linkable", "linkables"
    std::string default_text;          ///< as it would be given on the command line
    std::string min_text, max_text;    ///< empty: no bound
    std::vector<std::string> choices;  ///< of an enum
};

/// A member of a generator. Constructing one inside a generator's class adds it to that generator.
class GeneratorParamBase {
public:
    explicit GeneratorParamBase(const std::string &name);
    virtual ~GeneratorParamBase();
    GeneratorParamBase(const GeneratorParamBase &) = delete;
    GeneratorParamBase &operator=(const GeneratorParamBase &) = delete;

    const std::string &name() const {
        return name_;
    }
    /// Takes the form of the command line. A CompileError says what the parameter takes.
    virtual void set_from_string(const std::string &text) = 0;
    /// The value in that form.
    virtual std::string to_string() const = 0;
    virtual ParamInfo info() const = 0;
    /// Device code from elsewhere that the parameter names.
    virtual std::vector<Linkable> linkables() const {
        return {};
    }
    /// A CompileError if it has no value and needs one.
    virtual void check_is_complete() const {
    }
    /// LoopLevels may also be set after the pipeline is built.
    virtual bool may_be_set_late() const {
        return false;
    }

protected:
    /// A CompileError if the generator has already read its parameters.
    void check_may_be_set() const;
    /// "generator parameter 'radius': " + message, as a CompileError.
    [[noreturn]] void fail(const std::string &message) const;

private:
    friend class GeneratorBase;
    std::string name_;
    const GeneratorBase *generator_ = nullptr;
};

/// A CompileError unless the name is letters, digits and single underscores, and begins with a
/// letter. `what` is what the name is of: "generator", "input".
void check_generator_name(const char *what, const std::string &name);

}  // namespace internal
}  // namespace calotype
