// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/callable.h"

#include <algorithm>

#include "driver/compiler.h"
#include "driver/jit_runtime.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/errors.h"
#include "support/error.h"

namespace calotype {

struct Callable::Contents {
    std::shared_ptr<const internal::JitCode> code;
    JITHandlers handlers;
    std::vector<Argument> args;
};

Callable::Callable(std::shared_ptr<const internal::JitCode> code, const JITHandlers &handlers) {
    auto contents = std::make_shared<Contents>();
    contents->args.assign(code->args.begin() + 1, code->args.end());
    contents->code = std::move(code);
    contents->handlers = handlers;
    contents_ = std::move(contents);
}

const std::vector<Argument> &Callable::arguments() const {
    user_assert(defined()) << "an undefined Callable is used";
    return contents_->args;
}

namespace {

/// "a buffer of type 'uint8' and dimension 2", without what is not known.
std::string text_of(const Callable::FullCallCheckInfo &info) {
    std::string text = info.is_buffer ? "a buffer" : "a scalar";
    if (!info.is_buffer || info.type != Type()) {
        text += " of type '" + to_string(info.type) + "'";
    }
    if (info.dims >= 0) {
        text += " and dimension " + std::to_string(info.dims);
    }
    return text;
}

void check_argument(size_t i, const std::vector<Argument> &args,
                    const Callable::FullCallCheckInfo &given) {
    const Argument &arg = args[i];
    const bool is_open = given.is_buffer && given.type == Type();
    // All pointers are passed alike.
    const bool is_right = arg.is_buffer() == given.is_buffer &&
                          (is_open || given.type.to_abi() == arg.type.to_abi()) &&
                          (!given.is_buffer || given.dims < 0 || given.dims == arg.dimensions);
    user_assert(is_right) << "Argument " << i + 1 << " of " << args.size() << " ('" << arg.name
                          << "') was expected to be "
                          << text_of({arg.type, int(arg.dimensions), arg.is_buffer()})
                          << ", but is " << text_of(given);
}

/// True if the check does not throw. A mistake goes where errors of a run go: to the handler of the
/// context or of the pipeline, if there is one.
template<typename Check>
bool holds(const JITHandlers &of_pipeline, JITUserContext *context, const Check &check) {
    try {
        check();
        return true;
    } catch (const CompileError &e) {
        const auto of_context = context ? context->handlers.custom_error : nullptr;
        const auto handler = of_context ? of_context : of_pipeline.custom_error;
        if (!handler) {
            throw;
        }
        JITUserContext own;
        handler(context ? context : &own, e.what());
        return false;
    }
}

}  // namespace

void Callable::check_number(size_t count) const {
    user_assert(count == arguments().size())
        << "a Callable takes " << arguments().size() << " arguments, not " << count;
}

const JITHandlers &Callable::handlers() const {
    user_assert(defined()) << "an undefined Callable is used";
    return contents_->handlers;
}

void Callable::check(const FullCallCheckInfo *infos, size_t count) const {
    holds(handlers(), nullptr, [&] {
        check_number(count);
        for (size_t i = 0; i < count; i++) {
            check_argument(i, contents_->args, infos[i]);
        }
    });
}

bool Callable::is_right_call(JITUserContext *context, const Passed *passed, size_t count) const {
    return holds(handlers(), context, [&] {
        check_number(count);
        for (size_t i = 0; i < count; i++) {
            check_argument(i, contents_->args, passed[i].info);
        }
    });
}

int Callable::call(JITUserContext *context, const Passed *passed, const void **argv,
                   size_t count) const {
    if (!is_right_call(context, passed, count)) {
        return calotype_error_code_bad_type;
    }
    for (size_t i = 0; i < count; i++) {
        argv[1 + i] = passed[i].info.is_buffer ? static_cast<const void *>(passed[i].buffer)
                                               : &passed[i].bits;
    }
    return call_checked(context, argv);
}

/// argv[0] is for the context of this run.
int Callable::call_checked(JITUserContext *context, const void **argv) const {
    // One that says where to work has the context of the run in it.
    const calotype_device_context *where = calotype_get_device_context(context);
    internal::JitRun run(where ? static_cast<JITUserContext *>(where->user_context) : context,
                         contents_->handlers);
    calotype_device_context on = {};
    const void *run_context = run.context();
    if (where) {
        on = *where;
        on.user_context = run.context();
        run_context = &on;
    }
    argv[0] = &run_context;
    const int code = contents_->code->argv(argv);
    run.check(code);
    return code;
}

const calotype_module_desc *const *Callable::device_modules() const {
    user_assert(defined()) << "an undefined Callable is used";
    return contents_->code->device_modules ? contents_->code->device_modules() : nullptr;
}

int Callable::call_argv_fast(size_t argc, const void *const *argv) const {
    user_assert(argc == arguments().size() + 1)
        << "a Callable takes " << arguments().size() + 1 << " pointers, not " << argc;
    constexpr size_t most_here = 32;
    const void *here[most_here];
    std::vector<const void *> many(argc > most_here ? argc : 0);
    const void **copy = many.empty() ? here : many.data();
    std::copy(argv + 1, argv + argc, copy + 1);
    return call_checked(*static_cast<JITUserContext *const *>(argv[0]), copy);
}

}  // namespace calotype
