// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/parameters_used.h"

#include <set>

#include "ir/visitor.h"
#include "pipeline/fields.h"
#include "support/error.h"

namespace calotype::internal {

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

    void check_functions() const {
        for (const auto &[name, declaration] : used.linked_functions) {
            user_assert(!c_functions_.count(name))
                << "function '" << name << "' is called of linkable "
                << declaration->linkable.description() << " and also as a C function";
        }
    }

    void include_constraints(const Parameter &p) {
        (*this)(p->min_value);
        (*this)(p->max_value);
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
        const bool is_c_function =
            op->call_type == CallKind::Extern || op->call_type == CallKind::PureExtern;
        if (op->symbol && op->symbol->kind == SymbolKind::Linkable) {
            include_linked(op);
        } else if (is_c_function) {
            c_functions_.insert(op->name);
        }
    }

private:
    std::set<Parameter> own_buffers_;
    std::set<std::string> c_functions_;  ///< that no linkable supplies

    void include_linked(const Call *op) {
        const IntrusivePtr<const LinkedDeclaration> declaration(
            static_cast<const LinkedDeclaration *>(op->symbol.get()));
        const Linkable &linkable = declaration->linkable;
        const bool is_symbol = op->is_intrinsic(Intrinsic::linked_symbol);
        const std::string &name = is_symbol ? op->args[0].as<StringImm>()->value : op->name;
        for (const auto *known : {&used.linked_functions, &used.linked_symbols}) {
            const auto it = known->find(name);
            user_assert(it == known->end() || it->second->linkable.same_as(linkable))
                << "'" << name << "' is taken from two linkables, "
                << it->second->linkable.description() << " and " << linkable.description();
        }
        auto &declarations = is_symbol ? used.linked_symbols : used.linked_functions;
        const auto &first = declarations.emplace(name, declaration).first->second;
        user_assert(first->signature == declaration->signature)
            << "function '" << name << "' of linkable " << linkable.description()
            << " is called with two signatures, " << to_string(first->signature) << " and "
            << to_string(declaration->signature);
    }

    void include_symbol(const SymbolPtr &symbol) {
        if (symbol && symbol->kind == SymbolKind::Parameter) {
            include(Parameter(symbol));
        } else if (symbol && symbol->kind == SymbolKind::Image) {
            used.images.emplace(symbol->name, Image(static_cast<ImageContents *>(symbol.get())));
        }
    }
};

void collect_function(const Function &f, Collect &collect) {
    for_each_part<Expr>(*f.contents(), [&](const Expr &e) { collect(e); });
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
    for_each_part<Expr>(requirements, [&](const Expr &e) { collect(e); });
    collect.check_functions();
    return std::move(collect.used);
}

}  // namespace calotype::internal
