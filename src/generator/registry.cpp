// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/registry.h"

#include "generator/generator_source.h"
#include "support/text.h"

namespace calotype {

namespace internal {

namespace {

// A list threaded through the static registrations themselves. It grows only while programs and
// shared libraries are loaded, which run one initialisation at a time.
constinit const GeneratorRegistration *first_registration = nullptr;

constinit GeneratorSource *source_of_process = nullptr;

}  // namespace

GeneratorRegistration::GeneratorRegistration(const char *name, const char *stub_name,
                                             GeneratorFactoryFunction factory)
    : name_(name), stub_name_(stub_name), factory_(std::move(factory)), next_(first_registration) {
    first_registration = this;
}

std::map<std::string, const GeneratorRegistration *> registered_generators() {
    std::map<std::string, const GeneratorRegistration *> result;
    for (const GeneratorRegistration *r = first_registration; r; r = r->next()) {
        check_generator_name("generator", r->name());
        user_assert(result.emplace(r->name(), r).second)
            << "two generators are registered as '" << r->name() << "'";
    }
    return result;
}

void set_generator_source(GeneratorSource *source) {
    source_of_process = source;
}

GeneratorSource *generator_source() {
    return source_of_process;
}

std::vector<std::string> generator_names() {
    std::vector<std::string> names;
    if (source_of_process) {
        names = source_of_process->names();
    }
    for (const auto &entry : registered_generators()) {
        names.push_back(entry.first);
    }
    return names;
}

std::unique_ptr<GeneratorBase> create_generator(const std::string &name,
                                                const GeneratorContext &context) {
    if (source_of_process) {
        if (auto generator = source_of_process->create(name, context)) {
            return generator;
        }
    }
    return find_generator(name).factory()(context);
}

const GeneratorRegistration &find_generator(const std::string &name) {
    const auto known = registered_generators();
    const auto it = known.find(name);
    if (it != known.end()) {
        return *it->second;
    }
    const std::vector<std::string> names = generator_names();
    const std::string hint = did_you_mean(name, names);
    user_error << "there is no generator '" << name << "'"
               << (!hint.empty()   ? hint
                   : names.empty() ? ", none is registered"
                                   : ", there are: " + join(names, ", "));
}

void GeneratorFactory::finish(GeneratorBase &generator, const GeneratorContext &context,
                              const std::string &registered_name) {
    generator.target.set(context.target());
    generator.autoscheduler_ = context.autoscheduler_params();
    generator.runtime_prefixes_ = context.namespace_params();
    generator.registered_name_ = registered_name;
    generator.check_names_are_unique();
}

}  // namespace internal
}  // namespace calotype
