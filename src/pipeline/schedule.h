// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule of a Func and of its stages, as plain data. lang/ checks directives and appends to
// it; lower/ reads it. Variables are named by their plain names ("x", "xo", "r$x").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/enums.h"
#include "ir/expr.h"
#include "pipeline/loop_level.h"
#include "pipeline/reduction.h"

namespace calotype {

struct FuseLoopLevel {
    LoopLevel level = LoopLevel::inlined();
    std::map<std::string, LoopAlignStrategy> align;  ///< by dimension name
    FuseLoopLevel() = default;
    FuseLoopLevel(const LoopLevel &level, std::map<std::string, LoopAlignStrategy> align)
        : level(level), align(std::move(align)) {
    }
};

}  // namespace calotype

namespace calotype::internal {

class Function;

/// Shared by the threads of a GPU block.
inline bool is_gpu_shared(MemoryType t) {
    return t == MemoryType::GPUShared || t == MemoryType::GPUSharedAsync;
}
/// In registers that hold whole tiles of a matrix.
inline bool is_tile_memory_type(MemoryType t) {
    return t == MemoryType::AMXTile;
}

/// One change of a stage's loops, in the order of the directives.
struct Split {
    enum class Kind : uint8_t {
        Split,   ///< old -> outer * factor + inner
        Fuse,    ///< inner, outer -> old (the fused loop)
        Rename,  ///< old -> outer
    };
    std::string old_var, outer, inner;
    Expr factor;  ///< of a split; of a fuse the inner loop's extent, if a constant: decide_tails
    TailStrategy tail = TailStrategy::Auto;
    bool divides =
        false;  ///< the factor divides the extent, so that there is no tail: decide_tails
    Kind kind = Kind::Split;
    bool is_split() const {
        return kind == Kind::Split;
    }
    bool is_fuse() const {
        return kind == Kind::Fuse;
    }
    bool is_rename() const {
        return kind == Kind::Rename;
    }
};

/// What may be done to a loop: a pure variable's iterations are independent; a pure RVar's are
/// provably so as well.
enum class DimType : uint8_t { PureVar, PureRVar, ImpureRVar };

/// One loop of a stage.
struct Dim {
    std::string var;
    ForType for_type = ForType::Serial;
    DeviceAPI device_api = DeviceAPI::None;
    DimType dim_type = DimType::PureVar;
    Partition partition = Partition::Auto;
    bool is_rvar() const {
        return dim_type != DimType::PureVar;
    }
    bool is_pure() const {
        return dim_type != DimType::ImpureRVar;
    }
    bool is_parallel() const {
        return internal::is_parallel(for_type);
    }
    bool is_unordered_parallel() const {
        return internal::is_unordered_parallel(for_type);
    }
};

/// bound, bound_extent (min undefined), align_bounds / align_extent (modulus defined), set_estimate
/// (in `estimates`).
struct Bound {
    std::string var;
    Expr min, extent;
    Expr modulus, remainder;
};

/// One dimension of storage, innermost first.
struct StorageDim {
    std::string var;
    Expr alignment;    ///< of the extent, in elements; undefined: none
    Expr bound;        ///< of the extent; undefined: none
    Expr fold_factor;  ///< circular; undefined: decided by storage folding
    bool fold_forward = true;
};

struct PrefetchDirective {
    std::string name;  ///< of the Func or parameter
    std::string at, from;
    Expr offset;
    PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf;
    SymbolPtr symbol;  ///< the parameter, if it is one
};

/// A list that programs may also read as a member function: schedule.dims()[0], definition.values().
template<typename T>
class ScheduleList : public std::vector<T> {
public:
    using std::vector<T>::vector;
    ScheduleList() = default;
    ScheduleList(std::vector<T> list) : std::vector<T>(std::move(list)) {
    }
    const ScheduleList &operator()() const {
        return *this;
    }
};

/// The loops of one stage (pure definition or update).
struct StageSchedule {
    ScheduleList<ReductionVariable> rvars;
    ScheduleList<Split> splits;
    ScheduleList<Dim>
        dims;  ///< innermost first; the last is the dummy loop `outermost_name`, of extent one
    std::vector<PrefetchDirective> prefetches;
    FuseLoopLevel fuse_level;
    bool touched =
        false;  ///< a directive was given (or `unscheduled` said): no warning for updates
    bool allow_race_conditions = false;
    bool atomic = false;
    bool override_atomic_associativity_test = false;
    bool stream_stores = false;             ///< store around the cache
    std::vector<std::string> stream_loads;  ///< Funcs and parameters to load around the cache
    bool stream_all_loads = false;          ///< of all but the stage's own Func

    /// So that programs may read it as a member function of a definition.
    const StageSchedule &operator()() const {
        return *this;
    }
};

/// Name of the dummy outermost loop of every stage.
inline const char *const outermost_name = "__outermost";

/// What concerns a Func as a whole.
struct FuncSchedule {
    /// Inlined storage levels mean "as the next one": lowering sets store_level from compute_level,
    /// hoist_storage_level from it.
    LoopLevel store_level = LoopLevel::inlined();
    LoopLevel compute_level = LoopLevel::inlined();
    LoopLevel hoist_storage_level = LoopLevel::inlined();
    ScheduleList<StorageDim> storage_dims;  ///< innermost first
    ScheduleList<Bound> bounds;
    ScheduleList<Bound> estimates;
    std::map<std::string, IntrusivePtr<class FunctionContents>>
        wrappers;  ///< by consumer name; "" = all consumers
    MemoryType memory_type = MemoryType::Auto;
    bool memoized = false;
    Expr memoize_eviction_key;
    bool async = false;
    Expr ring_buffer;
    bool trace_loads = false, trace_stores = false, trace_realizations = false,
         no_profiling = false;
    std::vector<std::string> trace_tags;
};

}  // namespace calotype::internal
