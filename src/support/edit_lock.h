// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How other threads are kept from changing a pipeline while one reads it.
#pragma once

namespace calotype::internal {

/// What a program holds while it changes pipelines, as an interpreter its lock.
class EditLock {
public:
    virtual void acquire() = 0;
    virtual void release() = 0;

protected:
    ~EditLock() = default;
};

/// As long as it lives, or until one that is made later, what this thread compiles takes the lock
/// where it reads the pipeline. The thread does not hold it.
///
/// Without one a pipeline must not be changed on other threads until it is compiled.
class EditLockScope {
public:
    explicit EditLockScope(EditLock &lock);
    ~EditLockScope();
    EditLockScope(const EditLockScope &) = delete;
    EditLockScope &operator=(const EditLockScope &) = delete;

private:
    friend class ReadingScope;
    EditLock &lock_;
    int depth_ = 0;  ///< how many ReadingScopes there are
    EditLockScope *outer_;
};

/// As long as it lives, no other thread changes a pipeline. Nothing is waited for meanwhile that
/// needs the lock itself, as compilations of other threads.
class ReadingScope {
public:
    ReadingScope();
    ~ReadingScope();
    ReadingScope(const ReadingScope &) = delete;
    ReadingScope &operator=(const ReadingScope &) = delete;

private:
    EditLockScope *scope_;
};

}  // namespace calotype::internal
