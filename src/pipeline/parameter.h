// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameter: a scalar or buffer argument of a pipeline; Image: a constant buffer embedded in one.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ir/argument.h"
#include "ir/conventions/names.h"
#include "ir/enums.h"
#include "ir/expr.h"
#include "ir/symbol.h"
#include "pipeline/edits.h"
#include "runtime/abi/buffer.h"

namespace calotype {

namespace internal {

/// Owns the memory behind a calotype_buffer_t by type erasure, so that pipeline/ need not know
/// which Buffer class made it.
class BufferStorage : public RefCounted {
public:
    virtual calotype_buffer_t *raw() = 0;
};
using BufferStoragePtr = IntrusivePtr<BufferStorage>;

/// The Symbol of a constant image.
struct ImageContents : Symbol {
    ImageContents(std::string name, BufferStoragePtr buffer)
        : Symbol(SymbolKind::Image, std::move(name)), buffer(std::move(buffer)) {
    }
    BufferStoragePtr buffer;
};
using Image = IntrusivePtr<ImageContents>;

/// Bits of a scalar value of any type up to 64 bits.
union ScalarValue {
    bool b;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    void *handle;
};

}  // namespace internal

/// What is required (or estimated) of one dimension of a buffer parameter; undefined Exprs require
/// nothing.
struct BufferConstraint {
    Expr min, extent, stride;
    Expr min_estimate, extent_estimate;
};

namespace internal {

class ParameterContents : public Symbol {
public:
    ParameterContents(std::string name, Type type, bool is_buffer, int dimensions);
    Type type;
    bool is_buffer;
    int dimensions;
    bool name_is_explicit = false;  ///< given by the user: must be unique in a pipeline
    // scalars
    std::optional<uint64_t> value;  ///< bits of the current value, for JIT calls
    Expr min_value, max_value, estimate, default_value;
    // buffers
    BufferStoragePtr buffer;  ///< bound for JIT calls
    std::mutex buffer_mutex;  ///< held for the length of a copy of `buffer`
    /// The buffer is part of the pipeline, and no argument unless it is listed as one: a constant
    /// that was given to the input of a generator.
    bool is_constant = false;
    int host_alignment;  ///< bytes
    std::vector<BufferConstraint> constraints;
    MemoryType memory_type = MemoryType::Auto;
    bool trace_loads = false;
    std::vector<std::string> trace_tags;
};

}  // namespace internal

/// A handle to a parameter's data, undefined by default.
class Parameter {
public:
    Parameter() = default;
    /// A parameter with a name of its own making.
    Parameter(const Type &t, bool is_buffer, int dimensions);
    Parameter(const Type &t, bool is_buffer, int dimensions, const std::string &name);
    /// Precondition: the symbol is a Parameter.
    explicit Parameter(const internal::SymbolPtr &symbol);

    bool defined() const {
        return contents_.defined();
    }
    bool same_as(const Parameter &other) const {
        return contents_ == other.contents_;
    }
    bool operator<(const Parameter &other) const {
        return contents_ < other.contents_;
    }
    const internal::ParameterContents *operator->() const {
        return contents_.get();
    }
    /// To change what code depends on, at once: see Function::edit().
    internal::ParameterContents *edit() const {
        internal::count_edit();
        return contents_.get();
    }
    const internal::IntrusivePtr<internal::ParameterContents> &contents() const {
        return contents_;
    }
    /// For nodes of the IR that name it.
    operator internal::SymbolPtr() const {
        return contents_;
    }
    const std::string &name() const {
        return contents_->name;
    }
    Type type() const {
        return contents_->type;
    }
    int dimensions() const {
        return contents_->dimensions;
    }
    bool is_buffer() const {
        return contents_->is_buffer;
    }

    /// The Variable that stands for a scalar parameter.
    Expr as_expr() const;
    /// Variables `name.min.d`, `name.extent.d`, `name.stride.d` of a buffer parameter's actual
    /// shape.
    Expr min_expr(int d) const;
    Expr extent_expr(int d) const;
    Expr stride_expr(int d) const;

    void set_min_constraint(int dim, const Expr &e);
    void set_extent_constraint(int dim, const Expr &e);
    void set_stride_constraint(int dim, const Expr &e);
    void set_min_constraint_estimate(int dim, const Expr &e);
    void set_extent_constraint_estimate(int dim, const Expr &e);
    void set_host_alignment(int bytes);
    Expr min_constraint(int dim) const;
    Expr extent_constraint(int dim) const;
    Expr stride_constraint(int dim) const;
    Expr min_constraint_estimate(int dim) const;
    Expr extent_constraint_estimate(int dim) const;
    int host_alignment() const {
        return contents_->host_alignment;
    }
    const std::vector<BufferConstraint> &buffer_constraints() const {
        return contents_->constraints;
    }
    /// The buffer for runs in this process, if there is one. It may be set while other threads run
    /// pipelines, which keep the one that they have begun with.
    internal::BufferStoragePtr buffer() const;
    void set_buffer(internal::BufferStoragePtr buffer) const;
    /// The bits of a scalar, likewise.
    void set_value_bits(uint64_t bits) const {
        contents_->value = bits;
    }
    void store_in(MemoryType type) {
        edit()->memory_type = type;
    }
    MemoryType memory_type() const {
        return contents_->memory_type;
    }
    void trace_loads() {
        edit()->trace_loads = true;
    }
    bool is_tracing_loads() const {
        return contents_->trace_loads;
    }
    void add_trace_tag(const std::string &tag) {
        edit()->trace_tags.push_back(tag);
    }
    const std::vector<std::string> &get_trace_tags() const {
        return contents_->trace_tags;
    }

    void set_min_value(const Expr &e);
    void set_max_value(const Expr &e);
    void set_estimate(Expr e);
    void set_default_value(const Expr &e);
    Expr min_value() const {
        return contents_->min_value;
    }
    Expr max_value() const {
        return contents_->max_value;
    }
    Expr estimate() const {
        return contents_->estimate;
    }
    Expr default_value() const {
        return contents_->default_value;
    }
    /// Whether a scalar has a value for runs in this process, and that value as a constant
    /// (undefined if it has none).
    bool has_scalar_value() const {
        return contents_->value.has_value();
    }
    Expr scalar_expr() const;
    /// All that was said about a scalar or a buffer, for its Argument.
    ArgumentEstimates get_argument_estimates() const;

private:
    internal::IntrusivePtr<internal::ParameterContents> contents_;
    const BufferConstraint &constraint(int dim) const;
    BufferConstraint &edit_constraint(int dim) const;
};

}  // namespace calotype
