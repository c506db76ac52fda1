// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses of the threads of a block to shared memory, and whether two of them can meet.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arith/constant_interval.h"
#include "ir/expr.h"
#include "ir/stmt_nodes.h"
#include "lower/known_here.h"

namespace calotype::internal {

/// What an index is in one dimension, by who has which values of its terms.
struct ThreadIndex {
    struct Part {
        int64_t coefficient = 0;
        ConstantInterval range;  ///< of the variable or of the other thing

        bool operator==(const Part &) const = default;
    };
    /// Of variables that have a value each for each thread, or each time that the access is made:
    /// all of them, some with coefficient 0.
    std::map<std::string, Part> own;
    /// Of what is the same for all threads, by its text.
    std::map<std::string, Part> common;
    std::map<std::string, std::vector<std::string>> common_names;  ///< the variables in each
    /// Of other things that threads have values of their own for.
    std::vector<Part> other;
    int64_t constant = 0;

    bool operator==(const ThreadIndex &) const = default;
};

/// What is known where an access is made.
struct AccessContext {
    /// Integers of which each thread has a value of its own; those that tell threads apart are
    /// among them.
    std::set<std::string> own;
    KnownHere known;
};

/// An index as a sum of such times strides of the buffer, by the names of these; "" is the stride
/// 1. Rows of a buffer do not overlap: indices are equal only where all of them are.
using LinearIndex = std::map<std::string, ThreadIndex>;

/// The scalar e, which is free of lets, where `is_stride` tells which variables are strides. Sums
/// of anything are linear; what is not understood goes to `other`.
LinearIndex linear_index(const Expr &e, const AccessContext &context,
                         const std::function<bool(const std::string &)> &is_stride);

/// Names of buffers, by the loads, stores and asynchronous copies of a statement.
struct AccessedBuffers {
    std::set<std::string> read, written;
};
AccessedBuffers accessed_buffers(const Stmt &s);

/// What an atomic update does to an element: an operation by whatever value, or else what is done in one place of the code.
/// Two that are the same give the same result in any order.
struct UpdateKind {
    std::optional<VectorReduce::Operator> operation;
    const Atomic *place = nullptr;

    bool operator==(const UpdateKind &) const = default;
};

/// What an Atomic statement does to this buffer.
UpdateKind update_kind(const Atomic *op, const std::string &buffer);

/// A load or store of what threads share.
struct SharedAccess {
    std::string buffer;
    bool is_write = false;
    std::optional<UpdateKind> atomic;
    LinearIndex index;
    std::set<std::string> stale;  ///< common variables that have another value by now

    /// True if what waits for this one has waited for the other one, too.
    bool covers(const SharedAccess &other) const;
};

/// False only if no two threads ever touch the same element, the first by a and the second by b.
/// `threads` are the variables that tell threads apart, with the number of threads (0: not known).
bool may_conflict(const SharedAccess &a, const SharedAccess &b,
                  const std::map<std::string, int64_t> &threads);

}  // namespace calotype::internal
