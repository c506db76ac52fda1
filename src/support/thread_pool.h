// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ThreadPool: runs the independent parts of a compilation. Not the pool that generated code uses.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace calotype::internal {

/// Tasks start in the order they were given. A task must not wait for a later task of its own pool.
class ThreadPool {
public:
    /// With no argument, a thread for each processor.
    explicit ThreadPool(int threads = default_threads());
    /// Waits until all tasks have run.
    ~ThreadPool();
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    static int default_threads();

    /// Runs f() on some thread. The future gives its result, or throws what it threw.
    template<typename F>
    auto async(F f) -> std::future<decltype(f())> {
        auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::move(f));
        auto result = task->get_future();
        enqueue([task] { (*task)(); });
        return result;
    }

private:
    void enqueue(std::function<void()> task);
    void work();

    std::mutex mutex_;
    std::condition_variable wakeup_;
    std::deque<std::function<void()>> tasks_;
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace calotype::internal
