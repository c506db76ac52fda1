// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared ownership with the count inside the object: RefCounted is the base, IntrusivePtr<T> the
// handle. Counting is atomic, so handles to one object may be copied and dropped on any number of
// threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

// Classes that users see derive from these, and calls with their objects look for functions in the
// namespaces of their bases as well: so these have one of their own, without functions.
namespace calotype::internal::handles {

/// Base of every object that an IntrusivePtr may own. A fresh object has count zero; the first
/// handle makes it one.
class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted &) {
    }
    RefCounted &operator=(const RefCounted &) {
        return *this;
    }
    virtual ~RefCounted() = default;

    void add_ref() const {
        count_.fetch_add(1, std::memory_order_relaxed);
    }
    void release() const {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }
    /// True if this is the only handle: the object may then be changed in place.
    bool is_unique() const {
        return count_.load(std::memory_order_acquire) == 1;
    }

private:
    mutable std::atomic<int> count_{0};
};

/// A nullable owning handle to a RefCounted object.
template<typename T>
class IntrusivePtr {
public:
    IntrusivePtr() = default;
    IntrusivePtr(std::nullptr_t) {
    }
    IntrusivePtr(T *p) : ptr_(p) {
        acquire();
    }
    IntrusivePtr(const IntrusivePtr &other) : ptr_(other.ptr_) {
        acquire();
    }
    IntrusivePtr(IntrusivePtr &&other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {
    }
    template<typename U, typename = decltype(static_cast<T *>(static_cast<U *>(nullptr)))>
    IntrusivePtr(const IntrusivePtr<U> &other) : ptr_(other.get()) {
        acquire();
    }
    IntrusivePtr &operator=(const IntrusivePtr &other) {
        IntrusivePtr(other).swap(*this);
        return *this;
    }
    IntrusivePtr &operator=(IntrusivePtr &&other) noexcept {
        IntrusivePtr(std::move(other)).swap(*this);
        return *this;
    }
    ~IntrusivePtr() {
        if (ptr_) {
            ptr_->release();
        }
    }

    void swap(IntrusivePtr &other) noexcept {
        std::swap(ptr_, other.ptr_);
    }
    T *get() const {
        return ptr_;
    }
    T *operator->() const {
        return ptr_;
    }
    T &operator*() const {
        return *ptr_;
    }
    bool defined() const {
        return ptr_ != nullptr;
    }
    explicit operator bool() const {
        return ptr_ != nullptr;
    }
    bool same_as(const IntrusivePtr &other) const {
        return ptr_ == other.ptr_;
    }
    friend bool operator==(const IntrusivePtr &a, const IntrusivePtr &b) {
        return a.ptr_ == b.ptr_;
    }
    friend bool operator!=(const IntrusivePtr &a, const IntrusivePtr &b) {
        return a.ptr_ != b.ptr_;
    }
    friend bool operator<(const IntrusivePtr &a, const IntrusivePtr &b) {
        return a.ptr_ < b.ptr_;
    }

private:
    void acquire() const {
        if (ptr_) {
            ptr_->add_ref();
        }
    }
    T *ptr_ = nullptr;
};

}  // namespace calotype::internal::handles

namespace calotype::internal {
using handles::IntrusivePtr;
using handles::RefCounted;
}  // namespace calotype::internal
