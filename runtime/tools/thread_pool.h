// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fixed number of threads that do tasks in the order in which they come. Header only, C++17. For
// coarse tasks of an application; pipelines have threads of their own.
//
//     ThreadPool<int> pool(4);
//     std::future<int> size = pool.async([&] { return compress(file); });
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace calotype {
namespace Tools {

/** Tasks that answer with a T, or with nothing if T is void. */
template<typename T>
class ThreadPool {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::packaged_task<T()>> tasks;
    bool ending = false;
    std::vector<std::thread> threads;

public:
    static size_t num_processors_online() {
        const size_t count = std::thread::hardware_concurrency();
        return count ? count : 1;
    }

    explicit ThreadPool(size_t desired_num_threads = num_processors_online()) {
        for (size_t i = 0; i < desired_num_threads; i++) {
            threads.emplace_back([this] { work(); });
        }
    }
    /** Waits for the tasks that have begun. The futures of the others throw std::future_error. */
    ~ThreadPool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ending = true;
        }
        changed.notify_all();
        for (std::thread &thread : threads) {
            thread.join();
        }
    }
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    /** Calls func(args...), with copies of the arguments, on a thread of the pool. What it throws comes
     * out of the future. */
    template<typename Func, typename... Args>
    std::future<T> async(Func func, Args... args) {
        std::packaged_task<T()> task(std::bind(std::move(func), std::move(args)...));
        std::future<T> result = task.get_future();
        {
            std::lock_guard<std::mutex> lock(mutex);
            tasks.push_back(std::move(task));
        }
        changed.notify_one();
        return result;
    }

private:
    void work() {
        std::unique_lock<std::mutex> lock(mutex);
        while (true) {
            changed.wait(lock, [&] { return ending || !tasks.empty(); });
            if (ending) {
                return;
            }
            std::packaged_task<T()> task = std::move(tasks.front());
            tasks.pop_front();
            lock.unlock();
            task();
            lock.lock();
        }
    }
};

}  // namespace Tools
}  // namespace calotype
