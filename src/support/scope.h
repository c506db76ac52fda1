// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scope<T>: what each name means at this point of a walk over the IR. Bindings of one name nest
// like a stack; ScopedBinding makes one for the length of a C++ block. Scope<> (T = void) is a set.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/error.h"

namespace calotype::internal {

/// Stands in for the value where there is none.
struct Nothing {};

template<typename T = void>
class Scope {
public:
    using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;

    Scope() = default;

    /// Names that are not found here are looked up in `outer`, which must outlive this scope.
    void set_containing_scope(const Scope *outer) {
        outer_ = outer;
    }

    void push(const std::string &name, Value value = Value()) {
        table_[name].push_back(std::move(value));
    }

    /// Ends the innermost binding of `name` made in this scope; it is an internal error if there is
    /// none.
    void pop(const std::string &name) {
        auto it = table_.find(name);
        internal_assert(it != table_.end()) << "name not in scope: " << name;
        it->second.pop_back();
        if (it->second.empty()) {
            table_.erase(it);
        }
    }

    bool contains(const std::string &name) const {
        return find(name) != nullptr;
    }

    /// The innermost binding, or null.
    const Value *find(const std::string &name) const {
        auto it = table_.find(name);
        if (it != table_.end()) {
            return &it->second.back();
        }
        return outer_ ? outer_->find(name) : nullptr;
    }

    /// The innermost binding made in this scope itself, to change it in place, or null.
    Value *find_mutable(const std::string &name) {
        auto it = table_.find(name);
        return it == table_.end() ? nullptr : &it->second.back();
    }

    /// The innermost binding; it is an internal error if there is none.
    const Value &get(const std::string &name) const {
        const Value *value = find(name);
        internal_assert(value) << "name not in scope: " << name;
        return *value;
    }

    /// How many bindings of `name` this scope itself holds.
    size_t count(const std::string &name) const {
        auto it = table_.find(name);
        return it == table_.end() ? 0 : it->second.size();
    }

    bool empty() const {
        return table_.empty();
    }

    /// Calls f(name, innermost value) for every name bound in this scope itself, in no particular
    /// order: what depends on it must not be seen in what is compiled.
    template<typename F>
    void for_each(F f) const {
        for (const auto &entry : table_) {
            f(entry.first, entry.second.back());
        }
    }

private:
    std::unordered_map<std::string, std::vector<Value>> table_;
    const Scope *outer_ = nullptr;
};

/// Pushes on construction, pops at the end of the block. With `condition` false it does nothing.
template<typename T = void>
class ScopedBinding {
public:
    using Value = typename Scope<T>::Value;

    ScopedBinding(Scope<T> &scope, std::string name, Value value = Value())
        : ScopedBinding(true, scope, std::move(name), std::move(value)) {
    }
    ScopedBinding(bool condition, Scope<T> &scope, std::string name, Value value = Value())
        : scope_(condition ? &scope : nullptr), name_(std::move(name)) {
        if (scope_) {
            scope_->push(name_, std::move(value));
        }
    }
    ScopedBinding(ScopedBinding &&other) noexcept
        : scope_(std::exchange(other.scope_, nullptr)), name_(std::move(other.name_)) {
    }
    ScopedBinding(const ScopedBinding &) = delete;
    ScopedBinding &operator=(const ScopedBinding &) = delete;
    ScopedBinding &operator=(ScopedBinding &&) = delete;
    ~ScopedBinding() {
        if (scope_) {
            scope_->pop(name_);
        }
    }

private:
    Scope<T> *scope_;
    std::string name_;
};

template<typename T, typename V>
ScopedBinding(Scope<T> &, std::string, V) -> ScopedBinding<T>;
template<typename T, typename V>
ScopedBinding(bool, Scope<T> &, std::string, V) -> ScopedBinding<T>;

}  // namespace calotype::internal
