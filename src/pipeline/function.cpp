// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function: the handle, and definitions. The checks of a definition's expressions are in
// check_definition.cpp.
#include "pipeline/function.h"

#include <map>
#include <set>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "pipeline/check_definition.h"
#include "pipeline/fields.h"
#include "pipeline/pure_rvar.h"
#include "support/error.h"
#include "support/user_text.h"

namespace calotype::internal {

// Others may still call the wrappers, which call this Func: what it computes goes on in a copy that
// they own. It has no wrappers, so that nothing owns itself.
FunctionContents::~FunctionContents() {
    const auto wrappers = std::move(schedule.wrappers);
    if (wrappers.empty()) {
        return;
    }
    schedule.wrappers.clear();
    const IntrusivePtr<FunctionContents> copy(new FunctionContents(*this));
    for (const auto &[consumer, wrapper] : wrappers) {
        if (wrapper->wrapped == this) {
            wrapper->wrapped = copy.get();
            wrapper->owned_wrapped = copy;
        }
    }
}

Function::Function(const std::string &name) : contents_(new FunctionContents(name)) {
    user_assert(!name.empty()) << "the name of a func is empty";
    check_name("func", name);
}

Function::Function(const SymbolPtr &symbol) {
    internal_assert(symbol.defined() && symbol->kind == SymbolKind::Function) << "not a func";
    contents_ = IntrusivePtr<FunctionContents>(static_cast<FunctionContents *>(symbol.get()));
}

std::string Function::buffer_name(int value_index) const {
    return outputs() > 1 ? name() + "." + std::to_string(value_index) : name();
}

namespace {

// Calls to `self` lose their symbol, so that a definition does not own the Func that owns it.
class ForgetSelf : public GraphMutator {
public:
    explicit ForgetSelf(const FunctionContents *self) : self_(self) {
    }

private:
    using GraphMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func || op->symbol.get() != self_) {
            return GraphMutator::visit(op);
        }
        return Call::make(op->type, op->name, Mutator::mutate(op->args), CallKind::Func,
                          op->value_index, nullptr);
    }
    const FunctionContents *self_;
};

std::string describe(const std::vector<Type> &types) {
    std::string text;
    for (const Type &t : types) {
        text += (text.empty() ? "" : ", ") + to_string(t);
    }
    return types.size() == 1 ? text : "(" + text + ")";
}

std::vector<Type> types_of(const std::vector<Expr> &values) {
    std::vector<Type> types;
    for (const Expr &e : values) {
        types.push_back(e.type());
    }
    return types;
}

void check_values_defined(const std::string &what, const std::vector<Expr> &values) {
    user_assert(!values.empty()) << what << " has no values";
    for (size_t i = 0; i < values.size(); i++) {
        user_assert(values[i].defined()) << what << ": value " << i << " is undefined";
        user_assert(values[i].type().is_scalar())
            << what << ": value " << i << " has vector type " << values[i].type();
    }
}

void check_against_declaration(const Function &f, size_t dims, const std::vector<Type> &types) {
    if (!f->required_types.empty()) {
        user_assert(types == f->required_types)
            << "func " << f.name() << " is declared with type " << describe(f->required_types)
            << " but defined with type " << describe(types);
    }
    user_assert(f->required_dims < 0 || int(dims) == f->required_dims)
        << "func " << f.name() << " is declared with " << f->required_dims
        << " dimensions but defined with " << dims;
}

void check_args_distinct(const std::string &name, const std::vector<std::string> &args) {
    std::set<std::string> seen;
    for (const std::string &arg : args) {
        user_assert(seen.insert(arg).second)
            << "func " << name << ": argument " << arg << " appears twice in its definition";
    }
}

void make_storage_dims(const Function &f) {
    std::vector<StorageDim> &dims = f.edit()->schedule.storage_dims;
    dims.clear();
    for (const std::string &arg : f.args()) {
        StorageDim dim;
        dim.var = arg;
        dims.push_back(dim);
    }
}

Dim pure_dim(const std::string &var) {
    Dim dim;
    dim.var = var;
    return dim;
}

// A domain whose condition calls the Func would own it, and be owned by its definition: the
// definition's RVars get a domain of their own in its place, with that condition.
std::map<std::string, Expr> own_domain(const ReductionDomain &domain, const Expr &condition) {
    ReductionDomain own(domain.symbol()->name, domain.domain());
    own.where(condition);
    own.freeze();
    std::map<std::string, Expr> rvars;
    for (const ReductionVariable &rv : own.domain()) {
        rvars[rv.var] = Variable::make(Int(32), rv.var, own.symbol());
    }
    return rvars;
}

// Each Func that e calls gets no further definitions.
void freeze_calls(const DefinitionCheck &check, const Function &self) {
    for (const auto &callee : check.called()) {
        if (callee.get() != self.contents().get()) {
            callee->frozen = true;
        }
    }
}

}  // namespace

void Function::lock_loop_levels() {
    for_each_part<LoopLevel>(*edit(), [](LoopLevel &level) { level.lock(); });
}

void Function::make_output_buffers() {
    const bool is_declared = outputs() == 0;  // and no more than that
    const std::vector<Type> &types = is_declared ? required_types() : output_types();
    const int dims = is_declared ? required_dimensions() : dimensions();
    std::vector<Parameter> buffers;
    for (size_t i = 0; i < types.size(); i++) {
        const std::string buffer = types.size() > 1 ? name() + "." + std::to_string(i) : name();
        // What was said of a buffer ahead of the definition stays.
        if (i < contents_->output_buffers.size()) {
            const Parameter &known = contents_->output_buffers[i];
            if (known.name() == buffer && known.type() == types[i] && known.dimensions() == dims) {
                buffers.push_back(known);
                continue;
            }
        }
        Parameter p(types[i], true, dims, buffer);
        p.edit()->name_is_explicit = false;
        buffers.push_back(p);
    }
    edit()->output_buffers = std::move(buffers);
}

void Function::define(const std::vector<std::string> &args, std::vector<Expr> values) {
    const std::string what = "definition of func " + name();
    user_assert(!contents_->frozen)
        << "func " << name()
        << " cannot be defined again: it is already used by another func or a pipeline";
    user_assert(!has_extern_definition())
        << "func " << name() << " cannot be defined: it has an extern definition";
    user_assert(!has_pure_definition()) << "func " << name() << " already has a pure definition";
    check_args_distinct(name(), args);
    check_values_defined(what, values);
    check_against_declaration(*this, args.size(), types_of(values));

    DefinitionCheck check(name(), what, args);
    for (const Expr &e : values) {
        check(e);
    }
    user_assert(!check.calls_self()) << what << " refers to itself";
    check_undefs_agree(what, name(), {}, values);
    user_assert(!check.domain().defined())
        << what << " uses RVar " << check.first_rvar()
        << ", only update definitions may: perhaps an inline reduction was meant";
    freeze_calls(check, *this);

    FunctionContents *contents = edit();
    contents->args = args;
    contents->output_types = types_of(values);
    DefinitionPtr init(new Definition);
    for (const std::string &arg : args) {
        init->args.push_back(Variable::make(Int(32), arg));
        init->schedule.dims.push_back(pure_dim(arg));
    }
    init->schedule.dims.push_back(pure_dim(outermost_name));
    init->values = std::move(values);
    init->predicate = const_true();
    contents->init = init;
    make_storage_dims(*this);
    make_output_buffers();
}

namespace {

void check_update_shape(const Function &f, const std::string &what, const std::vector<Expr> &args,
                        const std::vector<Expr> &values) {
    user_assert(f.has_pure_definition())
        << "func " << f.name() << " cannot be updated: it has no pure definition";
    user_assert(!f->frozen)
        << "func " << f.name()
        << " cannot be updated: it is already used by another func or a pipeline";
    user_assert(int(args.size()) == f.dimensions())
        << what << " has " << args.size() << " arguments, the pure definition has "
        << f.dimensions();
    for (size_t i = 0; i < args.size(); i++) {
        user_assert(args[i].defined()) << what << ": argument " << i << " is undefined";
        user_assert(args[i].type() == Int(32))
            << what << ": argument " << i << " has type " << args[i].type() << ", must be int32";
    }
    check_values_defined(what, values);
    user_assert(types_of(values) == f.output_types())
        << what << " has type " << describe(types_of(values)) << ", the pure definition has type "
        << describe(f.output_types());
}

// The pure arguments that an update leaves alone: plain Vars in the place they have in the pure
// definition.
std::vector<std::string> pure_args_of_update(const Function &f, const std::vector<Expr> &args) {
    std::vector<std::string> pure;
    for (size_t i = 0; i < args.size(); i++) {
        const Variable *v = args[i].as<Variable>();
        if (v && !v->symbol.defined() && v->name == f.args()[i]) {
            pure.push_back(v->name);
        }
    }
    return pure;
}

}  // namespace

void Function::define_update(const std::vector<Expr> &args, std::vector<Expr> values,
                             const ReductionDomain &given) {
    const std::string what =
        "update definition " + std::to_string(contents_->updates.size()) + " of func " + name();
    check_update_shape(*this, what, args, values);
    const std::vector<std::string> pure = pure_args_of_update(*this, args);

    DefinitionCheck check(name(), what, pure, given);
    for (const Expr &e : args) {
        check(e);
    }
    for (const Expr &e : values) {
        check(e);
    }
    check_calls_of_self(what, name(), this->args(), args, values);
    check_undefs_agree(what, name(), args, values);
    ReductionDomain domain = check.domain();
    if (domain.defined()) {
        domain.freeze();
        check(domain.predicate());
    }
    freeze_calls(check, *this);

    ForgetSelf forget(contents_.get());
    DefinitionPtr update(new Definition);
    update->is_init = false;
    update->args = forget(args);
    update->values = forget(values);
    const Expr given_condition = domain.defined() ? domain.predicate() : const_true();
    update->predicate = forget(given_condition);
    if (!update->predicate.same_as(given_condition)) {
        const std::map<std::string, Expr> rvars = own_domain(domain, update->predicate);
        for (std::vector<Expr> *exprs : {&update->args, &update->values}) {
            for (Expr &e : *exprs) {
                e = substitute(rvars, e);
            }
        }
        update->predicate = substitute(rvars, update->predicate);
    }
    if (domain.defined()) {
        update->schedule.rvars = domain.domain();
        for (const ReductionVariable &rv : domain.domain()) {
            Dim dim = pure_dim(rv.var);
            dim.dim_type =
                is_pure_rvar(*update, name(), rv.var) ? DimType::PureRVar : DimType::ImpureRVar;
            update->schedule.dims.push_back(dim);
        }
    }
    for (const std::string &arg : pure) {
        update->schedule.dims.push_back(pure_dim(arg));
    }
    update->schedule.dims.push_back(pure_dim(outermost_name));
    edit()->updates.push_back(update);
}

void Function::define_extern(const std::string &function_name,
                             const std::vector<ExternFuncArgument> &args,
                             const std::vector<Type> &types, const std::vector<std::string> &dims,
                             NameMangling mangling, DeviceAPI device_api) {
    user_assert(!has_pure_definition() && !has_extern_definition())
        << "func " << name() << " cannot get an extern definition: it is already defined";
    user_assert(!function_name.empty())
        << "the extern definition of func " << name() << " has no function name";
    check_characters("extern function", function_name);
    user_assert(!types.empty()) << "the extern definition of func " << name() << " has no types";
    for (const Type &t : types) {
        user_assert(t.is_scalar() && t.bits() > 0)
            << "the extern definition of func " << name() << " has a value of type " << t
            << ", must be a type of one lane and at least one bit";
        check_has_values("the extern definition of func " + name(), t);
    }
    check_args_distinct(name(), dims);
    check_against_declaration(*this, dims.size(), types);
    for (size_t i = 0; i < args.size(); i++) {
        user_assert(args[i].defined()) << "argument " << i << " of the extern definition of func "
                                       << name() << " is undefined";
        if (args[i].is_func()) {
            user_assert(args[i].func != contents_)
                << "argument " << i << " of the extern definition of func " << name()
                << " is the func itself";
            args[i].func->frozen = true;
        }
    }
    FunctionContents *contents = edit();
    contents->args = dims;
    contents->output_types = types;
    contents->extern_name = function_name;
    contents->extern_args = args;
    contents->extern_mangling = mangling;
    contents->extern_device_api = device_api;
    make_storage_dims(*this);
    make_output_buffers();

    // The definition of an extern stage holds its loops alone.
    DefinitionPtr init(new Definition);
    for (const std::string &dim_name : dims) {
        Dim dim = pure_dim(dim_name);
        dim.for_type = ForType::Extern;
        dim.device_api = device_api;
        init->args.push_back(Variable::make(Int(32), dim_name));
        init->schedule.dims.push_back(dim);
    }
    init->schedule.dims.push_back(pure_dim(outermost_name));
    init->predicate = const_true();
    contents->extern_schedule = init;
}

}  // namespace calotype::internal
