// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops, storage, errors, parallel loops and the things that come with a function.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <regex>
#include <string>
#include <thread>

#include "codegen/parts.h"
#include "ir/constants.h"
#include "ir/type_of.h"
#include "runtime/abi/buffer.h"
#include "runtime/abi/metadata.h"
#include "runtime/abi/threads.h"
#include "support/error.h"
#include "unit/codegen/kernel.h"

class Charmap;
CALOTYPE_DECLARE_EXTERN_CLASS_TYPE(Charmap);

namespace calotype::internal {
namespace {

/// A runtime that counts: what is allocated and not freed, what errors were reported.
struct FakeRuntime {
    std::atomic<int> live{0}, allocations{0};
    std::atomic<bool> out_of_memory{false};
    std::vector<std::string> printed;
    std::vector<void *> destroyed;
};
FakeRuntime *fake;

void *fake_malloc(void *, size_t size) {
    if (fake->out_of_memory) {
        return nullptr;
    }
    fake->live++;
    fake->allocations++;
    return std::aligned_alloc(128, (size + 127) / 128 * 128 + 128);
}
void fake_free(void *, void *p) {
    fake->live -= p != nullptr;
    std::free(p);
}
int fake_out_of_memory(void *) {
    return -11;
}
int fake_too_large(void *, const char *, uint64_t, uint64_t) {
    return -5;
}
void fake_print(void *, const char *text) {
    fake->printed.push_back(text);
}
void fake_destroy(void *, void *object) {
    fake->destroyed.push_back(object);
}
int fake_par_for(void *user_context, calotype_task_t task, int min, int size, uint8_t *closure) {
    std::vector<std::thread> threads;
    std::atomic<int> result{0};
    for (int i = min; i < min + size; i++) {
        threads.emplace_back([&, i] {
            if (int code = task(user_context, i, closure)) {
                result = code;
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    return result;
}

/// All tasks on threads of their own; semaphores are spun on.
int fake_parallel_tasks(void *user_context, int count, calotype_parallel_task_t *tasks,
                        void *parent) {
    std::vector<std::thread> threads;
    std::atomic<int> result{0};
    for (int i = 0; i < count; i++) {
        threads.emplace_back([&, i] {
            calotype_parallel_task_t &t = tasks[i];
            for (int k = t.min; k < t.min + t.extent && result == 0; k++) {
                for (int s = 0; s < t.num_semaphores; s++) {
                    auto *value =
                        reinterpret_cast<std::atomic<int64_t> *>(t.semaphores[s].semaphore);
                    while (value->load() < t.semaphores[s].count) {
                        std::this_thread::yield();
                    }
                    *value -= t.semaphores[s].count;
                }
                if (int code = t.fn(user_context, k, 1, t.closure, &t)) {
                    result = code;
                }
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    return result;
}
int fake_release(calotype_semaphore_t *semaphore, int n) {
    *reinterpret_cast<std::atomic<int64_t> *>(semaphore) += n;
    return 0;
}

const JitSymbols &fake_symbols() {
    static const JitSymbols symbols = {
        {"calotype_malloc", reinterpret_cast<const void *>(&fake_malloc)},
        {"calotype_free", reinterpret_cast<const void *>(&fake_free)},
        {"calotype_error_out_of_memory", reinterpret_cast<const void *>(&fake_out_of_memory)},
        {"calotype_error_buffer_allocation_too_large",
         reinterpret_cast<const void *>(&fake_too_large)},
        {"calotype_print", reinterpret_cast<const void *>(&fake_print)},
        {"calotype_do_par_for", reinterpret_cast<const void *>(&fake_par_for)},
        {"calotype_do_parallel_tasks", reinterpret_cast<const void *>(&fake_parallel_tasks)},
        {"calotype_semaphore_release", reinterpret_cast<const void *>(&fake_release)},
        {"destroy", reinterpret_cast<const void *>(&fake_destroy)},
    };
    return symbols;
}

class Statements : public testing::Test {
protected:
    void SetUp() override {
        fake = &runtime_;
    }
    void TearDown() override {
        EXPECT_EQ(runtime_.live, 0);
    }
    std::shared_ptr<JitLibrary> load(const LoweredModule &module) {
        return load_module(module, runnable_targets().back(), fake_symbols());
    }
    FakeRuntime runtime_;
};

Expr int_var(const char *name) {
    return Variable::make(Int(32), name);
}
Stmt loop(const char *name, Expr min, Expr extent, Stmt body, ForType type = ForType::Serial) {
    return For::make(name, min, extent, type, Partition::Auto, DeviceAPI::None, body);
}
Stmt store(const char *name, Expr value, Expr index) {
    return Store::make(name, value, index, const_true(index.type().lanes()), Alignment());
}
Expr load_int(const char *name, Expr index) {
    return Load::make(Int(32, index.type().lanes()), name, index, const_true(index.type().lanes()),
                      Alignment());
}
Stmt allocate(const char *name, Expr extent, Stmt body, MemoryType memory = MemoryType::Auto) {
    return Allocate::make(name, Int(32), memory, {extent}, const_true(), body);
}
/// Fails with that code where the condition does not hold.
Stmt assert_or(Expr condition, int code) {
    return AssertStmt::make(condition, Expr(code));
}

TEST_F(Statements, LoopsOverEmptyAndNegativeExtentsDoNothing) {
    Stmt body =
        loop("i", int_var("min"), int_var("extent"), store("out", int_var("i") * 10, int_var("i")));
    auto library = load(one_function({pointer_argument("out"), scalar_argument("min", Int(32)),
                                      scalar_argument("extent", Int(32))},
                                     body));
    auto *f = library->function<int(int *, int, int)>("f");
    std::vector<int> out(8, -1);
    EXPECT_EQ(f(out.data(), 3, 0), 0);
    EXPECT_EQ(f(out.data(), 3, -2), 0);
    EXPECT_EQ(out, std::vector<int>(8, -1));
    EXPECT_EQ(f(out.data(), 2, 3), 0);
    EXPECT_EQ(out, (std::vector<int>{-1, -1, 20, 30, 40, -1, -1, -1}));
}

TEST_F(Statements, HeapStorageIsFreedOnEveryWayOut) {
    Stmt inner = Block::make(loop("i", 0, int_var("n"), store("g", int_var("i") * 2, int_var("i"))),
                             Block::make(assert_or(int_var("n") != 7, -42),
                                         store("out", load_int("g", int_var("n") - 1), 0)));
    Stmt body = allocate("g", int_var("n"), allocate("h", int_var("n"), inner), MemoryType::Heap);
    auto library =
        load(one_function({pointer_argument("out"), scalar_argument("n", Int(32))}, body));
    auto *f = library->function<int(int *, int)>("f");
    int out = 0;
    EXPECT_EQ(f(&out, 5), 0);
    EXPECT_EQ(out, 8);
    EXPECT_EQ(runtime_.allocations, 2);
    EXPECT_EQ(f(&out, 7), -42);
    EXPECT_EQ(runtime_.allocations, 4);
    EXPECT_EQ(runtime_.live, 0);
    runtime_.out_of_memory = true;
    EXPECT_EQ(f(&out, 5), -11);
}

TEST_F(Statements, TooLargeAllocationIsAnError) {
    Stmt body =
        Allocate::make("g", Int(32), MemoryType::Heap, {int_var("n"), int_var("n"), int_var("n")},
                       const_true(), store("g", 1, 0));
    auto *f = load(one_function({scalar_argument("n", Int(32))}, body))->function<int(int)>("f");
    (void)f;
    auto library = load(one_function({scalar_argument("n", Int(32))}, body));
    f = library->function<int(int)>("f");
    EXPECT_EQ(f(10), 0);
    EXPECT_EQ(f(1 << 30), -5);
    EXPECT_EQ(f(1 << 16), -5);
}

TEST_F(Statements, SmallConstantStorageIsOnTheStack) {
    Stmt body = allocate("g", 100,
                         Block::make(loop("i", 0, 100, store("g", int_var("i"), int_var("i"))),
                                     store("out", load_int("g", int_var("k")), 0)));
    auto library =
        load(one_function({pointer_argument("out"), scalar_argument("k", Int(32))}, body));
    int out = 0;
    EXPECT_EQ(library->function<int(int *, int)>("f")(&out, 33), 0);
    EXPECT_EQ(out, 33);
    EXPECT_EQ(runtime_.allocations, 0);
}

// Two blocks of 4000 bytes that are not alive together are one.
TEST_F(Statements, StackStorageSharesBytes) {
    const auto block = [](const char *name, const char *index) {
        return allocate(
            name, 1000,
            Block::make(loop("i", 0, 1000, store(name, load_int("in", int_var("i")), int_var("i"))),
                        store("out", load_int(name, int_var(index)), int_var(index))));
    };
    const LoweredModule module =
        one_function({pointer_argument("in"), pointer_argument("out"),
                      scalar_argument("k", Int(32)), scalar_argument("m", Int(32))},
                     Block::make(block("g", "k"), block("h", "m")));
    const std::string text = CompiledModule(module, Target("x86-64-linux")).assembly();
    std::smatch frame;
    ASSERT_TRUE(std::regex_search(text, frame, std::regex(R"(subq\s+\$(\d+), %rsp)"))) << text;
    EXPECT_LT(std::stoi(frame[1]), 8000);
    EXPECT_GE(std::stoi(frame[1]), 4000);
    std::vector<int> in(1000), out(1000);
    std::iota(in.begin(), in.end(), 7);
    auto library = load(module);
    EXPECT_EQ(library->function<int(int *, int *, int, int)>("f")(in.data(), out.data(), 3, 900),
              0);
    EXPECT_EQ(out[3], 10);
    EXPECT_EQ(out[900], 907);
}

TEST_F(Statements, StackStorageOfUnknownSizeIsReused) {
    Stmt inner = Block::make(store("g", int_var("i"), int_var("n") - 1),
                             store("out", load_int("g", int_var("n") - 1), int_var("i")));
    Stmt body = loop("i", 0, 10, allocate("g", int_var("n"), inner, MemoryType::Stack));
    auto library =
        load(one_function({pointer_argument("out"), scalar_argument("n", Int(32))}, body));
    // On the stack as long as there is room, then on the heap.
    for (const int n : {1, 100, 4000, 4080, 4096, 100000}) {
        std::vector<int> out(10);
        runtime_.allocations = 0;
        EXPECT_EQ(library->function<int(int *, int)>("f")(out.data(), n), 0);
        EXPECT_EQ(out[9], 9);
        EXPECT_EQ(runtime_.allocations, n > 4080 ? 1 : 0) << n;
    }
}

TEST_F(Statements, StackStorageOfUnknownSizeThatGrows) {
    const Expr i = int_var("i"), size = i * int_var("n") + 1;
    Stmt inner = Block::make(store("g", i, i * int_var("n")),
                             store("out", load_int("g", i * int_var("n")), i));
    auto library =
        load(one_function({pointer_argument("out"), scalar_argument("n", Int(32))},
                          loop("i", 0, 10, allocate("g", size, inner, MemoryType::Stack))));
    for (const auto &[n, allocations] : {std::pair(10, 0), {200, 4}, {5000, 9}}) {
        std::vector<int> out(10);
        runtime_.allocations = 0;
        EXPECT_EQ(library->function<int(int *, int)>("f")(out.data(), n), 0);
        EXPECT_EQ(out[9], 9);
        EXPECT_EQ(runtime_.allocations, allocations) << n;
    }
}

TEST_F(Statements, ParallelLoopsSeeTheirClosure) {
    Expr y = int_var("y"), x = int_var("x"), w = int_var("w");
    Stmt body = loop("y", 0, int_var("h"),
                     LetStmt::make("row", y * w,
                                   loop("x", 0, w,
                                        store("out", load_int("in", int_var("row") + x) + y,
                                              int_var("row") + x))),
                     ForType::Parallel);
    auto library = load(one_function({pointer_argument("in"), pointer_argument("out"),
                                      scalar_argument("w", Int(32)), scalar_argument("h", Int(32))},
                                     body));
    std::vector<int> in(6 * 9), out(6 * 9);
    for (int i = 0; i < 54; i++) {
        in[size_t(i)] = i * i;
    }
    EXPECT_EQ(library->function<int(int *, int *, int, int)>("f")(in.data(), out.data(), 9, 6), 0);
    for (int i = 0; i < 54; i++) {
        EXPECT_EQ(out[size_t(i)], i * i + i / 9);
    }
}

TEST_F(Statements, ErrorInAParallelLoopIsReturned) {
    Stmt task =
        allocate("g", int_var("n"), Block::make(store("g", 1, 0), assert_or(int_var("y") != 2, -9)),
                 MemoryType::Heap);
    Stmt body = allocate("big", int_var("n"),
                         Block::make(store("big", 1, 0), loop("y", 0, 4, task, ForType::Parallel)),
                         MemoryType::Heap);
    auto library = load(one_function({scalar_argument("n", Int(32))}, body));
    EXPECT_EQ(library->function<int(int)>("f")(10), -9);
    EXPECT_EQ(runtime_.allocations, 5);
}

// A producer and a consumer a row apart: the consumer waits for each row.
TEST_F(Statements, ForkedTasksWaitForSemaphores) {
    Expr y = int_var("y"), semaphore = Variable::make(Handle(), "ready");
    Stmt release = Evaluate::make(
        Call::make(Int(32), "calotype_semaphore_release", {semaphore, Expr(1)}, CallKind::Extern));
    Stmt produce = loop("y", 0, int_var("n"), Block::make(store("g", y * y, y), release));
    Stmt consume = loop("y", 0, int_var("n"),
                        Acquire::make(semaphore, Expr(1), store("out", load_int("g", y) + 1, y)));
    Stmt body = allocate("g", int_var("n"), Fork::make(produce, consume), MemoryType::Heap);
    auto library = load(one_function(
        {pointer_argument("out"), pointer_argument("ready"), scalar_argument("n", Int(32))}, body));
    std::vector<int> out(50);
    int64_t ready[2] = {0, 0};
    EXPECT_EQ(library->function<int(int *, void *, int)>("f")(out.data(), ready, 50), 0);
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(out[size_t(i)], i * i + 1);
    }
    EXPECT_EQ(ready[0], 0);
}

/// So many stages in storage of their own, which each frees when the next has read it.
Stmt stages(int count, const Stmt &last) {
    const Expr i = int_var("i"), n = int_var("n");
    const auto stage = [](int k) {
        return "g" + std::to_string(k);
    };
    Stmt rest =
        Block::make(loop("i", 0, n, store("out", load_int(stage(count - 1).c_str(), i), i)), last);
    for (int k = count - 1; k >= 0; k--) {
        const Expr before = k == 0 ? i : load_int(stage(k - 1).c_str(), i) + k % 5;
        const Stmt freed = k == 0 ? rest : Block::make(Free::make(stage(k - 1)), rest);
        rest = allocate(stage(k).c_str(), n,
                        Block::make(loop("i", 0, n, store(stage(k).c_str(), before, i)), freed),
                        MemoryType::Heap);
    }
    return rest;
}

LoweredModule module_of_stages(int count) {
    return one_function({pointer_argument("out"), scalar_argument("n", Int(32))},
                        stages(count, assert_or(int_var("n") != 7, -42)));
}

// Passes of LLVM take time that grows faster than a function.
TEST_F(Statements, LongFunctionsAreDivided) {
    const auto longest = [](int count) {
        const std::string code =
            CompiledModule(module_of_stages(count), Target("x86-64-linux-disable_llvm_loop_opt"))
                .llvm_assembly();
        ptrdiff_t lines = 0;
        for (size_t at = 0; (at = code.find("\ndefine", at)) != std::string::npos; at++) {
            lines =
                std::max(lines, std::count(code.begin() + ptrdiff_t(at),
                                           code.begin() + ptrdiff_t(code.find("\n}", at)), '\n'));
        }
        return lines;
    };
    EXPECT_LT(longest(20), longest(40));
    EXPECT_LE(longest(200), longest(100) + longest(100) / 2);
}

TEST_F(Statements, PartsOfALongFunctionFreeWhatWasAllocatedBeforeThem) {
    constexpr int count = 150;
    auto library = load(module_of_stages(count));
    auto *f = library->function<int(int *, int)>("f");
    std::vector<int> out(8);
    int sum = 0;
    for (int k = 1; k < count; k++) {
        sum += k % 5;
    }
    EXPECT_EQ(f(out.data(), 8), 0);
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(out[size_t(i)], i + sum);
    }
    EXPECT_EQ(runtime_.allocations, count);
    EXPECT_EQ(runtime_.live, 0);
    EXPECT_EQ(f(out.data(), 7), -42);
    EXPECT_EQ(runtime_.allocations, 2 * count);
}

/// What is computed in the registers of a loop's iteration is not divided.
TEST(Parts, OfALoopHaveLoopsOfTheirOwn) {
    std::vector<Stmt> stores(100, store("out", int_var("i") * 3, int_var("i"))),
        loops(100, loop("j", 0, 8, store("out", int_var("i") * 3, int_var("j"))));
    EXPECT_EQ(parts_of(loop("i", 0, 8, Block::make(stores)), 50).size(), 0u);
    EXPECT_GT(parts_of(loop("i", 0, 8, Block::make(loops)), 50).size(), 5u);
    EXPECT_GT(parts_of(Block::make(stores), 50).size(), 5u);
}

TEST_F(Statements, AtomicUpdatesLoseNothing) {
    Expr y = int_var("y"), index = y % 3;
    Stmt sum = Store::make("out", load_int("out", index) + y, index, const_true(), Alignment());
    Expr biggest = Max::make(load_int("out", index + 3), y);
    Stmt maximum = Store::make("out", biggest, index + 3, const_true(), Alignment());
    Expr lanes = Ramp::make(Expr(6), 0, 4);
    Stmt same = Store::make("out", load_int("out", lanes) + Ramp::make(y, 1, 4), lanes,
                            const_true(4), Alignment());
    Stmt body = loop("y", 0, 64, Atomic::make("out", "", Block::make({sum, maximum, same})),
                     ForType::Parallel);
    auto library = load(one_function({pointer_argument("out")}, body));
    std::vector<int> out(7);
    EXPECT_EQ(library->function<int(int *)>("f")(out.data()), 0);
    std::vector<int> expected(7);
    for (int i = 0; i < 64; i++) {
        expected[size_t(i % 3)] += i;
        expected[size_t(i % 3 + 3)] = std::max(expected[size_t(i % 3 + 3)], i);
        expected[6] += 4 * i + 6;
    }
    EXPECT_EQ(out, expected);
}

TEST_F(Statements, DestructorsRunOnBothWays) {
    Stmt reg = Evaluate::make(Call::make(Int(32), Intrinsic::register_destructor,
                                         {Expr("destroy"), Variable::make(Handle(), "object")}));
    Stmt body = Block::make(reg, assert_or(int_var("n") > 0, -3));
    auto library =
        load(one_function({pointer_argument("object"), scalar_argument("n", Int(32))}, body));
    auto *f = library->function<int(void *, int)>("f");
    int object;
    EXPECT_EQ(f(&object, 1), 0);
    EXPECT_EQ(f(&object, 0), -3);
    EXPECT_EQ(runtime_.destroyed, (std::vector<void *>{&object, &object}));
}

TEST_F(Statements, PrintWritesItsArguments) {
    Expr line = Call::make(Int(32), Intrinsic::print,
                           {int_var("n"), Expr("100% of"), cast<float>(int_var("n")) / 2.0f,
                            cast<uint8_t>(int_var("n"))});
    auto library = load(one_function({pointer_argument("out"), scalar_argument("n", Int(32))},
                                     store("out", line, 0)));
    int out = 0;
    EXPECT_EQ(library->function<int(int *, int)>("f")(&out, 7), 0);
    EXPECT_EQ(out, 7);
    EXPECT_EQ(runtime_.printed, std::vector<std::string>{"7 100% of 3.500000 7\n"});
}

TEST_F(Statements, OnlyPointersToCharPrintAsText) {
    const Expr text = Variable::make(type_of<const char *>(), "text"),
               map = Variable::make(type_of<Charmap *>(), "map");
    auto library = load(
        one_function({pointer_argument("out"), pointer_argument("text"), pointer_argument("map")},
                     store("out", Call::make(Int(32), Intrinsic::print, {7, text, map}), 0)));
    int out = 0;
    const void *address = reinterpret_cast<const void *>(0x10);
    EXPECT_EQ(library->function<int(int *, const char *, const void *)>("f")(&out, "is", address),
              0);
    EXPECT_EQ(runtime_.printed, std::vector<std::string>{"7 is 0x10\n"});
}

TEST_F(Statements, WhatIsPrintedIsEvaluatedOnce) {
    Expr inner = Call::make(Int(32), Intrinsic::print, {int_var("n") + 1, Expr("inner")});
    Expr outer =
        Call::make(Int(32), Intrinsic::print_when, {int_var("n") > 0, inner * 2, Expr("outer")});
    auto library = load(one_function({pointer_argument("out"), scalar_argument("n", Int(32))},
                                     store("out", outer, 0)));
    int out = 0;
    auto *f = library->function<int(int *, int)>("f");
    EXPECT_EQ(f(&out, 7), 0);
    EXPECT_EQ(f(&out, -5), 0);
    EXPECT_EQ(out, -8);
    EXPECT_EQ(runtime_.printed,
              (std::vector<std::string>{"8 inner\n", "16 outer\n", "-4 inner\n"}));
}

TEST_F(Statements, BuffersAreReadAndChanged) {
    Expr in = Variable::make(Handle(), "in.buffer");
    auto get = [&](Intrinsic id, int d) {
        return Call::make(Int(32), id, {in, Expr(d)});
    };
    Stmt body = LetStmt::make(
        "in", Call::make(Handle(), Intrinsic::buffer_get_host, {in}),
        Block::make({store("in", get(Intrinsic::buffer_get_extent, 1), 0),
                     store("in", get(Intrinsic::buffer_get_stride, 1), 1),
                     store("in", get(Intrinsic::buffer_get_min, 0), 2),
                     Evaluate::make(
                         Call::make(Int(32), Intrinsic::buffer_set_host_dirty, {in, const_true()})),
                     Evaluate::make(Call::make(Handle(), Intrinsic::buffer_set_bounds,
                                               {in, Expr(0), Expr(5), Expr(6), Expr(7)}))}));
    auto library = load(
        one_function({buffer_argument("in", Int(32), 2)}, body, LinkageType::ExternalPlusMetadata));
    int data[16] = {};
    calotype_dimension_t shape[2] = {{-1, 4, 1}, {2, 3, 4}};
    calotype_buffer_t buffer{};
    buffer.host = reinterpret_cast<uint8_t *>(data);
    buffer.type = type_of<int>().to_abi();
    buffer.dimensions = 2;
    buffer.dim = shape;
    void *args[] = {&buffer};
    EXPECT_EQ(library->function<int(void **)>("f_argv")(args), 0);
    EXPECT_EQ(data[0], 3);
    EXPECT_EQ(data[1], 4);
    EXPECT_EQ(data[2], -1);
    EXPECT_TRUE(buffer.host_dirty());
    EXPECT_EQ(shape[0].min, 5);
    EXPECT_EQ(shape[0].extent, 6);
    EXPECT_EQ(shape[0].stride, 7);
}

TEST_F(Statements, MetadataDescribesTheArguments) {
    LoweredArgument scale = scalar_argument("scale", Float(32));
    scale.argument_estimates.scalar_def = Expr(1.5f);
    LoweredArgument in = buffer_argument("in", UInt(8), 2);
    in.argument_estimates.buffer_estimates = {Range(0, 640), Range()};
    LoweredModule module = one_function({in, scale}, Stmt(), LinkageType::ExternalPlusMetadata);
    module.metadata_names["in"] = "input";
    auto library = load(module);
    const auto *m = library->function<const calotype_filter_metadata_t *()>("f_metadata")();
    EXPECT_EQ(m->version, 1);
    EXPECT_EQ(m->num_arguments, 2);
    EXPECT_STREQ(m->name, "f");
    EXPECT_STREQ(m->target, "test-target");
    EXPECT_STREQ(m->arguments[0].name, "input");
    EXPECT_EQ(m->arguments[0].kind, calotype_argument_kind_input_buffer);
    EXPECT_EQ(m->arguments[0].dimensions, 2);
    EXPECT_TRUE(m->arguments[0].type == UInt(8).to_abi());
    EXPECT_EQ(*m->arguments[0].buffer_estimates[1], 640);
    EXPECT_EQ(m->arguments[0].buffer_estimates[2], nullptr);
    EXPECT_EQ(m->arguments[1].scalar_def->u.f32, 1.5f);
    EXPECT_EQ(m->arguments[1].scalar_min, nullptr);
}

TEST_F(Statements, EmbeddedBuffersAreThere) {
    LoweredModule module =
        one_function({pointer_argument("out")},
                     LetStmt::make("im",
                                   Call::make(Handle(), Intrinsic::buffer_get_host,
                                              {Variable::make(Handle(), "im.buffer")}),
                                   store("out", load_int("im", 2), 0)));
    LoweredBuffer image{"im", Int(32), {{0, 3, 1}}, {}, 64};
    int values[] = {10, 20, 30};
    image.bytes.resize(sizeof(values));
    std::memcpy(image.bytes.data(), values, sizeof(values));
    module.buffers.push_back(image);
    int out = 0;
    EXPECT_EQ(load(module)->function<int(int *)>("f")(&out), 0);
    EXPECT_EQ(out, 30);
}

TEST_F(Statements, UnknownSymbolIsNamed) {
    Stmt call = Evaluate::make(Call::make(Int(32), "no_such_function", {}, CallKind::Extern));
    try {
        load(one_function({}, call));
        FAIL() << "no error";
    } catch (const CompileError &e) {
        EXPECT_STREQ(e.what(),
                     "compiled code calls no_such_function, which is not defined in this process");
    }
}

TEST_F(Statements, TheSameModuleGivesTheSameBytes) {
    Stmt body = loop("y", 0, int_var("n"), allocate("g", int_var("n"), store("g", 1, 0)),
                     ForType::Parallel);
    LoweredModule module =
        one_function({scalar_argument("n", Int(32))}, body, LinkageType::ExternalPlusMetadata);
    const Target &target = runnable_targets().back();
    CompiledModule first(module, target);
    std::string object = first.object(), text = first.llvm_assembly();
    EXPECT_EQ(object, first.object());
    EXPECT_NE(first.assembly().find("f_metadata"), std::string::npos);
    std::vector<std::string> objects(4);
    std::vector<std::thread> threads;
    for (std::string &o : objects) {
        threads.emplace_back([&] { o = CompiledModule(module, target).object(); });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    for (const std::string &o : objects) {
        EXPECT_EQ(o, object);
    }
    EXPECT_EQ(CompiledModule(module, target).llvm_assembly(), text);
    EXPECT_EQ(CompiledModule(module, target).bitcode(), first.bitcode());
}

}  // namespace
}  // namespace calotype::internal
