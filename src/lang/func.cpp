// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/func.h"

#include <mutex>

#include "ir/operators.h"
#include "ir/walk/search.h"
#include "pipeline/check_parameters.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

Func::Func(const std::string &name) : FuncDirectives(Function(internal::unique_name(name))) {
}

Func::Func() : FuncDirectives(Function(internal::unique_name('f'))) {
}

Func::Func(const Type &required_type, int required_dims, const std::string &name)
    : Func(std::vector<Type>{required_type}, required_dims, name) {
}

Func::Func(const std::vector<Type> &required_types, int required_dims, const std::string &name)
    : Func(name) {
    // A type without bits leaves it open.
    for (const Type &t : required_types) {
        if (t.bits() > 0) {
            func_.edit()->required_types.push_back(t);
        }
    }
    func_.edit()->required_dims = required_dims;
}

Func::Func(const Expr &e) : Func() {
    (*this)(_) = e;
}

Func::Func(Function f) : FuncDirectives(f) {
    user_assert(f.defined()) << "a Func is made of a Function that is undefined";
}

void Func::check_defined(const char *query) const {
    user_assert(defined()) << query << " of func " << name() << ", which is not defined yet";
}

bool Func::defined() const {
    return func_.has_pure_definition() || func_.has_extern_definition();
}

std::vector<Var> Func::args() const {
    std::vector<Var> vars;
    for (const std::string &arg : func_.args()) {
        vars.emplace_back(arg);
    }
    return vars;
}

Expr Func::value() const {
    const Tuple all = values();
    user_assert(all.size() == 1) << "value of func " << name() << ", which has " << all.size()
                                 << " values: use values()";
    return all[0];
}

Tuple Func::values() const {
    user_assert(func_.has_pure_definition())
        << "values of func " << name() << ", which has no pure definition";
    return Tuple(func_->init->values);
}

namespace {

const Definition &update_definition(const Function &f, int idx) {
    user_assert(idx >= 0 && idx < f.stages() - 1)
        << "func " << f.name() << " has no update definition " << idx << ", it has "
        << f.stages() - 1;
    return *f.stage(idx + 1);
}

}  // namespace

const std::vector<Expr> &Func::update_args(int idx) const {
    return update_definition(func_, idx).args;
}

Expr Func::update_value(int idx) const {
    const Tuple all = update_values(idx);
    user_assert(all.size() == 1) << "update_value of func " << name() << ", which has "
                                 << all.size() << " values: use update_values()";
    return all[0];
}

Tuple Func::update_values(int idx) const {
    return Tuple(update_definition(func_, idx).values);
}

std::vector<RVar> Func::rvars(int idx) const {
    const Definition &d = update_definition(func_, idx);
    ReductionDomain domain;
    for (const std::vector<Expr> &part : {d.args, d.values}) {
        for (const Expr &e : part) {
            for_each<Variable>(e, [&](const Variable *op) {
                if (op->symbol.defined() && op->symbol->kind == SymbolKind::ReductionDomain) {
                    domain = ReductionDomain(op->symbol);
                }
            });
        }
    }
    std::vector<RVar> result;
    for (size_t i = 0; i < d.schedule.rvars.size(); i++) {
        result.push_back(domain.defined() ? RVar(domain, int(i)) : RVar(d.schedule.rvars[i].var));
    }
    return result;
}

const std::vector<Type> &Func::types() const {
    const std::vector<Type> &t = defined() ? func_.output_types() : func_->required_types;
    user_assert(!t.empty()) << "types of func " << name() << ", which is not defined yet";
    return t;
}

const Type &Func::type() const {
    user_assert(types().size() == 1)
        << "type of func " << name() << ", which has " << types().size() << " values: use types()";
    return types()[0];
}

int Func::outputs() const {
    return int(types().size());
}

int Func::dimensions() const {
    if (!defined() && func_->required_dims >= 0) {
        return func_->required_dims;
    }
    check_defined("dimensions");
    return func_.dimensions();
}

void Func::define_extern(const std::string &function_name,
                         const std::vector<ExternFuncArgument> &params, Type t, int dimensionality,
                         NameMangling mangling, DeviceAPI device_api) {
    define_extern(function_name, params, std::vector<Type>{t}, dimensionality, mangling,
                  device_api);
}

void Func::define_extern(const std::string &function_name,
                         const std::vector<ExternFuncArgument> &params,
                         const std::vector<Type> &types, int dimensionality, NameMangling mangling,
                         DeviceAPI device_api) {
    std::vector<Var> args;
    for (int i = 0; i < dimensionality; i++) {
        args.push_back(Var::implicit(i));
    }
    define_extern(function_name, params, types, args, mangling, device_api);
}

void Func::define_extern(const std::string &function_name,
                         const std::vector<ExternFuncArgument> &params, Type t,
                         const std::vector<Var> &arguments, NameMangling mangling,
                         DeviceAPI device_api) {
    define_extern(function_name, params, std::vector<Type>{t}, arguments, mangling, device_api);
}

void Func::define_extern(const std::string &function_name,
                         const std::vector<ExternFuncArgument> &params,
                         const std::vector<Type> &types, const std::vector<Var> &arguments,
                         NameMangling mangling, DeviceAPI device_api) {
    std::vector<std::string> dims;
    for (const Var &v : arguments) {
        dims.push_back(v.name());
    }
    for (size_t i = 0; i < params.size(); i++) {
        if (params[i].is_expr()) {
            const std::string what =
                "argument " + std::to_string(i) + " of the extern definition of func " + name();
            user_assert(params[i].expr.defined()) << what << " is undefined";
            check_is_of_parameters(params[i].expr, what, Reads::Anything);
        }
    }
    func_.define_extern(function_name, params, types, dims, mangling, device_api);
}

FuncRef Func::operator()(std::vector<Var> args) const {
    return (*this)(std::vector<Expr>(args.begin(), args.end()));
}

FuncRef Func::operator()(std::vector<Expr> args) const {
    const std::string what = "func " + name();
    int count = 0;
    const int dimensions = defined() ? func_.dimensions() : -1;
    const int placeholder = internal::expand_placeholder(what, args, dimensions, &count);
    user_assert(!defined() || int(args.size()) == dimensions)
        << what << " is called with " << args.size() << " coordinates, it has " << dimensions
        << " dimensions";
    return FuncRef(func_, args, placeholder, count);
}

Stage Func::update(int idx) {
    update_definition(func_, idx);
    return Stage(func_, func_.stage(idx + 1), size_t(idx) + 1);
}

Stage Func::stage_to_schedule() const {
    check_defined("a directive");
    return Stage(func_, func_.has_extern_definition() ? func_->extern_schedule : func_->init, 0);
}

Func::operator Stage() const {
    return stage_to_schedule();
}

Func::operator ExternFuncArgument() const {
    return ExternFuncArgument(func_.contents());
}

OutputImageParam Func::output_buffer() const {
    const std::vector<OutputImageParam> all = output_buffers();
    user_assert(all.size() == 1) << "output_buffer of func " << name() << ", which has "
                                 << all.size() << " values: use output_buffers()";
    return all[0];
}

std::vector<OutputImageParam> Func::output_buffers() const {
    if (!defined() && func_->output_buffers.empty() && func_.required_dimensions() >= 0) {
        Function(func_).make_output_buffers();  // of a Func that is declared
    }
    if (func_->output_buffers.empty()) {
        check_defined("output_buffers");
    }
    std::vector<OutputImageParam> result;
    for (const Parameter &p : func_->output_buffers) {
        result.emplace_back(p, Argument::OutputBuffer, func_);
    }
    return result;
}

Pipeline Func::pipeline() {
    // Two threads may run one Func for the first time.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    if (!pipeline_.defined()) {
        pipeline_ = Pipeline(*this);
    }
    return pipeline_;
}

std::vector<Argument> Func::infer_arguments() const {
    return Pipeline(*this).infer_arguments();
}

void Func::add_custom_lowering_pass(Mutator *pass, std::function<void()> deleter) {
    pipeline().add_custom_lowering_pass(pass, std::move(deleter));
}

void Func::clear_custom_lowering_passes() {
    pipeline().clear_custom_lowering_passes();
}

const std::vector<CustomLoweringPass> &Func::custom_lowering_passes() {
    return pipeline().custom_lowering_passes();
}

namespace {
Func make_lambda() {
    return Func("lambda" + internal::unique_name('_'));
}
}  // namespace

Func lambda(const Expr &e) {
    Func f = make_lambda();
    f(_) = e;
    return f;
}

Func lambda(const Var &x, const Expr &e) {
    Func f = make_lambda();
    f(x) = e;
    return f;
}

Func lambda(const Var &x, const Var &y, const Expr &e) {
    Func f = make_lambda();
    f(x, y) = e;
    return f;
}

Func lambda(const Var &x, const Var &y, const Var &z, const Expr &e) {
    Func f = make_lambda();
    f(x, y, z) = e;
    return f;
}

Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &e) {
    Func f = make_lambda();
    f(x, y, z, w) = e;
    return f;
}

Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v, const Expr &e) {
    Func f = make_lambda();
    f(x, y, z, w, v) = e;
    return f;
}

}  // namespace calotype
