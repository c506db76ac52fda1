// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopLevel: a place in a loop nest, to which the computation or storage of another Func is
// attached.
#pragma once

#include <string>
#include <utility>

#include "support/intrusive_ptr.h"

namespace calotype {

namespace internal {

/// The name of the Func itself: what a generator declares has one of its own besides.
template<typename FuncLike>
auto name_of_func(const FuncLike &f, int) -> decltype(std::string(f.function().name())) {
    return f.function().name();
}
template<typename FuncLike>
std::string name_of_func(const FuncLike &f, long) {
    return f.name();
}

}  // namespace internal

/// Inlined, root, or "inside loop `var` of stage `stage_index` of Func `func`".
///
/// A LoopLevel is a handle: copies share their contents, so that `set` on one (a generator's
/// GeneratorParam<LoopLevel>) reaches every schedule that holds a copy. It is locked when lowering
/// starts; a level that was never set is an error then.
class LoopLevel {
public:
    /// Undefined: must be `set` before lowering.
    LoopLevel();
    LoopLevel(const LoopLevel &);
    LoopLevel(LoopLevel &&) noexcept;
    LoopLevel &operator=(const LoopLevel &);
    LoopLevel &operator=(LoopLevel &&) noexcept;
    ~LoopLevel();
    /// stage_index -1 means "the only stage, or, if there are several, the last one that has the
    /// loop".
    LoopLevel(const std::string &func_name, const std::string &var_name, bool is_rvar,
              int stage_index = -1);

    /// The loop over `v` (a Var, RVar or VarOrRVar) in `f` (a Func or Function).
    template<typename FuncLike, typename VarLike,
             typename = decltype(is_reduction_variable(std::declval<const VarLike &>()))>
    LoopLevel(const FuncLike &f, const VarLike &v, int stage_index = -1)
        : LoopLevel(internal::name_of_func(f, 0), v.name(), is_reduction_variable(v), stage_index) {
    }

    static LoopLevel inlined();
    static LoopLevel root();

    /// Take the place of `other`, in all copies of this handle.
    void set(const LoopLevel &other);
    /// From now on the level may be read and no longer set.
    LoopLevel &lock();
    /// A level of the same place that shares nothing with this one.
    LoopLevel copy() const;

    bool defined() const;
    bool locked() const;
    /// What copies of this handle share.
    const internal::RefCounted *identity() const;
    bool is_inlined() const;
    bool is_root() const;
    /// Empty for inlined and root.
    std::string func_name() const;
    std::string var_name() const;
    bool is_rvar() const;
    int stage_index() const;
    int get_stage_index() const {
        return stage_index();
    }
    /// "f.x", "f.s1.r$x", "root", "inlined", "undefined".
    std::string to_string() const;
    bool operator==(const LoopLevel &other) const;
    bool operator!=(const LoopLevel &other) const {
        return !(*this == other);
    }

private:
    struct Contents;
    internal::IntrusivePtr<Contents> contents_;
    void check_defined() const;
};

}  // namespace calotype
