// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of jobs, and the caches in memory and on disk.
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "driver/cached_outputs.h"
#include "driver/compiler.h"
#include "driver/disk_cache.h"
#include "driver/single_flight.h"
#include "harness/expect_error.h"
#include "lang/language.h"
#include "support/file.h"

namespace calotype::internal {
namespace {

Var x("x"), y("y");

CompileJob job_of(const Func &f, const std::string &name = "f",
                  const Target &target = get_host_target()) {
    CompileJob job;
    Pipeline p(f);
    job.source = p.source(name, p.infer_arguments());
    job.target = target;
    return job;
}

// ---- results by key ----

TEST(SingleFlightCache, AChildMakesWhatAThreadOfItsParentWasMaking) {
    SingleFlightCache<int> cache(4);
    const JobKey key{"job", 1};
    std::atomic<bool> is_begun{false}, is_forked{false};
    std::thread maker([&] {
        cache.get(key, [&] {
            is_begun = true;
            while (!is_forked) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return std::make_shared<const int>(3);
        });
    });
    while (!is_begun) {
        std::this_thread::yield();
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        const auto make = [] {
            return std::make_shared<const int>(5);
        };
        const int first = *cache.get(key, make);
        _exit(first == 5 && cache.get(key, make) && cache.made() == 1 ? 0 : 1);
    }
    is_forked = true;
    maker.join();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(*cache.get(key, [] { return std::make_shared<const int>(7); }), 3);
}

// ---- keys ----

TEST(JobKey, SameJobSameKey) {
    Func f("f");
    f(x, y) = x * 2 + y;
    EXPECT_EQ(artifact_key(job_of(f)), artifact_key(job_of(f)));
}

TEST(JobKey, NamesAndTargetsChangeTheArtifactAlone) {
    Func f("f");
    f(x, y) = x * 2 + y;
    const CompileJob one = job_of(f), renamed = job_of(f, "g");
    const CompileJob tuned = job_of(f, "f", Target("x86-64-linux-tune_znver3"));
    const CompileJob plain = job_of(f, "f", Target("x86-64-linux"));
    EXPECT_EQ(front_half_key(one), front_half_key(renamed));
    EXPECT_FALSE(artifact_key(one) == artifact_key(renamed));
    EXPECT_EQ(front_half_key(plain), front_half_key(tuned));
    EXPECT_FALSE(artifact_key(plain) == artifact_key(tuned));
    EXPECT_FALSE(front_half_key(plain) == front_half_key(one));
}

TEST(JobKey, TheToolkitCountsForCuda) {
    Func f("f");
    f(x) = x;
    TemporaryDirectory one, other;
    for (const TemporaryDirectory *root : {&one, &other}) {
        make_directories(root->path() + "/bin");
        write_file_atomically(root->path() + "/bin/ptxas", "");
    }
    const auto key = [&](const std::string &target, const TemporaryDirectory &root) {
        setenv("CUDA_HOME", root.path().c_str(), 1);
        const CompileJob job = job_of(f, "f", Target(target));
        const std::string text = portable_key(job).value();
        EXPECT_EQ(artifact_key(job).text.find(text), 0u);
        return text;
    };
    const char *before = std::getenv("CUDA_HOME");
    const std::string restored = before ? before : "";
    EXPECT_EQ(key("x86-64-linux", one), key("x86-64-linux", other));
    EXPECT_EQ(key("x86-64-linux-cuda", one), key("x86-64-linux-cuda", one));
    EXPECT_NE(key("x86-64-linux-cuda", one), key("x86-64-linux-cuda", other));
    before ? setenv("CUDA_HOME", restored.c_str(), 1) : unsetenv("CUDA_HOME");
}

// A header may change and the key would not.
TEST(JobKey, CudaSourceThatIncludesIsNotKept) {
    const auto job = [&](const std::string &code) {
        Func f("f");
        f(x) = extern_device_call(Linkable::from_bytes(CALOTYPE_CU, code, "g"), "g", Int(32), {x});
        return job_of(f, "f", Target("x86-64-linux-cuda"));
    };
    const std::string function = "extern \"C\" __device__ int g(int x) { return x; }\n";
    EXPECT_TRUE(portable_key(job(function)).has_value());
    EXPECT_TRUE(artifact_key(job(function)).is_shareable);
    EXPECT_FALSE(portable_key(job("#include \"g.h\"\n" + function)).has_value());
    EXPECT_FALSE(artifact_key(job("#include \"g.h\"\n" + function)).is_shareable);
}

TEST(JobKey, EveryPartOfAPipelineCounts) {
    Param<int> p("p");
    ImageParam input(UInt(8), 2, "input");
    Buffer<uint8_t, 1> table(4, "table");
    table.fill(3);
    Func f("f"), g("g");
    g(x, y) = input(x, y) + table(x);
    f(x, y) = g(x, y) + cast<uint8_t>(p);
    f(x, 0) += cast<uint8_t>(1);
    JobKey last = front_half_key(job_of(f));
    const auto expect_change = [&](const char *what) {
        const JobKey now = front_half_key(job_of(f));
        EXPECT_FALSE(now == last) << what;
        last = now;
    };
    g.compute_root();
    expect_change("compute_root");
    g.compute_at(f, y);
    expect_change("compute_at");
    g.vectorize(x, 4, TailStrategy::RoundUp);
    expect_change("vectorize");
    g.store_in(MemoryType::Stack);
    expect_change("store_in");
    f.update().unroll(x, 2);
    expect_change("schedule of an update");
    p.set_range(0, 7);
    expect_change("range of a parameter");
    input.dim(0).set_stride(3);
    expect_change("constraint of an input");
    f.output_buffer().dim(0).set_min(0);
    expect_change("constraint of the output");
    table(1) = 9;
    expect_change("contents of an embedded buffer");
    f.bound(x, 0, 16);
    expect_change("bound");
}

TEST(JobKey, CopiesToADeviceCount) {
    Func g("g"), copied("copied"), f("f");
    g(x, y) = x + y;
    copied(x, y) = g(x, y);
    f(x, y) = copied(x, y);
    g.compute_root();
    copied.compute_root();
    const JobKey computed = front_half_key(job_of(f));
    copied.copy_to_host();
    EXPECT_FALSE(front_half_key(job_of(f)) == computed);
}

TEST(JobKey, ValuesOfParametersDoNotCount) {
    Param<int> p("p");
    Func f("f");
    f(x) = x + p;
    const auto key = [&] {
        CompileJob job = job_of(f);
        job.source.linkage = LinkageType::ExternalPlusArgv;
        return artifact_key(job);
    };
    p.set(1);
    const JobKey before = key();
    p.set(2);
    EXPECT_EQ(before, key());
}

TEST(JobKey, SharedExpressionsAreWrittenOnce) {
    Expr e = x;
    for (int i = 0; i < 60; i++) {
        e = e * e + e;
    }
    Func f("f");
    f(x) = e;
    EXPECT_LT(artifact_key(job_of(f)).text.size(), 20000u);
}

TEST(CompileOptions, FromTheEnvironment) {
    unsetenv("CT_VERIFY");
    setenv("CT_DEBUG_CODEGEN", "1;3@f", 1);
    setenv("CT_TIME_LOWERING_PASSES", "1", 1);
    const CompileOptions of_f = CompileOptions::from_environment("f");
    const CompileOptions of_g = CompileOptions::from_environment("g");
    unsetenv("CT_DEBUG_CODEGEN");
    unsetenv("CT_TIME_LOWERING_PASSES");
    EXPECT_EQ(of_f.debug_level, 3);
    EXPECT_EQ(of_f.print_after, "all");
    EXPECT_TRUE(of_f.print_pass_times);
    EXPECT_EQ(of_g.debug_level, 1);
    EXPECT_EQ(of_g.print_after, "");
    EXPECT_EQ(CompileOptions::from_environment("f"), CompileOptions());
    setenv("CT_VERIFY", "1", 1);
    EXPECT_TRUE(CompileOptions::from_environment("f").verify);
}

// ---- in memory ----

TEST(Memory, OneFrontHalfForTwoNames) {
    Func f("f");
    f(x) = x * 5;
    Compiler compiler;
    const LoweredModule a = compiler.lower(job_of(f, "a")), b = compiler.lower(job_of(f, "ns::b"));
    EXPECT_EQ(compiler.counts().lowered, 1);
    EXPECT_EQ(compiler.counts().lowered_found, 1);
    EXPECT_EQ(a.functions[0].name, "a");
    EXPECT_EQ(b.functions[0].name, "ns::b");
    EXPECT_EQ(b.functions[0].name_mangling, NameMangling::CPlusPlus);
}

TEST(Memory, TwoNamesAreTwoArtifacts) {
    Func f("f");
    f(x) = x * 5;
    Compiler compiler;
    CompileJob a = job_of(f, "a", get_jit_target_from_environment());
    CompileJob b = job_of(f, "b", get_jit_target_from_environment());
    a.source.linkage = b.source.linkage = LinkageType::ExternalPlusArgv;
    EXPECT_NE(compiler.compile_jit(a), compiler.compile_jit(b));
    EXPECT_EQ(compiler.compile_jit(a), compiler.compile_jit(a));
    EXPECT_EQ(compiler.counts().jit_compiled, 2);
    EXPECT_EQ(compiler.counts().lowered, 1);
}

TEST(Memory, SingleFlight) {
    SingleFlightCache<int> cache(8);
    JobKey key;
    key.text = "k";
    std::atomic<int> made{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++) {
        threads.emplace_back([&] {
            const auto value = cache.get(key, [&] {
                made++;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return std::make_shared<const int>(7);
            });
            EXPECT_EQ(*value, 7);
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(made, 1);
    EXPECT_EQ(cache.found(), 5);
}

// Else who asks for it meanwhile makes it a second time.
TEST(Memory, WhatIsInFlightIsNotEvicted) {
    SingleFlightCache<int> cache(1);
    const auto get = [&](const std::string &name, const std::function<void()> &meanwhile = {}) {
        JobKey key;
        key.text = name;
        cache.get(key, [&] {
            if (meanwhile) {
                meanwhile();
            }
            return std::make_shared<const int>(0);
        });
    };
    std::thread asks_too;
    get("slow", [&] {
        get("a");
        get("b");
        asks_too = std::thread([&] { get("slow"); });
        while (cache.found() == 0 && cache.made() < 3) {
            std::this_thread::yield();
        }
    });
    asks_too.join();
    EXPECT_EQ(cache.made(), 3);
    EXPECT_EQ(cache.found(), 1);
}

TEST(Memory, ErrorsAreNotKept) {
    SingleFlightCache<int> cache(8);
    const JobKey key{"k", 1, true};
    EXPECT_COMPILE_ERROR(cache.get(key, []() -> std::shared_ptr<const int> { user_error << "no"; }),
                         "no");
    EXPECT_EQ(*cache.get(key, [] { return std::make_shared<const int>(1); }), 1);
}

TEST(Memory, WhatWasNotUsedForLongestGoes) {
    SingleFlightCache<int> cache(2);
    const auto get = [&](const std::string &name) {
        JobKey key;
        key.text = name;
        cache.get(key, [] { return std::make_shared<const int>(0); });
    };
    get("a");
    get("b");
    get("a");
    get("c");
    get("a");
    EXPECT_EQ(cache.made(), 3);
    get("b");
    EXPECT_EQ(cache.made(), 4);
}

// ---- on disk ----

TEST(Disk, KeepsAndForgets) {
    TemporaryDirectory dir;
    const DiskCache cache(dir.path() + "/cache", 1 << 20, 0);
    EXPECT_FALSE(cache.load("key"));
    cache.store("key", std::string("a\0b", 3));
    EXPECT_EQ(cache.load("key"), std::string("a\0b", 3));
    EXPECT_FALSE(cache.load("other"));
}

// Each has a cache of its own, as processes have.
TEST(Disk, OneOfAllWhoAskMakesIt) {
    TemporaryDirectory dir;
    std::atomic<int> made{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++) {
        threads.emplace_back([&] {
            const DiskCache cache(dir.path() + "/cache", 1 << 20, 0);
            EXPECT_EQ(cache.get("key",
                                [&] {
                                    made++;
                                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                    return std::string("value");
                                }),
                      "value");
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    EXPECT_EQ(made, 1);
    // After an error the next one makes it.
    const DiskCache cache(dir.path() + "/cache", 1 << 20, 0);
    EXPECT_COMPILE_ERROR(cache.get("other", []() -> std::string { user_error << "no"; }), "no");
    EXPECT_EQ(cache.get("other", [] { return std::string("one"); }), "one");
    size_t files = 0;
    for (const auto &file : std::filesystem::directory_iterator(dir.path() + "/cache")) {
        EXPECT_EQ(file.path().extension(), ".calotype");
        files++;
    }
    EXPECT_EQ(files, 2u);
}

TEST(Disk, WhatProcessesHaveLeftGoes) {
    TemporaryDirectory dir;
    const DiskCache cache(dir.path(), 1 << 20, 0);
    const auto leave = [&](const std::string &name, int hours) {
        const std::string path = dir.path() + "/" + name;
        write_file_atomically(path, "part");
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                                   std::chrono::hours(hours));
        return path;
    };
    const std::string part = leave("ab.calotype.x3Yz01", 30);
    const std::string now = leave("ab.calotype.a3Yz01", 0);
    const std::string other = leave("notes.txt", 30);
    cache.store("key", "value");
    EXPECT_FALSE(file_exists(part));
    EXPECT_TRUE(file_exists(now));
    EXPECT_TRUE(file_exists(other));
}

// A look at all files for each entry stored would cost more the more there are.
TEST(Disk, FilesAreLookedAtWhenRoomMayBeShort) {
    TemporaryDirectory dir;
    const DiskCache cache(dir.path(), 10000, 0);
    const std::string part = dir.path() + "/ab.calotype.x3Yz01";
    cache.store("key", "value");
    write_file_atomically(part, "part");
    std::filesystem::last_write_time(part, std::filesystem::file_time_type::clock::now() -
                                               std::chrono::hours(30));
    cache.store("another key", "value");
    EXPECT_TRUE(file_exists(part));
    cache.store("a long one", std::string(5000, 'x'));
    EXPECT_FALSE(file_exists(part));
}

TEST(Disk, DamagedFilesAreAbsent) {
    TemporaryDirectory dir;
    const DiskCache cache(dir.path(), 1 << 20, 0);
    cache.store("key", "value");
    const std::string path = std::filesystem::directory_iterator(dir.path())->path();
    const std::string whole = read_file(path);
    for (size_t i = 0; i < whole.size(); i++) {
        std::string damaged = whole;
        damaged[i] = char(damaged[i] ^ 1);
        write_file_atomically(path, damaged);
        EXPECT_FALSE(cache.load("key")) << i;
        write_file_atomically(path, whole.substr(0, i));
        EXPECT_FALSE(cache.load("key")) << i;
    }
    write_file_atomically(path, whole);
    EXPECT_EQ(cache.load("key"), "value");
}

TEST(Disk, SizeIsBounded) {
    TemporaryDirectory dir;
    const DiskCache cache(dir.path(), 3000, 0);
    for (int i = 0; i < 8; i++) {
        cache.store("key " + std::to_string(i), std::string(600, 'x'));
    }
    int64_t total = 0;
    for (const auto &file : std::filesystem::directory_iterator(dir.path())) {
        total += int64_t(file.file_size());
    }
    EXPECT_LE(total, 3000);
    EXPECT_TRUE(cache.load("key 7"));
    EXPECT_FALSE(cache.load("key 0"));
}

TEST(Disk, OldEntriesAreAbsent) {
    TemporaryDirectory dir;
    const DiskCache cache(dir.path(), 3000, 60);
    cache.store("key", "value");
    EXPECT_TRUE(cache.load("key"));
    const auto file = *std::filesystem::directory_iterator(dir.path());
    std::filesystem::last_write_time(file, file.last_write_time() - std::chrono::seconds(100));
    EXPECT_FALSE(cache.load("key"));
}

TEST(Disk, Sizes) {
    EXPECT_EQ(parse_cache_size("100"), 100);
    EXPECT_EQ(parse_cache_size("2K"), 2048);
    EXPECT_EQ(parse_cache_size("1G"), int64_t(1) << 30);
    EXPECT_COMPILE_ERROR(parse_cache_size("many"), "CT_CACHE_MAX_SIZE is 'many', must be a number");
    EXPECT_COMPILE_ERROR(parse_cache_size("-1K"), "CT_CACHE_MAX_SIZE is '-1', must be a number");
}

class WithCache : public ::testing::Test {
protected:
    void SetUp() override {
        setenv("CT_CACHE_DIR", dir_.path().c_str(), 1);
    }
    void TearDown() override {
        unsetenv("CT_CACHE_DIR");
    }
    TemporaryDirectory dir_;
};

TEST_F(WithCache, HasTheLimitsOfTheEnvironment) {
    const auto store_an_old_one = [&] {
        DiskCache::from_environment()->store("key", "value");
        for (const auto &file : std::filesystem::directory_iterator(dir_.path())) {
            std::filesystem::last_write_time(file,
                                             file.last_write_time() - std::chrono::seconds(100));
        }
        return DiskCache::from_environment()->load("key").has_value();
    };
    EXPECT_TRUE(store_an_old_one());
    setenv("CT_CACHE_MAX_AGE", "60", 1);
    EXPECT_FALSE(store_an_old_one());
    setenv("CT_CACHE_MAX_AGE", "never", 1);
    EXPECT_COMPILE_ERROR(DiskCache::from_environment(),
                         "CT_CACHE_MAX_AGE is 'never', must be a number");
    unsetenv("CT_CACHE_MAX_AGE");
    setenv("CT_CACHE_MAX_SIZE", "1T", 1);
    EXPECT_COMPILE_ERROR(DiskCache::from_environment(),
                         "CT_CACHE_MAX_SIZE is '1T', must be a number");
    unsetenv("CT_CACHE_MAX_SIZE");
}

// Two Compilers share nothing but the disk, as two processes do.
TEST_F(WithCache, ObjectsOutliveTheProcess) {
    Func f("f");
    f(x) = x * 11;
    CompileJob job = job_of(f, "f", get_jit_target_from_environment());
    job.source.linkage = LinkageType::ExternalPlusArgv;
    Compiler first, second;
    first.compile_jit(job);
    EXPECT_EQ(first.counts().objects_found_on_disk, 0);
    const auto code = second.compile_jit(job);
    EXPECT_EQ(second.counts().objects_found_on_disk, 1);
    EXPECT_EQ(second.counts().lowered, 0);
    Buffer<int32_t, 1> out(4);
    const void *argv[] = {out.raw_buffer()};
    EXPECT_EQ(code->argv(argv), 0);
    EXPECT_EQ(out(3), 33);
}

TEST_F(WithCache, FilesOfABuild) {
    Func f("f");
    f(x) = x * 13;
    const Target target = get_host_target().with_feature(Target::NoRuntime);
    const OutputPaths paths =
        output_paths("somewhere/f", {OutputFileType::object, OutputFileType::c_header});
    const OutputPaths elsewhere =
        output_paths("elsewhere/f", {OutputFileType::object, OutputFileType::c_header});
    const JobFactory factory = [&](const std::string &name, const Target &t) {
        return job_of(f, name, t);
    };
    const int64_t lowered = Compiler::of_process().counts().lowered;
    const int64_t found = Compiler::of_process().counts().lowered_found;
    const FileContents made = cached_outputs("f", paths, {{"host", target}}, factory);
    const FileContents again = cached_outputs("f", elsewhere, {{"host", target}}, factory);
    EXPECT_EQ(Compiler::of_process().counts().lowered, lowered + 1);
    EXPECT_EQ(Compiler::of_process().counts().lowered_found, found);
    EXPECT_EQ(made.at("somewhere/f.o"), again.at("elsewhere/f.o"));
    EXPECT_EQ(made.at("somewhere/f.h"), again.at("elsewhere/f.h"));
}

}  // namespace
}  // namespace calotype::internal
