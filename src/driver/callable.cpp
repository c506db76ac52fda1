// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/callable.h"

#include "driver/compiler.h"
#include "driver/jit_runtime.h"
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

const char *kind_of(bool is_buffer) {
    return is_buffer ? "a buffer" : "a scalar";
}

void check_argument(size_t i, const Argument &arg, const Callable::FullCallCheckInfo &given) {
    user_assert(arg.is_buffer() == given.is_buffer)
        << "argument " << i << " (" << arg.name << ") is " << kind_of(given.is_buffer)
        << ", must be " << kind_of(arg.is_buffer());
    const bool is_open = given.is_buffer && given.type == Type();
    // All pointers are passed alike.
    user_assert(is_open || given.type.to_abi() == arg.type.to_abi())
        << "argument " << i << " (" << arg.name << ") has type " << given.type << ", must have "
        << arg.type;
    user_assert(!given.is_buffer || given.dims < 0 || given.dims == arg.dimensions)
        << "argument " << i << " (" << arg.name << ") has " << given.dims
        << " dimensions, must have " << int(arg.dimensions);
}

}  // namespace

void Callable::check(const FullCallCheckInfo *infos, size_t count) const {
    const std::vector<Argument> &args = arguments();
    user_assert(count == args.size())
        << "a Callable takes " << args.size() << " arguments, not " << count;
    for (size_t i = 0; i < count; i++) {
        check_argument(i, args[i], infos[i]);
    }
}

int Callable::call(JITUserContext *context, const Passed *passed, size_t count) const {
    std::vector<FullCallCheckInfo> infos(count);
    for (size_t i = 0; i < count; i++) {
        infos[i] = passed[i].info;
    }
    check(infos.data(), count);
    internal::JitRun run(context, contents_->handlers);
    const void *run_context = run.context();
    std::vector<const void *> argv = {&run_context};
    for (size_t i = 0; i < count; i++) {
        argv.push_back(passed[i].info.is_buffer ? static_cast<const void *>(passed[i].buffer)
                                                : &passed[i].bits);
    }
    const int code = contents_->code->argv(argv.data());
    run.check(code);
    return code;
}

int Callable::call_argv_fast(size_t argc, const void *const *argv) const {
    user_assert(argc == arguments().size() + 1)
        << "a Callable takes " << arguments().size() + 1 << " pointers, not " << argc;
    auto *given = *static_cast<JITUserContext *const *>(argv[0]);
    internal::JitRun run(given, contents_->handlers);
    const void *run_context = run.context();
    std::vector<const void *> copy(argv, argv + argc);
    copy[0] = &run_context;
    const int code = contents_->code->argv(copy.data());
    run.check(code);
    return code;
}

}  // namespace calotype
