// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side of device code: what an object tells the runtime of its kernels, and launches.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/device_code.h"
#include "codegen/emit.h"
#include "harness/expect_error.h"
#include "ir/constants.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

KernelArgument scalar(const std::string &name, Type t) {
    KernelArgument a;
    a.name = name;
    a.type = t;
    return a;
}

KernelArgument buffer(const std::string &name, Type t, bool written) {
    KernelArgument a = scalar(name, t);
    a.is_buffer = true;
    a.read = !written;
    a.written = written;
    return a;
}

DeviceModule two_kernels() {
    DeviceModule m;
    m.api = DeviceAPI::CUDA;
    m.name = "pipeline";
    DeviceKernel first, second;
    first.name = "first_s0";
    first.args = {buffer("out", Float(32), true), scalar("n", Int(32)), scalar("b", Bool())};
    second.name = "second_s0";
    second.args = {buffer("out", Float(32), true), scalar("x", Float(64)), scalar("h", Float(16)),
                   buffer("in", UInt(8), false)};
    m.kernels = {first, second};
    return m;
}

DeviceCode code_of_two_kernels() {
    DeviceCode code;
    code.images = {{CALOTYPE_PTX, 80, 0, "text of ptx"},
                   {CALOTYPE_CUBIN, 90, 'a', std::string("\x7f\0ELF", 5)}};
    code.kernels = {{"first_s0", 256, 128, 0}, {"second_s0", 0, 0, 4}};
    return code;
}

Expr descriptor() {
    return Call::make(Handle(), Intrinsic::gpu_module_descriptor, {StringImm::make("cuda")});
}

const calotype_device_interface_t *no_interface() {
    return nullptr;
}

struct Recorded {
    const calotype_module_desc *desc = nullptr;
    uint32_t kernel = 0;
    int32_t shape[7] = {};
    std::string arguments;  ///< their bytes, in order
    void *user_context = nullptr;
    int answer = 0;
};
Recorded recorded;

int begin(void *, const calotype_module_desc *desc, calotype_hold *hold) {
    recorded.desc = desc;
    hold->generation = 77;
    return 0;
}

int run(void *user_context, const calotype_hold *hold, uint32_t kernel, const int32_t shape[7],
        void **args) {
    EXPECT_EQ(hold->generation, 77u);
    recorded.user_context = user_context;
    recorded.kernel = kernel;
    std::memcpy(recorded.shape, shape, sizeof recorded.shape);
    recorded.arguments.clear();
    const calotype_kernel_desc &k = recorded.desc->kernels[kernel];
    for (uint32_t i = 0; i < k.n_args; i++) {
        recorded.arguments.append(static_cast<const char *>(args[i]), k.args[i].bytes);
    }
    return recorded.answer;
}

const JitSymbols symbols = {
    {"calotype_cuda_device_interface", reinterpret_cast<const void *>(no_interface)},
    {"calotype_begin_kernels", reinterpret_cast<const void *>(begin)},
    {"calotype_run_kernel", reinterpret_cast<const void *>(run)}};

/// f(__user_context, n, b, x, h, device): holds the module and launches kernel `name`.
LoweredModule launching(const std::string &name, std::vector<Expr> kernel_args) {
    const Expr hold = Variable::make(Handle(), "hold");
    const Expr context = Variable::make(Handle(), "__user_context");
    const Expr begun = Call::make(Int(32), "calotype_begin_kernels", {context, descriptor(), hold},
                                  CallKind::Extern);
    std::vector<Expr> args = {
        hold, StringImm::make(name), Variable::make(Int(32), "n"), 3, 1, 32, 4, 2, 1024};
    args.insert(args.end(), kernel_args.begin(), kernel_args.end());
    const Expr result = Variable::make(Int(32), "result");
    Stmt s = LetStmt::make("result", Call::make(Int(32), Intrinsic::gpu_launch, args),
                           AssertStmt::make(result == 0, result));
    s = Block::make(AssertStmt::make(begun == 0, 5), s);
    s = LetStmt::make("hold", Call::make(Handle(), Intrinsic::alloca, {16}), s);
    LoweredModule m =
        one_function({pointer_argument("__user_context"), scalar_argument("n", Int(32)),
                      scalar_argument("b", Bool()), scalar_argument("x", Float(64)),
                      scalar_argument("h", Float(16)), scalar_argument("device", UInt(64))},
                     s);
    m.device_modules = {two_kernels()};
    return m;
}

using Function = int(void *, int, bool, double, uint16_t, uint64_t);

std::shared_ptr<JitLibrary> load(const LoweredModule &m) {
    const Target target("x86-64-linux-cuda");
    return JitLibrary::load(CompiledModule(m, target, {code_of_two_kernels()}).object(), symbols);
}

template<typename T>
std::string bytes_of(const T &value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

TEST(Device, LaunchPassesShapeAndAddressesOfArguments) {
    const Expr device = Variable::make(UInt(64), "device");
    const auto library = load(launching(
        "first_s0", {device, Variable::make(Int(32), "n") + 1, Variable::make(Bool(), "b")}));
    recorded = Recorded();
    int context = 0;
    const uint64_t address = 0x123456789abcdef0;
    EXPECT_EQ(library->function<Function>("f")(&context, 41, true, 0, 0, address), 0);
    EXPECT_EQ(recorded.user_context, &context);
    EXPECT_EQ(recorded.kernel, 0u);
    const int32_t shape[7] = {41, 3, 1, 32, 4, 2, 1024};
    EXPECT_EQ(std::memcmp(recorded.shape, shape, sizeof shape), 0);
    EXPECT_EQ(recorded.arguments, bytes_of(address) + bytes_of(int32_t(42)) + '\1');
}

TEST(Device, ArgumentsKeepTheirWidth) {
    const Expr device = Variable::make(UInt(64), "device");
    const auto library = load(launching("second_s0", {device, Variable::make(Float(64), "x"),
                                                      Variable::make(Float(16), "h"), device + 8}));
    recorded = Recorded();
    EXPECT_EQ(library->function<Function>("f")(nullptr, 1, false, 2.5, 0x3c00, 16), 0);
    EXPECT_EQ(recorded.kernel, 1u);
    EXPECT_EQ(recorded.arguments, bytes_of(uint64_t(16)) + bytes_of(2.5) +
                                      bytes_of(uint16_t(0x3c00)) + bytes_of(uint64_t(24)));
}

TEST(Device, AFailedLaunchIsThePipelinesResult) {
    const Expr device = Variable::make(UInt(64), "device");
    const auto library = load(
        launching("first_s0", {device, Variable::make(Int(32), "n"), Variable::make(Bool(), "b")}));
    recorded = Recorded();
    recorded.answer = -23;
    EXPECT_EQ(library->function<Function>("f")(nullptr, 1, false, 0, 0, 0), -23);
}

TEST(Device, DescriptorTellsEverything) {
    const Expr device = Variable::make(UInt(64), "device");
    const auto library = load(
        launching("first_s0", {device, Variable::make(Int(32), "n"), Variable::make(Bool(), "b")}));
    recorded = Recorded();
    library->function<Function>("f")(nullptr, 1, false, 0, 0, 0);
    const calotype_module_desc &d = *recorded.desc;
    EXPECT_EQ(d.size, sizeof d);
    EXPECT_EQ(d.abi, CALOTYPE_ABI_VERSION);
    EXPECT_STREQ(d.name, "pipeline");
    EXPECT_EQ(d.device_interface, no_interface);
    ASSERT_EQ(d.n_images, 2u);
    EXPECT_EQ(d.images[0].kind, CALOTYPE_PTX);
    EXPECT_EQ(d.images[0].sm, 80u);
    EXPECT_EQ(d.images[0].suffix, 0);
    EXPECT_EQ(d.images[0].size, 11u);
    EXPECT_STREQ(static_cast<const char *>(d.images[0].data), "text of ptx");
    EXPECT_EQ(d.images[1].kind, CALOTYPE_CUBIN);
    EXPECT_EQ(d.images[1].suffix, 'a');
    EXPECT_EQ(std::memcmp(d.images[1].data, "\x7f\0ELF", 5), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(d.images[1].data) % 16, 0u);
    ASSERT_EQ(d.n_kernels, 2u);
    EXPECT_STREQ(d.kernels[0].name, "first_s0");
    EXPECT_EQ(d.kernels[0].max_threads, 256u);
    EXPECT_EQ(d.kernels[0].static_shared_bytes, 128u);
    EXPECT_EQ(d.kernels[1].flags, 4u);
    ASSERT_EQ(d.kernels[1].n_args, 4u);
    const calotype_kernel_arg expected[4] = {
        {1, 8, 0, 1}, {0, 8, 0, 0}, {0, 2, 0, 0}, {1, 8, 0, 0}};
    EXPECT_EQ(std::memcmp(d.kernels[1].args, expected, sizeof expected), 0);
    EXPECT_EQ(d.n_linkables + d.n_relocs + d.flags, 0u);
}

TEST(Device, IdIsThatOfTheContent) {
    const std::string id = device_module_uid(two_kernels(), code_of_two_kernels());
    EXPECT_EQ(id.size(), 32u);
    DeviceModule module = two_kernels();
    module.name = "another name";
    EXPECT_EQ(device_module_uid(module, code_of_two_kernels()), id);

    const auto differs = [&](auto change) {
        DeviceModule m = two_kernels();
        DeviceCode c = code_of_two_kernels();
        change(m, c);
        return device_module_uid(m, c) != id;
    };
    EXPECT_TRUE(differs([](auto &, auto &c) { c.images[0].bytes += "x"; }));
    EXPECT_TRUE(differs([](auto &, auto &c) { c.images[0].sm = 90; }));
    EXPECT_TRUE(differs([](auto &, auto &c) { c.images[1].suffix = 'f'; }));
    EXPECT_TRUE(differs([](auto &, auto &c) { c.images.pop_back(); }));
    EXPECT_TRUE(differs([](auto &, auto &c) { c.kernels[0].symbol = "second_s0"; }));
    EXPECT_TRUE(differs([](auto &, auto &c) { c.kernels[0].max_threads = 64; }));
    EXPECT_TRUE(differs([](auto &, auto &c) { c.kernels[0].static_shared_bytes = 0; }));
    EXPECT_TRUE(differs([](auto &m, auto &) { m.kernels[1].args[1].type = Float(32); }));
    EXPECT_TRUE(differs([](auto &m, auto &) { m.kernels[1].args[3].written = true; }));
    EXPECT_TRUE(differs([](auto &m, auto &) { m.api = DeviceAPI::OpenCL; }));
}

TEST(Device, ObjectsAreTheSameEachTime) {
    const LoweredModule m =
        launching("first_s0", {Variable::make(UInt(64), "device"), Variable::make(Int(32), "n"),
                               Variable::make(Bool(), "b")});
    const Target target("x86-64-linux-cuda");
    EXPECT_EQ(CompiledModule(m, target, {code_of_two_kernels()}).object(),
              CompiledModule(m, target, {code_of_two_kernels()}).object());
}

TEST(Device, CppSourceHasNoKernels) {
    LoweredModule m = one_function({}, Stmt());
    m.device_modules = {two_kernels()};
    EXPECT_COMPILE_ERROR(c_source_text(m, Target("x86-64-linux-cuda")),
                         "pipeline test has kernels for cuda, which C++ source cannot hold: "
                         "compile it to an object or a static library");
}

TEST(Device, TextsOfOutputs) {
    LoweredModule m = one_function({}, Stmt());
    m.device_modules = {two_kernels()};
    DeviceCode code = code_of_two_kernels();
    code.facts.push_back({"first_s0", 90, 'a', 32, 0, 8, 16, 128, 256, 8, 100, "registers"});
    code.notes = {"kernel first_s0 spills"};
    code.linkables.resize(2);
    code.linkables[0].data.name = "rng";
    code.linkables[0].data.setup = "up";
    code.linkables[0].data.teardown = "down";
    code.linkables[0].how = "PTX linked into cubin sm_90";
    code.linkables[1].data.name = "other";
    EXPECT_EQ(ptx_text(m, {code}), "text of ptx\n");
    EXPECT_EQ(cubin_bytes(m, {code}), std::string("\x7f\0ELF", 5));
    EXPECT_EQ(device_code_text(m, {code}), "// pipeline: PTX sm_80\ntext of ptx\n");
    const std::string report = device_report_text(m, Target("x86-64-linux-cuda"), {code});
    EXPECT_NE(report.find("image: cubin sm_90a, 5 bytes\n"), std::string::npos) << report;
    EXPECT_NE(
        report.find("\nfirst_s0                 sm_90a   32          0          8          16 "
                    "     128      256       8           100%        registers\n"),
        std::string::npos)
        << report;
    EXPECT_NE(report.find("\nnote: kernel first_s0 spills\n"), std::string::npos) << report;
    EXPECT_NE(report.find("\nlinkable rng: PTX linked into cubin sm_90, setup up, teardown down\n"
                          "linkable other: not used\n"),
              std::string::npos)
        << report;

    code.images.pop_back();
    EXPECT_COMPILE_ERROR(cubin_bytes(m, {code}),
                         "pipeline test has no cubin: it was compiled to PTX alone; making cubins "
                         "takes a CUDA toolkit");
    m.device_modules.clear();
    EXPECT_EQ(ptx_text(m, {}), "// test has no CUDA kernels\n");
    EXPECT_EQ(cubin_bytes(m, {}), "");
    EXPECT_EQ(cuda_source_text(m, Target("x86-64-linux-cuda")), "// test has no CUDA kernels\n");
    m.device_modules = {two_kernels()};
    for (DeviceKernel &kernel : m.device_modules[0].kernels) {
        kernel.body = Evaluate::make(make_zero(Int(32)));
    }
    const std::string source = cuda_source_text(m, Target("x86-64-linux-cuda"));
    EXPECT_EQ(source.find("// CUDA C++ of pipeline\n\nextern \"C\" __global__ void first_s0("), 0u)
        << source;
}

}  // namespace
}  // namespace calotype::internal
