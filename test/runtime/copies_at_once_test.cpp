// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of buffers on several threads at once: one copy for each dirty bit, whoever asks, and
// nobody waits for the copies of other buffers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <thread>

#include "capture.h"
#include "fake_device.h"
#include "runtime/device/buffer_lock.h"

namespace {

using calotype_test::fake_device;
using calotype_test::fake_device_memory;
using calotype_test::fake_device_state;
using calotype_test::other_fake_device;

/// A buffer of ints, as far from others as they come.
struct Numbers {
    int data[16] = {};
    calotype_dimension_t dim[1] = {{0, 16, 1}};
    calotype_buffer_t buf = {};

    Numbers() {
        for (int i = 0; i < 16; i++) {
            data[i] = i;
        }
        buf.host = reinterpret_cast<uint8_t *>(data);
        buf.type = calotype_type_of<int>();
        buf.dimensions = 1;
        buf.dim = dim;
        buf.set_host_dirty();
    }
    int *on_device() const {
        return reinterpret_cast<int *>(fake_device_memory(buf));
    }
};

/// What one thread waits for and another lets happen; false after five seconds.
class Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_given = false;

public:
    void give() {
        const std::lock_guard<std::mutex> lock(mutex);
        is_given = true;
        changed.notify_all();
    }
    bool await() {
        std::unique_lock<std::mutex> lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(5), [&] { return is_given; });
    }
};

class CopiesAtOnce : public ::testing::Test {
protected:
    calotype_test::CaptureErrors errors;

    CopiesAtOnce() {
        fake_device_state() = {};
    }
    ~CopiesAtOnce() override {
        fake_device_state().hook = nullptr;
        EXPECT_EQ(0, fake_device_state().live);
        EXPECT_EQ(0u, errors.count());
    }
    /// While memory for it is allocated another thread copies it; then that function fails.
    static void copied_elsewhere_meanwhile(Numbers &a, const char *failing = "") {
        fake_device_state().hook = [&a, failing](const std::string &call) {
            if (call == "device_malloc") {
                fake_device_state().hook = nullptr;
                calotype::runtime::unlock_thread_buffers();
                std::thread([&] {
                    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
                }).join();
                fake_device_state().failing = failing;
            }
        };
    }
    static int calls(const char *name) {
        return fake_device_state().calls[name];
    }
    template<typename F>
    static void on_threads(int n, F f) {
        std::atomic<int> ready{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < n; t++) {
            threads.emplace_back([&, t] {
                ready++;
                while (ready < n) {
                    std::this_thread::yield();
                }
                f(t);
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
    }
};

TEST_F(CopiesAtOnce, OneAllocationAndOneCopyToTheDevice) {
    constexpr int rounds = 200;
    for (int round = 0; round < rounds; round++) {
        Numbers a;
        on_threads(4, [&](int) {
            EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
            EXPECT_EQ(7, a.on_device()[7]);
        });
        EXPECT_EQ(0u, a.buf.flags);
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    }
    EXPECT_EQ(rounds, calls("device_malloc"));
    EXPECT_EQ(rounds, calls("copy_to_device"));
}

TEST_F(CopiesAtOnce, OneCopyToTheHost) {
    constexpr int rounds = 200;
    Numbers a;
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
    for (int round = 0; round < rounds; round++) {
        a.on_device()[7] = round;
        a.buf.set_device_dirty();
        on_threads(4, [&](int) {
            EXPECT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
            EXPECT_EQ(round, a.data[7]);
        });
        EXPECT_EQ(0u, a.buf.flags);
    }
    EXPECT_EQ(rounds, calls("copy_to_host"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// Some want it there, some here, while one writes; no copy is lost whatever the order.
TEST_F(CopiesAtOnce, ThereAndBackInAnyOrder) {
    Numbers a;
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
    for (int round = 0; round < 200; round++) {
        const bool is_newer_there = round % 2 == 0;
        (is_newer_there ? a.on_device()[3] : a.data[3]) = round;
        is_newer_there ? a.buf.set_device_dirty() : a.buf.set_host_dirty();
        on_threads(4, [&](int thread) {
            EXPECT_EQ(0, thread % 2 ? calotype_copy_to_host(nullptr, &a.buf)
                                    : calotype_copy_to_device(nullptr, &a.buf, fake_device()));
        });
        EXPECT_EQ(0u, a.buf.flags);
        EXPECT_EQ(round, a.on_device()[3]);
        EXPECT_EQ(round, a.data[3]);
    }
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// While one copy is on, hundreds of other buffers come and go, and those that need nothing do.
TEST_F(CopiesAtOnce, NobodyWaitsForTheCopyOfAnother) {
    Numbers slow, clean;
    Signal begun, done;
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &clean.buf, fake_device()));
    fake_device_state().hook = [&](const std::string &call) {
        if (call == "copy_to_device") {
            fake_device_state().hook = nullptr;
            begun.give();
            EXPECT_TRUE(done.await());
        }
    };
    std::thread thread(
        [&] { EXPECT_EQ(0, calotype_copy_to_device(nullptr, &slow.buf, fake_device())); });
    ASSERT_TRUE(begun.await());
    std::vector<Numbers> others(500);
    for (Numbers &other : others) {
        EXPECT_EQ(0, calotype_copy_to_device(nullptr, &other.buf, fake_device()));
        EXPECT_EQ(0, calotype_copy_to_device(nullptr, &clean.buf, nullptr));
        EXPECT_EQ(0, calotype_copy_to_host(nullptr, &clean.buf));
        EXPECT_EQ(0, calotype_device_free(nullptr, &other.buf));
    }
    done.give();
    thread.join();
    EXPECT_EQ(0, calotype_device_free(nullptr, &slow.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &clean.buf));
}

/// As where room is made for the buffer, and a callback waits for a thread that wants it too.
TEST_F(CopiesAtOnce, ABufferIsLetGoOfWhileItsMemoryIsAllocated) {
    Numbers a;
    copied_elsewhere_meanwhile(a);
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
    EXPECT_EQ(2, calls("device_malloc"));
    EXPECT_EQ(1, calls("device_free"));
    EXPECT_EQ(1, calls("copy_to_device"));
    EXPECT_EQ(0u, a.buf.flags);
    EXPECT_EQ(15, a.on_device()[15]);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// What fails for one is no failure where another has succeeded meanwhile.
TEST_F(CopiesAtOnce, AnotherThreadFindsMemory) {
    Numbers a;
    copied_elsewhere_meanwhile(a, "device_malloc");
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
    EXPECT_EQ(15, a.on_device()[15]);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// An error handler may look at the buffer that the error is about.
TEST_F(CopiesAtOnce, AHandlerOfErrorsCopies) {
    static Numbers *a;
    static int answer;
    Numbers numbers;
    a = &numbers;
    answer = -1;
    const auto before = calotype_set_error_handler([](void *, const char *) {
        fake_device_state().failing = "";
        answer = calotype_copy_to_device(nullptr, &a->buf, fake_device());
    });
    fake_device_state().failing = "copy_to_device";
    EXPECT_EQ(calotype_error_code_copy_to_device_failed,
              calotype_copy_to_device(nullptr, &a->buf, fake_device()));
    calotype_set_error_handler(before);
    EXPECT_EQ(0, answer);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a->buf));
}

TEST_F(CopiesAtOnce, AHandlerOfErrorsMendsTheBuffer) {
    static Numbers *a;
    static int answer;
    Numbers numbers;
    a = &numbers;
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a->buf, fake_device()));
    const auto before = calotype_set_error_handler([](void *, const char *) {
        a->buf.flags = calotype_buffer_flag_host_dirty;
        answer = calotype_copy_to_device(nullptr, &a->buf, fake_device());
    });
    answer = -1;
    a->buf.flags = calotype_buffer_flag_host_dirty | calotype_buffer_flag_device_dirty;
    EXPECT_NE(0, calotype_copy_to_host(nullptr, &a->buf));
    EXPECT_EQ(0, answer);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a->buf));
    answer = -1;
    a->buf.flags = calotype_buffer_flag_host_dirty;
    EXPECT_NE(0, calotype_copy_to_device(nullptr, &a->buf, nullptr));  // which device?
    EXPECT_EQ(0, answer);
    calotype_set_error_handler(before);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a->buf));
}

TEST_F(CopiesAtOnce, AHandlerOfErrorsThrows) {
    Numbers numbers, others;
    const auto before =
        calotype_set_error_handler([](void *, const char *) { throw std::runtime_error("no"); });
    fake_device_state().failing = "copy_to_device";
    numbers.buf.set_host_dirty();
    others.buf.set_host_dirty();
    for (int i = 0; i < 2; i++) {
        for (calotype_buffer_t *buf : {&numbers.buf, &others.buf}) {
            EXPECT_THROW(calotype_copy_to_device(nullptr, buf, fake_device()), std::runtime_error);
        }
    }
    calotype_set_error_handler(before);
    fake_device_state().failing = "";
    for (calotype_buffer_t *buf : {&numbers.buf, &others.buf}) {
        EXPECT_EQ(0, calotype_copy_to_device(nullptr, buf, fake_device()));
        EXPECT_EQ(0, calotype_device_free(nullptr, buf));
    }
}

/// A child process has none of the threads that copied in its parent.
TEST_F(CopiesAtOnce, AForkBesideACopy) {
    Numbers a;
    Signal begun, done;
    fake_device_state().hook = [&](const std::string &call) {
        if (call == "copy_to_device") {
            fake_device_state().hook = nullptr;
            begun.give();
            EXPECT_TRUE(done.await());
        }
    };
    std::thread thread(
        [&] { EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device())); });
    ASSERT_TRUE(begun.await());
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(5);
        const bool good = calotype_copy_to_device(nullptr, &a.buf, fake_device()) == 0 &&
                          a.buf.flags == 0 && a.on_device()[5] == 5;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    done.give();
    thread.join();
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// From a device to another, on threads that all want it there.
TEST_F(CopiesAtOnce, ToAnotherDevice) {
    Numbers a;
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
    a.on_device()[3] = 33;
    a.buf.set_device_dirty();
    on_threads(4, [&](int) {
        EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, other_fake_device()));
        EXPECT_EQ(33, a.on_device()[3]);
    });
    EXPECT_EQ(1, calls("copy_to_host"));
    EXPECT_EQ(2, calls("device_malloc"));
    EXPECT_EQ(2, calls("copy_to_device"));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

/// Between buffers: what one thread copies others may copy too, from and to.
class BufferCopiesAtOnce : public CopiesAtOnce {
protected:
    static int copy(Numbers &from, Numbers &to, const calotype_device_interface_t *device) {
        return calotype_buffer_copy(nullptr, &from.buf, device, &to.buf);
    }
    static void free_all(std::initializer_list<Numbers *> all) {
        for (Numbers *a : all) {
            EXPECT_EQ(0, calotype_device_free(nullptr, &a->buf));
        }
    }
    /// Threads that look at a flag in the middle of a copy are seen.
    static void be_slow_at(const char *slow) {
        fake_device_state().hook = [slow](const std::string &call) {
            if (call == slow) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
    }
};

/// By way of the host, to which the source is brought once.
TEST_F(BufferCopiesAtOnce, FromOneToManyOnAnotherDevice) {
    constexpr int rounds = 20;
    be_slow_at("copy_to_host");
    for (int round = 0; round < rounds; round++) {
        Numbers from, to[4];
        ASSERT_EQ(0, calotype_copy_to_device(nullptr, &from.buf, fake_device()));
        from.on_device()[5] = 50 + round;
        from.buf.set_device_dirty();
        on_threads(4, [&](int i) { EXPECT_EQ(0, copy(from, to[i], other_fake_device())); });
        EXPECT_EQ(0u, from.buf.flags);
        EXPECT_EQ(50 + round, from.data[5]);
        for (Numbers &each : to) {
            EXPECT_EQ(uint64_t(calotype_buffer_flag_device_dirty), each.buf.flags);
            EXPECT_EQ(50 + round, each.on_device()[5]);
        }
        free_all({&from, to, to + 1, to + 2, to + 3});
    }
    EXPECT_EQ(rounds, calls("copy_to_host"));
}

/// Memory for the destination is allocated once.
TEST_F(BufferCopiesAtOnce, FromManyToOne) {
    constexpr int rounds = 20;
    be_slow_at("device_malloc");
    for (int round = 0; round < rounds; round++) {
        Numbers from[4], to;
        on_threads(4, [&](int i) { EXPECT_EQ(0, copy(from[i], to, fake_device())); });
        EXPECT_EQ(uint64_t(calotype_buffer_flag_device_dirty), to.buf.flags);
        EXPECT_EQ(7, to.on_device()[7]);
        free_all({&to});
    }
    EXPECT_EQ(rounds, calls("device_malloc"));
    EXPECT_EQ(4 * rounds, calls("buffer_copy"));
}

/// Nobody waits in a circle, and no bit is lost.
TEST_F(BufferCopiesAtOnce, ThereAndBackBetweenThree) {
    Numbers all[3];
    for (Numbers &a : all) {
        ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
    }
    on_threads(6, [&](int thread) {
        for (int i = 0; i < 300; i++) {
            Numbers &from = all[thread % 3], &to = all[(thread + (thread < 3 ? 1 : 2)) % 3];
            EXPECT_EQ(0, copy(from, to, i % 2 ? fake_device() : nullptr));
            EXPECT_EQ(0, calotype_copy_to_host(nullptr, &from.buf));
        }
    });
    for (Numbers &a : all) {
        EXPECT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
        EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, fake_device()));
        EXPECT_EQ(0u, a.buf.flags);
        EXPECT_EQ(9, a.data[9]);
        EXPECT_EQ(9, a.on_device()[9]);
    }
    free_all({all, all + 1, all + 2});
}

/// One turn is enough for both.
TEST_F(BufferCopiesAtOnce, OntoItself) {
    Numbers a;
    EXPECT_EQ(0, copy(a, a, fake_device()));
    EXPECT_EQ(uint64_t(calotype_buffer_flag_device_dirty), a.buf.flags);
    EXPECT_EQ(3, a.on_device()[3]);
    EXPECT_EQ(0, copy(a, a, nullptr));
    EXPECT_EQ(uint64_t(calotype_buffer_flag_host_dirty), a.buf.flags);
    free_all({&a});
}

/// Whoever wants either buffer meanwhile waits for the copy, and for no other.
TEST_F(BufferCopiesAtOnce, BothAreTaken) {
    Numbers from, to, other;
    Signal begun, done;
    ASSERT_EQ(0, calotype_copy_to_device(nullptr, &from.buf, fake_device()));
    fake_device_state().hook = [&](const std::string &call) {
        if (call == "buffer_copy") {
            fake_device_state().hook = nullptr;
            begun.give();
            EXPECT_TRUE(done.await());
        }
    };
    from.buf.set_device_dirty();
    std::atomic<int> over{0};
    std::thread copying([&] { EXPECT_EQ(0, copy(from, to, fake_device())); });
    ASSERT_TRUE(begun.await());
    std::thread wants_from([&] {
        EXPECT_EQ(0, calotype_copy_to_host(nullptr, &from.buf));
        over++;
    });
    std::thread wants_to([&] {
        EXPECT_EQ(0, calotype_copy_to_device(nullptr, &to.buf, nullptr));
        over++;
    });
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &other.buf, fake_device()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(0, over);
    done.give();
    for (std::thread *thread : {&copying, &wants_from, &wants_to}) {
        thread->join();
    }
    EXPECT_EQ(0u, from.buf.flags);
    EXPECT_EQ(uint64_t(calotype_buffer_flag_device_dirty), to.buf.flags);
    free_all({&from, &to, &other});
}

/// As where room is made for the destination, and a callback waits for a thread that wants both.
TEST_F(BufferCopiesAtOnce, BothAreLetGoOfWhileMemoryIsAllocated) {
    Numbers from, to;
    fake_device_state().hook = [&](const std::string &call) {
        if (call == "device_malloc") {
            fake_device_state().hook = nullptr;
            calotype::runtime::unlock_thread_buffers();
            std::thread([&] {
                EXPECT_EQ(0, copy(from, to, fake_device()));
                EXPECT_EQ(0, calotype_copy_to_device(nullptr, &from.buf, fake_device()));
            }).join();
        }
    };
    EXPECT_EQ(0, copy(from, to, fake_device()));
    EXPECT_EQ(3, calls("device_malloc"));
    EXPECT_EQ(1, calls("device_free"));
    EXPECT_EQ(15, to.on_device()[15]);
    EXPECT_EQ(0u, from.buf.flags);
    free_all({&from, &to});
}

/// What it finds when its turn has come again is on another device.
TEST_F(BufferCopiesAtOnce, TheDestinationGoesElsewhereMeanwhile) {
    static std::string text;
    Numbers from, to;
    text.clear();
    const auto before =
        calotype_set_error_handler([](void *, const char *message) { text += message; });
    fake_device_state().hook = [&](const std::string &call) {
        if (call == "device_malloc") {
            fake_device_state().hook = nullptr;
            calotype::runtime::unlock_thread_buffers();
            std::thread([&] { EXPECT_EQ(0, copy(from, to, other_fake_device())); }).join();
        }
    };
    EXPECT_EQ(calotype_error_code_incompatible_device_interface, copy(from, to, fake_device()));
    calotype_set_error_handler(before);
    EXPECT_EQ("buffer is on another device interface", text);
    free_all({&to});
}

TEST_F(BufferCopiesAtOnce, AHandlerOfErrorsCopiesBoth) {
    static Numbers *a, *b;
    static int answers;
    Numbers from, to;
    a = &from;
    b = &to;
    const auto before = calotype_set_error_handler([](void *, const char *) {
        fake_device_state().failing = "";
        a->buf.type = calotype_type_of<int>();
        a->buf.dimensions = 1;
        a->buf.host = reinterpret_cast<uint8_t *>(a->data);
        for (Numbers *each : {a, b}) {
            answers += calotype_copy_to_device(nullptr, &each->buf, fake_device()) == 0;
        }
    });
    const std::function<void()> faults[] = {
        [] { fake_device_state().failing = "buffer_copy"; },
        [] { fake_device_state().failing = "device_malloc"; },
        [&] { from.buf.type = calotype_type_of<double>(); },
        [&] { from.buf.dimensions = 0; },
    };
    for (const auto &fault : faults) {
        answers = 0;
        fault();
        EXPECT_NE(0, copy(from, to, fake_device()));
        EXPECT_EQ(2, answers);
        free_all({&from, &to});
    }
    answers = 0;
    from.buf.host = nullptr;
    EXPECT_EQ(calotype_error_code_host_is_null, copy(from, to, nullptr));
    EXPECT_EQ(2, answers);
    calotype_set_error_handler(before);
    free_all({&from, &to});
}

}  // namespace
