// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/cli/parse.h"

#include "generator/param.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

const std::vector<std::string> flags = {"-g",
                                        "-f",
                                        "-n",
                                        "-o",
                                        "-e",
                                        "-r",
                                        "-p",
                                        "-t",
                                        "-v",
                                        "-d",
                                        "-h",
                                        "--help",
                                        "--print-after=PASS",
                                        "--time-passes"};

bool parse_switch(const std::string &flag, const std::string &value) {
    user_assert(value == "0" || value == "1") << flag << " takes 0 or 1, not '" << value << "'";
    return value == "1";
}

int parse_seconds(const std::string &value) {
    int seconds = -1;
    try {
        seconds = parse_number<int>(value);
    } catch (const CompileError &) {
        // Said below.
    }
    user_assert(seconds >= 0) << "-t takes a number of seconds, not '" << value << "'";
    return seconds;
}

std::vector<OutputFileType> parse_emit_list(const std::string &list) {
    std::vector<OutputFileType> types;
    for (const std::string &name : split(list, ",")) {
        const auto type = output_type_from_name(name);
        if (!type) {
            const std::vector<std::string> known = output_type_names();
            const std::string hint = did_you_mean(name, known);
            user_error << "there is no emit type '" << name << "'"
                       << (hint.empty() ? ", there are: " + join(known, ", ") : hint);
        }
        types.push_back(*type);
    }
    return types;
}

void set_value(GeneratorCommand &command, const std::string &flag, const std::string &value) {
    switch (flag[1]) {
    case 'g':
        command.generator = value;
        break;
    case 'f':
        command.function = value;
        break;
    case 'n':
        command.base_name = value;
        break;
    case 'o':
        command.output_dir = value;
        break;
    case 'e':
        command.emit = parse_emit_list(value);
        break;
    case 'r':
        command.runtime = value;
        break;
    case 'p':
        command.plugins = split(value, ",");
        break;
    case 't':
        command.timeout_seconds = parse_seconds(value);
        break;
    case 'v':
        command.verbose = parse_switch(flag, value);
        break;
    default:
        command.gradient = parse_switch(flag, value);
        break;
    }
}

bool takes_value(const std::string &flag) {
    return flag.size() == 2 && flag[0] == '-' &&
           std::string("gfnoerptvd").find(flag[1]) != std::string::npos;
}

void set_param(GeneratorCommand &command, const std::string &arg) {
    // A value may hold more of them: paths do.
    const size_t equals = arg.find('=');
    user_assert(equals != std::string::npos && equals > 0)
        << "'" << arg << "' is not an argument: it must be a flag or NAME=VALUE";
    const std::string name = arg.substr(0, equals), value = arg.substr(equals + 1);
    user_assert(name != "auto_schedule" && name != "machine_params")
        << "'" << name << "' is no longer used, use autoscheduler=NAME and autoscheduler.KEY=VALUE";
    if (name == "target") {
        command.targets = split(value, ",");
        return;
    }
    user_assert(command.params.emplace(name, value).second)
        << "parameter '" << name << "' is given twice";
}

}  // namespace

GeneratorCommand parse_generator_command(const std::vector<std::string> &args) {
    GeneratorCommand command;
    const std::string print_after = "--print-after=";
    for (size_t i = 0; i < args.size(); i++) {
        const std::string &arg = args[i];
        if (arg == "-h" || arg == "--help") {
            command.help = true;
        } else if (arg == "--time-passes") {
            command.time_passes = true;
        } else if (starts_with(arg, print_after)) {
            command.print_after = arg.substr(print_after.size());
        } else if (takes_value(arg)) {
            user_assert(i + 1 < args.size()) << arg << " takes a value";
            set_value(command, arg, args[++i]);
        } else if (starts_with(arg, "-")) {
            user_error << "there is no flag '" << arg << "'" << did_you_mean(arg, flags)
                       << " (--help lists them)";
        } else {
            set_param(command, arg);
        }
    }
    if (const char *extra = environment("EXTRA_OUTPUTS")) {
        for (const OutputFileType type : parse_emit_list(extra)) {
            command.emit.push_back(type);
        }
    }
    return command;
}

}  // namespace calotype::internal
