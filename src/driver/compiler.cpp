// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/compiler.h"

#include <cstdio>

#include "codegen/device_code.h"
#include "codegen/module.h"
#include "codegen/symbol_name.h"
#include "driver/compiler_stack.h"
#include "driver/disk_cache.h"
#include "driver/jit_runtime.h"
#include "driver/pipeline_state.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "support/compiling.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

constexpr size_t lowered_capacity = 64;
constexpr size_t jit_capacity = 256;

void check_pass_name(const std::string &name) {
    if (name.empty() || name == "all") {
        return;
    }
    std::vector<std::string> names = pass_names();
    names.push_back("all");
    for (const std::string &known : names) {
        if (known == name) {
            return;
        }
    }
    user_error << "there is no pass '" << name << "'" << did_you_mean(name, names);
}

void print_times(const std::string &pipeline, const std::vector<PassReport> &reports) {
    double total = 0;
    std::fprintf(stderr, "lowering %s:\n", pipeline.c_str());
    for (const PassReport &r : reports) {
        std::fprintf(stderr, "%10.3f ms  %s\n", r.milliseconds, r.pass.c_str());
        total += r.milliseconds;
    }
    std::fprintf(stderr, "%10.3f ms  in all\n", total);
}

LoweredModule run_lowering(const CompileJob &job) {
    const CompileOptions &options = job.options;
    check_pass_name(options.print_after);
    std::vector<PassReport> reports;
    LowerOptions lower_options;
    lower_options.verify = options.verify;
    if (options.print_pass_times) {
        lower_options.reports = &reports;
    }
    if (options.progress) {
        lower_options.before_pass = [&](const std::string &pass, int number, int count) {
            options.progress({job.source.name, "lower", pass, number, count});
        };
    }
    if (!options.print_after.empty()) {
        lower_options.after_pass = [&](const std::string &pass, const Stmt &s) {
            if (options.print_after == "all" || options.print_after == pass) {
                std::fprintf(stderr, "; after %s\n%s\n", pass.c_str(), to_string(s).c_str());
            }
        };
    }
    LoweredModule module = internal::lower(job.source, job.target, lower_options);
    if (options.print_pass_times) {
        print_times(job.source.name, reports);
    }
    return module;
}

void tell(const CompileJob &job, const CompileStep &step) {
    if (job.options.progress) {
        job.options.progress(step);
    }
}

// The code of a lowered module; each step is reported.
std::string object_of(const LoweredModule &module, const CompileJob &job) {
    std::vector<DeviceCode> device_codes;
    if (!module.device_modules.empty()) {
        tell(job, step_of_code(module, true));
        device_codes = compile_device_modules(module, job.target);
    }
    tell(job, step_of_code(module, false));
    return CompiledModule(module, job.target, device_codes).object();
}

// Takes the declarations out of lowered code, which says by names what they are: a Parameter has the
// buffer that it is set to, and an Image its elements, which are among the module's buffers by then.
class ForgetDeclarations : public Mutator {
private:
    using Mutator::visit;
    static bool has_one(const SymbolPtr &symbol) {
        return symbol.defined() && symbol->kind != SymbolKind::Linkable;
    }
    Expr visit(const Variable *op) override {
        return has_one(op->symbol) ? Variable::make(op->type, op->name) : Mutator::visit(op);
    }
    Expr visit(const Load *op) override {
        return has_one(op->symbol)
                   ? Load::make(op->type, op->name, mutate(op->index), mutate(op->predicate),
                                op->alignment, nullptr, op->is_streaming)
                   : Mutator::visit(op);
    }
    Expr visit(const Call *op) override {
        return has_one(op->symbol) && op->call_type != CallKind::Intrinsic
                   ? Call::make(op->type, op->name, mutate(op->args), op->call_type,
                                op->value_index)
                   : Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        return has_one(op->symbol)
                   ? Store::make(op->name, mutate(op->value), mutate(op->index),
                                 mutate(op->predicate), op->alignment, nullptr, op->is_streaming)
                   : Mutator::visit(op);
    }
};

void forget_declarations(LoweredModule &module) {
    ForgetDeclarations forget;
    for (LoweredFunction &f : module.functions) {
        f.body = forget(f.body);
        f.conceptual = forget(f.conceptual);
    }
    for (DeviceModule &device : module.device_modules) {
        for (DeviceKernel &kernel : device.kernels) {
            kernel.body = forget(kernel.body);
        }
    }
}

LoweredModule lower_on_compiler_stack(const CompileJob &job) {
    LoweredModule module;
    run_on_compiler_stack([&] { module = run_lowering(job); });
    return module;
}

// What is kept for later jobs must not keep the memory of this one's images.
LoweredModule lower_to_keep(const CompileJob &job) {
    LoweredModule module;
    run_on_compiler_stack([&] {
        module = run_lowering(job);
        forget_declarations(module);
    });
    return module;
}

// A name with namespaces is that of a C++ function, whatever the target says.
NameMangling mangling_of(const std::string &name) {
    return name.find("::") == std::string::npos ? NameMangling::Default : NameMangling::CPlusPlus;
}

// What the front half does not depend on and its result still says.
LoweredModule with_names_of(LoweredModule module, const CompileJob &job) {
    internal_assert(module.functions.size() == 1) << "lowering gives one function";
    module.name = job.source.name;
    module.target = job.target.to_string();
    LoweredFunction &f = module.functions[0];
    f.name = job.source.name;
    f.linkage = job.source.linkage;
    f.name_mangling = mangling_of(job.source.name);
    module.metadata_names = job.source.metadata_names;
    module.runtime_prefixes = job.source.runtime_prefixes;
    for (size_t i = 0; i < job.source.args.size(); i++) {
        f.args[i].argument_estimates = job.source.args[i].argument_estimates;
    }
    return module;
}

// The function that lowering will make of the job, without its body.
LoweredFunction declaration_of(const CompileJob &job) {
    LoweredFunction f;
    f.name = job.source.name;
    f.linkage = job.source.linkage;
    f.name_mangling = mangling_of(f.name);
    for (const Argument &a : job.source.args) {
        f.args.emplace_back(a);
    }
    for (const Function &output : job.source.outputs) {
        for (int i = 0; i < output.outputs(); i++) {
            f.args.emplace_back(Argument(output.buffer_name(i), Argument::OutputBuffer,
                                         output.output_types()[i], output.dimensions(),
                                         ArgumentEstimates()));
        }
    }
    return f;
}

std::shared_ptr<const JitCode> load(const std::string &object, const CompileJob &job) {
    auto code = std::make_shared<JitCode>();
    const LoweredFunction function = declaration_of(job);
    JitSymbols symbols = job.jit_symbols;
    symbols.merge(jit_symbols());
    code->library = JitLibrary::load(object, symbols);
    code->args = function.args;
    code->argv =
        code->library->function<int(const void *const *)>(argv_symbol_name(function, job.target));
    code->function = code->library->find(symbol_name(function, job.target));
    if (job.target.has_gpu_feature()) {
        code->device_modules = code->library->function<const calotype_module_desc *const *()>(
            device_modules_symbol_name(function, job.target));
    }
    code->keep_alive = job.keep_alive;
    internal_assert(code->argv && code->function)
        << "compiled code has no " << argv_symbol_name(function, job.target);
    return code;
}

// The feature user_context asks for an argument in front of all others that goes to the runtime.
bool lacks_user_context(const CompileJob &job) {
    if (!job.target.has_feature(Target::UserContext)) {
        return false;
    }
    for (const Argument &a : job.source.args) {
        if (a.name == names::user_context) {
            return false;
        }
    }
    return true;
}

}  // namespace

Compiler::Compiler() : lowered_(lowered_capacity), jit_(jit_capacity) {
}

Compiler &Compiler::of_process() {
    static Compiler compiler;
    return compiler;
}

LoweredModule Compiler::lower(const CompileJob &job) {
    if (lacks_user_context(job)) {
        CompileJob with_context = job;
        with_context.source.args.insert(with_context.source.args.begin(), user_context_argument());
        return lower(with_context);
    }
    // A pass that is to be shown must run.
    if (!job.options.print_after.empty() || job.options.print_pass_times) {
        return lower_on_compiler_stack(job);
    }
    const auto lowered = lowered_.get(front_half_key(job), [&] {
        return std::make_shared<const LoweredModule>(lower_to_keep(job));
    });
    return with_names_of(*lowered, job);
}

std::shared_ptr<const JitCode> Compiler::compile_jit(const CompileJob &job) {
    const JobKey key = artifact_key(job);
    bool is_new = false;
    auto code = jit_.get(key, [&] {
        is_new = true;
        const std::string object = jit_object(job, key);
        tell(job, {job.source.name, "load"});
        const CompilingScope loading;
        return load(object, job);
    });
    if (job.options.debug_level > 0) {
        std::fprintf(stderr, "%s is %s for %s\n", job.source.name.c_str(),
                     is_new ? "compiled in process" : "found compiled",
                     job.target.to_string().c_str());
    }
    return code;
}

// From the disk, if there is a cache and it has the object.
std::string Compiler::jit_object(const CompileJob &job, const JobKey &key) {
    // Addresses are bound when the object is loaded, they are not part of it.
    const auto cache = key.is_shareable ? DiskCache::from_environment() : std::nullopt;
    bool is_made = false;
    const auto make = [&] {
        is_made = true;
        const LoweredModule module = lower(job);
        std::string object;
        run_on_compiler_stack([&] { object = object_of(module, job); });
        return object;
    };
    if (!cache) {
        return make();
    }
    std::string object = cache->get("jit object " + portable_key(job).value(), make);
    if (!is_made) {
        objects_found_on_disk_++;
    }
    return object;
}

CompileCounts compile_counts() {
    return Compiler::of_process().counts();
}

CompileCounts Compiler::counts() const {
    return {lowered_.made(), lowered_.found(), jit_.made(), jit_.found(), objects_found_on_disk_};
}

}  // namespace calotype::internal
