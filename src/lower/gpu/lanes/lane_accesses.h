// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses of one allocation that is dealt to lanes, as they are met. Helper of
// stripe_lane_storage.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/stmt_nodes.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/lanes/lane_stripes.h"
#include "lower/known_here.h"

namespace calotype::internal {

/// How the threads of a kernel stand in warps.
struct Warps {
    int lanes = 0;          ///< so many threads of dimension x are in one warp; 0: it is not known
    int width = warp_size;  ///< lanes that shuffle among each other
    std::string x;          ///< lane i is thread i of dimension x
    std::vector<std::pair<std::string, int64_t>> rows;  ///< dimensions y and z, with their sizes
    std::set<std::string> own;  ///< variables that lanes of one warp have values of their own for
    SimplifyContext known;      ///< of the threads

    explicit Warps(const KernelNest &nest);
};

/// What lanes of one warp all have the same value of.
bool is_uniform_in(const Expr &e, const std::set<std::string> &own);

/// What is known at a place of the allocation's body, and of the accesses before it. Functions that
/// find an access to be none of what lanes can have give nothing, and then the whole is given up.
class LaneAccesses {
public:
    /// `lanes` are dealt to, slots count from `first_slot`.
    LaneAccesses(const Allocate *op, const Warps &warps, int lanes, int64_t first_slot);

    /// Within the length of a C++ block: inside of a loop or let, of which lanes have values of
    /// their own if it `is_own`, or where a condition holds.
    class Inside {
    public:
        template<typename T>
        Inside(LaneAccesses &accesses, const T *op, bool is_own)
            : Inside(accesses, op->name, is_own, op) {
        }
        Inside(LaneAccesses &accesses, const Expr &condition)
            : Inside(accesses, "", false, condition) {
        }
        ~Inside();
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

    private:
        template<typename T>
        Inside(LaneAccesses &accesses, const std::string &name, bool is_own, const T &what)
            : accesses_(accesses), inside_(accesses.here_, what), name_(name),
              around_(accesses.known_.bounds) {
            bind(is_own);
        }
        void bind(bool is_own);

        LaneAccesses &accesses_;
        const KnownHere::Inside inside_;
        const std::string name_;
        const std::map<std::string, ConstRange> around_;
        bool hides_inside_ = false, hides_own_ = false;
    };
    /// False where the conditions contradict each other.
    bool is_reachable() const {
        return here_.is_reachable();
    }
    /// A variable of which each lane has its own value, from here on.
    void bind_own(const std::string &name, const ConstRange &range);

    bool is_uniform(const Expr &e) const {
        return is_uniform_in(e, own_);
    }
    /// Of a scalar integer; everything for other types.
    ConstRange range_of(const Expr &e) const;

    /// A store's index in the part of the lane that stores; undefined if it is not known to be its
    /// own element.
    Expr stored(const Expr &index);
    /// Where the elements of a load are, one for each element of the vector.
    std::vector<LaneSource> loaded(const Expr &index);
    /// The index of a slot, or of a ramp of slots, in a lane's part; undefined without bounds.
    Expr place(const Expr &slot);

    /// At the end: could all elements be told apart?
    bool are_apart() const;
    const ConstRange &slots() const {
        return slots_;
    }
    bool has_constant_places() const {
        return has_constant_places_;
    }
    /// Lanes that made the first store.
    int stored_lanes() const {
        return stored_lanes_;
    }

private:
    bool is_inside(const Expr &e) const;
    Expr at_origin(Expr e) const;
    Expr in_row(Expr e);
    Expr offset_of(const Expr &index);
    std::vector<Expr> elements(const Expr &index) const;
    bool begin(const Expr &offset);
    ConstRange &lanes_here() {
        return known_.bounds[warps_.x];
    }

    const Allocate *op_;
    const Warps &warps_;
    LaneStripes stripes_;
    const int64_t first_slot_;
    std::set<std::string> own_;
    KnownHere here_;                ///< within the allocation
    SimplifyContext known_;         ///< the ranges of threads and of what is within the allocation
    std::set<std::string> inside_;  ///< loops and lets within the allocation
    bool has_begun_ = false;
    int stored_lanes_ = 0;
    Expr origin_;                               ///< of offsets, where it is not 0
    std::map<std::string, int64_t> row_steps_;  ///< between rows of threads
    ConstRange slots_, reach_;                  ///< of slots, of offsets
    bool is_bounded_ = true, has_constant_places_ = true;
};

/// s, s + n, s + 2*n, ...; undefined if they are not.
Expr as_ramp(const std::vector<Expr> &slots);

}  // namespace calotype::internal
