// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/estimates.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

std::optional<double> number(const Expr &e) {
    if (!e.defined()) {
        return std::nullopt;
    }
    return as_const_int(simplify(e));
}

/// The first of them that there is.
std::optional<double> first_of(std::optional<double> a, std::optional<double> b) {
    return a ? a : b;
}

}  // namespace

Estimates::Estimates(UsedParameters used) : used_(std::move(used)) {
    for (const auto &[name, parameter] : used_.parameters) {
        if (parameter.is_buffer()) {
            add_shape(parameter);
        } else if (const auto value = scalar(parameter)) {
            values_[name] = *value;
        }
    }
    for (const auto &entry : used_.images) {
        add_shape(entry.second);
    }
}

std::optional<double> Estimates::scalar(const Parameter &parameter) const {
    std::vector<Expr> candidates = {parameter.estimate(), parameter.default_value()};
    if (parameter.has_scalar_value()) {
        candidates.push_back(parameter.scalar_expr());
    }
    for (const Expr &e : candidates) {
        if (const auto formula =
                Formula::make(e, {}, [](const std::string &) { return std::optional<double>(); })) {
            return (*formula)({});
        }
    }
    return std::nullopt;
}

void Estimates::add_shape(const Parameter &p) {
    const BufferStoragePtr buffer = p.buffer();
    for (int d = 0; d < p.dimensions(); d++) {
        auto min = first_of(number(p.min_constraint_estimate(d)), number(p.min_constraint(d)));
        auto extent =
            first_of(number(p.extent_constraint_estimate(d)), number(p.extent_constraint(d)));
        if (buffer.defined()) {
            min = first_of(min, buffer->raw()->dim[d].min);
            extent = first_of(extent, buffer->raw()->dim[d].extent);
        }
        if (extent) {
            values_[names::buffer_extent(p.name(), d)] = *extent;
            // One that begins elsewhere is rare, and the schedule is the same for it.
            values_[names::buffer_min(p.name(), d)] = min.value_or(0);
        }
        if (const auto stride = number(p.stride_constraint(d))) {
            values_[names::buffer_stride(p.name(), d)] = *stride;
        }
    }
}

void Estimates::add_shape(const Image &image) {
    const calotype_buffer_t *raw = image->buffer->raw();
    for (int d = 0; d < raw->dimensions; d++) {
        values_[names::buffer_min(image->name, d)] = raw->dim[d].min;
        values_[names::buffer_extent(image->name, d)] = raw->dim[d].extent;
        values_[names::buffer_stride(image->name, d)] = raw->dim[d].stride;
    }
}

std::optional<double> Estimates::find(const std::string &variable) const {
    const auto value = values_.find(variable);
    return value == values_.end() ? std::nullopt : std::optional<double>(value->second);
}

KnownValue Estimates::known() const {
    return [this](const std::string &name) {
        return find(name);
    };
}

double Estimates::require(const Expr &e, const std::string &what) const {
    std::string unknown;
    const auto formula = Formula::make(simplify(e), {}, known(), &unknown);
    if (formula) {
        return (*formula)({});
    }
    if (used_.parameters.count(unknown)) {
        user_error << "parameter '" << unknown << "' has no estimate, and " << what
                   << " depends on it";
    }
    for (const auto &[name, parameter] : used_.parameters) {
        for (int d = 0; parameter.is_buffer() && d < parameter.dimensions(); d++) {
            user_assert(unknown != names::buffer_extent(name, d) &&
                        unknown != names::buffer_min(name, d))
                << "dimension " << d << " of input '" << name << "' has no estimate, and " << what
                << " depends on it";
        }
    }
    user_error << what << " cannot be estimated: it depends on what the pipeline computes";
}

std::optional<ConcreteRegion> Estimates::region_of_input(const std::string &name) const {
    ConcreteRegion region;
    const auto parameter = used_.parameters.find(name);
    const auto image = used_.images.find(name);
    const int dimensions = parameter != used_.parameters.end() ? parameter->second.dimensions()
                           : image != used_.images.end() ? image->second->buffer->raw()->dimensions
                                                         : 0;
    for (int d = 0; d < dimensions; d++) {
        const auto min = find(names::buffer_min(name, d));
        const auto extent = find(names::buffer_extent(name, d));
        if (!min || !extent) {
            return std::nullopt;
        }
        region.push_back({*min, *min + *extent - 1});
    }
    return region;
}

double Estimates::bytes_of_input(const std::string &name) const {
    const auto parameter = used_.parameters.find(name);
    const auto image = used_.images.find(name);
    return parameter != used_.parameters.end() ? parameter->second.type().bytes()
           : image != used_.images.end()       ? (image->second->buffer->raw()->type.bits + 7) / 8
                                               : 4;
}

std::optional<ConcreteRange> Estimates::dimension_of_output(const Function &f, int d) const {
    const std::string &var = f.args()[size_t(d)];
    std::optional<double> min, extent;
    for (const auto *list : {&f.schedule().estimates, &f.schedule().bounds}) {
        for (const Bound &b : *list) {
            if (b.var == var) {
                min = first_of(min, number(b.min));
                extent = first_of(extent, number(b.extent));
            }
        }
    }
    if (!f->output_buffers.empty()) {
        const Parameter &p = f->output_buffers[0];
        min = first_of(min, number(p.min_constraint_estimate(d)));
        extent = first_of(extent, number(p.extent_constraint_estimate(d)));
        min = first_of(min, number(p.min_constraint(d)));
        extent = first_of(extent, number(p.extent_constraint(d)));
    }
    if (!extent) {
        return std::nullopt;
    }
    const double first = min.value_or(0);
    return ConcreteRange{first, first + *extent - 1};
}

ConcreteRegion Estimates::region_of_output(const Function &f) const {
    ConcreteRegion region;
    for (int d = 0; d < f.dimensions(); d++) {
        const auto range = dimension_of_output(f, d);
        user_assert(range) << "dimension " << d << " (" << f.args()[size_t(d)] << ") of output "
                           << f.name()
                           << " has no estimate, which an autoscheduler needs: see set_estimate";
        user_assert(range->extent() >= 1)
            << "dimension " << d << " (" << f.args()[size_t(d)] << ") of output " << f.name()
            << " has an estimate of " << range->extent() << " elements, must be at least 1";
        region.push_back(*range);
    }
    return region;
}

}  // namespace calotype::internal
