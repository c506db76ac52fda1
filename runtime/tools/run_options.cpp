// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_options.h"

#include <iostream>

#include "run_values.h"

namespace calotype {
namespace run {

namespace {

/** A flag that is on, or has the value true or false. */
bool parse_switch(Options &options, const std::string &flag, const std::string &value) {
    const std::pair<const char *, bool Options::*> switches[] = {
        {"help", &Options::help},
        {"describe", &Options::describe},
        {"verbose", &Options::verbose},
        {"quiet", &Options::quiet},
        {"parsable_output", &Options::parsable_output},
        {"track_memory", &Options::track_memory},
        {"success", &Options::success},
        {"skip_bad_environment", &Options::skip_bad_environment},
    };
    for (const auto &known : switches) {
        if (flag == known.first) {
            options.*known.second = parse_bool("--" + flag, value);
            return true;
        }
    }
    return false;
}

void parse_flag(Options &options, const std::string &flag, const std::string &value) {
    if (parse_switch(options, flag, value)) {
        return;
    }
    if (flag == "name") {
        options.name = value;
    } else if (flag == "benchmarks") {
        if (!value.empty() && value != "all") {
            fail("--benchmarks is \"" + value + "\", must be all");
        }
        options.benchmark = true;
    } else if (flag == "benchmark_min_time") {
        options.benchmark_min_time = parse_float("--" + flag, value);
    } else if (flag == "output_extents") {
        options.output_extents = value;
    } else if (flag == "default_input_buffers") {
        options.default_input_buffers = value.empty() ? "zero:auto" : value;
    } else if (flag == "default_input_scalars") {
        options.default_input_scalars = value.empty() ? "estimate,default" : value;
    } else if (flag == "estimate_all") {
        options.default_input_buffers = "random:0:estimate_then_auto";
        options.default_input_scalars = "estimate";
        options.output_extents = "estimate";
    } else {
        fail("there is no flag --" + flag + "; --help says which there are");
    }
}

}  // namespace

Options parse_options(int argc, char **argv) {
    Options options;
    options.help = argc < 2;
    for (int i = 1; i < argc; i++) {
        const std::string text = argv[i];
        const size_t dashes = text.compare(0, 2, "--") == 0 ? 2 : text[0] == '-' ? 1 : 0;
        const size_t equals = text.find('=');
        const std::string name = text.substr(dashes, equals - dashes);
        const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
        if (dashes) {
            parse_flag(options, name, value);
        } else if (name.empty() || value.empty()) {
            fail("\"" + text + "\" is neither a flag nor like argument=value");
        } else {
            options.arguments.emplace_back(name, value);
        }
    }
    return options;
}

void print_usage(const std::string &program) {
    std::cout << "usage: " << program << " ARGUMENT=VALUE... [FLAG...]\n"
              << R"(
Runs a pipeline that is linked into this program.

Scalar inputs: a number, or `default` or `estimate` for what the pipeline says of it; with a comma
between, the first of them that there is.

Input buffers: the name of an image file, or
  zero:EXTENTS             all zero
  constant:VALUE:EXTENTS   all VALUE
  identity:EXTENTS         one where the first two coordinates are equal, else zero
  random:SEED:EXTENTS      uniform: floats from 0 to 1, integers from all of their range
EXTENTS are like [640,480,3], or
  auto                     what the outputs need
  estimate                 what the pipeline's estimates say
  estimate_then_auto       the first of the two that there is
Output buffers: the name of the image file to write.

  --name=NAME              which pipeline, if several are linked in
  --describe               print the arguments and stop
  --output_extents=EXTENTS of all outputs: [640,480,3], estimate, or auto: from the inputs (default)
  --default_input_buffers[=VALUE]  of input buffers that are not given; zero:auto
  --default_input_scalars[=VALUE]  of scalars that are not given; estimate,default
  --estimate_all           random:0:estimate_then_auto, estimate and --output_extents=estimate
  --benchmarks=all         measure the time of a call
  --benchmark_min_time=S   for so many seconds at least; 0.1
  --track_memory           print the most host memory that the pipeline has at a time
  --parsable_output        print one figure a line
  --skip_bad_environment   do nothing, successfully, where the pipeline's target cannot run
  --success                print "Success!" in the end
  --quiet                  do not print what the pipeline prints
  --verbose                say what is done, on stderr
)";
}

}  // namespace run
}  // namespace calotype
