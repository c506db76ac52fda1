// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/parameter.h"

#include <cstring>
#include <utility>

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/expr_nodes.h"
#include "ir/printer.h"
#include "ir/walk/own_symbol.h"
#include "pipeline/check_parameters.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

ParameterContents::ParameterContents(std::string name, Type type, bool is_buffer, int dimensions)
    : Symbol(SymbolKind::Parameter, std::move(name)), type(type), is_buffer(is_buffer),
      dimensions(dimensions), host_alignment(type.bytes()),
      constraints(dimensions > 0 ? size_t(dimensions) : 0) {
    // The innermost dimension is dense unless the user says otherwise.
    if (is_buffer && dimensions > 0) {
        constraints[0].stride = Expr(1);
    }
}

Parameter::Parameter(const Type &t, bool is_buffer, int dimensions)
    : contents_(new ParameterContents(internal::unique_name('p'), t, is_buffer, dimensions)) {
}

Parameter::Parameter(const Type &t, bool is_buffer, int dimensions, const std::string &name)
    : contents_(new ParameterContents(name, t, is_buffer, dimensions)) {
    contents_->name_is_explicit = true;
    internal_assert(is_buffer || dimensions == 0)
        << "scalar parameter " << name << " with " << dimensions << " dimensions";
}

Parameter::Parameter(const SymbolPtr &symbol) {
    internal_assert(symbol.defined() && symbol->kind == SymbolKind::Parameter) << "not a parameter";
    contents_ = IntrusivePtr<ParameterContents>(static_cast<ParameterContents *>(symbol.get()));
}

internal::BufferStoragePtr Parameter::buffer() const {
    const std::lock_guard lock(contents_->buffer_mutex);
    return contents_->buffer;
}

// The one before goes after the lock: what it frees may be another's, and take locks.
void Parameter::set_buffer(internal::BufferStoragePtr buffer) const {
    const std::lock_guard lock(contents_->buffer_mutex);
    std::swap(contents_->buffer, buffer);
}

Expr Parameter::as_expr() const {
    internal_assert(!is_buffer()) << name() << " is a buffer";
    return Variable::make(type(), name(), contents_);
}

Expr Parameter::min_expr(int d) const {
    return Variable::make(Int(32), names::buffer_min(name(), d), contents_);
}

Expr Parameter::extent_expr(int d) const {
    return Variable::make(Int(32), names::buffer_extent(name(), d), contents_);
}

Expr Parameter::stride_expr(int d) const {
    return Variable::make(Int(32), names::buffer_stride(name(), d), contents_);
}

namespace {

/// Its variables, which expressions in its contents name without their symbol.
Expr with_self(const Parameter &p, const Expr &e) {
    return with_own_symbol(e, p.contents(), [&](const std::string &name, const SymbolPtr &symbol) {
        bool is_own = !symbol.defined() && name == p.name();
        for (int d = 0; d < p.dimensions() && !is_own && !symbol.defined(); d++) {
            is_own = name == names::buffer_min(p.name(), d) ||
                     name == names::buffer_extent(p.name(), d) ||
                     name == names::buffer_stride(p.name(), d);
        }
        return is_own;
    });
}

Expr without_self(const Parameter &p, const Expr &e) {
    return internal::without_symbol(e, p.contents());
}

}  // namespace

const BufferConstraint &Parameter::constraint(int dim) const {
    user_assert(is_buffer()) << "parameter " << name() << " is a scalar, it has no dimensions";
    user_assert(dim >= 0 && dim < int(contents_->constraints.size()))
        << "parameter " << name() << " has no dimension " << dim << ", it has "
        << contents_->constraints.size();
    return contents_->constraints[size_t(dim)];
}

BufferConstraint &Parameter::edit_constraint(int dim) const {
    constraint(dim);
    return edit()->constraints[size_t(dim)];
}

void Parameter::set_min_constraint(int dim, const Expr &e) {
    edit_constraint(dim).min = without_self(*this, e);
}

void Parameter::set_extent_constraint(int dim, const Expr &e) {
    edit_constraint(dim).extent = without_self(*this, e);
}

void Parameter::set_stride_constraint(int dim, const Expr &e) {
    edit_constraint(dim).stride = without_self(*this, e);
}

void Parameter::set_min_constraint_estimate(int dim, const Expr &e) {
    edit_constraint(dim).min_estimate = without_self(*this, e);
}

void Parameter::set_extent_constraint_estimate(int dim, const Expr &e) {
    edit_constraint(dim).extent_estimate = without_self(*this, e);
}

void Parameter::set_host_alignment(int bytes) {
    user_assert(is_buffer()) << "parameter " << name() << " is a scalar, it has no host alignment";
    user_assert(bytes > 0 && (bytes & (bytes - 1)) == 0)
        << "host alignment of " << name() << " is " << bytes << ", must be a power of two";
    edit()->host_alignment = bytes;
}

Expr Parameter::min_constraint(int dim) const {
    return with_self(*this, constraint(dim).min);
}

Expr Parameter::extent_constraint(int dim) const {
    return with_self(*this, constraint(dim).extent);
}

Expr Parameter::stride_constraint(int dim) const {
    return with_self(*this, constraint(dim).stride);
}

Expr Parameter::min_constraint_estimate(int dim) const {
    return with_self(*this, constraint(dim).min_estimate);
}

Expr Parameter::extent_constraint_estimate(int dim) const {
    return with_self(*this, constraint(dim).extent_estimate);
}

namespace {

void check_scalar_property(const Parameter &p, const Expr &e, const std::string &what) {
    user_assert(!p.is_buffer()) << "parameter " << p.name() << " is a buffer, it has no " << what;
    user_assert(!e.defined() || e.type() == p.type())
        << what << " of parameter " << p.name() << " has type " << e.type() << ", must be "
        << p.type();
}

void check_limit(const Parameter &p, const Expr &e, const std::string &what) {
    check_scalar_property(p, e, what);
    if (e.defined()) {
        check_is_of_parameters(e, what + " of parameter " + p.name(), Reads::Nothing);
    }
}

}  // namespace

void Parameter::set_min_value(const Expr &e) {
    check_limit(*this, e, "minimum value");
    edit()->min_value = without_self(*this, e);
}

void Parameter::set_max_value(const Expr &e) {
    check_limit(*this, e, "maximum value");
    edit()->max_value = without_self(*this, e);
}

void Parameter::set_estimate(Expr e) {
    check_scalar_property(*this, e, "estimate");
    edit()->estimate = without_self(*this, e);
}

void Parameter::set_default_value(const Expr &e) {
    check_scalar_property(*this, e, "default value");
    user_assert(!e.defined() || is_const(e) || e.kind() == NodeKind::StringImm)
        << "default value of parameter " << name() << " is " << e << ", must be a constant";
    edit()->default_value = e;
}

namespace {

template<typename T>
T as_value(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

double float_value(const Type &t, uint64_t bits) {
    switch (t.bits()) {
    case 64:
        return as_value<double>(bits);
    case 32:
        return double(as_value<float>(bits));
    default:
        return t.is_bfloat() ? double(bfloat16_t::make_from_bits(uint16_t(bits)))
                             : double(float16_t::make_from_bits(uint16_t(bits)));
    }
}

}  // namespace

Expr Parameter::scalar_expr() const {
    if (!has_scalar_value()) {
        return Expr();
    }
    const Type t = type();
    const uint64_t bits = *contents_->value;
    if (t.is_float()) {
        return make_const(t, float_value(t, bits));
    }
    if (t.is_handle()) {
        return Reinterpret::make(t, make_const(UInt(64), bits));
    }
    return make_const(t, bits);
}

ArgumentEstimates Parameter::get_argument_estimates() const {
    ArgumentEstimates result;
    if (!is_buffer()) {
        result.scalar_def = default_value().defined() ? default_value() : scalar_expr();
        result.scalar_min = min_value();
        result.scalar_max = max_value();
        result.scalar_estimate = estimate();
        return result;
    }
    for (int d = 0; d < dimensions(); d++) {
        result.buffer_estimates.emplace_back(min_constraint_estimate(d),
                                             extent_constraint_estimate(d));
    }
    return result;
}

}  // namespace calotype
