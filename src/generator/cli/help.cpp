// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/output_plan.h"
#include "generator/cli/run.h"
#include "generator/generator_source.h"
#include "generator/registry.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

const char *const usage =
    R"(usage: GENERATOR_EXECUTABLE -g NAME -o DIR [-e TYPES] [flags] [target=T[,T...]] [PARAM=VALUE...]
       GENERATOR_EXECUTABLE -r NAME -o DIR [target=T] [runtime_prefixes.WHICH=PREFIX...]
       GENERATOR_EXECUTABLE --help [-g NAME]

Compiles one of the generators in this executable to files that an application links.

  -g NAME      the generator
  -f FUNCTION  name of the C function, or of the C++ function where it has namespaces: a::b::f.
               Default: the generator's name
  -n BASE      name of the files. Default: the function's name without namespaces
  -o DIR       folder of the files; it is made if it does not exist
  -e TYPES     what to write, a list with commas. Default: c_header,registration,static_library
  -r NAME      write the runtime, as DIR/NAME.a and, with -e object, under the name DIR/NAME.o too.
               Alone, or beside a generator's files
  -p FILES     shared libraries to load first
  -t SECONDS   give up after so long. 0: never
  -v 0|1       print the names of the files written
  -d 0|1       must be 0: no function for gradients is made beside the pipeline's
  --print-after=PASS   print the code after a pass of lowering, or after each: all
  --time-passes        print how long each pass takes

Several targets make one function that looks at the machine and takes the first target in the list
that it can run; the last is taken without a look. With the feature no_runtime, static_library is
the function alone; otherwise it holds the runtime too.

runtime_prefixes.export=P and runtime_prefixes.internal=P rename the functions of a runtime that is
written and what its parts share; runtime_prefixes.import=P is the name by which code with no_runtime
calls such a runtime.
)";

std::string pad(const std::string &text, size_t width) {
    return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

// Made of the generator, rather than of what it was lowered to.
bool is_of_generator(OutputFileType type) {
    return type == OutputFileType::cpp_stub || type == OutputFileType::schedule ||
           type == OutputFileType::ctpipe;
}

std::string emit_types() {
    std::string text = "Emit types (extension):\n";
    std::vector<std::string> seen;
    for (const std::string &name : output_type_names()) {
        const OutputFileType type = *output_type_from_name(name);
        const OutputTypeInfo &info = output_type_info(type);
        if (name == info.name && (can_make_output(type) || is_of_generator(type))) {
            text += "  " + pad(name, 22) + info.extension + "\n";
        }
    }
    return text;
}

std::string describe_param(const GeneratorParamBase &p) {
    const ParamInfo info = p.info();
    std::string text = "  " + pad(p.name(), 22) + pad(info.kind, 11);
    if (!info.default_text.empty()) {
        text += "default " + info.default_text;
    } else if (starts_with(info.kind, "linkable")) {
        text += "FILE[;KEY=VALUE...], docs/linkables.md says more";
    } else if (info.kind == "target") {
        text += "default: this machine, or CT_TARGET";
    }
    if (!info.min_text.empty()) {
        text += ", from " + info.min_text + " to " + info.max_text;
    }
    if (!info.choices.empty()) {
        text += ", one of: " + join(info.choices, " ");
    }
    return text + "\n";
}

std::string describe_io(const GeneratorIO &io) {
    const char *kinds[] = {"scalar", "Func", "buffer"};
    std::string text = "  " + pad(io.io_name(), 22) + pad(kinds[int(io.kind())], 11);
    if (io.types_defined()) {
        std::vector<std::string> types;
        for (const Type &t : io.io_types()) {
            types.push_back(type_to_name(t));
        }
        text += join(types, ",");
    } else {
        text += "type: " + io.io_name() + ".type=";
    }
    if (io.kind() != IOKind::Scalar) {
        text += io.dims_defined() ? ", " + std::to_string(io.io_dims()) + " dimensions"
                                  : ", dimensions: " + io.io_name() + ".dim=";
    }
    if (io.is_array()) {
        text += io.array_size_defined() ? ", array of " + std::to_string(io.array_size())
                                        : ", array size: " + io.io_name() + ".size=";
    }
    return text + "\n";
}

std::string example(const GeneratorBase &g, const std::string &name) {
    std::string text =
        "Example:\n  GENERATOR_EXECUTABLE -g " + name + " -o out -e object,c_header target=host";
    for (const GeneratorParamBase *p : g.params()) {
        const ParamInfo info = p->info();
        const bool is_plain = info.kind != "target" && info.kind != "loop_level" &&
                              !starts_with(info.kind, "linkable");
        if (is_plain && !info.default_text.empty()) {
            return text + " " + p->name() + "=" + info.default_text + "\n";
        }
    }
    return text + "\n";
}

std::string describe_generator(const std::string &name) {
    const auto g = create_generator(name, GeneratorContext());
    std::string text = "Generator " + name + "\n\nParameters:\n";
    for (const GeneratorParamBase *p : g->params()) {
        text += describe_param(*p);
    }
    text += "\nInputs:\n";
    for (const InputBase *input : g->inputs()) {
        text += describe_io(*input);
    }
    text += "\nOutputs:\n";
    for (const OutputBase *output : g->outputs()) {
        text += describe_io(*output);
    }
    return text + "\n" + example(*g, name);
}

}  // namespace

std::string generator_help(const std::string &generator) {
    if (!generator.empty()) {
        return describe_generator(generator);
    }
    std::string text =
        std::string(usage) + "\n" + emit_types() + "\nGenerators (--help -g NAME describes one):\n";
    for (const std::string &name : generator_names()) {
        text += "  " + name + "\n";
    }
    return text;
}

}  // namespace calotype::internal
