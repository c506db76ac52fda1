// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/extern_stage.h"

#include <map>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/names.h"
#include "lower/nest/copy_stage.h"

namespace calotype::internal {

namespace {

Expr header(const std::string &name) {
    return Variable::make(header_type(), name);
}

Expr stage_min(const Function &f, int d) {
    return names::var(names::stage_min(f.name(), 0, f.args()[d]));
}
Expr stage_max(const Function &f, int d) {
    return names::var(names::stage_max(f.name(), 0, f.args()[d]));
}
Expr stage_extent(const Function &f, int d) {
    return stage_max(f, d) + 1 - stage_min(f, d);
}

/// The buffers of the Func that is the argument.
std::vector<std::pair<Function, std::string>> passed_buffers(const ExternFuncArgument &arg) {
    const Function g(arg.func);
    std::vector<std::pair<Function, std::string>> buffers;
    for (int i = 0; i < g.outputs(); i++) {
        if (arg.value < 0 || arg.value == i) {
            buffers.emplace_back(g, g.buffer_name(i));
        }
    }
    return buffers;
}

/// Calls the C function; `name_of` maps a buffer of f or of a Func to the header to pass.
template<typename NameOf>
Expr call_function(const Function &f, NameOf name_of) {
    std::vector<Expr> args;
    for (const ExternFuncArgument &arg : f->extern_args) {
        if (arg.is_func()) {
            for (const auto &input : passed_buffers(arg)) {
                args.push_back(header(name_of(input.second)));
            }
        } else if (arg.is_buffer()) {
            args.push_back(header(name_of(arg.buffer->name)));
        } else if (arg.is_image_param()) {
            args.push_back(header(name_of(arg.image_param.name())));
        } else if (arg.is_expr()) {
            args.push_back(arg.expr);
        }
    }
    for (int i = 0; i < f.outputs(); i++) {
        args.push_back(header(name_of(f.buffer_name(i))));
    }
    bool cpp = f->extern_mangling == NameMangling::CPlusPlus;
    return Call::make(Int(32), f->extern_name, args,
                      cpp ? CallKind::ExternCPlusPlus : CallKind::Extern);
}

/// The coordinates of both corners of a box.
using Corners = std::pair<std::vector<Expr>, std::vector<Expr>>;

Corners corners_of(const Box &box) {
    Corners corners;
    for (const Interval &range : box) {
        corners.first.push_back(range.min);
        corners.second.push_back(range.max);
    }
    return corners;
}

/// What bounds analysis must know of the call: both corners of what it reads and writes.
Expr touched_boxes(const Function &f, const Box &region) {
    std::vector<Expr> corners;
    auto add = [&](const Function &g, int value, std::vector<Expr> coordinates) {
        corners.push_back(Call::make(g.output_types()[value], g.name(), std::move(coordinates),
                                     CallKind::Func, value, g.contents()));
    };
    for (const auto &input : extern_inputs(f)) {
        std::vector<Expr> min, max;
        for (int d = 0; d < input.first.dimensions(); d++) {
            min.push_back(names::var(names::query_min(f.name(), input.second, d)));
            max.push_back(names::var(names::query_max(f.name(), input.second, d)));
        }
        add(input.first, 0, min);
        add(input.first, 0, max);
    }
    const auto [min, max] = corners_of(region);
    add(f, 0, min);
    add(f, 0, max);
    if (const Call *source = is_copy_stage(f) ? f->extern_proxy_expr.as<Call>() : nullptr) {
        if (source->call_type == CallKind::Image) {
            for (const std::vector<Expr> &corner : {min, max}) {
                corners.push_back(Call::make(source->type, source->name, corner, source->call_type,
                                             source->value_index, source->symbol));
            }
        }
    }
    return Call::make(Int(32), Intrinsic::declare_box_touched, corners);
}

std::string query_header(const Function &f, const std::string &buffer) {
    return names::query_header(f.name(), buffer);
}

Expr header_field(Intrinsic field, const std::string &header_name, int d) {
    return Call::make(Int(32), field, {header(header_name), d});
}

Expr answered_min(const std::string &header_name, int d) {
    return header_field(Intrinsic::buffer_get_min, header_name, d);
}

Expr answered_max(const std::string &header_name, int d) {
    return answered_min(header_name, d) +
           header_field(Intrinsic::buffer_get_extent, header_name, d) - 1;
}

Expr answer_is_empty(const std::string &header_name, int dimensions) {
    Expr any = const_false();
    for (int d = 0; d < dimensions; d++) {
        any = any || header_field(Intrinsic::buffer_get_extent, header_name, d) <= 0;
    }
    return any;
}

void check_elements(const Function &f) {
    for (const Type &t : f.output_types()) {
        check_element_size("extern stage " + f.name(), t);
    }
    for (const ExternFuncArgument &arg : f->extern_args) {
        for (int i = 0; arg.is_func() && i < Function(arg.func).outputs(); i++) {
            if (arg.value < 0 || arg.value == i) {
                check_element_size("func " + Function(arg.func).name() +
                                       ", an argument of extern stage " + f.name() + ",",
                                   Function(arg.func).output_types()[i]);
            }
        }
    }
}

/// The header that the C function gets as that use of a buffer: it may get one several times, and needs another part of
/// it each time.
std::string header_of_use(const Function &f, const std::string &buffer, int use) {
    const std::string first = query_header(f, buffer);
    return use == 0 ? first : names::part(first, "use", size_t(use));
}

/// Counts the uses of buffers, in the order of the arguments.
class Uses {
public:
    explicit Uses(const Function &f) : f_(f) {
    }
    std::string next_header(const std::string &buffer) {
        return header_of_use(f_, buffer, count_[buffer]++);
    }
    int of(const std::string &buffer) const {
        return count_.at(buffer);
    }

private:
    const Function &f_;
    std::map<std::string, int> count_;
};

/// Empty headers, to be filled in with what is needed of an input.
QueryStep ask_input(const std::string &header_name, const Type &type, int dimensions) {
    const std::vector<HeaderDimension> shape(size_t(dimensions), {0, 0, 0});
    return {header_name, make_buffer_header(Expr(), type, shape), Stmt()};
}

/// An end of what is needed of an input: of all uses that need something.
Expr answered_end(const Function &f, const std::string &buffer, const Uses &uses, int dimensions,
                  int d, bool is_max) {
    const auto own = [&](const std::string &name) {
        return is_max ? answered_max(name, d) : answered_min(name, d);
    };
    const std::string first = header_of_use(f, buffer, 0);
    Expr end = own(first), is_empty = answer_is_empty(first, dimensions);
    for (int use = 1; use < uses.of(buffer); use++) {
        const std::string name = header_of_use(f, buffer, use);
        const Expr other = own(name), other_is_empty = answer_is_empty(name, dimensions);
        const Expr both = is_max ? max(end, other) : min(end, other);
        end = select(is_empty, other, other_is_empty, end, both);
        is_empty = is_empty && other_is_empty;
    }
    return end;
}

}  // namespace

ExternFuncArgument image_argument(const Call &call) {
    return call.symbol->kind == SymbolKind::Parameter
               ? ExternFuncArgument(Parameter(call.symbol))
               : ExternFuncArgument(Image(static_cast<ImageContents *>(call.symbol.get())));
}

std::vector<std::pair<Function, std::string>> extern_inputs(const Function &f) {
    std::vector<std::pair<Function, std::string>> inputs;
    for (const ExternFuncArgument &arg : f->extern_args) {
        if (arg.is_func()) {
            const auto passed = passed_buffers(arg);
            inputs.insert(inputs.end(), passed.begin(), passed.end());
        }
    }
    return inputs;
}

std::vector<ExternImage> extern_images(const Function &f) {
    std::vector<ExternImage> images;
    if (is_copy_stage(f)) {
        return images;  // touched_boxes() names its source
    }
    for (const ExternFuncArgument &arg : f->extern_args) {
        if (arg.is_buffer()) {
            const calotype_buffer_t *raw = arg.buffer->buffer->raw();
            images.push_back({arg.buffer->name, Type(raw->type), raw->dimensions, arg.buffer});
        } else if (arg.is_image_param()) {
            const Parameter &p = arg.image_param;
            images.push_back({p.name(), p.type(), p.dimensions(), p.contents()});
        }
    }
    return images;
}

Stmt touch_images(const Function &f) {
    std::vector<Stmt> all;
    for (const ExternImage &image : extern_images(f)) {
        std::vector<Expr> min, max;
        Expr any = const_true();
        for (int d = 0; d < image.dimensions; d++) {
            min.push_back(names::var(names::query_min(f.name(), image.name, d)));
            max.push_back(names::var(names::query_max(f.name(), image.name, d)));
            any = any && min.back() <= max.back();
        }
        std::vector<Expr> corners;
        for (const std::vector<Expr> &corner : {min, max}) {
            corners.push_back(
                Call::make(image.type, image.name, corner, CallKind::Image, 0, image.symbol));
        }
        all.push_back(IfThenElse::make(
            any, Evaluate::make(Call::make(Int(32), Intrinsic::declare_box_touched, corners))));
    }
    return Block::make(all);
}

Stmt extern_stage_call(const Function &f, const Box &region) {
    auto crop = [&](const std::string &buffer) {
        bool own = false;
        for (int i = 0; i < f.outputs(); i++) {
            own = own || buffer == f.buffer_name(i);
        }
        return own ? names::crop(buffer) : names::buffer(buffer);
    };
    std::string result_name = names::part(f.name(), "extern_result");
    Expr result = names::var(result_name);
    Stmt s = check(result == 0, "extern_stage_failed", {f->extern_name, result});
    s = LetStmt::make(result_name, call_function(f, crop), s);
    for (int i = f.outputs(); i-- > 0;) {
        std::vector<Expr> mins, extents;
        for (const Interval &range : region) {
            mins.push_back(range.min);
            extents.push_back(simplify(range.max + 1 - range.min));
        }
        Expr whole = header(names::buffer(f.buffer_name(i)));
        s = LetStmt::make(crop(f.buffer_name(i)), crop_buffer_header(whole, mins, extents), s);
    }
    return Block::make(Evaluate::make(touched_boxes(f, region)), s);
}

namespace {

/// A copy needs of its source what is required of itself; there is no need to ask.
std::vector<QueryStep> query_copy_stage(const Function &f) {
    std::vector<QueryStep> steps;
    for (const auto &input : extern_inputs(f)) {
        for (int d = 0; d < f.dimensions(); d++) {
            steps.push_back({names::query_min(f.name(), input.second, d), stage_min(f, d), Stmt()});
            steps.push_back({names::query_max(f.name(), input.second, d), stage_max(f, d), Stmt()});
        }
    }
    return steps;
}

class ReadsOfWhatIsThere : public GraphMutator {
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        const Expr call = GraphMutator::visit(op);
        if (op->call_type != CallKind::Image) {
            return call;
        }
        op = call.as<Call>();
        Expr is_there =
            reinterpret<uint64_t>(Variable::make(Handle(), op->name)) != make_zero(UInt(64));
        for (size_t d = 0; d < op->args.size(); d++) {
            const Expr min = names::var(names::buffer_min(op->name, int(d))),
                       extent = names::var(names::buffer_extent(op->name, int(d)));
            is_there = is_there && op->args[d] >= min && op->args[d] <= min + extent - 1;
        }
        return Call::make(op->type, Intrinsic::if_then_else, {is_there, call, make_zero(op->type)});
    }
};

}  // namespace

Expr read_what_is_there(const Expr &e) {
    return ReadsOfWhatIsThere().mutate(e);
}

std::vector<QueryStep> query_extern_stage(const Function &f, bool is_part) {
    check_elements(f);
    if (is_copy_stage(f)) {
        return query_copy_stage(f);
    }
    std::vector<QueryStep> steps;
    Uses uses(f);
    std::vector<std::pair<std::string, int>> asked;  ///< buffers and their dimensions
    const auto ask = [&](const std::string &buffer, const Type &type, int dimensions) {
        steps.push_back(ask_input(uses.next_header(buffer), type, dimensions));
        if (uses.of(buffer) == 1) {
            asked.emplace_back(buffer, dimensions);
        }
    };
    for (const auto &input : extern_inputs(f)) {
        const Function &g = input.first;
        int value = 0;
        while (g.buffer_name(value) != input.second) {
            value++;
        }
        ask(input.second, g.output_types()[value], g.dimensions());
    }
    for (const ExternImage &image : extern_images(f)) {
        ask(image.name, image.type, image.dimensions);
    }
    for (int i = 0; i < f.outputs(); i++) {
        std::vector<HeaderDimension> shape;
        Expr stride = 1;
        for (int d = 0; d < f.dimensions(); d++) {
            shape.push_back({stage_min(f, d), stage_extent(f, d), stride});
            stride = stride * stage_extent(f, d);
        }
        steps.push_back({query_header(f, f.buffer_name(i)),
                         make_buffer_header(Expr(), f.output_types()[i], shape), Stmt()});
    }
    std::string result_name = names::part(f.name(), "query_result");
    Uses passed(f);
    Expr call =
        call_function(f, [&](const std::string &buffer) { return passed.next_header(buffer); });
    steps.push_back({result_name, call, Stmt()});
    Expr result = names::var(result_name);
    steps.push_back(
        {"", Expr(), check(result == 0, "bounds_inference_call_failed", {f->extern_name, result})});
    for (const auto &[buffer, dimensions] : asked) {
        for (int d = 0; d < dimensions; d++) {
            const std::string min_name = names::query_min(f.name(), buffer, d),
                              max_name = names::query_max(f.name(), buffer, d);
            const Expr first = names::var(min_name), last = names::var(max_name);
            const auto add = [&](const std::string &name, bool is_max) {
                const Expr answer = answered_end(f, buffer, uses, dimensions, d, is_max);
                steps.push_back({name, is_part ? clamp(answer, first, last) : answer, Stmt()});
            };
            add(min_name, false);
            add(max_name, true);
        }
    }
    return steps;
}

std::vector<QueryStep> grow_as_answered(const Function &f) {
    std::vector<QueryStep> steps;
    for (int d = 0; d < f.dimensions(); d++) {
        const std::string header_name = query_header(f, f.buffer_name(0)), &var = f.args()[d];
        steps.push_back({names::stage_min(f.name(), 0, var), answered_min(header_name, d), Stmt()});
        steps.push_back({names::stage_max(f.name(), 0, var), answered_max(header_name, d), Stmt()});
    }
    return steps;
}

}  // namespace calotype::internal
