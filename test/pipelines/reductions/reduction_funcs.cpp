// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reduction_funcs.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <sstream>

#include "reduction_evaluator.h"

namespace calotype::test {

namespace {

using Kind = ReductionTerm::Kind;

class Builder {
public:
    Builder(const ReductionProgram &p, ReductionFuncs &funcs) : p_(p), b_(funcs) {
    }

    void build() {
        for (size_t i = 0; i < p_.images.size(); i++) {
            b_.images.emplace_back(p_.images[i].type, p_.images[i].dimensions,
                                   "in" + std::to_string(i));
        }
        for (int i = 0; i < params; i++) {
            b_.params.emplace_back("p" + std::to_string(i));
        }
        for (const ReductionStage &s : p_.stages) {
            stage(s);
        }
    }

private:
    void stage(const ReductionStage &s) {
        const std::string number = std::to_string(b_.stages.size());
        b_.stages.push_back({Func("f" + number), {}, {}});
        stage_ = &b_.stages.back();
        for (int d = 0; d < s.dimensions; d++) {
            stage_->vars.emplace_back(std::string(1, "xyzuvw"[d]));
        }
        types_ = s.types;
        r_ = RDom();
        std::vector<Expr> values;
        if (s.is_bounded) {
            bounded(s);
        } else {
            for (size_t i = 0; i < s.types.size(); i++) {
                values.push_back(cast_to(s.types[i], term(s.definition[i])));
            }
            stage_->func(stage_->vars) = Tuple(values);
        }
        for (const ReductionUpdate &u : s.updates) {
            update(u);
        }
    }

    void bounded(const ReductionStage &s) {
        Region region;
        for (size_t d = 0; d < s.mins.size(); d++) {
            region.push_back({term(s.mins[d]), term(s.extents[d])});
        }
        Func from("from" + std::to_string(b_.stages.size() - 1));
        if (s.source.kind == Kind::Pixel) {
            from(stage_->vars) = b_.images[size_t(s.source.number)](
                std::vector<Expr>(stage_->vars.begin(), stage_->vars.end()));
        } else {
            from = b_.stages[size_t(s.source.number)].func;
        }
        Func f;
        std::vector<Expr> outside;
        for (const Type &t : s.types) {
            outside.push_back(cast(t, outside_value));
        }
        switch (s.outside) {
        case ReductionOutside::Edge:
            f = BoundaryConditions::repeat_edge(from, region);
            break;
        case ReductionOutside::Repeat:
            f = BoundaryConditions::repeat_image(from, region);
            break;
        case ReductionOutside::MirrorImage:
            f = BoundaryConditions::mirror_image(from, region);
            break;
        case ReductionOutside::MirrorInterior:
            f = BoundaryConditions::mirror_interior(from, region);
            break;
        case ReductionOutside::Constant:
            f = outside.size() > 1
                    ? BoundaryConditions::constant_exterior(from, Tuple(outside), region)
                    : BoundaryConditions::constant_exterior(from, outside[0], region);
            break;
        }
        stage_->func = f;
        stage_->vars = f.args();
    }

    void update(const ReductionUpdate &u) {
        Region region;
        for (size_t d = 0; d < u.mins.size(); d++) {
            region.push_back({term(u.mins[d]), term(u.extents[d])});
        }
        r_ = region.empty() ? RDom()
                            : RDom(region, "r" + std::to_string(stage_->domains.size()) + "_" +
                                               std::to_string(b_.stages.size() - 1));
        for (const ReductionCondition &c : u.conditions) {
            r_.where(condition(c));
        }
        std::vector<Expr> place, values, after;
        for (const ReductionTerm &t : u.place) {
            place.push_back(term(t));
        }
        for (size_t i = 0; i < types_.size(); i++) {
            after.push_back(cast_to(types_[i], term(u.values[i])));
        }
        for (size_t i = 0; i < types_.size(); i++) {
            values.push_back(
                merged(u.merge, element(place, int(i)), after[i], element(place, 0), after[0]));
        }
        stage_->func(place) = Tuple(values);
        stage_->domains.push_back(r_);
    }

    Expr element(const std::vector<Expr> &place, int value) {
        return types_.size() > 1 ? Expr(stage_->func(place)[value]) : Expr(stage_->func(place));
    }

    static Expr merged(ReductionMerge merge, const Expr &before, const Expr &after,
                       const Expr &first, const Expr &first_after) {
        switch (merge) {
        case ReductionMerge::Add:
            return before + after;
        case ReductionMerge::Subtract:
            return before - after;
        case ReductionMerge::Multiply:
            return before * after;
        case ReductionMerge::Larger:
            return max(before, after);
        case ReductionMerge::Smaller:
            return min(before, after);
        case ReductionMerge::Replace:
            return after;
        case ReductionMerge::ReplaceIfLarger:
            return select(first_after > first, after, before);
        }
        return after;
    }

    Expr condition(const ReductionCondition &c) {
        const Expr a = term(c.a), b = term(c.b);
        return c.op == ReductionCondition::Operator::Less          ? a < b
               : c.op == ReductionCondition::Operator::LessOrEqual ? a <= b
               : c.op == ReductionCondition::Operator::Equal       ? a == b
                                                                   : a != b;
    }

    static Expr cast_to(const Type &t, const Expr &e) {
        return cast(t, t.is_float() ? e % float_modulus : e);
    }

    static Expr reduced(const Type &t, const Expr &e) {
        return is_reduced(t) ? cast<int>(e) % modulus : cast<int>(e);
    }

    Expr term(const ReductionTerm &t) {
        const auto at = [&](size_t i) {
            return term(t.terms[i]);
        };
        const auto place = [&] {
            std::vector<Expr> list;
            for (const ReductionTerm &u : t.terms) {
                list.push_back(term(u));
            }
            return list;
        };
        switch (t.kind) {
        case Kind::Constant:
            return t.number;
        case Kind::Var:
            return stage_->vars[size_t(t.number)];
        case Kind::Loop:
            return r_[t.number];
        case Kind::Param:
            return b_.params[size_t(t.number)];
        case Kind::Extent:
            return b_.images[size_t(t.number)].dim(0).extent();
        case Kind::Pixel:
            return cast<int>(b_.images[size_t(t.number)](place()));
        case Kind::Read: {
            const Func &f = b_.stages[size_t(t.number)].func;
            const Type type = p_.stages[size_t(t.number)].types[size_t(t.value)];
            return reduced(type, f.outputs() > 1 ? Expr(f(place())[t.value]) : Expr(f(place())));
        }
        case Kind::Self:
            return reduced(types_[size_t(t.value)], element(place(), t.value));
        case Kind::Sum:
            return at(0) + at(1);
        case Kind::Difference:
            return at(0) - at(1);
        case Kind::Product:
            return (at(0) % modulus) * (at(1) % modulus) % modulus;
        case Kind::Scaled:
            return at(0) * t.number;
        case Kind::Quotient:
            return at(0) / t.number;
        case Kind::Remainder:
            return at(0) % t.number;
        case Kind::Clamped:
            return clamp(at(0), t.number, t.value);
        case Kind::Smaller:
            return min(at(0), at(1));
        case Kind::Larger:
            return max(at(0), at(1));
        case Kind::Choice:
            return select(at(0) < at(1), at(2), at(3));
        }
        return Expr();
    }

    const ReductionProgram &p_;
    ReductionFuncs &b_;
    ReductionFuncs::Stage *stage_ = nullptr;
    std::vector<Type> types_;
    RDom r_;
};

std::string list(const std::vector<Expr> &values) {
    std::ostringstream out;
    for (size_t i = 0; i < values.size(); i++) {
        out << (i == 0 ? "" : ", ") << values[i];
    }
    return out.str();
}

std::string describe(const std::vector<int> &at) {
    std::string text;
    for (const int i : at) {
        text += (text.empty() ? "(" : ", ") + std::to_string(i);
    }
    return text + ")";
}

int64_t element(const Buffer<void> &b, const std::vector<int> &at) {
    const void *p = b.raw_buffer()->address_of(at.data());
    const auto read = [&](auto zero) {
        std::memcpy(&zero, p, sizeof zero);
        return int64_t(zero);
    };
    const Type t = b.type();
    return t.is_float()     ? read(float())
           : t.bits() == 8  ? (t.is_int() ? read(int8_t()) : read(uint8_t()))
           : t.bits() == 16 ? (t.is_int() ? read(int16_t()) : read(uint16_t()))
           : t.is_int()     ? read(int32_t())
                            : read(uint32_t());
}

void set_element(const Buffer<void> &b, const std::vector<int> &at, int64_t value) {
    void *p = b.raw_buffer()->address_of(at.data());
    const auto write = [&](auto v) {
        std::memcpy(p, &v, sizeof v);
    };
    const Type t = b.type();
    t.is_float()     ? write(float(value))
    : t.bits() == 8  ? write(int8_t(value))
    : t.bits() == 16 ? write(int16_t(value))
                     : write(int32_t(value));
}

void for_each_element(const Buffer<void> &b,
                      const std::function<void(const std::vector<int> &)> &visit) {
    std::vector<int> at;
    for (int d = 0; d < b.dimensions(); d++) {
        if (b.dim(d).extent() <= 0) {
            return;
        }
        at.push_back(b.dim(d).min());
    }
    for (;;) {
        visit(at);
        int d = 0;
        while (d < b.dimensions() && at[size_t(d)] == b.dim(d).max()) {
            at[size_t(d)] = b.dim(d).min();
            d++;
        }
        if (d == b.dimensions()) {
            return;
        }
        at[size_t(d)]++;
    }
}

/// One run: what it needs is asked for, allocated, filled, and its results are compared.
class Run {
public:
    Run(const ReductionProgram &p, ReductionFuncs &funcs, Pipeline &pipeline,
        const ReductionProgram::Inputs &inputs, bool at_end, const Target &target)
        : p_(p), b_(funcs), pipeline_(pipeline), inputs_(inputs), at_end_(at_end), target_(target) {
    }

    std::string run() {
        for (int i = 0; i < params; i++) {
            b_.params[size_t(i)].set(inputs_.params[size_t(i)]);
        }
        if (!inputs_.mins.empty()) {
            b_.min.set(inputs_.mins[0]);
            b_.extent.set(inputs_.extents[0]);
        }
        ask();
        std::vector<Buffer<void>> outputs;
        for (const Buffer<void> &b : asked_outputs_) {
            memory_.emplace_back(b, at_end_);
            outputs.push_back(memory_.back().image());
        }
        for (size_t i = 0; i < b_.images.size(); i++) {
            fill(b_.images[i]);
        }
        pipeline_.realize(Realization(outputs), target_);
        for (Buffer<void> &b : outputs) {
            b.copy_to_host();
        }
        const bool is_empty = std::any_of(inputs_.extents.begin(), inputs_.extents.end(),
                                          [](int n) { return n == 0; });
        return is_empty ? "" : compare(outputs);
    }

private:
    /// How large inputs and outputs must be.
    void ask() {
        for (size_t i = 0; i < b_.images.size(); i++) {
            b_.images[i].reset();
            if (p_.images[i].is_sized) {
                b_.images[i].set(Buffer<void>(p_.images[i].type, std::vector<int>{inputs_.size}));
            }
        }
        const Func &output = b_.stages.back().func;
        for (const Type &t : output.types()) {
            asked_outputs_.emplace_back(t, nullptr, inputs_.extents);
            asked_outputs_.back().set_min(inputs_.mins);
        }
        pipeline_.infer_input_bounds(Realization(asked_outputs_), target_);
    }

    void fill(ImageParam &image) {
        const Buffer<void> shape = image.get();
        if (!shape.defined()) {
            return;  // nothing reads it
        }
        memory_.emplace_back(shape, at_end_);
        Buffer<void> b = memory_.back().image();
        for_each_element(
            b, [&](const std::vector<int> &at) { set_element(b, at, pixel_value(b.type(), at)); });
        b.set_host_dirty();
        image.set(b);
    }

    std::string compare(const std::vector<Buffer<void>> &outputs) {
        std::string problem;
        ReductionEvaluator evaluate(p_, inputs_);
        const int last = int(p_.stages.size()) - 1;
        for (size_t i = 0; i < outputs.size(); i++) {
            std::vector<std::pair<int, int>> asked;
            for (size_t d = 0; d < inputs_.mins.size(); d++) {
                asked.emplace_back(inputs_.mins[d], inputs_.extents[d]);
            }
            const Buffer<void> b = outputs[i].cropped(asked);
            for_each_element(b, [&](const std::vector<int> &at) {
                const int64_t want = evaluate(last, int(i), at), got = element(b, at);
                if (got != want && problem.empty()) {
                    problem = "value " + std::to_string(i) + " at " + describe(at) + " is " +
                              std::to_string(got) + ", not " + std::to_string(want);
                }
            });
        }
        return problem;
    }

    const ReductionProgram &p_;
    ReductionFuncs &b_;
    Pipeline &pipeline_;
    const ReductionProgram::Inputs &inputs_;
    const bool at_end_;
    const Target target_;
    std::vector<Buffer<void>> asked_outputs_;
    std::vector<GuardedImage> memory_;
};

}  // namespace

ReductionFuncs::ReductionFuncs(const ReductionProgram &p) {
    stages.reserve(p.stages.size());
    Builder(p, *this).build();
}

std::string ReductionFuncs::text() const {
    std::ostringstream out;
    for (const Stage &s : stages) {
        const Func &f = s.func;
        const std::string name = "    " + f.name() + "(";
        std::vector<Expr> vars(s.vars.begin(), s.vars.end());
        out << name << list(vars) << ") = " << list(f.values().as_vector()) << "  // "
            << f.types()[0] << "\n";
        for (int i = 0; i < f.num_update_definitions(); i++) {
            const RDom &r = s.domains[size_t(i)];
            out << name << list(f.update_args(i)) << ") = " << list(f.update_values(i).as_vector());
            for (int d = 0; r.defined() && d < r.dimensions(); d++) {
                out << (d == 0 ? "  // " : ", ") << r[d].name() << " from " << r[d].min() << ", "
                    << r[d].extent();
            }
            if (r.defined()) {
                out << " where " << r.domain().predicate();
            }
            out << "\n";
        }
    }
    return out.str();
}

std::string run_reductions(const ReductionProgram &p, ReductionFuncs &funcs, Pipeline &pipeline,
                           const ReductionProgram::Inputs &inputs, bool at_end,
                           const Target &target) {
    return Run(p, funcs, pipeline, inputs, at_end, target).run();
}

}  // namespace calotype::test
