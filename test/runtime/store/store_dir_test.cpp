// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The directory: whom it trusts, what it forgets, and how processes share it.
#include <atomic>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "store_fixture.h"

using namespace calotype::runtime;
using namespace calotype_test;

namespace {

class StoreDirTest : public StoreTest {
protected:
    calotype_uid key_number(int i) {
        calotype_uid result = key;
        result.b[0] = uint8_t(i);
        result.b[31] = uint8_t(i >> 8);
        return result;
    }
    StoreDir settings() {
        StoreDir result = {};
        EXPECT_TRUE(get_store_dir(&result));
        return result;
    }
    /** Seconds ago. */
    void set_used(const calotype_uid &k, int seconds) {
        const struct timespec times[2] = {{time(nullptr) - seconds, 0}, {0, UTIME_OMIT}};
        ASSERT_EQ(utimensat(AT_FDCWD, path_of(k).c_str(), times, 0), 0);
    }
    /** What the runtime prints, while f runs. */
    template<typename F>
    std::string printed(F f) {
        static std::string text;
        text.clear();
        const calotype_print_t old =
            calotype_set_custom_print([](void *, const char *m) { text += m; });
        f();
        calotype_set_custom_print(old);
        return text;
    }
};

TEST_F(StoreDirTest, OffKeepsNothing) {
    ASSERT_EQ(calotype_set_store_dir(dir.c_str(), 0, CALOTYPE_STORE_OFF), CALOTYPE_OK);
    store(key, payload);
    EXPECT_EQ(find(key), "none");
    EXPECT_FALSE(exists(dir));
}

TEST_F(StoreDirTest, ReadOnlyReads) {
    store(key, payload);
    ASSERT_EQ(calotype_set_store_dir(dir.c_str(), 0, CALOTYPE_STORE_READ_ONLY), CALOTYPE_OK);
    EXPECT_EQ(find(key), payload);
    store(key_number(1), payload);
    EXPECT_EQ(find(key_number(1)), "none");
    // What is damaged stays where it is.
    write_file(path_of(key), "x");
    EXPECT_EQ(find(key), "none");
    EXPECT_TRUE(exists(path_of(key)));
}

TEST_F(StoreDirTest, BadSettingsAreRefused) {
    EXPECT_EQ(calotype_set_store_dir(dir.c_str(), 0, 64), CALOTYPE_E_INVALID);
    EXPECT_EQ(calotype_set_store_dir(std::string(5000, 'x').c_str(), 0, 0), CALOTYPE_E_INVALID);
}

TEST_F(StoreDirTest, IsWhereTheEnvironmentSays) {
    calotype_set_store_dir(nullptr, 0, 0);
    const char *names[] = {"CT_KERNEL_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "CT_KERNEL_CACHE_MODE"};
    std::vector<std::string> old;
    for (const char *name : names) {
        old.push_back(getenv(name) ? getenv(name) : "");
        unsetenv(name);
    }
    StoreDir found;
    EXPECT_FALSE(get_store_dir(&found));
    setenv("HOME", "/home/user", 1);
    EXPECT_STREQ(settings().path, "/home/user/.cache/calotype/kernels");
    setenv("XDG_CACHE_HOME", "relative", 1);
    EXPECT_STREQ(settings().path, "/home/user/.cache/calotype/kernels");
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    EXPECT_STREQ(settings().path, "/xdg/calotype/kernels");
    setenv("CT_KERNEL_CACHE_DIR", "/here", 1);
    EXPECT_STREQ(settings().path, "/here");
    EXPECT_EQ(settings().max_bytes, uint64_t(2) << 30);
    EXPECT_TRUE(settings().writable);
    setenv("CT_KERNEL_CACHE_MODE", "ro", 1);
    EXPECT_FALSE(settings().writable);
    setenv("CT_KERNEL_CACHE_MODE", "rw", 1);
    EXPECT_TRUE(settings().writable);
    setenv("CT_KERNEL_CACHE_MODE", "", 1);
    EXPECT_TRUE(settings().writable);
    for (const char *mode : {"off", "OFF", "readonly", "none", "0", "rwx"}) {
        setenv("CT_KERNEL_CACHE_MODE", mode, 1);
        EXPECT_FALSE(get_store_dir(&found)) << mode;
    }
    for (size_t i = 0; i < old.size(); i++) {
        old[i].empty() ? unsetenv(names[i]) : setenv(names[i], old[i].c_str(), 1);
    }
}

TEST_F(StoreDirTest, WritableByOthersIsNotTrusted) {
    store(key, payload);
    for (mode_t mode : {0770, 0702, 0777}) {
        ASSERT_EQ(chmod(dir.c_str(), mode), 0);
        EXPECT_EQ(find(key), "none") << mode;
        store(key_number(1), payload);
        EXPECT_FALSE(exists(path_of(key_number(1))));
    }
    ASSERT_EQ(chmod(dir.c_str(), 0700), 0);
    ASSERT_EQ(chmod(path_of(key).c_str(), 0666), 0);
    EXPECT_EQ(find(key), "none");
    ASSERT_EQ(chmod(path_of(key).c_str(), 0600), 0);
    EXPECT_EQ(find(key), payload);
}

TEST_F(StoreDirTest, OfAnotherUserIsNotTrusted) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can give a directory away";
    }
    store(key, payload);
    ASSERT_EQ(chown(dir.c_str(), 65534, 65534), 0);
    EXPECT_EQ(find(key), "none");
    store(key_number(1), payload);
    EXPECT_FALSE(exists(path_of(key_number(1))));
    ASSERT_EQ(chown(dir.c_str(), 0, 0), 0);
    ASSERT_EQ(chown(path_of(key).c_str(), 65534, 65534), 0);
    EXPECT_EQ(find(key), "none");
}

TEST_F(StoreDirTest, LinksInsideAreNotFollowed) {
    store(key, payload);
    const std::string file = path_of(key), moved = dir + "/moved";
    ASSERT_EQ(rename(file.c_str(), moved.c_str()), 0);
    ASSERT_EQ(symlink(moved.c_str(), file.c_str()), 0);
    EXPECT_EQ(find(key), "none");
    // A new image takes the link's place, and not that of what it points to.
    store(key, payload);
    EXPECT_EQ(find(key), payload);
    EXPECT_TRUE(exists(moved));
    const std::string folder = dir + "/v1/" + hex(key).substr(0, 2);
    ASSERT_EQ(rename(folder.c_str(), (dir + "/elsewhere").c_str()), 0);
    ASSERT_EQ(symlink((dir + "/elsewhere").c_str(), folder.c_str()), 0);
    EXPECT_EQ(find(key), "none");
}

TEST_F(StoreDirTest, WhatIsNoFileIsNotRead) {
    store(key, payload);
    const std::string file = path_of(key);
    ASSERT_EQ(remove(file.c_str()), 0);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    EXPECT_EQ(find(key), "none");
    ASSERT_EQ(remove(file.c_str()), 0);
    ASSERT_EQ(mkdir(file.c_str(), 0700), 0);
    EXPECT_EQ(find(key), "none");
    store(key, payload);
    EXPECT_EQ(find(key), "none");
}

TEST_F(StoreDirTest, NotWritableIsToldOnce) {
    // A file where a directory should be: even root cannot make one there.
    write_file(dir, "in the way");
    std::string text = printed([&] {
        store(key, payload);
        store(key_number(1), payload);
    });
    EXPECT_EQ(text, "note: device code is not kept in " + dir +
                        " for the next process: Not a directory\n");
    EXPECT_EQ(find(key), "none");
    EXPECT_EQ(counted(), "hits 0 misses 1 writes 0 corrupt 0 evictions 0");
}

TEST_F(StoreDirTest, RemovedMeanwhileIsMadeAgain) {
    store(key, payload);
    ASSERT_EQ(system(("rm -rf '" + dir + "'").c_str()), 0);
    EXPECT_EQ(find(key), "none");
    store(key, payload);
    EXPECT_EQ(find(key), payload);
}

TEST_F(StoreDirTest, OnlyTheFileThatWasReadIsRemoved) {
    store(key, payload);
    void *bytes = nullptr;
    size_t size = 0;
    FileStamp stamp;
    ASSERT_TRUE(read_store_file(settings(), key, &bytes, &size, &stamp));
    free(bytes);
    store(key, payload + "newer");
    EXPECT_FALSE(remove_store_file(settings(), key, &stamp));
    EXPECT_EQ(find(key), payload + "newer");
    EXPECT_TRUE(remove_store_file(settings(), key, nullptr));
    EXPECT_EQ(find(key), "none");
}

TEST_F(StoreDirTest, TheLeastRecentlyUsedGoFirst) {
    for (int i = 0; i < 6; i++) {
        store(key_number(i), payload);
        set_used(key_number(i), 600 - 10 * i);
    }
    EXPECT_EQ(find(key_number(0)), payload);  // Used: no longer the oldest.
    struct stat status;
    ASSERT_EQ(stat(path_of(key_number(0)).c_str(), &status), 0);
    StoreDir small = settings();
    small.max_bytes = uint64_t(status.st_size) * 4;
    EXPECT_EQ(sweep_store_dir(small), 2u);
    const bool kept[] = {true, false, false, true, true, true};
    for (int i = 0; i < 6; i++) {
        EXPECT_EQ(exists(path_of(key_number(i))), kept[i]) << i;
    }
    EXPECT_EQ(sweep_store_dir(small), 0u);
}

TEST_F(StoreDirTest, WritesSweepNowAndThen) {
    ASSERT_EQ(calotype_set_store_dir(dir.c_str(), 1000, 0), CALOTYPE_OK);
    for (int i = 0; i < 130; i++) {
        store(key_number(i), payload);
    }
    int there = 0;
    for (int i = 0; i < 130; i++) {
        there += exists(path_of(key_number(i)));
    }
    EXPECT_LE(there, 1000 / 150 + 64);
    EXPECT_GT(stats().disk_evictions, before.disk_evictions);
}

TEST_F(StoreDirTest, WhatOthersLeftBehindIsSwept) {
    store(key, payload);
    const std::string stale = dir + "/tmp/1.2.3", young = dir + "/tmp/4.5.6";
    const std::string lock =
        dir + "/v1/" + hex(key).substr(0, 2) + "/" + hex(key).substr(2) + ".lock";
    for (const std::string &path : {stale, young, lock}) {
        write_file(path, "half of it");
    }
    const struct timespec old[2] = {{time(nullptr) - 4000, 0}, {time(nullptr) - 4000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, stale.c_str(), old, 0), 0);
    ASSERT_EQ(utimensat(AT_FDCWD, lock.c_str(), old, 0), 0);
    EXPECT_EQ(sweep_store_dir(settings()), 0u);
    EXPECT_FALSE(exists(stale));
    EXPECT_FALSE(exists(lock));
    EXPECT_TRUE(exists(young));
    EXPECT_EQ(find(key), payload);
}

TEST_F(StoreDirTest, ALockIsForOneAtATime) {
    const int lock = lock_store_key(settings(), key, 0);
    ASSERT_GE(lock, 0);
    EXPECT_EQ(lock_store_key(settings(), key, 20), -1);
    const int other = lock_store_key(settings(), key_number(1), 0);
    EXPECT_GE(other, 0);
    unlock_store_key(settings(), key_number(1), other);
    unlock_store_key(settings(), key, lock);
    const int again = lock_store_key(settings(), key, 0);
    EXPECT_GE(again, 0);
    unlock_store_key(settings(), key, again);
}

TEST_F(StoreDirTest, ALockOfAProcessThatDiesIsFree) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(lock_store_key(settings(), key, 0) >= 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    const int lock = lock_store_key(settings(), key, 0);
    EXPECT_GE(lock, 0);
    unlock_store_key(settings(), key, lock);
}

TEST_F(StoreDirTest, LocksOnManyThreadsExcludeEachOther) {
    std::vector<std::thread> threads;
    // Guarded by the lock itself, but that is the system's: sanitizers do not see it.
    std::atomic<int> inside{0}, most{0}, rounds{0};
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 25; i++) {
                const int lock = lock_store_key(settings(), key, 30000);
                ASSERT_GE(lock, 0);
                most = std::max(most.load(), ++inside);
                rounds++;
                inside--;
                unlock_store_key(settings(), key, lock);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(most, 1);
    EXPECT_EQ(rounds, 100);
}

// S37 at this level: what each of eight processes does that needs the same image at once.
TEST_F(StoreDirTest, S37EightProcessesCompileOnce) {
    const std::string log = dir + "_log";
    write_file(log, "");
    std::vector<pid_t> children;
    for (int i = 0; i < 8; i++) {
        const pid_t child = fork();
        if (child == 0) {
            std::string what = find(key) == payload ? "h" : "";
            if (what.empty()) {
                const ImageLock lock(key);
                what = lock.has_waited() && find(key) == payload ? "h" : "c";
                if (what == "c") {
                    usleep(30000);
                    store(key, payload);
                }
            }
            const int fd = open(log.c_str(), O_WRONLY | O_APPEND);
            _exit(write(fd, what.data(), 1) == 1 ? 0 : 1);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    const std::string text = read_file(log);
    EXPECT_EQ(text.size(), 8u);
    EXPECT_EQ(std::count(text.begin(), text.end(), 'c'), 1) << text;
}

// Two processes that write and two that read one key: every image that is found is whole.
TEST_F(StoreDirTest, ReadersSeeWholeImagesOnly) {
    std::vector<pid_t> children;
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        if (child == 0) {
            for (int j = 0; j < 60; j++) {
                if (i < 2) {
                    store(key, payload + std::string(size_t(20000 + j), char('a' + i)));
                } else {
                    find(key);
                }
            }
            _exit(stats().disk_corrupt == before.disk_corrupt ? 0 : 1);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
}

}  // namespace
