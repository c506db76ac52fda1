// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/pass_input.h"
#include "ir/conventions/names.h"

#include <regex>
#include <sstream>

#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/visitor.h"
#include "lower/nest/prepare.h"
#include "passes/pass_table.h"
#include "pipeline/parameter.h"
#include "pipeline/text/pipeline_text.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::test {

using namespace internal;

using internal::split;
using internal::starts_with;
using internal::trim;

namespace {

std::vector<std::string> words(const std::string &text) {
    std::istringstream in(text);
    std::vector<std::string> result;
    std::string word;
    while (in >> word) {
        result.push_back(word);
    }
    return result;
}

LoopLevel parse_level(const std::string &text) {
    if (text == "root") {
        return LoopLevel::root();
    }
    const size_t dot = text.find('.');
    internal_assert(dot != std::string::npos) << "not a loop level: " << text;
    LoopLevel level(text.substr(0, dot), text.substr(dot + 1), false, 0);
    level.lock();
    return level;
}

StorageDim &storage_dim(FuncSchedule &schedule, const std::string &var) {
    for (StorageDim &d : schedule.storage_dims) {
        if (d.var == var) {
            return d;
        }
    }
    internal_error << "no storage dimension " << var;
}

void apply_option(Function &f, const std::vector<std::string> &option, LowerContext &ctx) {
    FuncSchedule &schedule = f.edit()->schedule;
    const std::string &what = option.at(0);
    if (what == "storage") {
        schedule.storage_dims.clear();
        for (size_t i = 1; i < option.size(); i++) {
            schedule.storage_dims.push_back({option[i], Expr(), Expr(), Expr(), true});
        }
    } else if (what == "align") {
        storage_dim(schedule, option.at(1)).alignment = parse_expr(option.at(2));
    } else if (what == "fold") {
        storage_dim(schedule, option.at(1)).fold_factor = parse_expr(option.at(2));
        storage_dim(schedule, option.at(1)).fold_forward = option.size() < 4;
    } else if (what == "compute") {
        schedule.compute_level = schedule.store_level = schedule.hoist_storage_level =
            parse_level(option.at(1));
    } else if (what == "store") {
        schedule.store_level = schedule.hoist_storage_level = parse_level(option.at(1));
    } else if (what == "hoist") {
        schedule.hoist_storage_level = parse_level(option.at(1));
    } else if (what == "async") {
        schedule.async = true;
    } else if (what == "memoize") {
        schedule.memoized = true;
    } else if (what == "texture") {
        schedule.memory_type = MemoryType::GPUTexture;
    } else if (what == "ring") {
        schedule.ring_buffer = parse_expr(option.at(1));
    } else if (what == "trace") {
        schedule.trace_loads = schedule.trace_stores = schedule.trace_realizations = true;
    } else if (what == "lanes") {
        static const std::map<std::string, MemoryType> types = {{"auto", MemoryType::Auto},
                                                                {"register", MemoryType::Register}};
        for (int i = 0; i < f.outputs(); i++) {
            ctx.lane_storage[f.buffer_name(i)] = types.at(option.at(1));
        }
    } else if (what == "output") {
        ctx.outputs.push_back(f);
        for (int i = 0; i < f.outputs(); i++) {
            f.edit()->output_buffers.emplace_back(f.output_types()[i], true, f.dimensions(),
                                                  f.buffer_name(i));
        }
    } else if (what == "extern") {
        f.edit()->extern_name = "extern_" + f.name();
    } else if (what == "debug") {
        f.edit()->debug_file = option.at(1);
    } else if (what == "values") {
        ctx.func_bounds[{f.name(), 0}] =
            internal::Interval(parse_expr(option.at(1)), parse_expr(option.at(2)));
    } else {
        internal_error << "unknown option of a func: " << what;
    }
}

void parse_func(const std::string &line, LowerContext &ctx) {
    static const std::regex form(R"(func ([\w$]+)\(([^)]*)\) ([^;]*)(;.*)?)");
    std::smatch match;
    internal_assert(std::regex_match(line, match, form)) << "cannot read: " << line;
    Function f{std::string(match[1])};
    for (const std::string &arg : split(std::string(match[2]), ",")) {
        if (!trim(arg).empty()) {
            f.edit()->args.emplace_back(trim(arg));
            f.edit()->schedule.storage_dims.push_back(
                {f->args.back(), Expr(), Expr(), Expr(), true});
        }
    }
    for (const std::string &type : split(std::string(match[3]), ",")) {
        Type t;
        internal_assert(parse_type(std::string(trim(type)), &t)) << "no type: " << type;
        f.edit()->output_types.push_back(t);
    }
    bool joins_last = false;
    for (const std::string &option : split(std::string(match[4]), ";")) {
        if (trim(option) == "with") {
            joins_last = true;
        } else if (!trim(option).empty()) {
            apply_option(f, words(option), ctx);
        }
    }
    ctx.env.emplace(f.name(), f);
    ctx.order.push_back(f.name());
    if (!joins_last) {
        ctx.fused_groups.emplace_back();
    }
    ctx.fused_groups.back().push_back(f.name());
}

void parse_input(const std::string &line, LowerContext &ctx) {
    const std::vector<std::string> parts = split(line, ";");
    const std::vector<std::string> head = words(parts.at(0));
    Type t;
    internal_assert(head.size() == 4 && parse_type(head[2], &t)) << "cannot read: " << line;
    Parameter input(t, true, std::stoi(head[3]), head[1]);
    for (size_t i = 1; i < parts.size(); i++) {
        const std::vector<std::string> option = words(parts[i]);
        const int n = std::stoi(option.at(1));
        if (option.at(0) == "align") {
            input.set_host_alignment(n);
        } else {
            internal_assert(option.at(0) == "rows") << "unknown option of an input: " << option[0];
            const Expr stride = Variable::make(Int(32), names::buffer_stride(head[1], 1));
            input.set_stride_constraint(1, stride / n * n);
        }
    }
    ctx.used.parameters.emplace(head[1], input);
}

/// Enters the loops whose names say whose they are.
class LoopFinder : public GraphVisitor {
public:
    explicit LoopFinder(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using GraphVisitor::visit;
    void visit(const For *op) override {
        static const std::regex form(R"(([\w$]+)\.s(\d+)\.(.*))");
        std::smatch match;
        if (std::regex_match(op->name, match, form)) {
            ctx_.loops[op->name] = {match[1], std::stoi(match[2]), match[3]};
        }
        GraphVisitor::visit(op);
    }
    LowerContext &ctx_;
};

}  // namespace

PassInput read_pass_input(const std::string &text, const std::string &pass) {
    PassInput result;
    result.ctx = std::make_unique<LowerContext>();
    LowerContext &ctx = *result.ctx;
    ctx.target = Target("x86-64-linux-avx2-no_runtime");
    ctx.pipeline_name = "pipeline";
    std::istringstream in(text);
    std::string line, rest;
    while (std::getline(in, line)) {
        if (rest.empty() && starts_with(line, "target ")) {
            ctx.target = Target(line.substr(7));
        } else if (rest.empty() && starts_with(line, "func ")) {
            parse_func(line, ctx);
        } else if (rest.empty() && starts_with(line, "input ")) {
            parse_input(line, ctx);
        } else {
            rest += line + "\n";
        }
    }
    if (starts_with(rest, "pipeline {")) {
        result.ctx = prepare(parse_pipeline(rest), ctx.target);
        result.before = run_passes_before(pass, *result.ctx);
    } else {
        result.before = parse_stmt(rest);
        LoopFinder finder(ctx);
        finder(result.before);
    }
    return result;
}

}  // namespace calotype::test
