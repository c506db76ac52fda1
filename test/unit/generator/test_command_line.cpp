// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of generator executables: files, exit codes, error texts.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <sstream>
#include <thread>

#include "generator/cli/run.h"
#include "harness/names_in.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype::internal {
namespace {

using test::names_in;

struct Result {
    int code;
    std::string out, err;
};

Result run(const std::vector<std::string> &args) {
    std::ostringstream out, err;
    const int code = generator_main(args, out, err);
    return {code, out.str(), err.str()};
}

// The error of a command that must fail, with its directory filled in.
std::string error_of(std::vector<std::string> args, int code = 1) {
    TemporaryDirectory dir;
    args.insert(args.end(), {"-o", dir.path()});
    const Result r = run(args);
    EXPECT_EQ(r.code, code);
    EXPECT_EQ(std::filesystem::directory_iterator(dir.path()),
              std::filesystem::directory_iterator());
    return r.err;
}

using Names = std::vector<std::string>;

TEST(CommandLine, WritesTheDefaultFiles) {
    TemporaryDirectory dir;
    const Result r = run({"-g", "brighten", "-o", dir.path(), "target=host-no_runtime"});
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(names_in(dir.path()),
              (Names{"brighten.a", "brighten.h", "brighten.registration.cpp"}));
}

TEST(CommandLine, WritesWhatIsAskedFor) {
    TemporaryDirectory dir;
    const Result r =
        run({"-g", "brighten", "-f", "ns::light", "-n", "files", "-o", dir.path() + "/new/folder",
             "-e", "o,h,assembly,llvm_assembly,bitcode,stmt", "target=host-no_runtime", "-v", "1",
             "offset=3"});
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(r.code, 0);
    const std::string folder = dir.path() + "/new/folder/";
    EXPECT_EQ(names_in(folder),
              (Names{"files.bc", "files.h", "files.ll", "files.o", "files.s", "files.stmt"}));
    std::string expected;
    for (const char *extension : {"bc", "h", "ll", "o", "s", "stmt"}) {
        expected += "wrote " + folder + "files." + extension + "\n";
    }
    EXPECT_EQ(r.out, expected);
    EXPECT_NE(read_file(folder + "files.h").find("namespace ns"), std::string::npos);
    EXPECT_NE(read_file(folder + "files.h").find("int light("), std::string::npos);
}

TEST(CommandLine, SeveralTargets) {
    TemporaryDirectory dir;
    const Result r = run({"-g", "brighten", "-o", dir.path(), "-e", "static_library,c_header,stmt",
                          "target=x86-64-linux-avx2-no_runtime,x86-64-linux-no_runtime"});
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(names_in(dir.path()),
              (Names{"brighten-x86-64-linux-avx2-no_runtime.stmt",
                     "brighten-x86-64-linux-no_runtime.stmt", "brighten.a", "brighten.h"}));
}

TEST(CommandLine, Runtime) {
    TemporaryDirectory dir;
    const Result r = run({"-r", "my_runtime", "-o", dir.path(), "target=host"});
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(names_in(dir.path()), Names{"my_runtime.a"});
    EXPECT_TRUE(starts_with(read_file(dir.path() + "/my_runtime.a"), "!<arch>\n"));
}

TEST(CommandLine, RuntimeAsAnObject) {
    TemporaryDirectory dir;
    const Result r = run({"-r", "rt", "-o", dir.path(), "-e", "object,c_header", "target=host"});
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(names_in(dir.path()), (Names{"rt.a", "rt.o"}));
    EXPECT_TRUE(starts_with(read_file(dir.path() + "/rt.a"), "!<arch>\n"));
    EXPECT_TRUE(starts_with(read_file(dir.path() + "/rt.o"), "\177ELF"));
}

TEST(CommandLine, SameCommandSameBytes) {
    TemporaryDirectory one, two;
    const std::vector<std::string> command = {"-g", "brighten", "-e",
                                              "object,c_header,stmt,static_library", "target=host"};
    auto to = [&](const std::string &dir) {
        std::vector<std::string> args = command;
        args.insert(args.end(), {"-o", dir});
        return run(args).err;
    };
    EXPECT_EQ(to(one.path()), "");
    EXPECT_EQ(to(two.path()), "");
    for (const std::string &name : names_in(one.path())) {
        EXPECT_EQ(read_file(one.path() + "/" + name), read_file(two.path() + "/" + name)) << name;
    }
}

TEST(CommandLine, ThreadsDoNotMeet) {
    TemporaryDirectory alone, together;
    auto generate = [](const std::string &dir, int offset) {
        const std::string text = std::to_string(offset);
        return run({"-g", "brighten", "-n", std::string("f").append(text), "-f", "f", "-e",
                    "object", "-o", dir, "target=host-no_runtime",
                    std::string("offset=").append(text)})
            .code;
    };
    for (int i = 1; i <= 4; i++) {
        EXPECT_EQ(generate(alone.path(), i), 0);
    }
    std::vector<std::thread> threads;
    for (int i = 1; i <= 4; i++) {
        threads.emplace_back([&, i] { generate(together.path(), i); });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    for (const std::string &name : names_in(alone.path())) {
        EXPECT_EQ(read_file(alone.path() + "/" + name), read_file(together.path() + "/" + name))
            << name;
    }
    EXPECT_NE(read_file(alone.path() + "/f1.o"), read_file(alone.path() + "/f2.o"));
}

TEST(CommandLine, UnwritableFolder) {
    TemporaryDirectory dir;
    const std::string file = dir.path() + "/file";
    write_file_atomically(file, "");
    const Result r = run({"-g", "brighten", "-o", file + "/folder", "target=host-no_runtime"});
    EXPECT_EQ(r.code, 1);
    EXPECT_NE(r.err.find(file), std::string::npos) << r.err;
    EXPECT_EQ(names_in(dir.path()), Names{"file"});
}

// A folder in the place of the last file: those before it must not stay.
TEST(CommandLine, NoPartOfTheFiles) {
    TemporaryDirectory dir;
    make_directories(dir.path() + "/brighten.s.partial/x");
    const Result r = run({"-g", "brighten", "-o", dir.path(), "-e", "object,c_header,assembly",
                          "target=host-no_runtime"});
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(names_in(dir.path()), Names{"brighten.s.partial"});
}

TEST(CommandLine, Help) {
    const Result all = run({"--help"});
    EXPECT_EQ(all.code, 0);
    for (const char *part :
         {"  brighten\n", "  brighten_five\n", "-e TYPES", "static_library", ".stmt"}) {
        EXPECT_NE(all.out.find(part), std::string::npos) << part;
    }
    const Result one = run({"--help", "-g", "kinds"});
    EXPECT_EQ(one.code, 0);
    EXPECT_NE(one.out.find("  real                  float32    default 0.5, from 0 to 4\n"),
              std::string::npos)
        << one.out;
    EXPECT_NE(one.out.find("  mode                  enum       default sum, one of: product sum\n"),
              std::string::npos)
        << one.out;
    const Result open = run({"--help", "-g", "open"});
    EXPECT_NE(
        open.out.find("  weights               scalar     float32, array size: weights.size=\n"),
        std::string::npos)
        << open.out;
    EXPECT_NE(open.out.find(
                  "  input                 buffer     type: input.type=, dimensions: input.dim=\n"),
              std::string::npos);
}

// ---- errors ----

TEST(CommandLineErrors, Form) {
    EXPECT_EQ(error_of({"-q"}, 2),
              "error: there is no flag '-q', did you mean '-g'? (--help lists them)\n");
    EXPECT_EQ(run({"-g"}).err, "error: -g takes a value\n");
    EXPECT_EQ(run({}).err, "error: -g GENERATOR is missing (--help says more)\n");
    EXPECT_EQ(run({}).code, 2);
    EXPECT_EQ(run({"-g", "brighten"}).err, "error: -o DIRECTORY is missing (--help says more)\n");
    EXPECT_EQ(error_of({"-g", "brighten", "offset=1", "offset=2"}, 2),
              "error: parameter 'offset' is given twice\n");
    EXPECT_EQ(error_of({"-g", "brighten", "-v", "yes"}, 2), "error: -v takes 0 or 1, not 'yes'\n");
    EXPECT_EQ(error_of({"-g", "brighten", "-o", ".", "-d", "1"}, 1),
              "error: -d 1: no function for gradients is made beside the pipeline's; "
              "propagate_adjoints has them inside of it\n");
    EXPECT_EQ(error_of({"-g", "brighten", "-e", "objekt"}, 2),
              "error: there is no emit type 'objekt', did you mean 'object'?\n");
    EXPECT_EQ(error_of({"-g", "brighten", "auto_schedule=true"}, 2),
              "error: 'auto_schedule' is no longer used, use autoscheduler=NAME and "
              "autoscheduler.KEY=VALUE\n");
}

TEST(CommandLineErrors, Names) {
    EXPECT_EQ(error_of({"-g", "brigten"}),
              "error: there is no generator 'brigten', did you mean 'brighten'?\n");
    EXPECT_EQ(error_of({"-g", "brighten", "ofset=3"}),
              "error: generator 'brighten' has no parameter 'ofset', did you mean 'offset'?\n");
    const std::string no_plugin = error_of({"-g", "brighten", "-p", "/nowhere/plugin.so"});
    EXPECT_TRUE(starts_with(no_plugin, "error: cannot load /nowhere/plugin.so: ")) << no_plugin;
    EXPECT_EQ(error_of({"-g", "brighten", "-f", "not a name"}),
              "error: function name 'not a name' is no C or C++ name\n");
    EXPECT_EQ(error_of({"-g", "brighten", "--print-after=vectorise_loops"}),
              "error: there is no pass 'vectorise_loops', did you mean 'vectorize_loops'?\n");
    EXPECT_EQ(error_of({"-g", "brighten", "autoscheduler=Best"}),
              "error: autoscheduler 'Best' is not known, there is Mullapudi2016\n");
}

TEST(CommandLineErrors, Values) {
    EXPECT_EQ(error_of({"-g", "brighten", "offset=101"}),
              "error: generator parameter 'offset': value is 101, must be at most 100\n");
    EXPECT_EQ(error_of({"-g", "brighten", "offset=-1"}),
              "error: generator parameter 'offset': value is -1, must be at least 0\n");
    EXPECT_EQ(error_of({"-g", "brighten", "offset=ten"}),
              "error: generator parameter 'offset': 'ten' is no int32\n");
    EXPECT_EQ(error_of({"-g", "kinds", "small=200"}),
              "error: generator parameter 'small': '200' does not fit int8\n");
    EXPECT_EQ(error_of({"-g", "kinds", "flag=1"}),
              "error: generator parameter 'flag': '1' is not a bool, it takes true or false\n");
    EXPECT_EQ(error_of({"-g", "kinds", "mode=prodct"}),
              "error: generator parameter 'mode': 'prodct' is none of product, sum, did you mean "
              "'product'?\n");
    EXPECT_EQ(
        error_of({"-g", "kinds", "type=flaot32"}),
        "error: generator parameter 'type': 'flaot32' is not a type, did you mean 'float32'?\n");
    EXPECT_EQ(error_of({"-g", "kinds", "level=here"}),
              "error: generator parameter 'level': 'here' is not a loop level that text can give, "
              "which are root and "
              "inlined\n");
    EXPECT_EQ(
        error_of({"-g", "open", "input.type=int33"}),
        "error: generator parameter 'input.type': 'int33' is not a type, did you mean 'int32'?\n");
}

TEST(CommandLineErrors, Targets) {
    EXPECT_NE(error_of({"-g", "brighten", "target=x86-64-linux-avx3"}).find("avx3"),
              std::string::npos);
    EXPECT_EQ(error_of({"-g", "brighten", "target=x86-64-linux,x86-64-linux"}),
              "error: target x86-64-linux is given twice\n");
    EXPECT_EQ(error_of({"-g", "brighten", "target=x86-64-linux,arm-64-linux"}),
              "error: targets x86-64-linux and arm-64-linux differ in architecture, bits or "
              "system, so that no machine "
              "can run both\n");
}

TEST(CommandLineErrors, Pipelines) {
    EXPECT_EQ(error_of({"-g", "undefined"}),
              "error: output 'output' is not defined by generate()\n");
    EXPECT_EQ(error_of({"-g", "wrong_type"}),
              "error: output 'output' has type float32, must have int32\n");
    EXPECT_EQ(error_of({"-g", "open"}),
              "error: input 'input' has no type: set generator parameter 'input.type'\n");
}

}  // namespace
}  // namespace calotype::internal
