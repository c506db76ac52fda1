// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/cli/run.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ostream>

#include "driver/cached_outputs.h"
#include "driver/output_plan.h"
#include "driver/plugin.h"
#include "generator/cpp_stub.h"
#include "generator/registry.h"
#include "generator/runtime_prefixes.h"
#include "lang/text/serialize.h"
#include "support/error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

// An error in the form of the command line, rather than in what it asks for.
class UsageError : public CompileError {
public:
    using CompileError::CompileError;
};

void time_is_up(int) {
    const char message[] = "error: the time given with -t is up\n";
    (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
    _exit(1);
}

void start_clock(int seconds) {
    if (seconds > 0) {
        std::signal(SIGALRM, time_is_up);
        alarm(unsigned(seconds));
    }
}

NamedTargets targets_of(const GeneratorCommand &command) {
    NamedTargets targets;
    for (const std::string &text : command.targets) {
        targets.emplace_back(text, Target(text));
    }
    if (targets.empty()) {
        const Target target = get_target_from_environment();
        targets.emplace_back(target.to_string(), target);
    }
    return targets;
}

// "a::b::f" must be identifiers with "::" between them.
void check_function_name(const std::string &name) {
    for (const std::string &part : split(name, "::")) {
        bool is_good = !part.empty() && !std::isdigit(uint8_t(part[0]));
        for (const char c : part) {
            is_good = is_good && (std::isalnum(uint8_t(c)) || c == '_');
        }
        user_assert(is_good) << "function name '" << name << "' is no C or C++ name";
    }
}

std::unique_ptr<GeneratorBase> make_generator(const GeneratorCommand &command,
                                              const Target &target) {
    auto generator = create_generator(command.generator, GeneratorContext(target));
    generator->set_params(command.params);
    return generator;
}

// What deserialize_pipeline reads.
std::string serialized(const GeneratorCommand &command, const Target &target) {
    UniqueNameScope names;
    std::vector<uint8_t> data;
    serialize_pipeline(make_generator(command, target)->build_pipeline(), data);
    return {data.begin(), data.end()};
}

CompileJob make_job(const GeneratorCommand &command, const std::string &function,
                    const Target &target) {
    // The names inside do not depend on what this process built before.
    UniqueNameScope names;
    CompileJob job;
    const auto generator = make_generator(command, target);
    job.source = generator->build_source(function);
    job.autoscheduled = generator->autoscheduled();
    job.target = target;
    job.options = CompileOptions::from_environment(function);
    job.options.print_pass_times |= command.time_passes;
    if (!command.print_after.empty()) {
        job.options.print_after = command.print_after;
    }
    return job;
}

FileContents generate(const GeneratorCommand &command) {
    const std::string function = command.function.empty() ? command.generator : command.function;
    check_function_name(function);
    const std::string base =
        command.base_name.empty() ? split(function, "::").back() : command.base_name;
    const std::vector<OutputFileType> types =
        command.emit.empty()
            ? std::vector<OutputFileType>{OutputFileType::c_header, OutputFileType::registration,
                                          OutputFileType::static_library}
            : command.emit;
    OutputPaths paths = output_paths(command.output_dir + "/" + base, types);
    FileContents files;
    const auto take = [&](OutputFileType type) {
        const auto it = paths.find(type);
        const std::string path = it == paths.end() ? "" : it->second;
        paths.erase(type);
        return path;
    };
    // The stub needs the generator's declarations alone.
    if (const std::string path = take(OutputFileType::cpp_stub); !path.empty()) {
        files[path] = cpp_stub_text(command.generator);
    }
    if (const std::string path = take(OutputFileType::ctpipe); !path.empty()) {
        files[path] = serialized(command, targets_of(command).back().second);
    }
    if (!paths.empty()) {
        files.merge(cached_outputs(function, paths, targets_of(command),
                                   [&](const std::string &name, const Target &target) {
                                       return make_job(command, name, target);
                                   }));
    }
    return files;
}

RuntimeNamespaceMap runtime_prefixes(const GeneratorCommand &command) {
    RuntimeNamespaceMap prefixes;
    for (const auto &[name, value] : command.params) {
        take_runtime_prefix(name, value, prefixes);
    }
    return prefixes;
}

FileContents runtime_files(const GeneratorCommand &command) {
    const std::string name = command.output_dir + "/" + command.runtime;
    const Target target = targets_of(command).back().second;
    const RuntimeNamespaceMap prefixes = runtime_prefixes(command);
    FileContents files{{name + ".a", standalone_runtime(target, prefixes)}};
    if (std::find(command.emit.begin(), command.emit.end(), OutputFileType::object) !=
        command.emit.end()) {
        files[name + ".o"] = standalone_runtime_object(target, prefixes);
    }
    return files;
}

void check_command(const GeneratorCommand &command) {
    if (command.generator.empty() && command.runtime.empty()) {
        throw UsageError("-g GENERATOR is missing (--help says more)");
    }
    if (command.output_dir.empty()) {
        throw UsageError("-o DIRECTORY is missing (--help says more)");
    }
    user_assert(!command.gradient)
        << "-d 1: no function for gradients is made beside the pipeline's; "
           "propagate_adjoints has them inside of it";
}

}  // namespace

void run_generator_command(const GeneratorCommand &command, std::ostream &out) {
    for (const std::string &plugin : command.plugins) {
        load_plugin(plugin);
    }
    if (command.help) {
        out << generator_help(command.generator);
        return;
    }
    check_command(command);
    start_clock(command.timeout_seconds);
    FileContents files;
    if (!command.runtime.empty()) {
        files = runtime_files(command);
    }
    if (!command.generator.empty()) {
        files.merge(generate(command));
    }
    make_directories(command.output_dir);
    write_files_together(files);
    if (command.verbose) {
        for (const auto &file : files) {
            out << "wrote " << file.first << "\n";
        }
    }
}

int generator_main(const std::vector<std::string> &args, std::ostream &out, std::ostream &err) {
    GeneratorCommand command;
    try {
        command = parse_generator_command(args);
    } catch (const std::exception &e) {
        err << "error: " << e.what() << "\n";
        return 2;
    }
    try {
        run_generator_command(command, out);
        return 0;
    } catch (const UsageError &e) {
        err << "error: " << e.what() << "\n";
        return 2;
    } catch (const std::exception &e) {
        err << "error: " << e.what() << "\n";
        return 1;
    }
}

}  // namespace calotype::internal
