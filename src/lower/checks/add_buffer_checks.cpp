// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the outside in: the handle is not null; shape and type are read; type and number of
// dimensions are right; then either the bounds query is answered, or the shape is checked, and
// inside of that whatever a constraint says of the shape replaces what was read, so that the
// compiler can use it (a stride of 1 makes loads dense).
#include "lower/checks/add_buffer_checks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "arith/bounds.h"
#include "arith/box.h"
#include "arith/constant_interval.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "lower/nest/resolve_language.h"
#include "pipeline/infer_arguments.h"

namespace calotype::internal {

namespace {

struct ArgumentBuffer {
    std::string name;
    std::string role;  ///< "input buffer in", for messages
    Type type;
    int dimensions = 0;
    Parameter parameter;  ///< undefined for constant images
    bool is_output = false;
    Box touched;
    const calotype_buffer_t *constant = nullptr;  ///< the image, if it is one
    bool is_passed = false;  ///< of an image: an argument of the code, which does not embed it
    std::string shaped_as;   ///< of later values of an output: the buffer of the first
    std::vector<Bound> aligned = {};  ///< of an output, for each dimension: what is computed in it

    Expr handle() const {
        return Variable::make(type_of<calotype_buffer_t *>(), names::buffer(name));
    }
    Expr get(Intrinsic field) const {
        return Call::make(Int(32), field, {handle()});
    }
    Expr min(int d) const {
        return names::var(names::buffer_min(name, d));
    }
    Expr extent(int d) const {
        return names::var(names::buffer_extent(name, d));
    }
    Expr stride(int d) const {
        return names::var(names::buffer_stride(name, d));
    }
    Expr required_min(int d) const {
        return names::var(names::required_min(name, d));
    }
    Expr required_max(int d) const {
        return names::var(names::required_max(name, d));
    }
    bool is_argument() const {
        return parameter.defined();
    }
    Expr used() const {
        return touched.maybe_unused() ? touched.used : const_true();
    }
};

/// What a Func is computed in multiples of, for each dimension, unless other bounds are given.
std::vector<Bound> aligned_bounds(const Function &f) {
    std::vector<Bound> result;
    for (const std::string &arg : f.args()) {
        Bound aligned;
        bool is_bounded = f.has_extern_definition();
        for (const Bound &b : f.schedule().bounds) {
            aligned = b.var == arg && b.modulus.defined() ? b : aligned;
            is_bounded = is_bounded || (b.var == arg && (b.min.defined() || b.extent.defined()));
        }
        result.push_back(is_bounded ? Bound() : aligned);
    }
    return result;
}

/// An expression in which what the pipeline is given in buffers may be anything of its type.
class AnythingRead : public GraphMutator {
public:
    Scope<Interval> values;  ///< of the variables that stand for what is read

private:
    using GraphMutator::visit;

    Expr visit(const Call *op) override {
        const bool is_known = op->symbol.defined() && op->symbol->kind == SymbolKind::Image;
        const bool reads = op->call_type == CallKind::Image || op->call_type == CallKind::Func;
        if (!reads || is_known) {
            return GraphMutator::visit(op);
        }
        const std::string name = names::part(op->name, "read", count_++);
        values.push(name, bounds_of_type(op->type));
        return Variable::make(op->type, name);
    }

    size_t count_ = 0;
};

/// What is needed whatever the inputs hold: a bounds query, and the checks of shapes, come before they can be read.
Interval before_reads(const Interval &range) {
    const auto bounds = [](const Expr &end) {
        AnythingRead reads;
        const Expr anything = end.defined() ? reads.mutate(end) : end;
        return anything.same_as(end) ? Interval(end, end) : bounds_of_expr(anything, reads.values);
    };
    return {bounds(range.min).min, bounds(range.max).max};
}

std::vector<ArgumentBuffer> argument_buffers(const Stmt &s, const LowerContext &ctx) {
    std::vector<ArgumentBuffer> result;
    std::set<std::string> names;
    for (const auto &entry : ctx.used.images) {
        names.insert(entry.first);
    }
    for (const auto &entry : ctx.used.parameters) {
        names.insert(entry.second.name());
    }
    for (const Function &f : ctx.outputs) {
        names.insert(f.name());
    }
    std::map<std::string, Box> boxes = boxes_touched(s, names, Scope<Interval>(), ctx.func_bounds);
    for (auto &[name, box] : boxes) {
        std::transform(box.bounds.begin(), box.bounds.end(), box.bounds.begin(), before_reads);
    }
    for (const auto &entry : ctx.used.images) {
        const calotype_buffer_t *raw = entry.second->buffer->raw();
        result.push_back({entry.first, "constant image " + entry.first, Type(raw->type),
                          raw->dimensions, Parameter(), false, boxes[entry.first], raw,
                          is_argument(ctx.args, entry.first)});
    }
    for (const auto &entry : ctx.used.parameters) {
        const Parameter &p = entry.second;
        if (p.is_buffer()) {
            result.push_back({p.name(), "input buffer " + p.name(), p.type(), p.dimensions(), p,
                              false, boxes[p.name()]});
        }
    }
    for (const Function &f : ctx.outputs) {
        for (int i = 0; i < f.outputs(); i++) {
            result.push_back({f.buffer_name(i), "output buffer " + f.buffer_name(i),
                              f.output_types()[i], f.dimensions(), f->output_buffers.at(i), true,
                              boxes[f.name()], nullptr, false, i > 0 ? f.buffer_name(0) : "",
                              aligned_bounds(f)});
        }
    }
    for (const ArgumentBuffer &b : result) {
        check_element_size(b.role, b.type);
    }
    return result;
}

uint32_t type_word(Type t) {
    return uint32_t(t.code()) | uint32_t(t.bits()) << 8 | uint32_t(t.lanes()) << 16;
}

/// Lets and checks outside of everything else. Where extern stages are asked there what they need,
/// the regions of buffers are known inside of that alone.
struct Peeled {
    std::vector<Stmt> outside;  ///< LetStmts and AssertStmts, outermost first
    Stmt body;
};

Peeled peel(const Stmt &s, bool asks) {
    Peeled result;
    for (result.body = s; asks;) {
        const LetStmt *let = result.body.as<LetStmt>();
        const Block *block = result.body.as<Block>();
        if (!let && !(block && block->first.as<AssertStmt>())) {
            break;
        }
        result.outside.push_back(let ? result.body : block->first);
        result.body = let ? let->body : block->rest;
    }
    return result;
}

class BufferChecks {
public:
    BufferChecks(const Peeled &code, LowerContext &ctx)
        : ctx_(ctx), code_(code), buffers_(argument_buffers(code.body, ctx)),
          asserts_(!ctx.target.has_feature(Target::NoAsserts)), has_elements_(any_elements()),
          checked_elements_(checked_elements()) {
    }

    Stmt wrap() {
        Stmt s =
            is_const_one(has_elements_) ? code_.body : IfThenElse::make(has_elements_, code_.body);
        // Where nothing asks for what is given, all is as the constraints say.
        const bool assumed = !asserts_ && ctx_.target.has_feature(Target::NoBoundsQuery);
        s = assumed ? s : constrain(s);
        for (const ArgumentBuffer &b : buffers_) {
            if (b.is_output && !ctx_.target.has_gpu_feature()) {
                s = Block::make(s,
                                Evaluate::make(Call::make(Int(32), Intrinsic::buffer_set_host_dirty,
                                                          {b.handle(), const_true()})));
            }
        }
        s = checked(&BufferChecks::shape_checks, s);
        if (asserts_ && !checked_elements_.same_as(has_elements_)) {
            s = LetStmt::make(checked_elements_.as<Variable>()->name, has_elements_, s);
        }
        if (!ctx_.target.has_feature(Target::NoBoundsQuery)) {
            s = with_bounds_query(s);
        }
        for (size_t i = buffers_.size(); i-- > 0;) {
            s = define_required(buffers_[i], s);
        }
        for (size_t i = code_.outside.size(); i-- > 0;) {
            const LetStmt *let = code_.outside[i].as<LetStmt>();
            s = let ? LetStmt::make(let->name, let->value, s) : Block::make(code_.outside[i], s);
        }
        s = assumed ? constrain(s) : s;
        s = checked(&BufferChecks::type_checks, s);
        // Inside of the constraints the names of fields stand for what they say there.
        const std::map<std::string, Expr> as_given = constrained_fields();
        s = substitute(as_given, s);
        for (const ArgumentBuffer &b : buffers_) {
            s = read_shape(b, as_given, s);
        }
        return checked(&BufferChecks::null_checks, s);
    }

private:
    using Checks = std::vector<Stmt>;

    /// Whether there is anything to compute: one of the outputs is not empty.
    Expr any_elements() const {
        Expr any = const_false();
        for (const ArgumentBuffer &b : buffers_) {
            Expr all = const_true();
            for (int d = 0; d < b.dimensions; d++) {
                all = all && b.extent(d) > 0;
            }
            any = b.is_output && b.shaped_as.empty() ? any || all : any;
        }
        return simplify(any);
    }

    /// The same in the checks: of many outputs it is long, and each of them asks for it.
    Expr checked_elements() const {
        return has_elements_.as<Or>()
                   ? Variable::make(Bool(), names::part(ctx_.outputs[0].name(), "has_elements"))
                   : has_elements_;
    }

    Stmt checked(Checks (BufferChecks::*make)(const ArgumentBuffer &), const Stmt &s) {
        Checks all;
        for (const ArgumentBuffer &b : buffers_) {
            if (asserts_ && b.is_argument()) {
                Checks some = (this->*make)(b);
                all.insert(all.end(), some.begin(), some.end());
            } else if (asserts_ && make == &BufferChecks::shape_checks) {
                Checks some = image_shape_checks(b);
                const Checks regions = region_checks(b);
                some.insert(some.end(), regions.begin(), regions.end());
                add_host_is_newest(b, &some);
                all.insert(all.end(), some.begin(), some.end());
            }
        }
        all.push_back(s);
        return Block::make(all);
    }

    Checks null_checks(const ArgumentBuffer &b) {
        return {check(reinterpret<uint64_t>(b.handle()) != make_zero(UInt(64)),
                      "buffer_argument_is_null", {b.name})};
    }

    /// The shape of a constant image is constant. One that is embedded has no gaps.
    static calotype_dimension_t constant_dimension(const ArgumentBuffer &b, int d) {
        calotype_dimension_t result = b.constant->dim[d];
        if (!b.is_passed) {
            result.stride = 1;
            for (int i = 0; i < d; i++) {
                result.stride *= b.constant->dim[i].extent;
            }
        }
        return result;
    }

    /// Calls f with the name of each field of the shape, how it is read, and the member that it is.
    template<typename F>
    static void for_each_field(const ArgumentBuffer &b, F &&f) {
        for (int d = 0; d < b.dimensions; d++) {
            auto read = [&](Intrinsic id) {
                return Call::make(Int(32), id, {b.handle(), d});
            };
            f(d, names::buffer_stride(b.name, d), read(Intrinsic::buffer_get_stride),
              &calotype_dimension_t::stride);
            f(d, names::buffer_extent(b.name, d), read(Intrinsic::buffer_get_extent),
              &calotype_dimension_t::extent);
            f(d, names::buffer_min(b.name, d), read(Intrinsic::buffer_get_min),
              &calotype_dimension_t::min);
        }
    }

    /// The fields that a constraint says something of, and what is given for them.
    std::map<std::string, Expr> constrained_fields() {
        std::map<std::string, Expr> result;
        for (const ArgumentBuffer &b : buffers_) {
            // Where elements are read outside as well, the names stand for what is given there.
            const bool read_outside =
                std::any_of(code_.outside.begin(), code_.outside.end(),
                            [&](const Stmt &s) { return uses_buffer(s, b.name); });
            for_each_known_field(b, [&](const std::string &field, const Expr &) {
                if (!read_outside) {
                    result[field] = names::var(names::given(field));
                }
            });
        }
        return result;
    }

    Stmt read_shape(const ArgumentBuffer &b, const std::map<std::string, Expr> &as_given, Stmt s) {
        for_each_field(b, [&](int d, const std::string &name, const Expr &read, auto member) {
            const Expr value = b.constant ? Expr(constant_dimension(b, d).*member) : read;
            const auto given = as_given.find(name);
            s = LetStmt::make(given == as_given.end() ? name : given->second.as<Variable>()->name,
                              value, s);
        });
        return LetStmt::make(b.name, Call::make(Handle(), Intrinsic::buffer_get_host, {b.handle()}),
                             s);
    }

    /// An image that is passed still has the shape that the code was compiled for.
    Checks image_shape_checks(const ArgumentBuffer &b) {
        Checks checks;
        if (b.is_passed) {
            for_each_field(b, [&](int d, const std::string &name, const Expr &read, auto member) {
                const Expr wanted = constant_dimension(b, d).*member;
                checks.push_back(check(read == wanted, "constraint_violated",
                                       {name, read, to_text(wanted), wanted}));
            });
        }
        return checks;
    }

    Checks type_checks(const ArgumentBuffer &b) {
        auto part = [&](Intrinsic field, int shift) {
            return cast<uint32_t>(b.get(field)) << make_const(UInt(32), shift);
        };
        Expr given = part(Intrinsic::buffer_get_type_code, 0) |
                     part(Intrinsic::buffer_get_type_bits, 8) |
                     part(Intrinsic::buffer_get_type_lanes, 16);
        Expr wanted = make_const(UInt(32), uint64_t(type_word(b.type)));
        Expr dimensions = b.get(Intrinsic::buffer_get_dimensions);
        return {check(given == wanted, "bad_type", {b.role, given, wanted}),
                check(dimensions == b.dimensions, "bad_dimensions",
                      {b.role, dimensions, b.dimensions})};
    }

    Stmt define_required(const ArgumentBuffer &b, Stmt s) {
        for (int d = b.dimensions; d-- > 0;) {
            // What is never touched requires nothing.
            Interval range =
                b.touched.empty() ? Interval(b.min(d), b.min(d) + b.extent(d) - 1) : b.touched[d];
            user_assert(range.is_bounded())
                << b.role << " is accessed at an unbounded range of coordinates in dimension " << d;
            s = LetStmt::make(b.required_max(d).as<Variable>()->name, range.max, s);
            s = LetStmt::make(b.required_min(d).as<Variable>()->name, range.min, s);
        }
        return s;
    }

    Expr is_query(const ArgumentBuffer &b) {
        return Call::make(Bool(), Intrinsic::buffer_is_bounds_query, {b.handle()});
    }

    Stmt with_bounds_query(const Stmt &s) {
        Expr any = const_false();
        Checks inputs, outputs;
        for (const ArgumentBuffer &b : buffers_) {
            if (b.is_argument()) {
                any = any || is_query(b);
                (b.is_output ? outputs : inputs)
                    .push_back(IfThenElse::make(is_query(b), answer_query(b)));
            }
        }
        Checks answers;
        if (!inputs.empty()) {
            answers.push_back(with_answered_outputs(Block::make(inputs)));
        }
        answers.insert(answers.end(), outputs.begin(), outputs.end());
        return answers.empty() ? s : IfThenElse::make(any, Block::make(answers), s);
    }

    /// What outputs of the shapes in their answers, not of those asked with, require of inputs.
    Stmt with_answered_outputs(Stmt s) {
        const std::map<std::string, Expr> fields = fields_in_answers();
        std::map<std::string, Expr> answers, renamed;
        const auto answer = [&](const ArgumentBuffer &b, const Expr &field, const Expr &value) {
            const std::string name = names::answered(name_of(field));
            answers[name] = select(is_query(b), value, field);
            renamed[name_of(field)] = names::var(name);
        };
        for (const ArgumentBuffer &b : buffers_) {
            for (int d = 0; b.is_argument() && b.is_output && d < b.dimensions; d++) {
                if (!is_answered_as_asked(b, d)) {
                    const Range range = answered_range(b, d, fields);
                    answer(b, b.min(d), range.min);
                    answer(b, b.extent(d), range.extent);
                }
            }
        }
        if (answers.empty()) {
            return s;
        }
        for (size_t i = buffers_.size(); i-- > 0;) {
            s = buffers_[i].is_output ? s : define_required(buffers_[i], s);
        }
        s = substitute(renamed, s);
        for (const auto &[name, value] : answers) {
            s = LetStmt::make(name, value, s);
        }
        return s;
    }

    /// With what the target decides in it, as target_has_feature() does.
    BufferConstraint constraint_of(const ArgumentBuffer &b, int d) const {
        BufferConstraint c = b.parameter->constraints.at(d);
        for (Expr *e : {&c.min, &c.extent, &c.stride}) {
            *e = resolve_language(*e, ctx_.target);
        }
        return c;
    }

    bool is_answered_as_asked(const ArgumentBuffer &b, int d) const {
        const BufferConstraint c = constraint_of(b, d);
        return !c.min.defined() && !c.extent.defined() &&
               (b.touched.empty() || (can_prove(b.touched[d].min == b.min(d)) &&
                                      can_prove(b.touched[d].max == b.min(d) + b.extent(d) - 1)));
    }

    /// The min that the answer to a query of b has in dimension d: other buffers' mins may take
    /// part in a constraint, as far as they are required.
    Expr answered_min(const ArgumentBuffer &b, int d) {
        const Expr constraint = constraint_of(b, d).min;
        if (!constraint.defined()) {
            return b.required_min(d);
        }
        std::map<std::string, Expr> required;
        for (const ArgumentBuffer &other : buffers_) {
            for (int i = 0; other.is_argument() && i < other.dimensions; i++) {
                required[name_of(other.min(i))] =
                    select(is_query(other), other.required_min(i), other.min(i));
                required[name_of(other.extent(i))] =
                    select(is_query(other), other.required_max(i) + 1 - other.required_min(i),
                           other.extent(i));
            }
        }
        return substitute(required, constraint);
    }

    static std::string name_of(const Expr &field) {
        return field.as<Variable>()->name;
    }

    /// Whether elements that follow each other in dimension d do in memory, and a dimension before it is laid round
    /// them: that one may have any stride.
    bool lies_inside_of_others(const ArgumentBuffer &b, int d) const {
        const auto &constraints = b.parameter->constraints;
        const auto is_free = [](const BufferConstraint &c) {
            return !c.stride.defined();
        };
        return std::any_of(constraints.begin(), constraints.begin() + d, is_free) &&
               constraints.at(d).stride.defined() && is_const_one(constraint_of(b, d).stride);
    }

    /// What the answers to a query make of the fields of buffers, which constraints may mention.
    std::map<std::string, Expr> fields_in_answers() {
        std::map<std::string, Expr> fields;
        for (const ArgumentBuffer &b : buffers_) {
            Expr dense = 1;
            for (int d = 0; b.is_argument() && d < b.dimensions; d++) {
                if (lies_inside_of_others(b, d)) {
                    dense = dense * (b.required_max(d) + 1 - answered_min(b, d));
                }
            }
            for (int d = 0; b.is_argument() && d < b.dimensions; d++) {
                const auto answer = [&](const Expr &field, const Expr &value) {
                    fields[name_of(field)] = select(is_query(b), value, field);
                };
                const Expr stride = constraint_of(b, d).stride;
                const Expr min = answered_min(b, d), extent = b.required_max(d) + 1 - min;
                answer(b.min(d), min);
                answer(b.extent(d), extent);
                answer(b.stride(d), stride.defined() && is_const(stride) ? stride : dense);
                dense = lies_inside_of_others(b, d) ? dense : dense * extent;
            }
        }
        return fields;
    }

    /// A constraint on a field in terms of answers.
    static Expr constrained(const Expr &constraint, const std::map<std::string, Expr> &fields,
                            const Expr &otherwise) {
        return constraint.defined() ? substitute(fields, constraint) : otherwise;
    }

    /// Of what nothing reads the required region may end before it begins: then it has no elements.
    Range answered_range(const ArgumentBuffer &b, int d,
                         const std::map<std::string, Expr> &fields) {
        const Expr min = answered_min(b, d);
        return Range(min, constrained(constraint_of(b, d).extent, fields,
                                      max(b.required_max(d) + 1 - min, 0)));
    }

    /// The smallest shape that would do, made dense, constraints respected.
    Stmt answer_query(const ArgumentBuffer &b) {
        Checks steps;
        Expr dense = 1;
        const std::map<std::string, Expr> fields = fields_in_answers();
        for (int d = 0; d < b.dimensions; d++) {
            dense =
                lies_inside_of_others(b, d) ? dense * answered_range(b, d, fields).extent : dense;
        }
        for (int d = 0; d < b.dimensions; d++) {
            BufferConstraint c = constraint_of(b, d);
            Expr required_extent = b.required_max(d) + 1 - b.required_min(d);
            const auto [min, extent] = answered_range(b, d, fields);
            const Expr stride = constrained(c.stride, fields, dense);
            // Of an output is required what it holds, and that is what constraints say.
            if (!b.is_output && (c.min.defined() || c.extent.defined())) {
                steps.push_back(
                    check(min <= b.required_min(d) && min + extent > b.required_max(d),
                          "constraints_make_required_region_smaller",
                          {b.role, d, min, extent, b.required_min(d), required_extent}));
            }
            steps.push_back(Evaluate::make(Call::make(Handle(), Intrinsic::buffer_set_bounds,
                                                      {b.handle(), d, min, extent, stride})));
            dense = lies_inside_of_others(b, d) ? dense : simplify(stride * extent);
        }
        return Block::make(steps);
    }

    Checks region_checks(const ArgumentBuffer &b) {
        Checks checks;
        for (int d = 0; d < b.dimensions; d++) {
            Expr max = b.min(d) + b.extent(d) - 1;
            checks.push_back(
                check(b.extent(d) >= 0, "buffer_extents_negative", {b.role, d, b.extent(d)}));
            // Those of the later values of an output are the same.
            if (b.shaped_as.empty()) {
                const Expr end = cast<int64_t>(b.min(d)) + cast<int64_t>(b.extent(d));
                checks.push_back(check(end <= make_const(Int(64), int64_t(1) << 31),
                                       "buffer_coordinates_too_large",
                                       {b.role, d, b.min(d), b.extent(d)}));
            }
            Expr inside = b.required_min(d) >= b.min(d) && b.required_max(d) <= max;
            const Expr used = simplify(b.used() && checked_elements_);
            if (!is_const_one(used)) {
                inside = !used || inside;
            }
            checks.push_back(
                check(inside, "access_out_of_bounds",
                      {b.role, d, b.required_min(d), b.required_max(d), b.min(d), max}));
        }
        return checks;
    }

    /// Where constraints fix all extents.
    void check_known_size(const ArgumentBuffer &b, int64_t limit) const {
        std::optional<int64_t> total = 1;
        for (int d = 0; d < b.dimensions; d++) {
            const Expr extent = constraint_of(b, d).extent;
            const auto known = extent.defined() ? as_const_int(extent) : std::nullopt;
            if (!known) {
                return;
            }
            total = total ? checked_mul(*total, std::max<int64_t>(0, *known)) : total;
        }
        user_assert(total && *total <= limit)
            << b.role << " has " << (total ? std::to_string(*total) : "more than 2^63")
            << " elements, must have at most " << limit
            << (ctx_.target.has_large_buffers() ? "" : " where the target lacks large_buffers");
    }

    /// Every address can be computed in 32 bits (64 with large buffers).
    Checks size_checks(const ArgumentBuffer &b) {
        Checks checks;
        int64_t limit = ctx_.target.maximum_buffer_size();
        Expr total = make_one(Int(64));
        check_known_size(b, limit);
        for (int d = 0; d < b.dimensions; d++) {
            Expr reach = abs(cast<int64_t>(b.extent(d)) * cast<int64_t>(b.stride(d)));
            checks.push_back(
                check(cast<uint64_t>(reach) <= make_const(UInt(64), uint64_t(limit)),
                      "buffer_allocation_too_large",
                      {b.role, cast<uint64_t>(reach), make_const(UInt(64), uint64_t(limit))}));
            total = total * cast<int64_t>(b.extent(d));
            if (d > 0) {
                checks.push_back(check(total <= make_const(Int(64), limit),
                                       "buffer_extents_too_large",
                                       {b.role, total, make_const(Int(64), limit)}));
            }
        }
        return checks;
    }

    Checks shape_checks(const ArgumentBuffer &b) {
        Checks checks = region_checks(b);
        for (const Checks &more : {size_checks(b), constraint_checks(b)}) {
            checks.insert(checks.end(), more.begin(), more.end());
        }
        Expr host = reinterpret<uint64_t>(Variable::make(Handle(), b.name));
        // With devices, memory on the host is only wanted where the host uses the buffer.
        if (!ctx_.target.has_gpu_feature()) {
            checks.push_back(check(host != make_zero(UInt(64)), "host_is_null", {b.role}));
        }
        int alignment = b.parameter.host_alignment();
        if (alignment > b.type.bytes()) {
            checks.push_back(check(host % make_const(UInt(64), alignment) == make_zero(UInt(64)),
                                   "unaligned_host_ptr", {b.role, alignment}));
        }
        add_host_is_newest(b, &checks);
        return checks;
    }

    void add_host_is_newest(const ArgumentBuffer &b, Checks *checks) const {
        if (!ctx_.target.has_gpu_feature()) {
            checks->push_back(
                check(!Call::make(Bool(), Intrinsic::buffer_get_device_dirty, {b.handle()}),
                      "device_dirty_with_no_device_support", {b.role}));
        }
    }

    template<typename F>
    void for_each_constraint(const ArgumentBuffer &b, F &&f) {
        for (int d = 0; b.is_argument() && d < b.dimensions; d++) {
            const BufferConstraint c = constraint_of(b, d);
            f(names::buffer_min(b.name, d), c.min);
            f(names::buffer_extent(b.name, d), c.extent);
            f(names::buffer_stride(b.name, d), c.stride);
        }
    }

    /// Calls f with fields, and what follows for them from their constraints, or from the region that
    /// is stored, which the buffer has to hold.
    template<typename F>
    void for_each_known_field(const ArgumentBuffer &b, F &&f) {
        for_each_constraint(b, [&](const std::string &field, const Expr &required) {
            if (required.defined()) {
                f(field, required);
            }
        });
        for (size_t d = 0; d < b.aligned.size(); d++) {
            const Bound &bound = b.aligned[d];
            const BufferConstraint c = constraint_of(b, int(d));
            if (bound.modulus.defined() && !c.extent.defined()) {
                const Expr extent = b.extent(int(d));
                f(name_of(extent), extent / bound.modulus * bound.modulus);
            }
            if (bound.remainder.defined() && !c.min.defined()) {
                const Expr min = b.min(int(d)), from = min - bound.remainder;
                f(name_of(min), from / bound.modulus * bound.modulus + bound.remainder);
            }
        }
    }

    Checks constraint_checks(const ArgumentBuffer &b) {
        Checks checks;
        for_each_constraint(b, [&](const std::string &field, const Expr &required) {
            if (required.defined()) {
                checks.push_back(check(names::var(field) == required, "constraint_violated",
                                       {field, names::var(field), to_text(required), required}));
            }
        });
        // The values of one Func are stored in the same loops.
        for (int d = 0; !b.shaped_as.empty() && d < b.dimensions; d++) {
            for (const auto &name : {names::buffer_min, names::buffer_extent}) {
                const std::string field = name(b.name, d), first = name(b.shaped_as, d);
                checks.push_back(check(names::var(field) == names::var(first),
                                       "constraint_violated",
                                       {field, names::var(field), first, names::var(first)}));
            }
        }
        return checks;
    }

    /// What constraints mention is constrained outside of them, as far as they do not mention each
    /// other: where one buffer begins as another one does, which begins at 0, both do.
    Stmt constrain(Stmt s) {
        std::vector<std::pair<std::string, Expr>> fields;
        std::map<std::string, size_t> index;
        for (const ArgumentBuffer &b : buffers_) {
            for_each_known_field(b, [&](const std::string &field, const Expr &required) {
                index[field] = fields.size();
                fields.emplace_back(field, required);
            });
        }
        std::vector<size_t> outermost_first;
        std::vector<bool> seen(fields.size());
        const std::function<void(size_t)> place = [&](size_t i) {
            if (seen[i]) {
                return;
            }
            seen[i] = true;
            for (const std::string &name : free_variables(fields[i].second)) {
                if (const auto mentioned = index.find(name); mentioned != index.end()) {
                    place(mentioned->second);
                }
            }
            outermost_first.push_back(i);
        };
        for (size_t i = fields.size(); i-- > 0;) {
            place(i);
        }
        for (size_t i = outermost_first.size(); i-- > 0;) {
            const auto &[field, required] = fields[outermost_first[i]];
            s = LetStmt::make(field, required, s);
        }
        return s;
    }

    LowerContext &ctx_;
    const Peeled &code_;
    std::vector<ArgumentBuffer> buffers_;
    bool asserts_;
    Expr has_elements_, checked_elements_;
};

}  // namespace

Stmt add_buffer_checks(const Stmt &s, LowerContext &ctx) {
    const bool asks = std::any_of(ctx.env.begin(), ctx.env.end(), [](const auto &entry) {
        return entry.second.has_extern_definition();
    });
    const Peeled peeled = peel(s, asks);
    return BufferChecks(peeled, ctx).wrap();
}

}  // namespace calotype::internal
