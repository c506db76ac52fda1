// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function: a Func's algorithm and schedule as data. lang/Func is the user's handle on it, lower/
// reads a deep copy.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/definition.h"
#include "pipeline/edits.h"
#include "pipeline/extern_argument.h"
#include "pipeline/parameter.h"
#include "support/copyable_atomic.h"

namespace calotype::internal {

/// Checked when the pipeline starts: that of `add_requirement(condition, args...)`, and what a Func
/// relies on. The parts make up the message.
struct Requirement {
    Expr condition;
    std::vector<Expr> message_parts;
};

/// The data behind Function; the Symbol of calls to it.
class FunctionContents : public Symbol {
public:
    explicit FunctionContents(std::string name) : Symbol(SymbolKind::Function, std::move(name)) {
    }
    FunctionContents(const FunctionContents &) = default;
    ~FunctionContents() override;
    std::vector<std::string> args;     ///< names of the pure variables, one a dimension
    std::vector<Type> output_types;    ///< one a tuple element
    std::vector<Type> required_types;  ///< declared by Func(type, dims, name); empty if free
    int required_dims = -1;
    DefinitionPtr init;  ///< undefined until defined, and for extern stages
    std::vector<DefinitionPtr> updates;
    FuncSchedule schedule;
    std::vector<Parameter> output_buffers;  ///< constraints on the buffer if it is a pipeline
                                            ///< output; one a tuple element
    std::string debug_file;
    /// Called by others or output of a pipeline: may get no further definitions. Threads that make
    /// pipelines of one Func each set it.
    CopyableAtomic<bool> frozen{false};

    std::string extern_name;  ///< of the C function, for define_extern
    std::vector<ExternFuncArgument> extern_args;
    NameMangling extern_mangling = NameMangling::C;
    DeviceAPI extern_device_api = DeviceAPI::Host;
    Expr extern_proxy_expr;
    /// Of an extern stage: a definition without values that holds the loops around the call (dims
    /// of ForType::Extern are inside the call itself).
    DefinitionPtr extern_schedule;
    /// Of a wrapper: the Func that it belongs to and calls by name.
    FunctionContents *wrapped = nullptr;
    /// The pure definition is a plain call of one source at the same coordinates, to be carried out
    /// by the runtime's buffer copy, onto this device.
    std::optional<DeviceAPI> copy_to;
    /// Of every pipeline that the Func is part of.
    std::vector<Requirement> requirements;
    /// What `wrapped` points to, once the Func that the wrapper belonged to has gone.
    IntrusivePtr<FunctionContents> owned_wrapped;
};

/// A handle to a Func's data, undefined by default.
class Function {
public:
    Function() = default;
    explicit Function(const std::string &name);
    explicit Function(IntrusivePtr<FunctionContents> contents) : contents_(std::move(contents)) {
    }
    /// Precondition: the symbol is a Function.
    explicit Function(const SymbolPtr &symbol);

    bool defined() const {
        return contents_.defined();
    }
    bool same_as(const Function &other) const {
        return contents_ == other.contents_;
    }
    const FunctionContents *operator->() const {
        return contents_.get();
    }
    /// To change it, at once: a pipeline that was compiled is compared in full after that, so that a
    /// pointer that is kept must not be written to later.
    FunctionContents *edit() const {
        count_edit();
        return contents_.get();
    }
    const IntrusivePtr<FunctionContents> &contents() const {
        return contents_;
    }
    const std::string &name() const {
        return contents_->name;
    }
    /// Name of the storage of tuple element i: "f", or "f.0", "f.1" where there are several.
    std::string buffer_name(int value_index) const;

    int dimensions() const {
        return int(contents_->args.size());
    }
    int outputs() const {
        return int(contents_->output_types.size());
    }
    const std::vector<std::string> &args() const {
        return contents_->args;
    }
    const std::vector<Type> &output_types() const {
        return contents_->output_types;
    }
    /// What Func(type, dims, name) declared: no types, -1 dimensions where nothing is.
    const std::vector<Type> &required_types() const {
        return contents_->required_types;
    }
    int required_dimensions() const {
        return contents_->required_dims;
    }
    bool has_pure_definition() const {
        return contents_->init.defined();
    }
    bool has_extern_definition() const {
        return !contents_->extern_name.empty();
    }
    /// Of an extern definition; empty without one.
    const std::string &extern_function_name() const {
        return contents_->extern_name;
    }
    const std::vector<ExternFuncArgument> &extern_arguments() const {
        return contents_->extern_args;
    }
    /// An expression that reads what an extern definition does, or more, for those who choose
    /// schedules; undefined until it is assigned.
    Expr &extern_definition_proxy_expr() {
        return edit()->extern_proxy_expr;
    }
    const Expr &extern_definition_proxy_expr() const {
        return contents_->extern_proxy_expr;
    }
    bool has_update_definition() const {
        return !contents_->updates.empty();
    }
    /// One pure definition, no updates, no extern: can be inlined.
    bool is_pure() const {
        return has_pure_definition() && !has_update_definition() && !has_extern_definition();
    }
    bool can_be_inlined() const {
        return is_pure() && contents_->init->specializations.empty();
    }
    /// Stage 0 is the pure definition (or the extern one: undefined pointer), stage i the update i
    /// - 1.
    int stages() const {
        return 1 + int(contents_->updates.size());
    }
    const DefinitionPtr &stage(int i) const {
        return i == 0 ? contents_->init : contents_->updates[i - 1];
    }
    /// Precondition: there is a pure definition, or an update i.
    const Definition &definition() const {
        return *contents_->init;
    }
    const Definition &update(int i = 0) const {
        return *contents_->updates[size_t(i)];
    }
    const FuncSchedule &schedule() const {
        return contents_->schedule;
    }
    /// The loop levels of the schedule may not be set from now on. Programs written for Halide call it.
    void lock_loop_levels();

    /// Define or redefine. Checks as lang/func.h documents; CompileError names the Func and the
    /// offending part.
    void define(const std::vector<std::string> &args, std::vector<Expr> values);
    /// Reduces over `domain`, or, if it is undefined, over the one whose RVars occur.
    void define_update(const std::vector<Expr> &args, std::vector<Expr> values,
                       const ReductionDomain &domain = ReductionDomain());
    void define_extern(const std::string &function_name,
                       const std::vector<ExternFuncArgument> &args, const std::vector<Type> &types,
                       const std::vector<std::string> &dims, NameMangling mangling,
                       DeviceAPI device_api);
    /// A Func of that name with the same definitions and schedule, which calls the same Funcs.
    /// Wrappers are not copied.
    Function clone(const std::string &new_name) const;
    /// Gives each value the parameter that stands for its buffer where the Func is an output.
    void make_output_buffers();

private:
    IntrusivePtr<FunctionContents> contents_;
};

/// All Functions that `outputs` need, themselves included, by name.
using Environment = std::map<std::string, Function>;
Environment build_environment(const std::vector<Function> &outputs);
/// The Functions called directly by f (its definitions, schedule expressions and extern arguments).
/// Calls by name alone (f itself, and what a wrapper wraps) are looked up in `env`.
Environment find_direct_calls(const Function &f, const Environment &env = {});
/// The Functions that `outputs` need, each after those that it calls. Those that one Function calls
/// go by their names without the numbers that make them unique, then by where a walk from the
/// outputs meets them first: so schedules that Halide's autoschedulers print number them.
std::vector<Function> order_by_calls(const std::vector<Function> &outputs, const Environment &env);
/// Copies that share nothing mutable with the originals, calls redirected to the copies; outputs
/// come first in order.
void deep_copy(const std::vector<Function> &outputs, std::vector<Function> *outputs_copy,
               Environment *env_copy);

}  // namespace calotype::internal
