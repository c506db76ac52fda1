// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/parameters_used.h"

#include <set>

#include "ir/visitor.h"
#include "support/error.h"

namespace calotype {

namespace {

class Collect : public GraphVisitor {
public:
    UsedParameters used;

    explicit Collect(const Environment &env) {
        for (const auto &entry : env) {
            for (const Parameter &p : entry.second->output_buffers) {
                own_buffers_.insert(p);
            }
        }
    }

    void include(const Parameter &p) {
        if (!p.defined() || own_buffers_.count(p)) {
            return;
        }
        auto inserted = used.parameters.emplace(p.name(), p);
        user_assert(inserted.first->second.same_as(p))
            << "two different parameters of the pipeline are named " << p.name();
        if (inserted.second) {
            include_constraints(p);
        }
    }

    void include(const ExternFuncArgument &arg) {
        if (arg.is_expr()) {
            (*this)(arg.expr);
        } else if (arg.is_buffer()) {
            used.images.emplace(arg.buffer->name, arg.buffer);
        } else if (arg.is_image_param()) {
            include(arg.image_param);
        }
    }

    void include_constraints(const Parameter &p) {
        for (const BufferConstraint &c : p->constraints) {
            for (const Expr *e : {&c.min, &c.extent, &c.stride}) {
                (*this)(*e);
            }
        }
    }

protected:
    void visit(const Variable *op) override {
        include_symbol(op->symbol);
    }
    void visit(const Call *op) override {
        GraphVisitor::visit(op);
        include_symbol(op->symbol);
    }

private:
    std::set<Parameter> own_buffers_;
    void include_symbol(const SymbolPtr &symbol) {
        if (symbol && symbol->kind == SymbolKind::Parameter) {
            include(Parameter(symbol));
        } else if (symbol && symbol->kind == SymbolKind::Image) {
            used.images.emplace(symbol->name, Image(static_cast<ImageContents *>(symbol.get())));
        }
    }
};

void collect_function(const Function &f, Collect &collect) {
    auto visit = [&](const Expr &e) {
        collect(e);
    };
    for (int i = 0; i < f.stages(); i++) {
        if (f.stage(i)) {
            for_each_expression<const Definition>(*f.stage(i), visit);
        }
    }
    for (const Bound &b : f.schedule().bounds) {
        for (const Expr *e : {&b.min, &b.extent, &b.modulus, &b.remainder}) {
            collect(*e);
        }
    }
    for (const StorageDim &d : f.schedule().storage_dims) {
        for (const Expr *e : {&d.alignment, &d.bound, &d.fold_factor}) {
            collect(*e);
        }
    }
    collect(f.schedule().memoize_eviction_key);
    collect(f.schedule().ring_buffer);
    for (const ExternFuncArgument &arg : f->extern_args) {
        collect.include(arg);
    }
}

}  // namespace

UsedParameters parameters_used(const Environment &env,
                               const std::vector<Requirement> &requirements) {
    Collect collect(env);
    for (const auto &entry : env) {
        collect_function(entry.second, collect);
        for (const Parameter &p : entry.second->output_buffers) {
            collect.include_constraints(p);
        }
    }
    for (const Requirement &r : requirements) {
        collect(r.condition);
        for (const Expr &e : r.message_parts) {
            collect(e);
        }
    }
    return std::move(collect.used);
}

}  // namespace calotype
