// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The persistent store between processes: S35 to S37; and linkables that stay in their files.
//
// Processes are this executable once more with a filter: a driver of a GPU does not survive fork().
#include "harness/on_context.h"
#include "harness/processes.h"
#include "runtime/cache/scenario_fixture.h"
#include "runtime/host/data/sha256.h"

namespace calotype_test {

namespace {

void write_file(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::string> found;  ///< by files_below()

std::vector<std::string> files_below(const std::string &folder, const std::string &ending) {
    found.clear();
    nftw(
        folder.c_str(),
        [](const char *path, const struct stat *, int type, FTW *) {
            if (type == FTW_F) {
                found.push_back(path);
            }
            return 0;
        },
        8, FTW_PHYS);
    std::erase_if(found, [&](const std::string &path) { return !path.ends_with(ending); });
    return found;
}

/// Processes that each do what the test OneProcess does, on the same store.
struct StoreProcesses {
    Processes processes;
    Folder store;

    void start(std::vector<std::string> settings = {}) {
        const testing::TestInfo &test = *testing::UnitTest::GetInstance()->current_test_info();
        const std::string name = test.name();
        settings.push_back("CALOTYPE_SCENARIO_FOLDER=" + store.path + "/kernels");
        processes.start(std::string(test.test_suite_name()) + ".OneProcess" +
                            name.substr(name.find('/')),
                        std::move(settings));
    }
    std::string run(std::vector<std::string> settings = {}) {
        start(std::move(settings));
        return processes.end()[0];
    }
    std::vector<std::string> entries() const {
        return files_below(store.path, ".cko");
    }
};

}  // namespace

/// "compiles loads setups teardowns unloads, hits misses writes corrupt" of the store, before the
/// end of the process.
TEST_P(Scenario, OneProcess) {
    const std::string folder = process_setting("CALOTYPE_SCENARIO_FOLDER");
    if (folder.empty()) {
        GTEST_SKIP() << "started by S35 to S37 in processes of their own";
    }
    const std::string linkable = process_setting("CALOTYPE_SCENARIO_LINKABLE");
    const TestLinkable a(linkable.empty() ? "a" : linkable);
    const std::string sm = process_setting("CALOTYPE_SCENARIO_ARCHITECTURE");
    if (!sm.empty()) {
        driver->set_architecture(std::stoi(sm));
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_set_store_dir(folder.c_str(), 0, 0));
    run(driver->make_context(), module("m", {&a}));
    const calotype_stats s = stats();
    process_report() << counts() << ", " << s.disk_hits << " " << s.disk_misses << " "
                     << s.disk_writes << " " << s.disk_corrupt;
    EXPECT_EQ(CALOTYPE_OK, calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF));
}

TEST_P(Scenario, S35_SecondProcess) {
    StoreProcesses processes;
    EXPECT_EQ("1 1 1 0 0, 0 1 1 0", processes.run());
    EXPECT_EQ("0 1 1 0 0, 1 0 0 0", processes.run());
    EXPECT_EQ("1 1 1 0 0, 0 1 1 0", processes.run({"CALOTYPE_SCENARIO_LINKABLE=b"}));
    EXPECT_EQ(2u, processes.entries().size());
    if (driver->set_architecture(80)) {
        EXPECT_EQ("1 1 1 0 0, 0 1 1 0", processes.run({"CALOTYPE_SCENARIO_ARCHITECTURE=80"}));
        EXPECT_EQ(3u, processes.entries().size());
    }
}

TEST_P(Scenario, S36_DamagedEntries) {
    StoreProcesses processes;
    EXPECT_EQ("1 1 1 0 0, 0 1 1 0", processes.run());
    ASSERT_EQ(1u, processes.entries().size());
    const std::string path = processes.entries()[0], good = read_whole_file(path);
    std::string flipped = good, other_key = good;
    flipped.back() = char(flipped.back() ^ 4);
    other_key[24] = char(other_key[24] ^ 1);
    for (const std::string &bad :
         {good.substr(0, good.size() / 2), flipped, std::string(), other_key}) {
        write_file(path, bad);
        EXPECT_EQ("1 1 1 0 0, 0 1 1 1", processes.run()) << bad.size();
        EXPECT_EQ("0 1 1 0 0, 1 0 0 0", processes.run()) << bad.size();
    }
}

TEST_P(Scenario, S37_EightProcesses) {
    StoreProcesses processes;
    for (int i = 0; i < 8; i++) {
        processes.start();
    }
    int compiled = 0, found = 0;
    for (const std::string &said : processes.processes.end()) {
        compiled += said.starts_with("1 1 1 0 0, 0 ");
        found += said.starts_with("0 1 1 0 0, 1 ");
    }
    EXPECT_EQ(1, compiled);
    EXPECT_EQ(7, found);
}

// ---- linkables by path -----------------------------------------------------------------------

namespace {

/// A linkable whose code lies in a file.
struct FileLinkable {
    std::string path, text;
    calotype_file_image file = {};
    calotype_image image = {};
    TestLinkable linkable{"by_path"};

    FileLinkable(const std::string &folder, calotype_kind kind)
        : path(folder + "/code"),
          text(kind == CALOTYPE_OPENCL_C ? "// nothing\n"
                                         : ".version 7.0\n.target sm_70\n.address_size 64\n") {
        write_file(path, text);
        file = {path.c_str(), calotype::runtime::sha256(text.data(), text.size())};
        image = {kind, 70, 0, &file, 0};
        linkable.desc.flags = CALOTYPE_LK_BY_PATH;
        linkable.desc.images = &image;
        linkable.desc.n_images = 1;
    }
};

}  // namespace

TEST_P(Scenario, LinkableInItsFile) {
    const Folder folder;
    void *context = driver->make_context();
    FileLinkable code(folder.path, driver->image({}).kind);
    const auto *m = module("m", {&code.linkable});
    // A change of one character; then no file at all; then what it was.
    write_file(code.path, code.text + " ");
    calotype_hold held = {};
    EXPECT_EQ(CALOTYPE_E_LOAD, try_hold(context, m, &held));
    EXPECT_EQ(CALOTYPE_ST_DISK, calotype_last_error()->stage);
    const std::string changed = calotype_last_error()->log;
    const std::string begin = "linkable 'by_path': " + code.path +
                              " has changed since the module was generated: its SHA-256 is ";
    EXPECT_EQ(begin, changed.substr(0, begin.size()));
    EXPECT_EQ(begin.size() + 64 + std::string(", must be ").size() + 64, changed.size());
    ASSERT_EQ(0, ::remove(code.path.c_str()));
    EXPECT_EQ(CALOTYPE_E_LOAD, try_hold(context, m, &held));
    EXPECT_EQ("linkable 'by_path': cannot read " + code.path + ": No such file or directory",
              std::string(calotype_last_error()->log));
    EXPECT_EQ("0 0 0 0 0", counts());
    EXPECT_EQ(2u, stats().failures);
    write_file(code.path, code.text);
    run(context, m);
    EXPECT_EQ("1 1 1 0 0", counts());
    EXPECT_EQ(1u, stats().links);
    // It is not needed again as long as the image is there.
    ASSERT_EQ(0, ::remove(code.path.c_str()));
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, 0));
    run(context, m);
    EXPECT_EQ("1 2 2 1 1", counts());
    code.file.path = folder.path.c_str();
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(on(context), m, CALOTYPE_EVICT_IMAGE_TOO));
    EXPECT_EQ(CALOTYPE_E_LOAD, try_hold(context, m, &held));
    EXPECT_EQ("linkable 'by_path': " + folder.path + " is not a file",
              std::string(calotype_last_error()->log));
    // A pipe that nobody writes to is not waited for.
    const std::string pipe = folder.path + "/pipe";
    ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
    code.file.path = pipe.c_str();
    EXPECT_EQ(CALOTYPE_E_LOAD, try_hold(context, m, &held));
    EXPECT_EQ("linkable 'by_path': " + pipe + " is not a file",
              std::string(calotype_last_error()->log));
}

TEST_P(Scenario, LinkableInItsFileIsPartOfTheKey) {
    const Folder folder;
    void *context = driver->make_context();
    FileLinkable code(folder.path, driver->image({}).kind);
    const auto *m = module("m", {&code.linkable});
    calotype_uid one = {}, other = {};
    EXPECT_EQ(CALOTYPE_OK, calotype_image_key(on(context), m, &one));
    code.file.digest.b[31] ^= 1;
    EXPECT_EQ(CALOTYPE_OK, calotype_image_key(on(context), m, &other));
    EXPECT_NE(std::string(one.b, one.b + 32), std::string(other.b, other.b + 32));
    const std::string elsewhere = folder.path + "/moved";
    code.file.digest.b[31] ^= 1;
    code.file.path = elsewhere.c_str();
    EXPECT_EQ(CALOTYPE_OK, calotype_image_key(on(context), m, &other));
    EXPECT_EQ(std::string(one.b, one.b + 32), std::string(other.b, other.b + 32));
}

}  // namespace calotype_test
