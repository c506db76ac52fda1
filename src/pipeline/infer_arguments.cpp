// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/infer_arguments.h"

#include <algorithm>
#include <map>

#include "ir/visitor.h"
#include "support/error.h"

namespace calotype {

namespace {

class FindSymbols : public GraphVisitor {
public:
    std::map<std::string, SymbolPtr> found;

    void add(const SymbolPtr &symbol) {
        if (!symbol.defined() || (symbol->kind != SymbolKind::Parameter && symbol->kind != SymbolKind::Image)) {
            return;
        }
        auto inserted = found.emplace(symbol->name, symbol);
        user_assert(inserted.first->second == symbol || symbol->name == "__user_context")
            << "two different arguments of the pipeline are named " << symbol->name;
        if (inserted.second && symbol->kind == SymbolKind::Parameter) {
            visit_constraints(Parameter(symbol));
        }
    }
    // What one parameter is constrained by may be others.
    void visit_constraints(const Parameter &p) {
        for (const BufferConstraint &c : p->constraints) {
            for (const Expr &e : {c.min, c.extent, c.stride}) {
                (*this)(e);
            }
        }
        (*this)(p->min_value);
        (*this)(p->max_value);
    }

private:
    using GraphVisitor::visit;
    void visit(const Variable *op) override {
        add(op->symbol);
    }
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        add(op->symbol);
    }
};

void visit_schedule(const FuncSchedule &s, FindSymbols &find) {
    for (const Bound &b : s.bounds) {
        for (const Expr &e : {b.min, b.extent, b.modulus, b.remainder}) {
            find(e);
        }
    }
    for (const StorageDim &d : s.storage_dims) {
        for (const Expr &e : {d.alignment, d.bound, d.fold_factor}) {
            find(e);
        }
    }
    find(s.ring_buffer);
    find(s.memoize_eviction_key);
}

void visit_function(const Function &f, FindSymbols &find) {
    for (int i = 0; i < f.stages(); i++) {
        if (f.stage(i).defined()) {
            for_each_expression<const Definition>(*f.stage(i), [&](const Expr &e) { find(e); });
        }
    }
    if (f->extern_schedule.defined()) {
        for_each_expression<const Definition>(*f->extern_schedule, [&](const Expr &e) { find(e); });
    }
    for (const ExternFuncArgument &arg : f->extern_args) {
        find(arg.expr);
        find.add(arg.buffer);
        find.add(arg.image_param.contents());
    }
    visit_schedule(f.schedule(), find);
    for (const Parameter &p : f->output_buffers) {
        find.visit_constraints(p);
    }
}

ArgumentEstimates estimates_of(const Parameter &p) {
    ArgumentEstimates result;
    if (!p.is_buffer()) {
        result.scalar_def = p.default_value();
        result.scalar_min = p.min_value();
        result.scalar_max = p.max_value();
        result.scalar_estimate = p.estimate();
        return result;
    }
    for (const BufferConstraint &c : p->constraints) {
        Range r;
        r.min = c.min_estimate;
        r.extent = c.extent_estimate;
        result.buffer_estimates.push_back(r);
    }
    return result;
}

InferredArgument argument_of(const SymbolPtr &symbol) {
    InferredArgument result;
    if (symbol->kind == SymbolKind::Image) {
        result.image = Image(static_cast<ImageContents *>(symbol.get()));
        const calotype_buffer_t *raw = result.image->buffer->raw();
        result.arg = Argument(symbol->name, Argument::InputBuffer, Type(raw->type), raw->dimensions, {});
        return result;
    }
    const Parameter p(symbol);
    result.parameter = p;
    result.arg = Argument(p.name(), p.is_buffer() ? Argument::InputBuffer : Argument::InputScalar,
                          p.type(), p.dimensions(), estimates_of(p));
    return result;
}

}  // namespace

std::vector<InferredArgument> infer_arguments(const std::vector<Function> &outputs,
                                              const std::vector<Requirement> &requirements) {
    FindSymbols find;
    for (const auto &entry : build_environment(outputs)) {
        visit_function(entry.second, find);
    }
    for (const Requirement &r : requirements) {
        find(r.condition);
        for (const Expr &e : r.message_parts) {
            find(e);
        }
    }
    // Variables of an output buffer's own shape are no inputs.
    for (const Function &f : outputs) {
        for (const Parameter &p : f->output_buffers) {
            auto it = find.found.find(p.name());
            if (it != find.found.end() && it->second == SymbolPtr(p.contents())) {
                find.found.erase(it);
            }
        }
    }
    std::vector<InferredArgument> result;
    for (const auto &entry : find.found) {
        result.push_back(argument_of(entry.second));
    }
    std::stable_partition(result.begin(), result.end(),
                          [](const InferredArgument &a) { return a.arg.is_buffer(); });
    return result;
}

}  // namespace calotype
