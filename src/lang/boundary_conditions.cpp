// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each condition maps the coordinate in one dimension to one inside of the bounds. Inside, the
// steady state of the loops is marked likely, so that it can be compiled without the mapping.
#include "lang/boundary_conditions.h"

#include <functional>

#include "support/error.h"

namespace calotype::BoundaryConditions {

namespace {

// The coordinate to read, of a point at x where the bounds are from min to min + extent - 1.
using Mapping = std::function<Expr(const Expr &x, const Expr &min, const Expr &extent)>;

}  // namespace

Region internal::region_of(const std::vector<Expr> &mins_and_extents) {
    user_assert(mins_and_extents.size() % 2 == 0)
        << "bounds are a minimum and an extent for each dimension, but " << mins_and_extents.size()
        << " values are given";
    Region region;
    for (size_t i = 0; i < mins_and_extents.size(); i += 2) {
        Range r;
        r.min = mins_and_extents[i];
        r.extent = mins_and_extents[i + 1];
        region.push_back(r);
    }
    return region;
}

namespace {

std::vector<Var> args_of(const char *what, const Func &source, const Region &bounds) {
    user_assert(source.defined()) << what << " of func " << source.name()
                                  << ", which is not defined yet";
    const std::vector<Var> args = source.args();
    user_assert(bounds.size() <= args.size())
        << what << " of func " << source.name() << ": " << bounds.size() << " bounds for "
        << args.size() << " dimensions";
    return args;
}

// Narrower bounds as coordinates are, whose sums do not wrap where theirs do.
Region as_coordinates(Region bounds) {
    for (Range &r : bounds) {
        for (Expr *side : {&r.min, &r.extent}) {
            if (side->defined() && Int(32).can_represent(side->type())) {
                *side = cast<int32_t>(*side);
            }
        }
    }
    return bounds;
}

Func map_coordinates(const char *what, const Func &source, const Region &given,
                     const Mapping &mapping) {
    const Region bounds = as_coordinates(given);
    const std::vector<Var> args = args_of(what, source, bounds);
    std::vector<Expr> actual;
    for (size_t i = 0; i < args.size(); i++) {
        const bool bounded =
            i < bounds.size() && bounds[i].min.defined() && bounds[i].extent.defined();
        actual.push_back(bounded ? mapping(args[i], bounds[i].min, bounds[i].extent)
                                 : Expr(args[i]));
    }
    Func result(what);
    result(args) = source(actual);
    return result;
}

/// Both ways stay within: bounds do not follow the condition through whatever x is. They are bounded
/// in another order each, so that no bound becomes one of the whole, which would stay where x is
/// known to be inside.
Expr inside_or(const Expr &x, const Expr &min, const Expr &extent, const Expr &mapped) {
    const Expr last = min + extent - 1;
    return select(x >= min && x <= last, clamp(likely(x), min, last),
                  calotype::min(calotype::max(mapped, min), last));
}

}  // namespace

Func repeat_edge(const Func &source, const Region &bounds) {
    return map_coordinates("repeat_edge", source, bounds,
                           [](const Expr &x, const Expr &min, const Expr &extent) {
                               return clamp(likely(x), min, min + extent - 1);
                           });
}

Func constant_exterior(const Func &source, const Tuple &value, const Region &given) {
    const Region bounds = as_coordinates(given);
    const std::vector<Var> args = args_of("constant_exterior", source, bounds);
    user_assert(int(value.size()) == source.outputs())
        << "constant_exterior of func " << source.name() << ": " << value.size()
        << " values for a func of " << source.outputs();
    // Reading happens inside of the bounds whatever the condition says.
    Expr outside;
    for (size_t i = 0; i < bounds.size(); i++) {
        if (bounds[i].min.defined() && bounds[i].extent.defined()) {
            const Expr x = args[i];
            const Expr here = x < bounds[i].min || x >= bounds[i].min + bounds[i].extent;
            outside = outside.defined() ? outside || here : here;
        }
    }
    Func result("constant_exterior");
    if (!outside.defined()) {
        result(args) = source(args);
        return result;
    }
    const Tuple inside(repeat_edge(source, bounds)(args));
    std::vector<Expr> values;
    for (size_t i = 0; i < value.size(); i++) {
        values.push_back(select(outside, cast(inside[i].type(), value[i]), likely(inside[i])));
    }
    result(args) = Tuple(values);
    return result;
}

Func constant_exterior(const Func &source, const Expr &value, const Region &bounds) {
    return constant_exterior(source, Tuple(value), bounds);
}

Func repeat_image(const Func &source, const Region &bounds) {
    return map_coordinates("repeat_image", source, bounds,
                           [](const Expr &x, const Expr &min, const Expr &extent) {
                               const Expr wrapped = (x - min) % extent + min;
                               return inside_or(x, min, extent, wrapped);
                           });
}

Func mirror_image(const Func &source, const Region &bounds) {
    return map_coordinates(
        "mirror_image", source, bounds, [](const Expr &x, const Expr &min, const Expr &extent) {
            // 0 .. extent - 1, then back: extent - 1 .. 0.
            const Expr phase = (x - min) % (2 * extent);
            const Expr mirrored = select(phase >= extent, 2 * extent - 1 - phase, phase) + min;
            return inside_or(x, min, extent, mirrored);
        });
}

Func mirror_interior(const Func &source, const Region &bounds) {
    return map_coordinates("mirror_interior", source, bounds,
                           [](const Expr &x, const Expr &min, const Expr &extent) {
                               // 0 .. limit, then back without repeating the ends.
                               const Expr limit = extent - 1;
                               const Expr phase = (x - min) % max(1, 2 * limit);
                               const Expr mirrored = limit - cast<int>(absd(phase, limit)) + min;
                               return inside_or(x, min, extent, mirrored);
                           });
}

}  // namespace calotype::BoundaryConditions
