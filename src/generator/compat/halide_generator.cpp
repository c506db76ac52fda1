// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_generator.h"

#include <sstream>

#include "generator/cli/run.h"

namespace calotype {
namespace Internal {

std::map<OutputFileType, const OutputInfo> get_output_info(const Target &) {
    std::map<OutputFileType, const OutputInfo> result;
    for (const std::string &name : internal::output_type_names()) {
        const OutputFileType type = *internal::output_type_from_name(name);
        const internal::OutputTypeInfo &info = internal::output_type_info(type);
        result.emplace(type, OutputInfo{info.name, info.extension, info.per_target});
    }
    return result;
}

void execute_generator(const ExecuteGeneratorArgs &args) {
    internal::GeneratorCommand command;
    command.generator = args.generator_name;
    command.function = args.function_name;
    command.base_name = args.file_base_name;
    command.output_dir = args.output_dir;
    command.emit.assign(args.output_types.begin(), args.output_types.end());
    command.params = args.generator_params;
    for (const Target &target : args.targets) {
        command.targets.push_back(target.to_string());
    }
    std::ostringstream printed;
    internal::run_generator_command(command, printed);
}

int generate_filter_main(int argc, char **argv, std::ostream &errors) {
    return internal::generator_main(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                    errors);
}

}  // namespace Internal
}  // namespace calotype
