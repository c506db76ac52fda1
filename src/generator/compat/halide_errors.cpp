// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_errors.h"

#include <cstdlib>
#include <exception>

#include "support/environment.h"
#include "support/text.h"

namespace calotype {
namespace Internal {

namespace {

/// One rule of the variable: "verbosity[,file[:first[-last]]][@function]".
bool rule_accepts(std::string rule, int verbosity, const std::string &file,
                  const std::string &function, int line) {
    const size_t at = rule.find('@');
    if (at != std::string::npos) {
        if (!internal::ends_with(function, rule.substr(at + 1))) {
            return false;
        }
        rule.resize(at);
    }
    const size_t comma = rule.find(',');
    if (comma != std::string::npos) {
        const std::vector<std::string> place = internal::split(rule.substr(comma + 1), ":");
        if (!internal::ends_with(file, place[0])) {
            return false;
        }
        if (place.size() > 1) {
            const std::vector<std::string> lines = internal::split(place[1], "-");
            if (line < std::atoi(lines[0].c_str()) || line > std::atoi(lines.back().c_str())) {
                return false;
            }
        }
        rule.resize(comma);
    }
    // What is not a number is not a rule.
    char *end = nullptr;
    const long most = std::strtol(rule.c_str(), &end, 10);
    return end != rule.c_str() && *end == 0 && verbosity <= most;
}

}  // namespace

bool debug_spec_accepts(const std::string &spec, int verbosity, const char *file,
                        const char *function, int line) {
    if (spec.empty()) {
        return verbosity <= 0;
    }
    for (const std::string &rule : internal::split(spec, ";")) {
        if (rule_accepts(std::string(internal::trim(rule)), verbosity, file, function, line)) {
            return true;
        }
    }
    return false;
}

bool debug_is_active_impl(int verbosity, const char *file, const char *function, int line) {
    static const std::string spec = [] {
        const char *text = internal::environment("DEBUG_CODEGEN");
        return std::string(text ? text : "");
    }();
    return debug_spec_accepts(spec, verbosity, file, function, line);
}

void unhandled_exception_handler() {
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
    } catch (...) {
        std::cerr << "an exception of an unknown type was not caught" << std::endl;
    }
    std::abort();
}

}  // namespace Internal
}  // namespace calotype
