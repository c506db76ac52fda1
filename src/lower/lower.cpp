// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/lower.h"

#include <chrono>

#include "ir/conventions/names.h"
#include "ir/verifier.h"
#include "lower/checks/error_call.h"
#include "lower/context.h"
#include "lower/facts.h"
#include "lower/link_code.h"
#include "lower/locked_updates.h"
#include "lower/names.h"
#include "lower/nest/prepare.h"
#include "pipeline/infer_arguments.h"
#include "support/error.h"
#include "target/word_without_code.h"

namespace calotype::internal {

#define PASS(folder, name, when, needs, gives, ends) Stmt name(const Stmt &, LowerContext &);
#include "lower/passes.def"

namespace {

struct Pass {
    const char *name;
    Stmt (*run)(const Stmt &, LowerContext &);
    bool (*applies)(const LowerContext &);
    Facts needs, gives, ends;
};

const std::vector<Pass> &passes() {
    using namespace facts;
    using facts::UniqueNames;  // not the class
    static const std::vector<Pass> table = {
#define PASS(folder, name, when, needs, gives, ends)                                               \
    {#name,                                                                                        \
     name,                                                                                         \
     [](const LowerContext &ctx) {                                                                 \
         (void)ctx;                                                                                \
         return bool(when);                                                                        \
     },                                                                                            \
     needs,                                                                                        \
     gives,                                                                                        \
     ends},
#include "lower/passes.def"
    };
    return table;
}

/// The arguments' names in the code.
std::vector<std::string> argument_names(const LowerContext &ctx) {
    std::vector<std::string> result = {user_context().as<Variable>()->name};
    for (const Argument &a : ctx.args) {
        result.push_back(a.is_buffer() ? names::buffer(a.name) : a.name);
    }
    for (const Function &f : ctx.outputs) {
        for (int i = 0; i < f.outputs(); i++) {
            result.push_back(names::buffer(f.buffer_name(i)));
        }
    }
    for (const auto &[name, image] : ctx.used.images) {
        result.push_back(names::buffer(name));
    }
    return result;
}

/// The facts that can be checked.
VerifyOptions rules_of(Facts holds, const LowerContext &ctx) {
    VerifyOptions rules;
    rules.flat_storage = holds & facts::FlatStorage;
    rules.closed = holds & facts::Closed;
    rules.unrolled_loops_gone = holds & facts::NoUnrolledLoops;
    rules.vector_loops_gone = holds & facts::NoVectorizedLoops;
    rules.hints_gone = holds & facts::NoHints;
    rules.gpu_loops_gone = holds & facts::NoGpuLoops;
    rules.hoisting_gone = holds & facts::StoragePlaced;
    rules.mutexes_gone = holds & facts::NoMutexes;
    rules.free_names = argument_names(ctx);
    return rules;
}

Stmt run_custom_passes(const Stmt &s, const LowerContext &ctx) {
    if (ctx.custom_passes.empty()) {
        return s;
    }
    Stmt result = mark_locked_updates(s, ctx);
    for (const CustomPass &pass : ctx.custom_passes) {
        result = pass(result);
    }
    return unmark_locked_updates(result);
}

/// Sets the body of the function, and what it was for people.
void run_passes(LowerContext &ctx, const LowerOptions &options, LoweredFunction &f) {
    using Clock = std::chrono::steady_clock;
    Stmt s;
    Facts holds = 0;
    bool customized = false;
    for (const Pass &pass : passes()) {
        if (!pass.applies(ctx)) {
            continue;
        }
        // Passes of the user come last, but see kernels while they stand in the code.
        if (pass.ends & facts::KernelForm) {
            s = run_custom_passes(s, ctx);
            customized = true;
        }
        internal_assert((holds & pass.needs) == pass.needs)
            << pass.name << " needs facts that do not hold where it stands in passes.def";
        if (pass.gives & facts::SingleValues) {
            f.conceptual = s;  // Funcs still have all their values
        }
        if (options.before_pass) {
            options.before_pass(pass.name, int(&pass - passes().data()), int(passes().size()));
        }
        Clock::time_point start = Clock::now();
        s = pass.run(s, ctx);
        std::chrono::duration<double, std::milli> took = Clock::now() - start;
        if (options.reports) {
            options.reports->push_back({pass.name, took.count()});
        }
        if (options.after_pass) {
            options.after_pass(pass.name, s);
        }
        holds = (holds & ~pass.ends) | pass.gives;
        if (options.verify) {
            verify(s, rules_of(holds, ctx), pass.name);
        }
    }
    f.body = customized ? s : run_custom_passes(s, ctx);
}

std::vector<LoweredArgument> signature(const LowerContext &ctx) {
    std::vector<LoweredArgument> args;
    for (const Argument &a : ctx.args) {
        auto p = ctx.used.parameters.find(a.name);
        bool aligned = a.is_buffer() && p != ctx.used.parameters.end();
        args.emplace_back(a, aligned ? Alignment{p->second.host_alignment(), 0} : Alignment());
    }
    for (const Function &f : ctx.outputs) {
        for (int i = 0; i < f.outputs(); i++) {
            const Parameter &p = f->output_buffers.at(i);
            Argument a(f.buffer_name(i), Argument::OutputBuffer, f.output_types()[i],
                       f.dimensions(), p.get_argument_estimates());
            args.emplace_back(a, Alignment{p.host_alignment(), 0});
        }
    }
    return args;
}

/// Every parameter that the code uses must be an argument: a missing one cannot be passed in.
void check_arguments(const LowerContext &ctx) {
    for (const auto &entry : ctx.used.parameters) {
        // Without that argument the context is null.
        user_assert(is_argument(ctx.args, entry.first) || entry.first == names::user_context)
            << "pipeline " << ctx.pipeline_name << " uses parameter " << entry.first
            << ", which is not in its list of arguments";
    }
}

LoweredBuffer embed(const std::string &name, const Image &image) {
    const calotype_buffer_t *raw = image->buffer->raw();
    user_assert(!(raw->flags & calotype_buffer_flag_device_dirty))
        << "constant image " << name
        << " is newer on its device than on the host: call copy_to_host() before compiling";
    LoweredBuffer buffer;
    buffer.name = name;
    buffer.type = Type(raw->type);
    size_t elements = 1;
    for (int d = 0; d < raw->dimensions; d++) {
        const calotype_dimension_t &dim = raw->dim[d];
        buffer.dimensions.push_back({dim.min, dim.extent, int32_t(elements)});
        elements *= size_t(dim.extent);
    }
    user_assert(raw->host || elements == 0)
        << "constant image " << name << " has no memory on the host: allocate() makes some";
    size_t bytes = size_t(buffer.type.bytes());
    buffer.bytes.resize(elements * bytes);
    for (size_t i = 0; i < elements; i++) {
        ptrdiff_t offset = 0;
        size_t rest = i;
        for (int d = 0; d < raw->dimensions; d++) {
            size_t extent = size_t(raw->dim[d].extent);
            offset += ptrdiff_t(rest % extent) * raw->dim[d].stride;
            rest /= extent;
        }
        std::copy_n(raw->host + offset * ptrdiff_t(bytes), bytes, buffer.bytes.data() + i * bytes);
    }
    return buffer;
}

}  // namespace

LoweredModule lower(const PipelineSource &source, const Target &target,
                    const LowerOptions &options) {
    const std::string word = word_without_code(target);
    user_assert(word.empty()) << "target " << target.to_string() << " has " << word
                              << ", which this build makes no code for";
    std::unique_ptr<LowerContext> ctx = prepare(source, target);
    check_arguments(*ctx);
    LoweredFunction f;
    f.name = source.name;
    run_passes(*ctx, options, f);
    f.args = signature(*ctx);
    f.linkage = source.linkage;
    LoweredModule module;
    module.name = source.name;
    module.target = target.to_string();
    module.functions.push_back(std::move(f));
    module.device_modules = std::move(ctx->device_modules);
    link_code(module, *ctx);
    for (const auto &image : ctx->used.images) {
        if (!is_argument(ctx->args, image.first)) {
            module.buffers.push_back(embed(image.first, image.second));
        }
    }
    return module;
}

std::vector<std::string> pass_names() {
    std::vector<std::string> names;
    for (const Pass &pass : passes()) {
        names.emplace_back(pass.name);
    }
    return names;
}

}  // namespace calotype::internal
