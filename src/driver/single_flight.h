// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SingleFlightCache: results by job key, each made once, however many threads ask for it at the
// same time.
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "driver/compile_job.h"

namespace calotype::internal {

/// Keeps the `capacity` results used last; a result that somebody holds lives on without the cache.
template<typename Value>
class SingleFlightCache {
public:
    using Result = std::shared_ptr<const Value>;

    explicit SingleFlightCache(size_t capacity) : capacity_(capacity) {
    }

    /// The result for the key: found, waited for, or made by `make` on this thread. Errors are
    /// thrown to all who wait, and not kept. Keys that are not shareable are always made anew.
    Result get(const JobKey &key, const std::function<Result()> &make) {
        if (!key.is_shareable) {
            made_++;
            return make();
        }
        std::promise<Result> promise;
        std::shared_future<Result> future;
        bool is_maker = false;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            auto it = entries_.find(key);
            const bool is_new = it == entries_.end();
            is_maker = is_new || it->second.is_abandoned();
            if (is_new) {
                used_.push_front(key);
                it = entries_.emplace(key, Entry{{}, used_.begin(), getpid()}).first;
                in_flight_++;
            } else {
                used_.splice(used_.begin(), used_, it->second.place);
            }
            if (is_maker) {
                it->second.future = promise.get_future().share();
                it->second.process = getpid();
            }
            future = it->second.future;
        }
        if (!is_maker) {
            found_++;
            return future.get();
        }
        try {
            promise.set_value(make());
            made_++;
            land(key, true);
        } catch (...) {
            promise.set_exception(std::current_exception());
            land(key, false);
        }
        return future.get();
    }

    /// How many results were made, and how many requests were served without making one.
    int64_t made() const {
        return made_;
    }
    int64_t found() const {
        return found_;
    }

private:
    struct Entry {
        std::shared_future<Result> future;
        typename std::list<JobKey>::iterator place;
        pid_t process;            ///< in which it is made
        bool has_landed = false;  ///< there is a result
        /// Whether it was in flight when this process was forked, on a thread that is not here.
        bool is_abandoned() const {
            return !has_landed && process != getpid();
        }
    };

    /// The entry of this thread's flight is kept, or goes where it brought an error. What is in
    /// flight is never evicted: who asks for it must find it.
    void land(const JobKey &key, bool keep) {
        std::lock_guard<std::mutex> lock(mutex_);
        const auto landed = entries_.find(key);
        landed->second.has_landed = true;
        in_flight_--;
        if (!keep) {
            erase(landed);
        }
        for (auto oldest = used_.end(); entries_.size() > capacity_ + in_flight_;) {
            const auto it = entries_.find(*--oldest);
            if (it->second.has_landed) {
                ++oldest;
                erase(it);
            }
        }
    }
    void erase(typename std::map<JobKey, Entry>::iterator it) {
        used_.erase(it->second.place);
        entries_.erase(it);
    }

    const size_t capacity_;
    std::mutex mutex_;
    std::map<JobKey, Entry> entries_;
    std::list<JobKey> used_;  ///< the last used first
    size_t in_flight_ = 0;
    std::atomic<int64_t> made_{0}, found_{0};
};

}  // namespace calotype::internal
