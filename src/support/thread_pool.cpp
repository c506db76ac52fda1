// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/thread_pool.h"

#include <algorithm>

namespace calotype::internal {

int ThreadPool::default_threads() {
    return std::max(1, int(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
    for (int i = 0; i < std::max(1, threads); i++) {
        threads_.emplace_back([this] { work(); });
    }
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        closing_ = true;
    }
    wakeup_.notify_all();
    for (std::thread &thread : threads_) {
        thread.join();
    }
}

void ThreadPool::enqueue(std::function<void()> task) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    wakeup_.notify_one();
}

void ThreadPool::work() {
    for (;;) {
        std::function<void()> task;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            wakeup_.wait(lock, [this] { return closing_ || !tasks_.empty(); });
            if (tasks_.empty()) {
                return;
            }
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task();
    }
}

}  // namespace calotype::internal
